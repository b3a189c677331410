"""Builds that are killed, interrupted, out of space or damaged end as if undisturbed."""

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline import store as store_module
from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.store import Folder
from floorbench.errors import EnvironmentProblem
from support.build_runs import RECIPE, content, made, results, stages, start
from support.build_toy import calls


def test_what_a_worker_leaves_that_dies_while_the_next_build_runs_is_swept_too(
    tmp_path: Path,
) -> None:
    worker = subprocess.Popen(["sleep", "600"])
    left = Path(Folder(tmp_path / "cache").token(f"{worker.pid}"))
    left = left.rename(left.with_name(f"{left.name.split('-')[0]}-{worker.pid}-half"))

    def dies(_: object) -> None:
        worker.kill()
        worker.wait()

    build(
        RECIPE,
        out=tmp_path / "a",
        cache=tmp_path / "cache",
        settings={"log": str(tmp_path / "log")},
        progress=dies,
    )
    assert not left.exists()


@pytest.mark.parametrize("workers", [0, 2])
def test_killed_at_several_moments_it_ends_as_if_undisturbed(tmp_path: Path, workers: int) -> None:
    whole = content(made(tmp_path / "x", "whole", pieces=2).path)
    log = tmp_path / "log"
    for moment in (2, 14, 30, 46):
        process = start(tmp_path, "killed", workers=workers, pieces=2, slow=0.05)
        while process.poll() is None and len(calls(log)) < moment:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        finished = results(tmp_path / "cache")
        assert not (tmp_path / "killed").exists() or moment == 46
        told = len(calls(log))
        made(tmp_path, "look", pieces=2, slow=0.0, limit=1)  # another build in the same cache
        again = {c for c in calls(log)[told:] if c[0] != "last"}
        assert not again & finished
    process = start(tmp_path, "killed", workers=workers, pieces=2, slow=0.05)
    before, finished = len(calls(log)), results(tmp_path / "cache")
    assert process.wait() == 0
    assert process.stderr is not None
    process.stderr.close()
    assert not set(calls(log)[before:]) & finished
    # settings that change nothing in the items (slow, log) are in no key
    assert content(tmp_path / "killed") == whole
    assert not list((tmp_path / "cache" / "unfinished").iterdir())


def test_killed_while_it_writes_the_dataset(tmp_path: Path) -> None:
    earlier = content(made(tmp_path, limit=2).path)
    process = start(tmp_path, "a", workers=0, slow_export=0.3)
    while not (tmp_path / ".a.partial" / "audio").exists():
        time.sleep(0.01)
    process.kill()
    process.communicate()
    assert content(tmp_path / "a") == earlier
    before = calls(tmp_path / "log")
    again = made(tmp_path)
    assert calls(tmp_path / "log") == before
    assert content(again.path) == content(made(tmp_path / "x", "whole").path)
    assert {p.name for p in tmp_path.iterdir()} == {"a", ".a.lock", "cache", "log", "x"}


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    process = start(tmp_path, "a", workers=2, slow=30.0)
    while len(calls(tmp_path / "log")) < 2:
        time.sleep(0.01)
    workers = {int(line.split()[3]) for line in (tmp_path / "log").read_text().splitlines()}
    process.kill()
    process.communicate()
    deadline = time.monotonic() + 20
    while any(alive(w) for w in workers) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not any(alive(w) for w in workers)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def test_interrupted_it_keeps_what_is_finished(tmp_path: Path) -> None:
    process = start(tmp_path, "a", workers=2, slow=0.1)
    while len(calls(tmp_path / "log")) < 8:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in said
    finished = results(tmp_path / "cache")
    assert len(finished) >= 4
    before = len(calls(tmp_path / "log"))
    made(tmp_path)
    assert not set(calls(tmp_path / "log")[before:]) & finished


def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    whole = content(made(tmp_path).path)
    files = sorted((tmp_path / "cache" / "results").rglob("*.jsonl"))
    for path, cut in zip(files, (0, 10, 100, -1), strict=False):
        path.write_bytes(path.read_bytes()[:cut])
    files[4].write_bytes(files[4].read_bytes().replace(b'"attempt":0', b'"attempt":7'))
    before = len(calls(tmp_path / "log"))
    assert content(made(tmp_path, "b").path) == whole
    assert 1 <= len(calls(tmp_path / "log")) - before <= 5


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("how", ["half", "gone", "other"])
def test_a_damaged_sound_is_made_again(tmp_path: Path, how: str, workers: int) -> None:
    whole = content(made(tmp_path).path)
    for path in (tmp_path / "cache" / "sounds").rglob("*.flac"):
        data = path.read_bytes()
        if how == "half":
            path.write_bytes(data[: len(data) // 2])
        elif how == "gone":
            path.unlink()
        else:  # as long as before, so that only its content tells
            path.write_bytes(data[:200] + bytes(len(data) - 200))
    if how == "other":
        # cut must run again to notice; its own sounds are noticed by the export
        redone = made(tmp_path, "b", workers=workers, redo_from="voice")
    else:
        redone = made(tmp_path, "b", workers=workers)
    assert content(redone.path) == whole


def test_a_sound_that_the_export_finds_damaged_is_made_again(tmp_path: Path) -> None:
    whole = content(made(tmp_path).path)
    for path in (tmp_path / "cache" / "sounds").rglob("*.flac"):
        data = path.read_bytes()
        path.write_bytes(data[:200] + bytes(len(data) - 200))
    again = made(tmp_path)
    assert content(again.path) == whole
    voice = stages(again)["voice"]
    assert voice.calls - voice.cached == 6  # those that were rejected are needed by nobody


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sound_that_breaks_under_a_later_stage_is_repaired(tmp_path: Path, workers: int) -> None:
    whole = content(made(tmp_path, cache="other").path)
    made(tmp_path, "early", pieces=2)  # text, voice and gate are shared with the next build
    for path in (tmp_path / "cache" / "sounds").rglob("*.flac"):
        data = path.read_bytes()
        path.write_bytes(data[:200] + bytes(len(data) - 200))
    built = made(tmp_path, "b", workers=workers)
    assert not built.record.failed
    assert content(built.path) == whole


def test_a_full_disk_stops_with_everything_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, written = os.fsync, []

    def failing(file: int) -> None:
        written.append(file)
        if len(written) > 12:
            raise OSError(28, "No space left on device")
        real(file)

    monkeypatch.setattr(store_module.os, "fsync", failing)
    with pytest.raises(EnvironmentProblem, match=r"FB858.*No space left"):
        made(tmp_path)
    monkeypatch.undo()
    assert not (tmp_path / "a").exists()
    assert not list((tmp_path / "cache" / "unfinished").iterdir())
    finished = results(tmp_path / "cache")
    assert len(finished) >= 6
    before = len(calls(tmp_path / "log"))
    again = made(tmp_path)
    assert not set(calls(tmp_path / "log")[before:]) & finished
    assert content(again.path) == content(made(tmp_path / "x", "whole").path)


def test_a_cache_that_cannot_be_written_serves_what_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = content(made(tmp_path).path)

    def refusing(folder: Any, path: Path, data: bytes) -> None:
        raise EnvironmentProblem("FB858", "cannot be written: Read-only file system")

    monkeypatch.setattr(store_module.Folder, "write", refusing)
    assert content(made(tmp_path, "b").path) == whole
    with pytest.raises(EnvironmentProblem, match="Read-only"):
        made(tmp_path, "c", pieces=2)
    assert not (tmp_path / "c").exists()
