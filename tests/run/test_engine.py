"""Runs from end to end: undisturbed, killed, interrupted, on a full disk, resumed."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, SystemProblem, UsageError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import resume_hint, run
from floorbench.run.executors import make_executor
from floorbench.run.job import Progress
from floorbench.run.scoring import open_predictions, score
from floorbench.run.signals import RunInterrupted
from floorbench.run.store import Given, RunFolder, Sitting
from support.engine_toys import (
    Bad,
    Counting,
    Deadly,
    Interrupting,
    Source,
    System,
    Task,
    Unloadable,
    choice,
    quiet,
)


def go(
    tmp_path: Path, system: SystemChoice | None = None, n: int = 20, **options: Any
) -> RunFolder:
    given: dict[str, Any] = {"task": Task(), "source": Source(n), "out": tmp_path, "notify": quiet}
    return run(system=system or choice(), **{**given, **options})


def estimates(folder: RunFolder, n: int) -> bytes:
    score(open_predictions(folder.path, task=Task(), source=Source(n)), draws=200)
    return (folder.path / "estimates.json").read_bytes()


def keys(folder: RunFolder) -> list[tuple[str, str, int]]:
    return [tuple(p.key) for p in folder.predictions()]


def everything(n: int, trials: int = 1) -> set[tuple[str, str, int]]:
    return {(f"s{i}", c, t) for i in range(n) for c in ("h0", "h1") for t in range(trials)}


# ---- undisturbed -------------------------------------------------------------------------------


def test_everything_due_gets_exactly_one_line(tmp_path: Path) -> None:
    folder = go(tmp_path, n=5, trials=3)
    assert Counter(keys(folder)) == Counter(everything(5, 3))
    for prediction in folder.predictions():
        assert prediction.observed is not None
        assert prediction.compute.wall is not None
        assert prediction.compute.wall >= 0


def test_a_system_is_told_which_repeat_it_answers(tmp_path: Path) -> None:
    class Repeating(System):
        def decide(self, observation: Any) -> Any:
            return replace(super().decide(observation), raw=str(observation.repeat))

    folder = go(tmp_path, SystemChoice(name="repeating", factory=Repeating), n=2, trials=3)
    said = {p.key: p.decision.raw for p in folder.predictions()}
    assert said == {key: str(key.trial) for key in said}
    assert len({p.observed for p in folder.predictions()}) == 2 * 3


def test_the_record_says_what_was_run(tmp_path: Path) -> None:
    folder = go(
        tmp_path, choice(wrong_every=3), limit=4, seed=11, task_parameters={"missing": "wrong"}
    )
    record = folder.record()
    assert record.status == "complete"
    assert record.system.name == "support.engine_toys:System"
    assert record.system.parameters == {"wrong_every": 3}
    assert record.system_spec == System(wrong_every=3).spec
    assert record.task_spec == Task().spec
    assert record.dataset.digest == Source(20).digest()
    assert (record.limit, record.seed, record.trials) == (4, 11, 1)
    assert record.conditions == ("h0", "h1")
    assert record.packages["numpy"]
    assert record.sittings[0].written == 8
    assert record.sittings[0].outcomes == {"ok": 8}
    assert folder.path.relative_to(tmp_path).parts[:2] == ("toy", "toy-system")


@pytest.mark.parametrize("batch", [1, 4])
def test_executors_give_equal_estimates(tmp_path: Path, batch: int) -> None:
    made = {
        kind: estimates(go(tmp_path, executor=make_executor(kind, workers=2, batch=batch)), 20)
        for kind in ("serial", "thread", "process")
    }
    assert made["serial"] == made["thread"] == made["process"]


def test_misbehaviour_of_every_kind_is_written_down(tmp_path: Path) -> None:
    folder = go(tmp_path, choice(Bad))
    found = {p.sample_id: p.decision for p in folder.predictions()}
    assert Counter(d.outcome.value for d in found.values()) == {
        "invalid": 9 + 1, "failed": 2, "abstained": 1, "ok": 7,
    }  # fmt: skip
    assert found["s3"].outcome is Outcome.INVALID
    assert (found["s3"].label, found["s3"].reason) == ("maybe", "label 'maybe' is none of no, yes")
    assert "Traceback" not in folder.journal.read_text()
    assert "second line" not in folder.journal.read_text()


def test_hanging_and_dying_systems_end_a_run_well(tmp_path: Path) -> None:
    executor = make_executor("process", workers=2, timeout=0.3)
    folder = go(tmp_path, choice(Deadly), 8, executor=executor)
    assert Counter(keys(folder)) == Counter(everything(8))
    outcomes = {p.sample_id: p.decision.outcome.value for p in folder.predictions()}
    assert (outcomes["s3"], outcomes["s5"], outcomes["s6"]) == ("timeout", "failed", "failed")
    assert folder.record().status == "complete"


def test_undeclared_samples_and_conditions_are_not_asked(tmp_path: Path) -> None:
    folder = go(tmp_path, choice(context="none"), 4)
    assert keys(folder) == [(f"s{i}", "h0", 0) for i in range(4)]


def test_the_task_is_told_whom_it_shows_something(tmp_path: Path) -> None:
    def factory() -> System:
        system = System()
        system.spec = replace(system.spec, modalities=("text",))
        return system

    text = go(tmp_path, SystemChoice(name="reader", factory=factory), 1)
    first, second = text.predictions()
    assert first.observed != second.observed
    first, second = go(tmp_path, n=1).predictions()
    assert first.observed == second.observed


def test_progress_counts_to_the_end(tmp_path: Path) -> None:
    seen: list[Progress] = []
    go(tmp_path, n=3, progress=lambda p: seen.append(p._replace(outcomes=dict(p.outcomes))))
    assert [(p.done, p.total) for p in seen] == [(i, 6) for i in range(7)]
    assert seen[-1].outcomes == {"ok": 6}


def test_secrets_do_not_reach_the_disk(tmp_path: Path) -> None:
    class Client(System):
        def __init__(self, api_key: str) -> None:
            super().__init__()
            self.spec = replace(self.spec, parameters={"api_key": api_key})

        def decide(self, observation):  # type: ignore[no-untyped-def]
            raise ConnectionError(f"401 with {self.spec.parameters['api_key']}")

    system = SystemChoice(
        name="client", parameters={"api_key": "s3cr3t"}, factory=lambda: Client("s3cr3t")
    )
    folder = go(tmp_path, system, 2)
    for path in folder.path.iterdir():
        assert b"s3cr3t" not in path.read_bytes(), path
    reasons = {p.decision.reason for p in folder.predictions()}
    assert reasons == {"ConnectionError: 401 with <redacted>"}


def test_a_system_that_cannot_be_loaded_leaves_no_folder(tmp_path: Path) -> None:
    with pytest.raises(SystemProblem, match="FB501"):
        go(tmp_path, choice(Unloadable))
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_cut_off_is_said_at_the_start(tmp_path: Path) -> None:
    said: list[str] = []
    go(tmp_path, n=1, notify=said.append)
    assert said == ["the serial executor cannot stop a system that hangs (process can)"]


def test_data_that_are_refused_leave_no_run_behind(tmp_path: Path) -> None:
    class Refused(Source):
        def samples(self) -> Any:
            raise DataError("FB263", "the user channel is too short")

    with pytest.raises(DataError, match="too short") as refused:
        go(tmp_path, source=Refused(3))
    assert "resume" not in str(refused.value.hint)
    assert list(tmp_path.iterdir()) == []


def test_a_sample_twice_in_the_data_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB203 sample 's3' appears twice in the data"):
        go(tmp_path, source=Source(6, twice=3))


# ---- resuming ----------------------------------------------------------------------------------


def cut(folder: RunFolder, size: int) -> None:
    with folder.journal.open("r+b") as file:
        file.truncate(size)


def test_only_what_is_missing_is_asked_again(tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    folder = go(tmp_path, choice(Counting, path=str(asked)), 10)
    whole = folder.journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    cut(folder, len(b"".join(lines[:13])) + 7)
    asked.unlink()
    said: list[str] = []
    go(tmp_path, choice(Counting, path=str(asked)), 10, resume=folder.path, notify=said.append)
    assert asked.read_text().split() == ["6", "7", "7", "8", "8", "9", "9"]
    assert Counter(keys(folder)) == Counter(everything(10))
    assert said[1:] == [
        "cut an unfinished last line of 7 bytes; it is computed again",
        "resuming: 13 predictions are kept",
    ]
    first, second = folder.record().sittings
    assert (first.written, second.written) == (20, 7)
    assert second.outcomes == {"ok": 20}


def test_a_complete_run_resumes_to_nothing(tmp_path: Path) -> None:
    folder = go(tmp_path)
    before = folder.journal.read_bytes()
    go(tmp_path, resume=folder.path)
    assert folder.journal.read_bytes() == before


def test_parameters_that_json_changes_do_not_stand_in_the_way(tmp_path: Path) -> None:
    def factory() -> System:
        system = System()
        system.spec = replace(system.spec, parameters={"layers": (1, 2)}, threshold=0.1)
        return system

    system = SystemChoice(name="tuples", parameters={"layers": (1, 2)}, factory=factory)
    folder = go(tmp_path, system)
    assert go(tmp_path, system, resume=folder.path).path == folder.path


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"system": choice(wrong_every=4)}, "system.parameters.wrong_every: 5 -> 4"),
        ({"task": Task(version="2")}, 'task.version: "1" -> "2"'),
        ({"task": Task(missing="drop")}, 'task.parameters.missing: "wrong" -> "drop"'),
        ({"source": Source(21)}, "dataset: "),
        ({"conditions": ["h0"]}, 'conditions: ["h0","h1"] -> ["h0"]'),
        ({"trials": 2}, "trials: 1 -> 2"),
        ({"limit": 2}, "limit: nothing -> 2"),
        ({"seed": 2}, "seed: 0 -> 2"),
    ],
    ids=lambda v: next(iter(v)) if isinstance(v, dict) else "",
)
def test_a_run_is_not_resumed_as_another(
    tmp_path: Path, options: dict[str, Any], difference: str
) -> None:
    folder = go(tmp_path)
    before = {p.name: p.read_bytes() for p in folder.path.iterdir()}
    with pytest.raises(UsageError) as caught:
        go(tmp_path, **{"resume": folder.path, **options})
    assert caught.value.code == "FB502"
    assert difference in caught.value.what
    assert {p.name: p.read_bytes() for p in folder.path.iterdir()} == before


class Edited(Source):
    """The same ids and digest, but sample 3 shows something else."""

    def sample(self, i):  # type: ignore[no-untyped-def]
        sample = super().sample(i)
        if i != 3:
            return sample
        return replace(sample, observation=replace(sample.observation, text="13"))


def test_changed_observations_are_refused(tmp_path: Path) -> None:
    folder = go(tmp_path, n=6)
    with pytest.raises(UsageError, match=r"FB508 sample 's3' condition 'h0' is shown otherwise"):
        go(tmp_path, resume=folder.path, source=Edited(6))
    assert Counter(keys(folder)) == Counter(everything(6))


def test_changed_observations_are_computed_again_on_demand(tmp_path: Path) -> None:
    folder = go(tmp_path, n=6)
    said: list[str] = []
    go(tmp_path, resume=folder.path, source=Edited(6), recompute_changed=True, notify=said.append)
    assert "2 predictions saw another observation; computing them again" in said
    assert Counter(keys(folder)) == Counter(everything(6))
    assert folder.record().sittings[1].written == 2
    fresh = go(tmp_path, source=Edited(6))
    assert {p.key: p.observed for p in folder.predictions()} == {
        p.key: p.observed for p in fresh.predictions()
    }
    before = folder.journal.read_bytes()
    go(tmp_path, resume=folder.path, source=Edited(6), recompute_changed=True)
    assert folder.journal.read_bytes() == before


def test_a_second_process_on_the_folder_is_refused(tmp_path: Path) -> None:
    folder = go(tmp_path)
    with folder.locked(), pytest.raises(UsageError, match=r"FB503 .*by process"):
        go(tmp_path, resume=folder.path)


def test_a_journal_with_a_key_twice_is_refused(tmp_path: Path) -> None:
    folder = go(tmp_path)
    lines = folder.journal.read_bytes().splitlines(keepends=True)
    folder.journal.write_bytes(b"".join([*lines, lines[0]]))
    with pytest.raises(DataError, match=r"FB203 .*\.jsonl:41: sample 's0' appears twice"):
        go(tmp_path, resume=folder.path)


# ---- killed, interrupted, out of space ---------------------------------------------------------


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


def test_an_error_of_the_program_itself_is_not_hidden(tmp_path: Path) -> None:
    class Broken(Task):
        def problem(self, sample: Any, decision: Any) -> str | None:
            raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        go(tmp_path, task=Broken())
    folder = RunFolder(next(tmp_path.glob("toy/*/*")))
    assert folder.record().status == "failed"


def test_the_hint_to_resume_is_a_whole_command(tmp_path: Path) -> None:
    folder = go(tmp_path, n=2)
    record = replace(
        folder.record(),
        system=Given(name="my file.py:S", parameters={"a": "x y", "b": "5", "c": [1], "d": True}),
        task=Given(name="toy", parameters={"stage": "action"}),
        trials=2,
        limit=3,
        seed=4,
    )
    sitting = Sitting(started="now", executor="process", workers=2, timeout=1.5)
    command = resume_hint(folder, record, sitting, ["h0"]).split("`")[1]
    assert shlex.split(command) == [
        *("floorbench", "run", "toy", "my file.py:S", "--data", "toy"),
        *("--set", "a=x y", "--set", 'b="5"', "--set", "c=[1]", "--set", "d=true"),
        *("--task-set", "stage=action", "--condition", "h0"),
        *("--trials", "2", "--limit", "3", "--seed", "4"),
        *("--executor", "process", "--workers", "2", "--timeout", "1.5"),
        *("--resume", str(folder.path)),
    ]


def test_the_way_to_go_on_keeps_real_time(tmp_path: Path) -> None:
    folder = go(tmp_path, n=2)
    record = folder.record()
    spec = replace(record.system_spec, parameters={"realtime": True})
    paced = replace(record, system_spec=spec)
    for known, expected in ((record, False), (paced, True)):
        command = resume_hint(folder, known, record.sittings[-1], None)
        assert ("--realtime" in command) is expected
