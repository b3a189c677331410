"""Running a task over samples without an engine: plan, answer, score, and look cells up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec
from floorbench.metrics.base import DueItem, Measure, Point, Scored, ScoringTask, point

Answer = Callable[[Sample, str], Decision | None]


def system(name: str = "toy", **fields: object) -> SystemSpec:
    """Return a system spec."""
    return SystemSpec(name=name, version="1", **fields)  # type: ignore[arg-type]


def due_items(
    task: ScoringTask,
    samples: Iterable[Sample],
    spec: SystemSpec,
    answer: Answer,
    *,
    trials: int = 1,
) -> list[DueItem]:
    """Return every due item with its prediction; ``None`` from ``answer`` means none was made."""
    out = []
    for sample in samples:
        if not task.due(sample, spec):
            continue
        for condition in task.conditions(spec):
            for trial in range(trials):
                said = answer(sample, condition)
                prediction = None
                if said is not None:
                    prediction = Prediction(
                        sample_id=sample.id, condition=condition, trial=trial, decision=said
                    )
                out.append(DueItem(sample, condition, trial, prediction))
    return out


def score(
    task: ScoringTask,
    samples: Iterable[Sample],
    spec: SystemSpec,
    answer: Answer,
    *,
    trials: int = 1,
) -> tuple[Mapping[str, Scored], list[Measure]]:
    """Return scoring units and cells."""
    scored = task.scored(due_items(task, samples, spec, answer, trials=trials), system=spec)
    return scored, list(task.measures(scored, system=spec))


def cell(measures: Iterable[Measure], metric: str, **where: str) -> Measure:
    """Return the one cell of that metric whose slice has exactly these entries."""
    found = [m for m in measures if m.metric.spec.name == metric and dict(m.slice) == where]
    assert len(found) == 1, f"{len(found)} cells of {metric} at {where}"
    return found[0]


def value(measures: Iterable[Measure], metric: str, **where: str) -> Point:
    """Return the value of one cell."""
    measure = cell(measures, metric, **where)
    return point(measure.metric, measure.scored)
