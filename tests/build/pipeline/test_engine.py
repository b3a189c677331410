"""Whole builds with a toy recipe: equal for any number of workers, stopped, refused, replaced."""

import json
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from floorbench.build.pipeline import engine
from floorbench.build.pipeline.engine import build
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from support.build_runs import content, made, results, stages, start
from support.build_toy import calls


def test_the_dataset_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    one = content(made(tmp_path, "one", cache="c1", workers=1, pieces=2, items=5).path)
    assert {"manifest.jsonl", "lineage.jsonl", "checksums.txt"} < set(one)
    assert sum(name.endswith(".wav") for name in one) >= 4
    for workers in (0, 2, 3):
        name = f"w{workers}"
        other = made(tmp_path, name, cache=f"c{name}", workers=workers, pieces=2, items=5)
        assert content(other.path) == one


def test_a_second_build_calls_nothing(tmp_path: Path) -> None:
    first = made(tmp_path)
    before = calls(tmp_path / "log")
    second = made(tmp_path, "b")
    assert calls(tmp_path / "log") == before
    assert content(first.path) == content(second.path)
    assert all(s.cached == s.calls for s in second.record.stages)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_stage_may_stop_the_build(tmp_path: Path, workers: int) -> None:
    with pytest.raises(EnvironmentProblem, match="FB421 no key"):
        made(tmp_path, trouble="voice:item-3:stop", workers=workers)
    with pytest.raises(EnvironmentProblem, match="FB858"):
        made(tmp_path, trouble="voice:item-3:full", workers=workers)
    assert not (tmp_path / "a").exists()
    assert any(stage == "text" for stage, _, _ in results(tmp_path / "cache"))
    assert made(tmp_path).record.finished == 6


def test_changes_reach_exactly_what_depends_on_them(tmp_path: Path) -> None:
    first = stages(made(tmp_path))
    assert not any(s.cached for s in first.values())
    louder = stages(made(tmp_path, threshold=0.29, attempts=3))
    assert louder["text"].cached == louder["text"].calls
    assert louder["voice"].cached > 0
    assert louder["gate"].cached == 0
    newer = stages(made(tmp_path, voice_version=2))
    assert newer["text"].cached == 6
    assert newer["voice"].cached == 0
    # the gate sees the same sounds as before, because the toy's new version speaks alike
    assert newer["gate"].cached == newer["gate"].calls
    newest = stages(made(tmp_path, text_version=2))
    assert newest["text"].cached == 0


def test_from_a_stage_on_everything_is_made_anew(tmp_path: Path) -> None:
    made(tmp_path)
    got = stages(made(tmp_path, redo_from="gate"))
    assert got["voice"].cached == got["voice"].calls
    assert [got[s].cached for s in ("gate", "cut", "balance", "last")] == [0, 0, 0, 0]
    with pytest.raises(DataError, match="FB851 there is no stage 'gat'\nhint: did you mean 'gate'"):
        made(tmp_path, redo_from="gat")


@pytest.mark.parametrize("workers", [0, 2])
def test_failures_are_counted_and_explained(tmp_path: Path, workers: int) -> None:
    trouble = "text:item-1:data,voice:item-2:bug"
    built = made(tmp_path, trouble=trouble, workers=workers)
    assert (built.record.failed, built.record.finished) == (2, 4)
    told = {x.item: x for x in built.lost}
    assert (told["item-1"].stage, told["item-1"].reason) == ("text", "FB201")
    assert told["item-1"].detail == "a broken source"
    assert told["item-2"].detail == "ZeroDivisionError: a bug in a stage"
    assert "build_toy.py" in told["item-2"].trace[-1]
    rows = [json.loads(r) for r in (built.path / "rejected.jsonl").read_text().splitlines()]
    assert [r["item"] for r in rows] == ["item-1", "item-2"]
    assert stages(built)["text"].failed == 1
    assert made(tmp_path).record.failed == 0  # nothing of a failure is cached


def test_a_worker_that_dies_costs_one_item(tmp_path: Path) -> None:
    built = made(tmp_path, trouble="voice:item-2:die", workers=2)
    (lost,) = (x for x in built.lost if x.kind == "failed")
    assert (lost.item, lost.stage) == ("item-2", "voice")
    assert "died 2 times (SIGKILL)" in lost.detail
    assert [c for c in calls(tmp_path / "log") if c[:2] == ("voice", "item-2")] == [
        ("voice", "item-2", 0)
    ] * 2


