import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorbench import codec
from floorbench.core.score import Coverage
from floorbench.core.spec import MetricSpec, SystemSpec
from floorbench.errors import UsageError
from floorbench.metrics.base import DueItem, Measure, Scored
from floorbench.metrics.classification import accuracy, prediction_share, smr
from floorbench.metrics.scored import OK
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.gate import GatedCell, GateReport, gate, judged_limits, verdict_by
from floorbench.run.scoring import Opened, open_predictions
from floorbench.stats.paired import compare
from support.engine_toys import Bad, Source, System, Task, choice, quiet

N = 400
FAST: dict[str, Any] = {"draws": 300}


class Waits:
    """The metric of a made-up wait in seconds: the mean of a column."""

    spec = MetricSpec(
        name="wait", version="1", unit="sample", columns=("wait",), better="lower", high=None
    )

    def value_weighted(self, scored: Scored, weights: Any) -> Any:
        w = weights[:, scored.cluster]
        return (w @ scored.column("wait")) / w.sum(axis=1)

    def reason(self, scored: Scored) -> str:
        return "no units"


class Wide(Task):
    """Adds metrics of every direction and unit to the toy task."""

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        whole = super().scored(items, system=system)["sample"]
        right = whole.column("predicted") == whole.column("gold")
        return {
            "sample": whole.with_columns(
                wait=np.where(right, 0.5, 1.5),
                gold_intent=np.zeros(len(whole), dtype=np.int64),
                predicted_intent=(
                    np.arange(len(whole)) // 2 % system.parameters["wrong_every"] == 1
                ).astype(np.int64),
            )
        }

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        whole = scored["sample"].where(scored["sample"].column("condition") == "h0")
        whole = replace(whole, vocab={**whole.vocab, "gold_intent": ("a", "b"),
                                      "predicted_intent": ("a", "b")})  # fmt: skip
        metrics = (accuracy(), smr(action="yes"), prediction_share(label="yes"), Waits())
        return [
            Measure(
                metric=metric,
                slice={"condition": "h0"},
                scored=whole,
                coverage=Coverage(expected=len(whole), ok=len(whole)),
                headline=True,
            )
            for metric in metrics
        ]


def opened(
    tmp_path: Path, system: SystemChoice, task: Task | None = None, n: int = N, **options: Any
) -> Opened:
    task = task or Task()
    folder = run(task=task, system=system, source=Source(n), out=tmp_path, notify=quiet, **options)
    return open_predictions(folder.path, task=task, source=Source(n))


def by_metric(report: GateReport) -> dict[str, GatedCell]:
    return {c.metric: c for c in report.cells}


@pytest.mark.parametrize(
    ("low", "high", "margin", "verdict"),
    [
        (-0.01, 0.01, 0.02, "kept"),
        (-0.02, 0.01, 0.02, "not shown"),
        (-0.05, -0.021, 0.02, "worse"),
        (-0.05, -0.02, 0.02, "not shown"),
        (-0.05, 0.05, 0.02, "not shown"),
        (0.001, 0.05, 0.0, "kept"),
        (-0.05, -0.001, 0.0, "worse"),
        (0.0, 0.0, 0.0, "not shown"),
        (None, None, 0.5, "not shown"),
    ],
)
def test_the_verdict_is_read_off_the_interval(
    low: float | None, high: float | None, margin: float, verdict: str
) -> None:
    assert verdict_by(low, high, margin=margin) == verdict


def test_known_differences_get_their_verdicts(tmp_path: Path) -> None:
    base = opened(tmp_path, choice(wrong_every=7))
    worse = gate(opened(tmp_path, choice(wrong_every=2)), against=base, **FAST)
    assert [c.verdict for c in worse.cells] == ["worse", "worse"]
    cell = worse.cells[0]
    assert cell.candidate == 0.5
    assert cell.gain == pytest.approx((cell.candidate or 0) - (cell.baseline or 0))
    assert cell.sentence.startswith("worse by ")
    assert not worse.passed
    assert worse.failures[0] == f"accuracy condition=h0: {cell.sentence}"
    better = gate(opened(tmp_path, choice(wrong_every=100)), against=base, **FAST)
    assert better.passed
    assert better.failures == ()
    assert better.cells[0].sentence.startswith("kept: better by ")


def test_the_same_run_is_kept_whatever_its_size(tmp_path: Path) -> None:
    for n in (8, N):
        base = opened(tmp_path / str(n), choice(), n=n)
        again = opened(tmp_path / f"{n} again", choice(), n=n)
        for other in (base, again):
            report = gate(other, against=base, **FAST)
            assert report.same_answers
            assert report.passed
            assert "same answers" in report.cells[0].sentence


def test_another_system_with_the_same_answers_is_judged_by_the_exact_limit(tmp_path: Path) -> None:
    base, other = opened(tmp_path, choice()), opened(tmp_path, named("release", wrong_every=5))
    report = gate(other, against=base, **FAST)
    cell = report.cells[0]
    assert not report.same_answers
    assert (cell.clusters, cell.gain) == (200, 0)
    assert cell.low == pytest.approx(0.025 ** (1 / 200) - 1)
    assert report.passed
    tight = gate(other, against=base, margin=1, **FAST).cells[0]
    assert tight.verdict == "not shown"
    assert tight.needed == int(np.ceil(np.log(0.025) / np.log(0.99)))
    assert f"needs about {tight.needed} clusters, 200 can show 1.83 points" in tight.sentence


