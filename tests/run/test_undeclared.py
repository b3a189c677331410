"""Systems of different capability: paired averages against a slow oracle, and what is refused."""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from floorbench import codec
from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.vocab import Outcome
from floorbench.datasets.codett_labels import ACTIONS, INTENTS, labels_of
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError
from floorbench.metrics.base import Measure, Scored, evaluator, point
from floorbench.run.compare import RunComparison, compare_runs
from floorbench.run.due import Plan
from floorbench.run.estimates import estimate_cells
from floorbench.run.scoring import Opened, open_predictions, score
from floorbench.run.undeclared import paired_units, sets_differ, wrong_by_definition
from floorbench.stats.bootstrap import bootstrap, collapsed
from floorbench.stats.paired import Difference, compare_cells
from floorbench.tasks.codett import CodettTask
from floorbench.tasks.units import stratum_code
from oracles import codett_pairs as oracle
from oracles.codett_scores import Row
from oracles.stats_resampling import drawn_clusters, swap_differences
from support.scoring import cell, system
from support.scoring import score as scored_cells

IDLE = ("Takeover", "Dismiss")
EN = {"language": "en", "condition": "h0"}
ANSWERS = (*ACTIONS, *ACTIONS, Outcome.FAILED, Outcome.INVALID)
PAIRS = [
    (IDLE, ACTIONS),
    (ACTIONS, IDLE),
    (IDLE, ("Maintain", "Takeover", "Dismiss")),  # one action that neither declares
    (IDLE, ("Maintain", "StopandListen")),  # no action that both declare
    (IDLE, IDLE),
]


def dialogues(n: int) -> list[Sample]:
    """Return dialogues of one or more items in both states, in two strata, actions uneven."""
    draw = random.Random(7)
    out = []
    for i in range(n):
        for j in range(draw.choice((1, 1, 2, 4))):
            intent = draw.choice(INTENTS)
            out.append(
                Sample(
                    id=f"d{i}.{j}",
                    cluster=f"d{i}",
                    stratum=f"part {i % 2}",
                    observation=Observation(language="en", state=intent.state),
                    target={"label": intent.label},
                )
            )
    return out


def said_of(samples: Sequence[Sample], seed: int) -> dict[str, Decision]:
    """Return random answers, right more often than not."""
    draw = random.Random(seed)
    out = {}
    for sample in samples:
        said = draw.choice((str(sample.target["label"]).split("_")[1], *ANSWERS))
        out[sample.id] = (
            Decision(outcome=said) if isinstance(said, Outcome) else Decision(label=said)
        )
    return out


def row_of(sample: Sample, decision: Decision) -> Row:
    said = None if decision.label is None else labels_of(decision.label)[0]
    return Row(str(sample.target["label"]), said, decision.outcome.value)


def cell_of(
    samples: Sequence[Sample], said: Mapping[str, Decision], labels: Sequence[str], missing: str
) -> Measure:
    _, measures = scored_cells(
        CodettTask(missing=missing),
        samples,
        system(labels=tuple(labels)),
        lambda s, c: said[s.id],
    )
    return cell(measures, "average_all4", **EN)


def rows_by_cluster(
    samples: Sequence[Sample],
    answers: tuple[Mapping[str, Decision], Mapping[str, Decision]],
    declared: tuple[Sequence[str], Sequence[str]],
) -> dict[str, tuple[list[Row], list[Row]]]:
    items: dict[str, list[tuple[Row, Row]]] = {}
    for s in samples:
        if s.observation.language == "en":
            pair = (row_of(s, answers[0][s.id]), row_of(s, answers[1][s.id]))
            items.setdefault(s.cluster, []).append(pair)
    return oracle.by_dialogue(items, declared)


def drawn_differences(pair: tuple[object, Scored, Scored], draws: int) -> np.ndarray:
    metric, a, b = pair
    both = Difference(evaluator(metric, a), evaluator(metric, b))
    found = bootstrap({"d": both}, a.strata, draws=draws, seed=3, stream="paired")
    return found["d"].values


@pytest.mark.parametrize("missing", ["wrong", "drop"])
@pytest.mark.parametrize("declared", PAIRS, ids=lambda d: f"{len(d[0])}-{len(d[1])}")
def test_difference_and_draws_are_those_of_a_slow_loop(
    declared: tuple[Sequence[str], Sequence[str]], missing: str
) -> None:
    samples = dialogues(40)
    answers = said_of(samples, 1), said_of(samples, 2)
    a, b = (cell_of(samples, x, d, missing) for x, d in zip(answers, declared, strict=True))
    pair = paired_units(a, b)
    rows = rows_by_cluster(samples, answers, declared)
    either = {*declared[0], *declared[1]}
    names = pair[1].clusters
    assert names == pair[2].clusters
    assert set(names) == set(rows)
    found = compare_cells({"x": pair}, seed=3, draws=60, permutations=50)["x"]
    for side, (value, units) in enumerate(((found.a, a), (found.b, b))):
        plain = oracle.average([r for both in rows.values() for r in both[side]], either, missing)
        assert value == pytest.approx(plain, abs=1e-12)
        assert value == pytest.approx(point(units.metric, units.scored).value, abs=1e-12)
    strata = [stratum_code(f"part {int(name[1:]) % 2}") for name in names]
    taken = drawn_clusters(strata, [True] * len(names), 60, 3, "paired")
    expected = np.array(
        [oracle.difference([rows[names[i]] for i in one], either, missing) for one in taken]
    )
    assert np.isfinite(expected).all()
    assert len(set(expected)) > 20
    np.testing.assert_allclose(drawn_differences(pair, 60), expected, atol=1e-12)
    assert found.interval.beside["percentile"] == pytest.approx(
        tuple(np.quantile(expected, [0.025, 0.975])), abs=1e-12
    )


