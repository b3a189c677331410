"""What every catalogued task promises, whatever it measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from floorbench import codec
from floorbench.catalog import TASKS
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Question, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.vocab import Outcome
from floorbench.datasets.clips import ClipsSource
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.echo import EchoSource
from floorbench.datasets.trp import TrpSource
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.metrics.base import Scored, ScoringTask, point
from floorbench.registry import required_parameters
from support import codett_tiny, echo_tiny, scoring, trp_tiny, two_channel_tiny


def codett(folder: Path) -> DatasetSource:
    return CodettSource(codett_tiny.build(folder, history=5, audio=False))


def clips(folder: Path) -> DatasetSource:
    for label in ("complete", "incomplete", "backchannel", "wait"):
        codett_tiny.tone(folder / f"{label}_real_1.wav", hertz=300)
    return ClipsSource(folder)


def turns(folder: Path) -> DatasetSource:
    for name in ("a", "b"):
        codett_tiny.tone(folder / f"{name}.wav", hertz=300)
    rows = "".join(f"{name}.wav\tcomplete\ten\t0.1\n" for name in ("a", "b"))
    (folder / "labels.tsv").write_text(f"path\tlabel\tlanguage\tend\n{rows}")
    return ClipsSource(folder)


def echo(folder: Path) -> DatasetSource:
    return EchoSource(echo_tiny.build(folder / "set"))


def trp(folder: Path) -> DatasetSource:
    return TrpSource(trp_tiny.build(folder))


def calls(folder: Path) -> DatasetSource:
    two_channel_tiny.build(folder)
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


# One small dataset per task. A task without one fails `test_every_task_is_here`.
DATA: dict[str, Callable[[Path], DatasetSource]] = {
    "clips": clips,
    "codett": codett,
    "dualturn-4s": calls,
    "echo": echo,
    "trp": trp,
    "turns": turns,
    "vap-1s": calls,
}
# What a task is built with here: one value for each of its parameters without a default.
GIVEN: dict[str, dict[str, Any]] = {"dualturn-4s": {"min_gap": 0}}
SYSTEMS = (
    scoring.system("all", context="dialogue"),
    scoring.system("endpoint", label_map="smart-turn", states=("SystemIdle",), score="complete"),
)


@dataclasses.dataclass(frozen=True)
class Case:
    task: ScoringTask
    samples: tuple[Sample, ...]


@pytest.fixture(scope="module", params=sorted(DATA))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    source = DATA[request.param](tmp_path_factory.mktemp(request.param))
    task = TASKS.load(request.param)(**GIVEN.get(request.param, {}))
    return Case(task, tuple(source.samples()))


def test_every_task_is_here() -> None:
    assert set(DATA) == set(TASKS.entries())


@pytest.mark.parametrize("name", sorted(DATA))
def test_parameters_without_a_default_are_explained_and_recorded(name: str) -> None:
    factory, given = TASKS.load(name), GIVEN.get(name, {})
    needed = required_parameters(factory)
    assert set(needed) == set(given) == set(getattr(factory, "hints", {}))
    recorded = factory(**given).spec.parameters
    assert {parameter: recorded[parameter] for parameter in needed} == given


def test_the_spec_is_complete_and_can_be_written(case: Case) -> None:
    spec = case.task.spec
    assert codec.decode(codec.encode(spec), TaskSpec) == spec
    assert spec.name in TASKS.entries()
    assert spec.labels
    assert len(set(spec.conditions)) == len(spec.conditions)
    assert "missing" in spec.parameters
    assert "cluster" in spec.parameters


def leaves(value: Any) -> Iterator[str]:
    """Yield every string that a system could find in an observation, the question left out."""
    if isinstance(value, Question):
        return
    if isinstance(value, str):
        yield value
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from leaves(getattr(value, field.name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(key)
            yield from leaves(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    elif value is not None:
        yield repr(value)


def test_no_observation_shows_a_target_an_id_or_a_path(case: Case) -> None:
    for sample in case.samples:
        secrets = {sample.id, sample.cluster, *map(str, sample.target.values())}
        for condition in case.task.spec.conditions:
            shown = case.task.observe(sample, condition)
            for text in leaves(shown):
                assert not any(secret in text for secret in secrets), (text, secrets)
                assert "<|" not in text
                assert ".wav" not in text


def test_a_question_does_not_depend_on_the_target(case: Case) -> None:
    asked: dict[tuple[str | None, str], set[Question | None]] = {}
    for sample in case.samples:
        shown = case.task.observe(sample, case.task.spec.conditions[0])
        asked.setdefault((shown.state, shown.language), set()).add(shown.question)
    assert all(len(questions) == 1 for questions in asked.values())


def is_narrower(shown: Observation, full: Observation) -> bool:
    """Tell whether an observation shows nothing that the sample's own does not hold."""
    turns = full.turns[len(full.turns) - len(shown.turns) :]
    return (
        shown.turns == turns
        and shown.channels.items() <= full.channels.items()
        and (shown.language, shown.state) == (full.language, full.state)
        and shown.text in (None, full.text)
        and shown.words == full.words[: len(shown.words)]
    )