def named(name: str, **parameters: Any) -> SystemChoice:
    def factory() -> System:
        system = System(**parameters)
        system.spec = replace(system.spec, name=name)
        return system

    return SystemChoice(name=name, factory=factory)


def test_tiny_data_show_nothing(tmp_path: Path) -> None:
    report = gate(
        opened(tmp_path, choice(wrong_every=100), n=12),
        against=opened(tmp_path, choice(wrong_every=2), n=12),
        **FAST,
    )
    assert [c.verdict for c in report.cells] == ["not shown", "not shown"]
    assert report.cells[0].sentence == "not shown: 6 clusters; an interval needs 10"
    assert not report.passed


def test_few_clusters_are_told_what_they_can_show_and_what_is_needed(tmp_path: Path) -> None:
    report = gate(
        opened(tmp_path, choice(wrong_every=6), n=60),
        against=opened(tmp_path, choice(wrong_every=5), n=60),
        metrics=["accuracy"],
        **FAST,
    )
    cell = report.cells[0]
    assert cell.verdict == "not shown"
    assert cell.showable is not None
    assert cell.needed == int(np.ceil(30 * (cell.showable / 0.02) ** 2))
    assert f"needs about {cell.needed} clusters" in cell.sentence


def test_the_conservative_limits_are_judged_where_there_are_any(tmp_path: Path) -> None:
    base = opened(tmp_path, choice(wrong_every=5), n=40)
    report = gate(opened(tmp_path, choice(wrong_every=3), n=40), against=base, margin=20, **FAST)
    cell = report.cells[0]
    assert cell.interval is not None
    assert cell.interval.clusters < 30
    low, high = cell.interval.beside["conservative"]
    assert (cell.low, cell.high) == (low, high)
    assert low < (cell.interval.low or 0) < (cell.interval.high or 0) < high
    assert cell.sentence.endswith(" (by conservative limits)")
    assert judged_limits(cell.interval, -1.0) == (-high, -low)
    bare = replace(cell.interval, beside={})
    assert judged_limits(bare) == (bare.low, bare.high)
    assert judged_limits(replace(bare, low=None, high=None), -1.0) == (None, None)


def test_every_direction_is_turned_so_that_more_is_better(tmp_path: Path) -> None:
    task = Wide()
    base = opened(tmp_path, choice(wrong_every=7), task)
    bad = opened(tmp_path, choice(wrong_every=2), task)
    options: dict[str, Any] = {"margins": {"wait": 0.1}, "better": {"prediction_share": "higher"}}
    options |= FAST
    lost = by_metric(gate(bad, against=base, **options))
    won = by_metric(gate(base, against=bad, **options))
    for name in ("accuracy", "smr", "wait"):
        assert (name, lost[name].verdict) == (name, "worse")
        assert (name, won[name].verdict) == (name, "kept")
        assert (lost[name].gain or 0) < 0 < (won[name].gain or 0)
        assert (lost[name].low or 0) < (lost[name].gain or 0) < (lost[name].high or 0)
    assert (lost["wait"].candidate or 0) > (lost["wait"].baseline or 0)
    assert lost["wait"].margin == 0.1
    assert lost["smr"].margin == 0.02
    options["better"] = {"prediction_share": "lower"}
    assert by_metric(gate(bad, against=base, **options))["prediction_share"].gain == -(
        lost["prediction_share"].gain or 0
    )


def test_what_cannot_be_judged_is_left_out_and_refused_by_name(tmp_path: Path) -> None:
    task = Wide()
    a = opened(tmp_path, choice(wrong_every=7), task)
    report = gate(a, against=a, **FAST)
    assert [c.metric for c in report.cells] == ["accuracy", "smr"]
    assert {c.metric: c.reason for c in report.left_out} == {
        "prediction_share": "neither way is better by itself",
        "wait": "no share; it needs a margin in its own unit (--margin wait=VALUE)",
    }
    for options, code, words in (
        ({"metrics": ["prediction_share"]}, "FB528", "neither way"),
        ({"margins": {"prediction_share": 2}}, "FB528", "neither way"),
        ({"metrics": ["wait"]}, "FB527", "says nothing about it"),
        ({"metrics": ["acuracy"]}, "FB526", "acuracy"),
        ({"margins": {"kappa": 1}}, "FB526", "kappa"),
        ({"better": {"kappa": "lower"}}, "FB526", "kappa"),
        ({"better": {"accuracy": "lower"}}, "FB103", "better when higher"),
        ({"better": {"wait": "less"}}, "FB103", "less"),
        ({"margin": -0.1}, "FB527", "-0.1"),
        ({"margin": float("nan")}, "FB527", "nan"),
        ({"margins": {"accuracy": float("inf")}}, "FB527", "margin of 'accuracy'"),
    ):
        with pytest.raises(UsageError, match=words) as caught:
            gate(a, against=a, **{**FAST, **options})  # type: ignore[arg-type]
        assert caught.value.code == code


