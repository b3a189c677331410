"""Counts by snapshot: tallies, and whole runs against services whose alias moves."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from fake_server import Call, Reply, chat, serving
from floorbench.core.prediction import Served
from floorbench.datasets.open import open_dataset
from floorbench.errors import DataError, EnvironmentProblem
from floorbench.report.comparison import comparison_table
from floorbench.report.summary import summary
from floorbench.run.budget import BudgetExecutor
from floorbench.run.compare import compare_runs
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.run.scoring import open_predictions, score
from floorbench.run.served import MOST, OTHERS, Snapshot, Tally, by_name, names
from floorbench.systems.api_cost import Price
from floorbench.tasks.codett import CodettTask

OLD, NEW = "gpt-4o-2024-08-06", "gpt-4o-2024-11-20"
SAID = "<|Dismiss|><|Incomplete|>"


def test_answers_are_counted_by_snapshot_and_build_with_first_and_last() -> None:
    tally = Tally()
    for name, build, at in (
        ("b", "1", "2026-01-02T00:00:00Z"),
        ("b", "1", "2026-01-01T00:00:00Z"),
        ("b", "2", None),
        (None, None, "2026-01-03T00:00:00Z"),
    ):
        tally.add(Served(snapshot=name, build=build, at=at))
    first, *others = tally.snapshots()
    assert first == Snapshot(
        snapshot="b", build="1", answers=2,
        first="2026-01-01T00:00:00Z", last="2026-01-02T00:00:00Z",
    )  # fmt: skip
    assert [(s.snapshot, s.answers, s.first) for s in others] == [
        (None, 1, "2026-01-03T00:00:00Z"),
        ("b", 1, None),
    ]
    assert by_name(tally.snapshots()) == {"b": 3, None: 1}
    assert names(tally.snapshots()) == ["b"]


def test_a_server_that_invents_names_does_not_fill_the_record() -> None:
    tally = Tally()
    for number in range(3 * MOST):
        tally.add(Served(snapshot=f"m-{number}"))
    found = tally.snapshots()
    assert len(found) == MOST + 1
    assert (found[0].snapshot, found[0].answers) == (OTHERS, 2 * MOST)


def test_a_snapshot_with_a_control_character_is_refused() -> None:
    with pytest.raises(DataError, match="FB201"):
        Snapshot(snapshot="a\x1b[2J", answers=1)


class Alias:
    """A service that answers one alias with these snapshots, again and again the last."""

    def __init__(self, *snapshots: Any) -> None:
        self._left = list(snapshots)

    def __call__(self, call: Call) -> Reply:
        name = self._left.pop(0) if len(self._left) > 1 else self._left[0]
        return Reply({**chat(SAID, prompt=1000), "model": name})


def go(server: Any, out: Any, *, executor: Any = None, resume: Any = None, **more: Any) -> Any:
    given = {"model": "gpt-4o", "base_url": server.url + "/v1", "attempts": 1, **more}
    return run(
        task=CodettTask(),
        system=SystemChoice(name="prompted-openai", parameters=given),
        source=open_dataset("starter:codett"),
        executor=executor,
        conditions=["h0"],
        limit=6,
        out=out,
        resume=resume,
        notify=lambda _: None,
    )


def counts(folder: Any) -> dict[Any, int]:
    return {s.snapshot: s.answers for s in folder.record().served}


def opened(folder: Any) -> Any:
    return open_predictions(folder.path, task=CodettTask(), source=open_dataset("starter:codett"))


@pytest.mark.parametrize(("executor", "workers"), [("serial", 1), ("thread", 2), ("process", 1)])
def test_a_run_records_who_answered(tmp_path: Any, executor: str, workers: int) -> None:
    with serving(Alias(OLD, OLD, NEW)) as server:
        folder = go(server, tmp_path, executor=make_executor(executor, workers=workers))
    assert counts(folder) == {NEW: 4, OLD: 2}
    assert Counter(p.decision.served.snapshot for p in folder.predictions()) == {NEW: 4, OLD: 2}
    record = folder.record()
    for s in record.served:
        assert record.created <= s.first <= s.last <= record.sittings[-1].ended


def test_a_table_says_who_answered_and_warns_of_two(tmp_path: Any) -> None:
    with serving(Alias(OLD, NEW)) as server:
        two = score(opened(go(server, tmp_path / "two")), draws=20)
    with serving(Alias(OLD)) as server:
        one = score(opened(go(server, tmp_path / "one")), draws=20)
    day = two.served[0].first[:10]
    notes = summary(two).notes
    assert f"answered by {NEW} (83 %), {OLD} (17 %), on {day}" in " ".join(notes)
    assert any(n.startswith("WARNING: 2 snapshots of the model answered") for n in notes)
    assert not any("WARNING" in n for n in summary(one).notes)
    assert one.signature.system["served"] == [OLD]
    assert two.signature.system["served"] == [OLD, NEW]
    assert "served" not in json.dumps(dict(two.signature.protocol))


@pytest.mark.parametrize("hostile", [None, 7, "x" * 1_000_000, "a\x1b[2Jb"])
def test_hostile_names_are_not_said(tmp_path: Any, hostile: Any) -> None:
    with serving(Alias(hostile)) as server:
        folder = go(server, tmp_path)
    assert counts(folder) == {None: 6}
    assert folder.journal.stat().st_size < 20_000
    result = score(opened(folder), draws=20)
    assert any("that the service did not name (100 %)" in n for n in summary(result).notes)
    assert "served" not in result.signature.system


def test_a_resumed_run_counts_all_its_sittings(tmp_path: Any) -> None:
    price = Price(text_in=1.0, text_out=0.0)
    with serving(Alias(OLD, OLD, OLD, NEW)) as server:
        stopped = BudgetExecutor(
            make_executor("serial"), price=price, budget=0.0025, currency="USD"
        )
        with pytest.raises(EnvironmentProblem, match="FB556"):
            go(server, tmp_path, executor=stopped)
        (path,) = tmp_path.glob("*/*/*")
        before = go(server, tmp_path, resume=path)
    assert counts(before) == {OLD: 3, NEW: 3}


def test_what_a_killed_sitting_did_not_record_is_read_from_the_journal(tmp_path: Any) -> None:
    with serving(Alias(OLD, NEW)) as server:
        folder = go(server, tmp_path)
        whole = folder.record().served
        plain = json.loads((folder.path / "run.json").read_text())
        (folder.path / "run.json").write_text(
            json.dumps({k: v for k, v in plain.items() if k != "served"})
        )
        assert folder.record().served == ()
        assert go(server, tmp_path, resume=folder.path).record().served == whole


def test_cached_answers_keep_the_snapshot_and_the_time(tmp_path: Any) -> None:
    cache = tmp_path / "replies"
    with serving(Alias(OLD)) as server:
        go(server, tmp_path / "a", cache=str(cache))
        for file in cache.glob("*.json"):
            kept = json.loads(file.read_text())
            file.write_text(json.dumps({**kept, "at": "2025-12-24T12:00:00Z"}))
        asked = len(server.calls)
        again = go(server, tmp_path / "b", cache=str(cache), replay=True)
        assert len(server.calls) == asked
    (found,) = again.record().served
    assert (found.snapshot, found.answers) == (OLD, 6)
    assert found.first == found.last == "2025-12-24T12:00:00Z"


def test_a_comparison_warns_when_one_alias_was_two_models(tmp_path: Any) -> None:
    made = []
    with serving(Alias(*[OLD] * 6, NEW)) as server:
        made = [opened(go(server, tmp_path / name)) for name in ("a", "b")]
    different = compare_runs(*made, draws=20)
    notes = comparison_table(different).notes
    assert any(n.startswith(f"A: answered by {OLD} (100 %)") for n in notes)
    assert any(n.startswith("WARNING: both runs asked for gpt-4o, but the snap") for n in notes)
    assert "served" in [d.path for d in different.system_differences]
    same = compare_runs(made[0], made[0], draws=20)
    assert not any("WARNING" in n for n in comparison_table(same).notes)


def test_a_system_without_a_service_leaves_no_trace(tmp_path: Any) -> None:
    folder = run(
        task=CodettTask(),
        system=SystemChoice(name="always-takeover"),
        source=open_dataset("starter:codett"),
        conditions=["h0"],
        limit=3,
        out=tmp_path,
        notify=lambda _: None,
    )
    assert folder.record().served == ()
    result = score(opened(folder), draws=20)
    assert result.served == ()
    assert "served" not in result.signature.system
    assert not any("answered by" in n for n in summary(result).notes)
