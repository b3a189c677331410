"""Every fault of a predictions file, named with its line; needs neither audio nor the system."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Decision, Prediction, PredictionKey
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError
from floorbench.metrics.base import ScoringTask
from floorbench.run.deciding import checked
from floorbench.run.due import Plan, due_samples, make_plan
from floorbench.run.kept import KeptPredictions
from floorbench.run.predictions import Fault, count_trials, predictions_file, scan
from floorbench.run.store import RUN_FILE
from floorbench.run.traces import get
from floorbench.tasks.labelmaps import ReadsNative

ELSEWHERE = SystemSpec(name="elsewhere", version="unknown", context="full")
_NAMED = 5


class Checked(NamedTuple):
    """What is wrong with a predictions file, and its readable predictions."""

    faults: list[Fault]
    predictions: KeptPredictions


def check(
    path: Path,
    task: ScoringTask,
    source: DatasetSource,
    *,
    system: SystemSpec = ELSEWHERE,
    conditions: Sequence[str] | None = None,
    trials: int | None = None,
    limit: int | None = None,
) -> list[Fault]:
    """Return all faults of a predictions file or run folder, in the order of its lines.

    Parameters
    ----------
    path : Path
        JSONL, CSV or Parquet (see :mod:`floorbench.run.predictions`), or a run folder.
    system : SystemSpec
        Declares what is due; by default a system that claims everything.
    conditions, trials, limit
        What should be there: by default all conditions of the task, and as many trials as the
        file has different numbers.
    task : ScoringTask
    source : DatasetSource
        What the predictions are about.

    Returns
    -------
    list of Fault
        Broken lines (``FB201``, ``FB202``), repeated keys (``FB203``), samples that are unknown
        or not due (``FB204``), unknown conditions and trials (``FB205``), labels and decisions
        that the task cannot read, and times or costs below 0 (``FB206``), a declaration of
        states or of a score that fits nothing there (``FB204``, ``FB206``), and last, in one fault,
        the keys without a prediction (``FB207``). Empty when there is nothing to say.

    Raises
    ------
    DataError
        ``FB208`` or ``FB402`` when there is no table to check.
    """
    return check_and_keep(
        path, task, source, system=system, conditions=conditions, trials=trials, limit=limit
    ).faults


def check_and_keep(
    path: Path,
    task: ScoringTask,
    source: DatasetSource,
    *,
    system: SystemSpec = ELSEWHERE,
    conditions: Sequence[str] | None = None,
    trials: int | None = None,
    limit: int | None = None,
) -> Checked:
    """Check as :func:`check` does and keep the predictions, so that they are read once.

    Parameters
    ----------
    path, task, source, system, conditions, trials, limit
        As in :func:`check`.
    """
    faults: list[Fault] = []
    predictions = KeptPredictions()
    for line, prediction, fault in scan(predictions_file(path)):
        if fault is not None:
            faults.append(fault)
        if prediction is None:
            continue
        earlier = predictions.add(line, prediction)
        if earlier is not None:
            what = f"{_name(prediction.key)} appears twice, first on line {earlier}"
            faults.append(Fault("FB203", what, line, prediction.sample_id))
    if trials is None:
        trials = count_trials(predictions.trials)
    plan = make_plan(task, system, conditions=conditions, trials=max(1, trials), limit=limit)

    made_elsewhere = not (path / RUN_FILE).is_file()
    lines = _Lines(task, system, plan, predictions_file(path).parent, made_elsewhere)
    missing = _Missing(plan)
    met: set[str] = set()
    scores: set[str] = set()
    for sample in due_samples(task, source, system, plan.limit):
        kept = predictions.of(sample.id) if sample.id not in met else []
        met.add(sample.id)
        found: dict[PredictionKey, int] = {}  # and the line of each
        for line, prediction in kept:
            key = prediction.key
            found[key] = line
            scores.update(prediction.decision.scores)
            for code, what in lines.faults(sample, key, prediction):
                faults.append(Fault(code, what, line, sample.id))
        missing.count(sample.id, found)
    for sample_id in predictions.samples():
        if sample_id not in met:
            what = f"sample '{sample_id}' is not in the data or not asked for"
            faults += [Fault("FB204", what, k.number, sample_id) for k in predictions.of(sample_id)]
    if made_elsewhere:
        faults += _undeclared(system, source, asked=bool(met), scores=scores)
    faults.sort(key=lambda fault: fault.line or 0)
    return Checked([*faults, *missing.faults()], predictions)


class _Lines(NamedTuple):
    """What the lines of a file are judged by."""

    task: ScoringTask
    system: SystemSpec
    plan: Plan
    folder: Path
    made_elsewhere: bool

    def faults(
        self, sample: Sample, key: PredictionKey, prediction: Prediction
    ) -> list[tuple[str, str]]:
        """Return code and words of all that is wrong with the prediction of a sample."""
        found = []
        outside = _out_of_plan(key, self.plan)
        if outside is not None:
            found.append(("FB205", outside))
        below = _below_zero(prediction)
        if below is not None:
            found.append(("FB206", below))
        try:
            decision = checked(get(self.folder, prediction.decision))
        except DataError as error:
            return [*found, (error.code, error.what)]
        if decision.outcome is Outcome.OK:
            problem = self.task.problem(sample, decision)
            # A run has said at its start what its labels mean; others are an invalid answer there.
            if problem is None and self.made_elsewhere and isinstance(self.task, ReadsNative):
                problem = self.task.unread(decision, self.system)
            if problem is not None and not in_words(decision):
                found.append(("FB206", problem))
        elif decision.outcome is Outcome.INVALID and prediction.decision.outcome is not (
            Outcome.INVALID
        ):
            found.append(("FB206", str(decision.reason)))
        return found


class _Missing:
    """Keys that are due and have no prediction: their number, and the first of them by name."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._count = 0
        self._first: list[str] = []

    def count(self, sample_id: str, found: Collection[PredictionKey]) -> None:
        """Compare what a sample has with what is due."""
        for condition in self._plan.conditions:
            for trial in range(self._plan.trials):
                key = PredictionKey(sample_id, condition, trial)
                if key in found:
                    continue
                self._count += 1
                if len(self._first) < _NAMED:
                    self._first.append(_name(key))

    def faults(self) -> list[Fault]:
        """Return the one fault that they are, if there are any."""
        if not self._count:
            return []
        more = ", ..." if self._count > len(self._first) else ""
        return [Fault("FB207", f"{self._count} missing: {', '.join(self._first)}{more}")]