def test_the_permutation_swaps_undeclared_items_with_their_dialogue() -> None:
    samples = []
    for i in range(8):
        for action in ("Maintain", "StopandListen", "Takeover", "Dismiss"):
            label = labels_of(action)[0]
            samples.append(
                Sample(
                    id=f"{i}.{action}",
                    cluster=f"d{i}",
                    observation=Observation(language="en", state=label.split("_")[0]),
                    target={"label": label},
                )
            )
    answers = said_of(samples, 4), said_of(samples, 5)
    declared = (IDLE, ACTIONS)
    a, b = (cell_of(samples, x, d, "wrong") for x, d in zip(answers, declared, strict=True))
    pair = paired_units(a, b)
    found = compare_cells({"x": pair}, seed=0, draws=20)["x"]
    rows = rows_by_cluster(samples, answers, declared)
    swapped = swap_differences(
        lambda x: oracle.average(x, ACTIONS, "wrong"),
        [rows[name][0] for name in pair[1].clusters],
        [rows[name][1] for name in pair[1].clusters],
    )
    extreme = np.abs(swapped) >= abs(swapped[0]) - 1e-12
    assert found.test.method == "exact"
    assert found.test.p == extreme.mean()
    assert found.difference == pytest.approx(swapped[0])


def test_units_that_were_not_due_enter_the_pair_alone() -> None:
    samples = dialogues(40)
    said = said_of(samples, 1)
    two, four = (cell_of(samples, said, labels, "wrong") for labels in (IDLE, ACTIONS))
    before = len(two.scored), two.coverage
    _, a, b = paired_units(two, four)
    assert len(a) == len(b) == len(samples)
    assert (len(two.scored), two.coverage) == before
    assert two.coverage.expected == sum("Idle" in str(s.observation.state) for s in samples)
    assert two.coverage.unsupported == 0


def test_the_interval_of_one_run_rests_on_what_was_due() -> None:
    samples = dialogues(40)
    _, measures = scored_cells(
        CodettTask(), samples, system(labels=IDLE), lambda s, c: said_of(samples, 1)[s.id]
    )
    mean = cell(measures, "macro_accuracy", **EN, actions="Takeover+Dismiss")
    ranked = cell(measures, "average_all4", **EN)
    own, whole = estimate_cells([mean, ranked], seed=0, draws=200, level=0.95)
    assert own.value is not None
    assert own.interval.low is not None
    assert own.interval.high is not None
    assert whole.value == pytest.approx(own.value / 2)
    assert whole.interval.low == pytest.approx(own.interval.low / 2)
    assert whole.interval.high == pytest.approx(own.interval.high / 2)
    assert whole.interval.clusters == own.interval.clusters < 40


def test_other_items_of_an_action_that_both_declare_are_refused() -> None:
    samples = dialogues(40)
    said = said_of(samples, 1)
    gone = next(s for s in samples if s.observation.state == "SystemIdle")
    two = cell_of(samples, said, IDLE, "wrong")
    four = cell_of([s for s in samples if s.id != gone.id], said, ACTIONS, "wrong")
    with pytest.raises(DataError) as caught:
        paired_units(two, four)
    assert caught.value.code == "FB651"
    example = f"for example '{gone.cluster}'"
    assert caught.value.what == f"1 cluster holds other items in one, {example}"


def test_cells_over_different_sets_say_both() -> None:
    samples = dialogues(12)
    said = said_of(samples, 1)
    made = [
        scored_cells(CodettTask(), samples, system(labels=d), lambda s, c: said[s.id])[1]
        for d in (IDLE, ACTIONS)
    ]
    # the accuracy over all items; that it is over two actions in one run shows nowhere in its slice
    one, two = (cell(m, "accuracy", **EN) for m in made)
    assert sets_differ(one, two) == (
        "over different sets: Takeover+Dismiss in the first run, "
        "Maintain+StopandListen+Takeover+Dismiss in the second"
    )
    assert sets_differ(one, one) is None
    assert wrong_by_definition(one, two) is None
    one, two = (cell(m, "class_accuracy", **EN, action="Takeover") for m in made)
    assert sets_differ(one, two) is None
    one, two = (cell(m, "average_all4", **EN) for m in made)
    assert sets_differ(one, two) is None
    lacking = "not declared, so wrong by definition: Maintain+StopandListen in the "
    assert wrong_by_definition(one, two) == f"{lacking}first run"
    assert wrong_by_definition(two, one) == f"{lacking}second run"
    assert wrong_by_definition(two, two) is None