@pytest.mark.parametrize("stage", ["text", "voice", "gate", "cut"])
def test_a_stage_that_hangs_costs_one_item(tmp_path: Path, stage: str) -> None:
    item = "item-1"
    trouble = f"{stage}:{item}:hang"
    built = made(tmp_path, trouble=trouble, workers=2, item_timeout=2.0, threshold=0.0)
    assert [(x.item, x.stage, x.kind, x.reason, x.detail) for x in built.lost] == [
        (item, stage, "failed", "FB836", "no result within 2 s"),
        ("item-5-0", "balance", "rejected", "odd", "one too many"),
    ]
    assert [c for c in calls(tmp_path / "log") if c[:2] == (stage, item)] == [(stage, item, 0)]
    assert made(tmp_path, threshold=0.0).record.finished == 6  # asked again, and all of it


def test_a_stage_that_hangs_at_its_start_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"FB836 no result within 2 s: stage 'gate' was"):
        made(tmp_path, trouble="gate:start:hang", workers=1, item_timeout=2.0)
    assert ("text", "item-0", 0) in results(tmp_path / "cache")


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf"), 1e300])
def test_a_time_limit_is_one_that_can_be_waited_for(tmp_path, limit):
    with pytest.raises(UsageError, match="FB103 item timeout"):
        made(tmp_path, workers=1, item_timeout=limit)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_stage_that_cannot_start_stops_the_build(tmp_path: Path, workers: int) -> None:
    with pytest.raises(EnvironmentProblem, match="FB854 stage 'gate' raises ZeroDivisionError"):
        made(tmp_path, trouble="gate:start:bug", workers=workers)


def test_a_stage_that_dies_at_its_start_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"FB854.*'gate' ended its process.*SIGKILL"):
        made(tmp_path, trouble="gate:start:die", workers=1)


def test_one_item_may_become_several(tmp_path: Path) -> None:
    built = made(tmp_path, pieces=4, items=3)
    assert stages(built)["cut"].left == 12
    assert built.record.finished == 12
    rows = [json.loads(r) for r in (built.path / "manifest.jsonl").read_text().splitlines()]
    assert [r["id"] for r in rows] == sorted(f"item-{i}-{n}" for i in range(3) for n in range(4))


def test_attempts_change_the_draw_and_the_last_rejection_counts(tmp_path: Path) -> None:
    built = made(tmp_path, attempts=2)
    by_stage = stages(built)
    assert by_stage["gate"].tried_again["quiet"] > by_stage["gate"].rejected["quiet"] > 0
    assert by_stage["voice"].calls == 6 + by_stage["gate"].tried_again["quiet"]
    assert by_stage["gate"].entered == 6
    assert by_stage["gate"].left == 6 - by_stage["gate"].rejected["quiet"]
    lost = [x for x in built.lost if x.stage == "gate"]
    assert all(x.kind == "rejected" and x.detail.startswith("peak 0.") for x in lost)


def test_lineage_leads_from_every_sample_to_its_seed(tmp_path: Path) -> None:
    built = made(tmp_path, pieces=2)
    rows = [json.loads(r) for r in (built.path / "lineage.jsonl").read_text().splitlines()]
    manifest = [json.loads(r) for r in (built.path / "manifest.jsonl").read_text().splitlines()]
    assert [r["item"] for r in rows] == [m["id"] for m in manifest]
    for row, sample in zip(rows, manifest, strict=True):
        assert row["seed"] == {
            "id": f"item-{sample['n']}",
            "fields": {"n": sample["n"]},
            "audio": {},
        }
        names = [s["stage"] for s in row["steps"]]
        tries = sample["attempt"] + 1
        assert names == ["text", *["voice", "gate"] * tries, "cut", "balance", "last"]
        assert [s["rejected"] for s in row["steps"]].count("quiet") == tries - 1
        assert row["steps"][0]["notes"] == [{"kind": "call", "model": "toy", "prompt": "0" * 64}]
        assert row["steps"][1]["notes"][0]["kind"] == "voice"
        assert row["sounds"]["target"] in row["steps"][-3]["sounds"]
        for step in row["steps"]:
            key = step["key"]
            assert (tmp_path / "cache" / "results" / key[:2] / f"{key}.jsonl").is_file()


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    process = start(tmp_path, "a", workers=1, slow=0.3)
    while not calls(tmp_path / "log"):
        time.sleep(0.01)
    try:
        with pytest.raises(DataError, match=f"FB853.*process {process.pid}"):
            made(tmp_path)
    finally:
        process.kill()
        process.communicate()


