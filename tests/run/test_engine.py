"""Undisturbed runs from end to end, and the hint with which a run goes on."""

import shlex
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, SystemProblem
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import resume_hint
from floorbench.run.executors import make_executor
from floorbench.run.job import Progress
from floorbench.run.store import Given, RunFolder, Sitting
from support.engine_runs import estimates, everything, go, keys
from support.engine_toys import Bad, Deadly, Source, System, Task, Unloadable, choice


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
    assert said == []
    go(tmp_path, n=1, notify=said.append, executor=make_executor("serial", timeout=2))
    assert len(said) == 1
    assert "--executor process" in said[0]


def test_data_that_are_refused_leave_no_run_behind(tmp_path: Path) -> None:
    class Refused(Source):
        def samples(self) -> Any:
            raise DataError("FB263", "the user channel is too short")

    with pytest.raises(DataError, match="too short") as refused:
        go(tmp_path, source=Refused(3))
    assert "resume" not in str(refused.value.hint)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("hint", ["a column is missing", "A column is missing."])
def test_the_way_to_resume_is_a_sentence_of_its_own(tmp_path: Path, hint: str) -> None:
    class Refused(Task):
        def observe(self, *_: Any, **__: Any) -> Any:
            raise DataError("FB217", "the turn has no end", hint=hint)

    with pytest.raises(DataError, match="no end") as refused:
        go(tmp_path, task=Refused())
    assert "column is missing. Then resume with `floorbench run" in refused.value.hint


def test_a_sample_twice_in_the_data_stops_the_run(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="FB203 sample 's3' appears twice in the data"):
        go(tmp_path, source=Source(6, twice=3))


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
        *("floorbench", "run", "toy", "my file.py:S"),
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
