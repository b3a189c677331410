import os
from pathlib import Path

import pytest

from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import DataError, SystemProblem, UsageError
from floorbench.run import processes
from floorbench.run.child import THREADS
from floorbench.run.deciding import SystemChoice
from floorbench.run.executors import Item
from floorbench.run.processes import ProcessExecutor
from support.engine_toys import (
    Deadly,
    DeadlyTogether,
    DiesLoading,
    HangsLoading,
    SlowLoader,
    System,
    TellsThreads,
    Unloadable,
    choice,
)


def shown(n: int) -> list[Item]:
    return [Item(i, Observation(language="en", text=str(i))) for i in range(n)]


@pytest.mark.parametrize(("kind", "batch"), [(Deadly, 1), (DeadlyTogether, 4)])
def test_death_and_hanging_cost_one_item_each(kind: type[System], batch: int) -> None:
    executor = ProcessExecutor(workers=2, batch=batch, timeout=0.3)
    try:
        executor.start(choice(kind))
        assert executor.batch == batch
        found = {a.number: a for a in executor.answers(shown(10))}
    finally:
        executor.close()
    outcomes = {i: found[i].decision.outcome for i in range(10)}
    assert outcomes == {
        **dict.fromkeys(range(10), Outcome.OK),
        3: Outcome.TIMEOUT,
        5: Outcome.FAILED,
        6: Outcome.FAILED,
    }
    assert found[3].decision.reason == "no answer within 0.3 s"
    assert found[5].decision.reason == "the worker process died (SIGKILL)"
    assert found[6].decision.reason == "the worker process died (exit status 7)"
    assert all(found[i].observed for i in range(10))  # what was shown is known all the same


def test_loading_is_reported_not_retried_for_ever() -> None:
    for kind, reason in (
        (Unloadable, "OSError: weights are gone"),
        (DiesLoading, r"its worker died while loading \(exit status 9\)"),
    ):
        executor = ProcessExecutor(workers=2)
        try:
            with pytest.raises(SystemProblem, match=f"FB501 .*{reason}"):
                executor.start(choice(kind))
        finally:
            executor.close()


def test_unknown_names_stay_usage_errors() -> None:
    executor = ProcessExecutor(workers=1)
    try:
        with pytest.raises(UsageError, match="FB101 there is no system 'nobody'"):
            executor.start(SystemChoice(name="nobody"))
    finally:
        executor.close()


def test_objects_of_this_process_are_refused() -> None:
    with pytest.raises(UsageError, match="FB509 system 'mine' is an object of this process"):
        ProcessExecutor(workers=1).start(SystemChoice(name="mine", factory=System))


def test_the_spec_crosses_whole() -> None:
    executor = ProcessExecutor(workers=1)
    try:
        assert executor.start(choice(wrong_every=3)) == System(wrong_every=3).spec
    finally:
        executor.close()


def test_broken_data_in_a_worker_stops_the_run(tmp_path: Path) -> None:
    from floorbench.audio.ref import FileAudio

    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF no wave")
    ref = FileAudio(broken)
    executor = ProcessExecutor(workers=1)
    try:
        executor.start(choice())
        observation = Observation(language="en", text="1", channels={Role.USER: ref})
        with pytest.raises(DataError, match="FB3"):
            list(executor.answers([Item(0, observation)]))
    finally:
        executor.close()


def children() -> set[int]:
    me = os.getpid()
    return {int(p) for p in Path(f"/proc/{me}/task/{me}/children").read_text().split()}


def test_no_process_is_left_behind() -> None:
    before = children()
    executor = ProcessExecutor(workers=2, timeout=0.3)
    executor.start(choice(Deadly))
    assert len(children() - before) == 2
    answers = executor.answers(shown(10))
    for _ in range(4):
        next(answers)
    executor.close()
    assert children() - before == set()


def test_a_hanging_worker_ends_with_its_parent() -> None:
    from floorbench import codec
    from floorbench.run.processes import _Worker
    from floorbench.run.wire import observation_to_wire

    hello = {"system": {"name": choice(Deadly).name, "parameters": {}}, "timeout": None}
    worker = _Worker(codec.encode(hello), 60.0, 1)
    item = observation_to_wire(Observation(language="en", text="3"))
    worker.send(codec.encode({"items": [item]}))
    lines: list[bytes] = []
    while len(lines) < 2:  # ready, observed: now it hangs
        lines += worker.receive() or []
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait(timeout=20) == 0
    worker.kill()


def test_loading_that_hangs_has_a_limit_of_its_own() -> None:
    executor = ProcessExecutor(workers=2, load_timeout=1.5)
    assert executor.arguments == ("--load-timeout", "1.5")
    try:
        with pytest.raises(SystemProblem, match=r"FB501 .*not there after 1\.5 s") as caught:
            executor.start(choice(HangsLoading))
        assert "--load-timeout" in str(caught.value.hint)
    finally:
        executor.close()


def test_so_has_loading_in_the_place_of_a_worker_that_died(tmp_path: Path) -> None:
    executor = ProcessExecutor(workers=1, load_timeout=20.0)
    executor.start(choice(HangsLoading, path=str(tmp_path / "loaded")))
    executor._load_timeout = 0.5  # the first one had time enough on a busy machine
    try:
        with pytest.raises(SystemProblem, match=r"FB501 .*not there after 0"):
            list(executor.answers(shown(2)))
    finally:
        executor.close()


def test_loading_does_not_count_against_an_item() -> None:
    executor = ProcessExecutor(workers=1, timeout=0.4)
    try:
        executor.start(choice(SlowLoader))
        found = list(executor.answers(shown(4)))
    finally:
        executor.close()
    assert [a.decision.outcome for a in found].count(Outcome.TIMEOUT) == 1


@pytest.mark.parametrize(
    ("workers", "given", "found"), [(2, None, "3"), (9, None, "1"), (2, "5", "5")]
)
def test_workers_share_the_cores(
    workers: int, given: str | None, found: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "cores", lambda: 6)
    for name in THREADS:
        monkeypatch.delenv(name, raising=False)
    if given is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    executor = ProcessExecutor(workers=workers)
    try:
        executor.start(choice(TellsThreads))
        (answer,) = executor.answers(shown(1))
    finally:
        executor.close()
    assert answer.decision.label == found