def test_other_protocols_are_refused_as_by_compare(tmp_path: Path) -> None:
    a = opened(tmp_path, choice())
    b = opened(tmp_path, choice(), Task(missing="drop"))
    with pytest.raises(UsageError, match="missing") as caught:
        gate(a, against=b, **FAST)
    assert caught.value.code == "FB520"


def test_a_metric_outside_the_table_brings_all_its_cells(tmp_path: Path) -> None:
    a = opened(tmp_path, choice())
    report = gate(a, against=a, metrics=["macro_accuracy"], **FAST)
    assert {c.metric for c in report.cells} == {"macro_accuracy"}
    assert len(report.cells) == 2
    assert len(gate(a, against=a, every=True, **FAST).cells) == 4


def test_a_cell_that_the_candidate_gave_up_is_not_kept(tmp_path: Path) -> None:
    whole, part = opened(tmp_path, choice()), opened(tmp_path, choice(context="none"))
    report = gate(part, against=whole, margin=10, **FAST)
    lost = report.cells[1]
    assert lost.verdict == "not shown"
    assert lost.sentence == "not shown: N/A in the candidate: the system reads no history"
    back = gate(whole, against=part, margin=10, **FAST)
    assert [c.slice for c in back.cells] == [{"condition": "h0"}]
    assert back.left_out[0].reason == "N/A in the baseline: the system reads no history"
    with pytest.raises(UsageError, match="N/A") as caught:
        gate(whole, against=nothing_declared(tmp_path), **FAST)
    assert caught.value.code == "FB525"


def nothing_declared(tmp_path: Path) -> Opened:
    class Nothing(Task):
        def measures(
            self, scored: Mapping[str, Scored], *, system: SystemSpec
        ) -> Sequence[Measure]:
            return [replace(m, undeclared="N/A") for m in super().measures(scored, system=system)]

    return opened(tmp_path, choice(context="none"), Nothing())


def test_missing_answers_count_and_are_visible(tmp_path: Path) -> None:
    base = opened(tmp_path, choice(wrong_every=1000))
    report = gate(opened(tmp_path, choice(Bad)), against=base, **FAST)
    assert report.candidate_coverage.ok < report.baseline_coverage.ok
    assert report.cells[0].verdict == "worse"


def test_two_runs_without_any_answer_are_not_equally_good(tmp_path: Path) -> None:
    silent = opened(tmp_path, choice(Bad), n=10)
    with pytest.raises(UsageError, match="the candidate answered none of 20") as caught:
        gate(silent, against=silent, **FAST)
    assert caught.value.code == "FB525"


def test_folders_are_opened_and_the_report_is_json(tmp_path: Path) -> None:
    from floorbench.cli.run import run as command

    command("codett", "always-takeover", out=tmp_path, score=False)
    folder = next((tmp_path / "codett").glob("*/*"))
    report = gate(folder, against=str(folder), **FAST)
    assert report.passed
    read = json.loads(codec.encode_pretty(report))
    assert read["passed"] is True
    assert read["cells"][0]["verdict"] == "kept"


def toss(generator: np.random.Generator, *, lost: float, gained: float, n: int) -> Any:
    """Return two systems on n clusters; the second is right on 4 of 5, the first changes some."""
    right = generator.random(n) < 0.8
    chance = generator.random(n)
    mine = np.where(right, chance >= lost / 0.8, chance < gained / 0.2)

    def units(correct: Any) -> Scored:
        return Scored(
            cluster=np.arange(n),
            clusters=tuple(f"c{i}" for i in range(n)),
            strata=np.zeros(n, dtype=np.int64),
            weight=np.ones(n),
            columns={
                "gold": np.ones(n, dtype=np.int64),
                "predicted": correct.astype(np.int64),
                "outcome": np.full(n, OK),
            },
            vocab={"gold": ("no", "yes"), "predicted": ("no", "yes")},
        )

    return units(mine), units(right)


@pytest.mark.parametrize(
    # In the last world the 50 clusters show gains and no loss in one of twelve samples.
    ("n", "lost", "gained"),
    [(300, 0.1, 0.05), (300, 0.05, 0.0), (50, 0.03, 0.01)],
)
def test_a_system_that_is_worse_by_the_margin_hardly_ever_passes(
    n: int, lost: float, gained: float
) -> None:
    generator = np.random.default_rng(20)
    rounds = 400
    passed = 0
    for number in range(rounds):
        a, b = toss(generator, lost=lost, gained=gained, n=n)
        made = compare({"accuracy": accuracy()}, a, b, draws=400, permutations=1, seed=number)[
            "accuracy"
        ].interval
        passed += verdict_by(*judged_limits(made), margin=lost - gained) == "kept"
    assert passed <= 0.025 * rounds + 3 * np.sqrt(0.025 * 0.975 * rounds)