def file_of(
    folder: Path, name: str, declared: Sequence[str], seed: int, limit: int | None = None
) -> Opened:
    """Return answers to the starter set, written to a file and opened, with the answers."""
    source, task = open_dataset("starter:codett"), CodettTask()
    samples = list(source.samples())
    said = said_of(samples, seed)
    spec = system(name, labels=tuple(declared))
    due = [s for s in samples if task.due(s, spec)][:limit]
    path = folder / f"{name}.jsonl"
    path.write_bytes(
        b"".join(
            codec.encode(Prediction(sample_id=s.id, condition="h0", decision=said[s.id])) + b"\n"
            for s in due
        )
    )
    return open_predictions(path, task=task, source=source, system=spec, limit=limit)


def on_starter(tmp_path: Path, limit: int | None = None) -> tuple[Opened, Opened, RunComparison]:
    two = file_of(tmp_path, "two", IDLE, 1, limit)
    four = file_of(tmp_path, "four", ACTIONS, 2, limit)
    return two, four, compare_runs(two, four, draws=200, permutations=99, headline=False)


def test_two_actions_against_four_on_the_starter_set(tmp_path: Path) -> None:
    two, four, found = on_starter(tmp_path)
    samples = list(two.source.samples())
    answers, declared = (said_of(samples, 1), said_of(samples, 2)), (IDLE, ACTIONS)
    rows = rows_by_cluster(samples, answers, declared)
    cells = {(c.metric, *c.slice.values()): c for c in found.cells}
    ranked = cells["average_all4", "en", "h0"]
    assert ranked.found is not None
    assert ranked.found.clusters == len(rows)
    assert ranked.found.difference == pytest.approx(
        oracle.difference(list(rows.values()), ACTIONS, "wrong")
    )
    strata_of = {s.cluster: stratum_code(s.stratum) for s in samples}
    idle_first = {s.cluster: None for s in samples if "Idle" in str(s.observation.state)}
    order = [c for c in {**idle_first, **strata_of} if c in rows]
    strata = collapsed(np.array([strata_of[c] for c in order]))
    taken = drawn_clusters(strata, [True] * len(order), 200, two.seed, "paired")
    drawn = [oracle.difference([rows[order[i]] for i in d], ACTIONS, "wrong") for d in taken]
    assert ranked.found.interval.beside["percentile"] == pytest.approx(
        tuple(np.quantile(drawn, [0.025, 0.975]))
    )
    for language in ("zh", "en"):
        assert cells["average_all4", language, "h0"].found is not None
        for action in ACTIONS:
            compared = cells["class_accuracy", language, "h0", action]
            assert (compared.found is not None) == (action in IDLE)
            if action not in IDLE:
                assert (
                    compared.reason == "N/A in the first run: two does not declare SystemSpeaking"
                )
        refused = cells["accuracy", language, "h0"]
        assert refused.found is None
        assert str(refused.reason).startswith("over different sets: Takeover+Dismiss in the first")
        (average,) = (c for c in found.cells if c.metric == "macro_accuracy"
                      and c.slice["language"] == language)  # fmt: skip
        assert average.reason == refused.reason
    assert (found.first_coverage.expected, found.second_coverage.expected) == (112, len(samples))
    assert found.first_coverage.unsupported == 0
    for opened, value in ((two, ranked.found.a), (four, ranked.found.b)):
        result = score(opened, draws=10, write=False)
        (own,) = (e for e in result.estimates if e.metric == "average_all4"
                  and e.slice["language"] == "en")  # fmt: skip
        assert own.value == pytest.approx(value)


def test_the_order_of_the_runs_changes_the_sign_alone(tmp_path: Path) -> None:
    two, four, found = on_starter(tmp_path)
    back = compare_runs(four, two, draws=200, permutations=99, headline=False)
    one, other = (
        next(c for c in r.cells if c.metric == "average_all4" and c.slice["language"] == "zh")
        for r in (found, back)
    )
    assert one.found is not None
    assert other.found is not None
    assert one.found.difference == pytest.approx(-(other.found.difference or 0))
    assert (
        one.note == "not declared, so wrong by definition: Maintain+StopandListen in the first run"
    )
    assert other.note == one.note.replace("first", "second")


def test_a_limit_that_ends_at_other_items_is_refused(tmp_path: Path) -> None:
    two, four, found = on_starter(tmp_path, limit=120)  # the second run ends within the Chinese
    assert (two.plan, four.plan) == (Plan(("h0",), 1, 120),) * 2
    ranked = {c.slice["language"]: c for c in found.cells if c.metric == "average_all4"}
    assert ranked["en"].found is not None
    assert (ranked["zh"].found, ranked["zh"].note) == (None, None)
    assert "clusters hold other items in one" in str(ranked["zh"].reason)