def test_conditions_narrow_and_the_sample_holds_everything(case: Case) -> None:
    for sample in case.samples:
        for condition in case.task.spec.conditions:
            shown = case.task.observe(sample, condition)
            assert is_narrower(shown, sample.observation)
            assert case.task.observe(sample, condition) == shown


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_conditions_of_a_system_are_the_tasks(case: Case, system: SystemSpec) -> None:
    offered = case.task.conditions(system)
    assert offered
    assert [c for c in case.task.spec.conditions if c in offered] == list(offered)


def gold(case: Case) -> Callable[[Sample, str], Decision]:
    return lambda sample, condition: case.task.gold(sample)


def mixed(sample: Sample, condition: str) -> Decision | None:
    """Answer in every way a system can, by turns."""
    ways = (
        Decision(label="complete", scores={"complete": 0.9}),
        Decision(outcome=Outcome.FAILED),
        Decision(outcome=Outcome.UNSUPPORTED),
        Decision(label="?"),
        Decision(raw="<|Takeover|><|Completion|>"),
        None,
    )
    return ways[sum(map(ord, sample.id + condition)) % len(ways)]


def units_of(scored: Mapping[str, Scored]) -> int:
    """Count the units that stand for one prediction; units made of several come on top.

    Where a prediction is a whole session, its events are the units: sessions are counted.
    """
    if "sample" in scored or "slot" in scored:
        return len(scored["sample"] if "sample" in scored else scored["slot"])
    weights: dict[str, float] = {}
    for part in scored.values():
        for name, weight in zip(part.units or (), part.weight.tolist(), strict=True):
            weights[name] = round(1 / weight)
    return int(sum(weights.values()))


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_every_due_item_is_a_unit_whatever_was_answered(case: Case, system: SystemSpec) -> None:
    for answer in (gold(case), mixed):
        items = scoring.due_items(case.task, case.samples, system, answer, trials=2)
        assert units_of(case.task.scored(items, system=system)) == len(items) > 0


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_cells_are_unique_and_estimable(case: Case, system: SystemSpec) -> None:
    for answer in (gold(case), mixed):
        _, measures = scoring.score(case.task, case.samples, system, answer)
        names = [(m.metric.spec.name, tuple(sorted(m.slice.items()))) for m in measures]
        assert len(set(names)) == len(names)
        assert any(m.headline for m in measures)
        for measure in measures:
            codec.encode(measure.metric.spec)
            if measure.undeclared is not None:
                assert measure.coverage.expected == 0
                continue
            found = point(measure.metric, measure.scored)
            assert (found.value is None) == (found.reason is not None)
            assert measure.coverage.expected == len(measure.scored)


def test_no_prediction_at_all_is_all_absent(case: Case) -> None:
    system = SYSTEMS[0]
    scored, measures = scoring.score(case.task, case.samples, system, lambda s, c: None)
    assert units_of(scored) > 0
    for measure in measures:
        if measure.undeclared is None and "baseline" not in measure.slice:
            assert measure.coverage.absent == measure.coverage.expected


def test_the_gold_decision_has_no_problem_and_nonsense_has(case: Case) -> None:
    for sample in case.samples:
        assert case.task.problem(sample, case.task.gold(sample)) is None
        assert case.task.problem(sample, Decision(label="no such label"))


def test_the_gold_decision_is_right(case: Case) -> None:
    _, measures = scoring.score(case.task, case.samples, SYSTEMS[0], gold(case))
    values = [
        point(m.metric, m.scored).value
        for m in measures
        if m.undeclared is None and "accuracy" in m.metric.spec.name and "baseline" not in m.slice
    ]
    assert values
    assert set(values) == {1.0}


def test_scoring_in_shards_is_scoring_at_once(case: Case) -> None:
    from floorbench.metrics.base import concat

    system = SYSTEMS[0]
    items = scoring.due_items(case.task, case.samples, system, gold(case))
    half = len(items) // 2 // len(case.task.spec.conditions) * len(case.task.spec.conditions)
    whole = case.task.scored(items, system=system)
    parts = [case.task.scored(part, system=system) for part in (items[:half], items[half:])]
    for kind, expected in whole.items():
        merged = concat([part[kind] for part in parts])
        assert merged.clusters == expected.clusters
        assert merged.strata.tolist() == expected.strata.tolist()
        for name, column in expected.columns.items():
            same = (merged.columns[name] == column) | (column != column)
            assert same.all(), name
