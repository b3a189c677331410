from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample
from floorbench.datasets.codett import CodettSource
from floorbench.datasets.codett_labels import BY_LABEL
from floorbench.datasets.echo import EchoSource
from floorbench.report import figures_data
from floorbench.report.figures import FIGURES
from floorbench.report.stored import Sources, StoredRun, load, read_run
from floorbench.run.compare import compare_runs
from floorbench.run.scoring import open_predictions, score
from floorbench.tasks.codett import CodettTask
from floorbench.tasks.echo import EchoTask
from support import echo_tiny
from support.codett_tiny import build
from support.viewing import DuoSource, DuoTask, duo_reader, duo_runs, system, write_run


@pytest.fixture
def scored_by_ear(tmp_path: Path) -> StoredRun:
    """A system that says Takeover with a probability, wrong for one item in eight."""
    source = CodettSource(build(tmp_path / "data", per_scenario=4, history=0, languages=("EN",)))

    def answer(sample: Sample, _: str) -> Decision:
        number = int(sample.id.rpartition(":")[2]) if ":" in sample.id else 0
        taking = sample.target["action"] == "Takeover"
        if number % 8 == 0:
            taking = not taking
        return Decision(
            label="complete" if taking else "incomplete",
            scores={"complete": 0.8 if taking else 0.3},
        )

    spec = system(
        "ear", labels=("complete", "incomplete"), label_map="smart-turn", context="none",
        score="complete", threshold=0.5, states=("SystemIdle",),
    )  # fmt: skip
    path = write_run(tmp_path / "runs", task=CodettTask(), source=source, spec=spec, answer=answer)
    return load(path, Sources())


def test_confusions_count_every_item_once(tmp_path: Path) -> None:
    run = duo_reader()(duo_runs(tmp_path)[1])
    parts = list(figures_data.confusions(run))
    assert [p.about for p in parts] == ["h0", "h1"]
    assert sum(r["count"] for p in parts for r in p.rows) == 24
    assert {r["predicted"] for r in parts[0].rows} == {"no", "yes", "no answer"}
    assert set(parts[0].rows[0]) == set(FIGURES["confusion"].columns)


def test_confusions_are_of_the_finest_labels_answered(tmp_path: Path) -> None:
    source = CodettSource(build(tmp_path / "data", history=0))
    path = write_run(
        tmp_path / "runs",
        task=CodettTask(),
        source=source,
        spec=system("knower", labels=tuple(BY_LABEL), score=None, context="none"),
        answer=lambda sample, _: Decision(label=sample.target["label"]),
    )
    parts = list(figures_data.confusions(load(path, Sources())))
    assert [p.about for p in parts] == ["zh h0", "en h0"]
    assert len({r["gold"] for r in parts[0].rows}) == 14
    assert "Dismiss Incomplete" in {r["gold"] for r in parts[0].rows}


def test_histories_need_more_than_one_length(tmp_path: Path) -> None:
    source = CodettSource(build(tmp_path / "data", history=3))
    paths = [
        write_run(
            tmp_path / "runs",
            task=CodettTask(),
            source=source,
            spec=system(name, labels=tuple(BY_LABEL), score=None, context=context),
            answer=lambda sample, _: Decision(label=sample.target["label"]),
        )
        for name, context in (("long", "text"), ("short", "none"))
    ]
    sources = Sources()
    parts = list(figures_data.histories([load(p, sources) for p in paths]))
    assert {p.about for p in parts} == {"zh", "en"}
    rows = parts[0].rows
    assert {r["system"] for r in rows} == {"long"}
    assert sorted({r["history"] for r in rows}) == [0, 1, 3, 5]
    assert {r["value"] for r in rows if r["metric"].startswith("SMR")} == {0.0}
    assert {r["value"] for r in rows if not r["metric"].startswith("SMR")} == {100.0}


def test_calibrations_are_shares_per_bin(scored_by_ear: StoredRun) -> None:
    parts = list(figures_data.calibrations([scored_by_ear]))
    units = scored_by_ear.scored["sample"]
    said, gold = units.column("score"), units.column("gold") == 2
    for row in parts[0].rows:
        here = np.isclose(said, row["score"])
        assert row["units"] == here.sum()
        assert row["positive"] == pytest.approx(gold[here].mean())


def test_trade_offs_mark_the_declared_threshold(scored_by_ear: StoredRun) -> None:
    part = next(iter(figures_data.trade_offs([scored_by_ear])))
    chosen = [r for r in part.rows if r["chosen"]]
    assert len(chosen) == 1
    assert {r["n"] for r in part.rows} == {len(scored_by_ear.scored["sample"])}
    units = scored_by_ear.scored["sample"]
    positive, gold = units.column("score") > 0.5, units.column("gold") == 2
    assert chosen[0]["fpr"] == pytest.approx(100 * (positive & ~gold).sum() / (~gold).sum())
    assert chosen[0]["miss"] == pytest.approx(100 * (~positive & gold).sum() / gold.sum())
    assert set(part.rows[0]) == {*FIGURES["trade-off"].columns, "n"}


def test_differences_are_in_points(tmp_path: Path) -> None:
    paths = duo_runs(tmp_path)
    task, source = DuoTask(), DuoSource()
    a, b = (open_predictions(p, task=task, source=source) for p in paths)
    part = figures_data.differences(compare_runs(a, b, draws=200))
    assert part.about == "A = one, B = two"
    values = [
        [e.value for e in score(x, draws=20).estimates if e.metric == "accuracy"] for x in (a, b)
    ]
    expected = [100 * (x - y) for x, y in zip(*values, strict=True)]
    assert [r["difference"] for r in part.rows] == pytest.approx(expected)


def test_pair_successes_set_systems_beside_constant_policies(tmp_path: Path) -> None:
    source = EchoSource(echo_tiny.build(tmp_path / "data"))
    runs = [
        read_run(
            write_run(
                tmp_path / "runs",
                task=EchoTask(),
                source=source,
                spec=system(says, labels=("keep", "yield"), score=None, threshold=None),
                answer=lambda *_, says=says: Decision(label=says),
            ),
            task=EchoTask(),
            source=source,
        )
        for says in ("keep", "yield")
    ]
    parts = list(figures_data.pair_successes(runs))
    assert {p.about for p in parts} == {"zh", "en"}
    rows = {r["name"]: r for r in parts[0].rows}
    assert set(rows) == {"keep", "yield", "always keep", "always yield"}
    for says in ("keep", "yield"):
        policy = rows[f"always {says}"]
        assert policy["kind"] == "policy"
        assert (rows[says]["macro"], rows[says]["pasr"]) == (policy["macro"], policy["pasr"])
    assert set(parts[0].rows[0]) == {*FIGURES["pair-success"].columns, "n"}


def test_anticipations_are_by_seconds_before_the_end(tmp_path: Path) -> None:
    run = duo_reader()(duo_runs(tmp_path)[0])
    some = run.result.estimates[0]
    estimates = tuple(
        replace(some, metric="auc", value=0.9, slice={"events": "turn ends", "at": at})
        for at in ("-240 ms", "+0 ms", "+80 ms")
    )
    changed = replace(run, result=replace(run.result, estimates=(*estimates, some)))
    (part,) = figures_data.anticipations([changed])
    assert [r["at"] for r in part.rows] == [-0.24, 0.0, 0.08]
    assert set(part.rows[0]) == set(FIGURES["anticipation"].columns)
    assert list(figures_data.anticipations([run])) == []
