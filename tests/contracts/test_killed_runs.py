"""Runs that are killed, interrupted or out of space lose nothing and end as if undisturbed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.vocab import Outcome
from floorbench.run.executors import make_executor
from floorbench.run.signals import RunInterrupted
from floorbench.run.store import RunFolder
from support.engine_runs import estimates, everything, go, keys
from support.engine_toys import Counting, Interrupting, choice


def start(**options: Any) -> subprocess.Popen[str]:
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-m", "support.engine_main", json.dumps(options)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(base: Path, count: int, process: subprocess.Popen[str]) -> RunFolder:
    """Wait until the run in ``base`` has written ``count`` lines."""
    for _ in range(2000):
        for journal in base.glob("toy/*/*/predictions.jsonl"):
            if journal.read_bytes().count(b"\n") >= count:
                return RunFolder(journal.parent)
        assert process.poll() is None, process.communicate()
        time.sleep(0.005)
    raise AssertionError(f"no {count} lines in time")


def children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


@pytest.mark.parametrize(("executor", "moments"), [("serial", (0, 25)), ("process", (1, 30))])
def test_a_killed_run_resumes_to_the_same_estimates(
    tmp_path: Path, executor: str, moments: tuple[int, ...]
) -> None:
    n, workers = 30, 2
    asked = tmp_path / "asked"
    options: dict[str, Any] = {
        "system": "Counting",
        "parameters": {"path": str(asked), "pause": 0.01},
        "executor": executor,
        "workers": workers,
        "n": n,
        "out": str(tmp_path / "killed"),
    }
    resume: str | None = None
    for moment in moments:
        process = start(**options, resume=resume)
        folder = wait_for_lines(tmp_path / "killed", moment, process)
        workers_of = children(process.pid)
        process.kill()
        process.communicate()
        for pid in workers_of:
            for _ in range(400):
                if gone(pid):
                    break
                time.sleep(0.01)
            assert gone(pid), "a worker outlived its killed parent"
        assert folder.record().status == "running"
        resume = str(folder.path)
    system = choice(Counting, path=str(asked), pause=0.01)
    last = make_executor(executor, workers=workers)
    assert go(tmp_path, system, n, resume=folder.path, executor=last).path == folder.path
    assert Counter(keys(folder)) == Counter(everything(n))
    in_flight = workers if executor == "process" else 1
    assert len(asked.read_text().split()) <= 2 * n + in_flight * len(moments)
    undisturbed = go(tmp_path, system, n)
    assert estimates(folder, n) == estimates(undisturbed, n)


@pytest.mark.parametrize(
    ("executor", "number"),
    [
        ("serial", signal.SIGINT),
        ("serial", signal.SIGTERM),
        ("thread", signal.SIGINT),
        ("process", signal.SIGINT),
    ],
)
def test_a_signal_ends_a_run_with_the_way_to_go_on(
    tmp_path: Path, executor: str, number: signal.Signals
) -> None:
    options: dict[str, Any] = {
        "system": "Counting",
        "parameters": {"path": str(tmp_path / "asked"), "pause": 0.02},
        "executor": executor,
        "out": str(tmp_path / "runs"),
    }
    process = start(**options)
    folder = wait_for_lines(tmp_path / "runs", 5, process)
    workers = children(process.pid)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "FB507" in err
    assert f"--resume {folder.path}" in err
    assert "Traceback" not in err
    assert all(gone(pid) for pid in workers)
    assert folder.torn() == 0
    assert folder.record().status == "interrupted"
    go(tmp_path, choice(Counting, **options["parameters"]), 30, resume=folder.path)
    assert Counter(keys(folder)) == Counter(everything(30))


def test_a_signal_in_the_middle_of_a_decision_is_no_failure_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(RunInterrupted) as caught:
        go(tmp_path, choice(Interrupting, at=5), 10)
    assert caught.value.exit_code == 130
    folder = RunFolder(next(tmp_path.glob("toy/*/*")))
    assert [k[0] for k in keys(folder)] == [f"s{i // 2}" for i in range(10)]
    assert {p.decision.outcome for p in folder.predictions()} == {Outcome.OK}


def test_a_full_disk_is_one_clear_error_and_loses_nothing(tmp_path: Path) -> None:
    options: dict[str, Any] = {"system": "System", "n": 60, "out": str(tmp_path)}
    process = start(**options, largest_file=20_000)
    _, err = process.communicate(timeout=30)
    folder = RunFolder(next(tmp_path.glob("toy/*/*")))
    assert process.returncode == 3, err
    assert "FB504" in err
    assert "File too large" in err
    assert f"--resume {folder.path}" in err
    assert "Traceback" not in err
    assert folder.torn() == 0
    kept = keys(folder)
    assert len(kept) > 40
    assert folder.record().status == "failed"
    go(tmp_path, n=60, resume=folder.path)
    assert keys(folder)[: len(kept)] == kept
    assert estimates(folder, 60) == estimates(go(tmp_path, n=60), 60)