def test_only_so_many_seeds(tmp_path: Path) -> None:
    built = made(tmp_path, limit=2)
    assert (built.record.seeds, built.record.limit, built.record.finished) == (2, 2, 2)
    assert made(tmp_path, preset="tiny").record.settings["items"] == 2


def test_an_earlier_build_is_replaced_and_other_folders_are_not(tmp_path: Path) -> None:
    made(tmp_path, pieces=3)
    made(tmp_path)
    assert len(list((tmp_path / "a" / "audio").iterdir())) == 6
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    with pytest.raises(DataError, match="FB855"):
        made(tmp_path, "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years of work"


def test_somebodys_file_in_a_build_is_never_deleted(tmp_path: Path) -> None:
    built = made(tmp_path)
    before = content(tmp_path / "a")
    for name in ("notes.txt", "audio/more.wav", "link"):
        path = built.path / name
        path.symlink_to(tmp_path) if name == "link" else path.write_text("years of work")
        with pytest.raises(DataError, match=f"FB855 .*holds '{name}', which no build has written"):
            made(tmp_path, pieces=2)
        path.unlink()
    assert content(tmp_path / "a") == before
    made(tmp_path, pieces=2)


def test_a_file_put_there_while_it_builds_is_kept(tmp_path: Path) -> None:
    made(tmp_path)
    process = start(tmp_path, "a", workers=0, slow_export=0.1, pieces=2)
    while not (tmp_path / ".a.partial" / "audio").exists():
        time.sleep(0.01)
    (tmp_path / "a" / "notes.txt").write_text("years of work")
    _, said = process.communicate()
    assert "FB855" in said
    assert (tmp_path / "a" / "notes.txt").read_text() == "years of work"
    assert not (tmp_path / ".a.partial").exists()


@pytest.mark.parametrize(
    ("out", "cache"),
    [("x", "x"), ("x/set", "x"), ("x", "x/cache"), ("link/set", "x"), ("x/../y/set", "link2")],
)
def test_dataset_and_cache_never_lie_in_one_another(tmp_path: Path, out: str, cache: str) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "x")
    (tmp_path / "link2").symlink_to(tmp_path / "y")
    with pytest.raises(UsageError, match="FB837"):
        made(tmp_path, out, cache=cache)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(("out", "cache"), [("x/set", "y"), ("link/set", "y"), ("y", "x/cache")])
def test_nothing_is_built_inside_what_the_recipe_reads(
    tmp_path: Path, out: str, cache: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "x")
    work = engine.checked_work
    monkeypatch.setattr(
        engine,
        "checked_work",
        lambda *given: replace(work(*given), sources=(tmp_path / "z", tmp_path / "x")),
    )
    with pytest.raises(UsageError, match=r"FB837 the \w+ .* lies inside '.*x', which"):
        made(tmp_path, out, cache=cache)
    assert list((tmp_path / "x").iterdir()) == []


def test_a_link_to_a_dataset_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "a").symlink_to(tmp_path / "disk" / "set")
    for limit in (2, 4, 6):
        assert made(tmp_path, limit=limit).record.seeds == limit
        assert (tmp_path / "a").is_symlink()
        assert {p.name for p in (tmp_path / "disk").iterdir()} == {"set", ".set.lock"}


def test_when_nothing_comes_through_nothing_is_written(tmp_path: Path) -> None:
    made(tmp_path)
    before = content(tmp_path / "a")
    with pytest.raises(DataError, match="FB857 no item came through; first of 6: item-0 at gate"):
        made(tmp_path, threshold=0.9)
    assert content(tmp_path / "a") == before


def test_impossible_calls_are_refused(tmp_path: Path) -> None:
    from support.build_toy import ToyRecipe

    with pytest.raises(UsageError, match="FB103"):
        made(tmp_path, limit=0)
    with pytest.raises(UsageError, match="FB103 a recipe object"):
        build(ToyRecipe(), out=tmp_path / "a", cache=tmp_path / "c", workers=1)
    assert build(ToyRecipe(), out=tmp_path / "a", cache=tmp_path / "c").record.finished == 6


def test_checksums_are_those_of_the_files(tmp_path: Path) -> None:
    built = made(tmp_path)
    done = subprocess.run(
        ["sha256sum", "-c", "checksums.txt"],
        cwd=built.path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert done.stdout.count(": OK") == len(content(built.path)) - 1