def in_words(decision: Decision) -> bool:
    """Tell whether a decision is a system's own words and nothing else.

    Words that a task cannot read are an invalid answer, which is counted; they are no broken file.
    """
    others = (decision.label, decision.trace, decision.scores, decision.events)
    return decision.raw is not None and not any(others)


def _undeclared(
    system: SystemSpec, source: DatasetSource, *, asked: bool, scores: set[str]
) -> list[Fault]:
    """Name declared states that no sample has, and a declared score that no prediction has."""
    faults = []
    if not asked and system.states is not None:
        states = sorted({str(sample.observation.state) for sample in source.samples()})
        if not set(states) & set(system.states):
            what = f"the system declares the state {_listed(system.states)}; the data have "
            faults.append(Fault("FB204", what + _listed(states)))
    if scores and system.score is not None and system.score not in scores:
        what = f"the system declares the score '{system.score}'; the predictions have "
        faults.append(Fault("FB206", what + _listed(sorted(scores))))
    return faults


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _out_of_plan(key: PredictionKey, plan: Plan) -> str | None:
    if key.condition not in plan.conditions:
        known = ", ".join(repr(c) for c in plan.conditions)
        return f"condition '{key.condition}' is not due; due are {known}"
    if not 0 <= key.trial < plan.trials:
        return f"trial {key.trial} is not due; due are 0 to {plan.trials - 1}"
    return None


def _below_zero(prediction: Prediction) -> str | None:
    """Say which time or cost cannot be negative and is: the media clock starts at 0."""
    compute, decision = prediction.compute, prediction.decision
    held: list[tuple[str, float | None]] = [
        ("commit", decision.commit),
        *((f"events[{i}].commit", e.commit) for i, e in enumerate(decision.events)),
        ("compute.wall", compute.wall),
        ("compute.cpu", compute.cpu),
        ("compute.tokens_in", compute.tokens_in),
        ("compute.tokens_out", compute.tokens_out),
        ("compute.batch", compute.batch),
    ]
    return next((f"{n} is {v}, below 0" for n, v in held if v is not None and v < 0), None)


def _name(key: PredictionKey) -> str:
    text = f"'{key.sample_id}'"
    if key.condition:
        text += f" condition '{key.condition}'"
    return text + (f" trial {key.trial}" if key.trial else "")
