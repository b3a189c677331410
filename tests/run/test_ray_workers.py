"""Runs on a real Ray: several worker processes, some of them killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import DataError, EnvironmentProblem, SystemProblem, UsageError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import Answer, Item, make_executor
from floorbench.run.job import Progress
from floorbench.run.ray_cluster import RayOptions
from floorbench.run.ray_workers import RayExecutor
from floorbench.run.scoring import open_predictions, score
from floorbench.run.store import RunFolder
from support.engine_toys import (
    Batched,
    Counting,
    DeadlyTogether,
    DiesLoading,
    HangsLoading,
    Source,
    System,
    Task,
    Told,
    Unloadable,
    choice,
    quiet,
)
from support.ray_local import NODE

pytestmark = pytest.mark.needs_ray
HALF = RayOptions(cpus=0.5, place_timeout=200)


def shown(n: int) -> list[Item]:
    return [Item(i, Observation(language="en", text=str(i))) for i in range(n)]


def answers(system: SystemChoice, n: int, **options: Any) -> dict[int, Answer]:
    executor = RayExecutor(options=HALF, **options)
    try:
        executor.start(system)
        found = list(executor.answers(shown(n)))
    finally:
        executor.close()
        executor.close()
    assert len(found) == n
    return {a.number: a for a in found}


def go(tmp_path: Path, system: SystemChoice, n: int, **options: Any) -> RunFolder:
    given: dict[str, Any] = {"task": Task(), "source": Source(n), "out": tmp_path, "notify": quiet}
    return run(system=system, **{**given, **options})


def estimates(folder: RunFolder, n: int) -> bytes:
    score(open_predictions(folder.path, task=Task(), source=Source(n)), draws=200)
    return (folder.path / "estimates.json").read_bytes()


def keys(folder: RunFolder) -> Counter[tuple[str, str, int]]:
    return Counter(tuple(p.key) for p in folder.predictions())


def everything(n: int) -> Counter[tuple[str, str, int]]:
    return Counter((f"s{i}", c, 0) for i in range(n) for c in ("h0", "h1"))


def at(done: int, act: Callable[[], None]) -> Callable[[Progress], None]:
    """Return a progress function that acts once, when so many lines are written."""

    def told(progress: Progress) -> None:
        if progress.done == done:
            act()

    return told


# ---- equal to the others -----------------------------------------------------------------------


def test_the_number_of_workers_changes_nothing(ray_cluster: Any, tmp_path: Path) -> None:
    n = 12
    serial = estimates(go(tmp_path, choice(Batched), n), n)
    for workers, batch in ((1, 1), (4, 1), (2, 4)):
        executor = make_executor("ray", workers=workers, batch=batch, ray=HALF)
        folder = go(tmp_path, choice(Batched), n, executor=executor)
        assert keys(folder) == everything(n)
        assert estimates(folder, n) == serial
        (sitting,) = folder.record().sittings
        assert (sitting.executor, sitting.workers, sitting.batch) == ("ray", workers, batch)


def test_items_are_answered_as_in_this_process(ray_cluster: Any) -> None:
    serial = make_executor("serial")
    assert serial.start(choice()) == System().spec
    expected = {a.number: a for a in serial.answers(shown(13))}
    found = answers(choice(Batched), 13, workers=2, batch=4)
    assert {i: (a.decision, a.observed) for i, a in found.items()} == {
        i: (a.decision, a.observed) for i, a in expected.items()
    }


def test_items_are_taken_as_they_are_needed(ray_cluster: Any) -> None:
    taken: list[int] = []

    def source():
        for item in shown(40):
            taken.append(item.number)
            yield item

    executor = RayExecutor(workers=2, options=HALF)
    try:
        assert executor.start(choice()) == System().spec
        found = executor.answers(source())
        for done in range(1, 20):
            next(found)
            assert len(taken) <= done + 3
    finally:
        executor.close()


# ---- deaths ------------------------------------------------------------------------------------


def test_death_and_hanging_cost_one_item_each(ray_cluster: Any) -> None:
    found = answers(choice(DeadlyTogether), 8, workers=2, batch=4, timeout=0.5)
    assert {i: a.decision.outcome for i, a in found.items()} == {
        **dict.fromkeys(range(8), Outcome.OK),
        3: Outcome.TIMEOUT,
        5: Outcome.FAILED,
        6: Outcome.FAILED,
    }
    assert found[3].decision.reason == "no answer within 0.5 s"
    assert found[5].decision.reason == (
        "the worker died 2 times (killed, crashed or out of memory)"
    )
    assert all(found[i].observed for i in range(8))  # what was shown is known all the same


def test_a_worker_killed_in_mid_run_changes_nothing(
    ray_cluster: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    n, log = 20, tmp_path / "log"

    def kill() -> None:
        number = int(log.read_text().split("\n")[-2].split()[1])
        os.kill(number, signal.SIGKILL)

    system = choice(Told, path=str(log), pause=0.02, once=7)  # and one that kills itself
    folder = go(
        tmp_path, system, n,
        executor=make_executor("ray", workers=3, batch=2, ray=HALF), progress=at(9, kill),
    )  # fmt: skip
    assert keys(folder) == everything(n)
    assert {p.decision.outcome for p in folder.predictions()} == {Outcome.OK}
    assert len({line.split()[1] for line in log.read_text().splitlines()}) >= 3
    assert capsys.readouterr().out == ""  # Ray tells of the dead, but not here
    assert estimates(folder, n) == estimates(go(tmp_path, choice(), n), n)


def test_a_node_that_leaves_changes_nothing(ray_cluster: Any, tmp_path: Path) -> None:
    n, log = 24, tmp_path / "log"
    node = ray_cluster.add_node(**NODE, num_cpus=2)
    whole = RayOptions(place_timeout=200)  # four on two nodes of two cores each
    executor = make_executor("ray", workers=4, batch=2, ray=whole)
    folder = go(
        tmp_path, choice(Told, path=str(log), pause=0.05), n, executor=executor,
        progress=at(10, lambda: ray_cluster.remove_node(node, allow_graceful=False)),
    )  # fmt: skip
    assert keys(folder) == everything(n)
    assert {p.decision.outcome for p in folder.predictions()} == {Outcome.OK}
    assert estimates(folder, n) == estimates(go(tmp_path, choice(), n), n)


def test_an_item_that_takes_all_memory_fails_alone(ray_cluster: Any, tmp_path: Path) -> None:
    system = choice(Told, path=str(tmp_path / "log"), alone=2)
    found = answers(system, 5, workers=2)
    assert [found[i].decision.outcome for i in range(5)].count(Outcome.OK) == 4
    assert found[2].decision.reason == "MemoryError"


def test_loading_is_reported_not_retried_for_ever(ray_cluster: Any) -> None:
    for kind, reason in (
        (Unloadable, "OSError: weights are gone"),
        (DiesLoading, r"its workers died while loading \(killed, crashed or out of memory\)"),
    ):
        with pytest.raises(SystemProblem, match=f"FB501 .*{reason}"):
            answers(choice(kind), 1, workers=1)


def test_loading_that_hangs_has_a_limit_of_its_own(ray_cluster: Any) -> None:
    with pytest.raises(SystemProblem, match=r"FB501 .*not there after 1\.5 s"):
        answers(choice(HangsLoading), 1, workers=2, load_timeout=1.5)
    given = RayExecutor(workers=1, load_timeout=1.5, options=HALF).arguments
    assert given[:2] == ("--load-timeout", "1.5")


# ---- refused -----------------------------------------------------------------------------------


def test_objects_of_this_process_are_refused() -> None:
    with pytest.raises(UsageError, match="FB509 system 'mine' is an object of this process"):
        RayExecutor(workers=1).start(SystemChoice(name="mine", factory=System))


def test_unknown_names_stay_usage_errors(ray_cluster: Any) -> None:
    with pytest.raises(UsageError, match="FB101 there is no system 'nobody'"):
        answers(SystemChoice(name="nobody"), 1, workers=1)


def test_broken_data_stop_the_run(ray_cluster: Any, tmp_path: Path) -> None:
    from floorbench.audio.ref import FileAudio

    broken = tmp_path / "broken.wav"
    broken.write_bytes(b"RIFF no wave")
    observation = Observation(language="en", text="1", channels={Role.USER: FileAudio(broken)})
    executor = RayExecutor(workers=1, options=HALF)
    try:
        executor.start(choice())
        with pytest.raises(DataError, match="FB3"):
            list(executor.answers([Item(0, observation)]))
    finally:
        executor.close()


def test_a_wish_that_no_node_grants_is_refused_in_time(ray_cluster: Any) -> None:
    executor = RayExecutor(workers=2, options=RayOptions(cpus=64, place_timeout=1))
    try:
        with pytest.raises(
            EnvironmentProblem,
            match=r"FB515 no worker with 64 CPUs, 0 GPUs finds a place; .* have 2 CPUs",
        ):
            executor.start(choice())
    finally:
        executor.close()


# ---- a cluster of its own, started and ended with the run ---------------------------------------


def start(**options: Any) -> "subprocess.Popen[str]":
    paths = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen(
        [sys.executable, "-m", "support.engine_main", json.dumps(options)],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_for_lines(base: Path, count: int, process: "subprocess.Popen[str]") -> RunFolder:
    for _ in range(6000):
        for journal in base.glob("toy/*/*/predictions.jsonl"):
            if journal.read_bytes().count(b"\n") >= count:
                return RunFolder(journal.parent)
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)
    raise AssertionError(f"no {count} lines in time")


def descendants(pid: int) -> set[int]:
    """Return all processes below one; Ray's workers are children of its children."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found |= {child} | descendants(child)
    return found


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def all_gone(pids: set[int]) -> bool:
    for _ in range(3000):
        if all(map(gone, pids)):
            return True
        time.sleep(0.01)
    return False


def test_killed_and_interrupted_it_resumes_and_leaves_no_process(
    ray_cluster: Any, tmp_path: Path
) -> None:
    n, workers, asked = 30, 2, tmp_path / "asked"
    parameters = {"path": str(asked), "pause": 0.02}
    options: dict[str, Any] = {
        "system": "Counting", "parameters": parameters, "executor": "ray", "workers": workers,
        "n": n, "out": str(tmp_path),
    }  # fmt: skip
    killed = start(**options)
    folder = wait_for_lines(tmp_path, 12, killed)
    below = descendants(killed.pid)
    assert len(below) > workers  # Ray's own and the workers
    killed.kill()
    killed.communicate()
    assert all_gone(below)
    assert folder.record().status == "running"

    address = ray_cluster.address
    stopped = start(**options, resume=str(folder.path), ray={"address": address, "cpus": 0.5})
    wait_for_lines(tmp_path, 30, stopped)
    below = descendants(stopped.pid)
    stopped.send_signal(signal.SIGINT)
    out, err = stopped.communicate(timeout=60)
    assert (stopped.returncode, out) == (130, ""), err
    assert "FB507" in err
    assert f"--executor ray --workers 2 --ray-address {address} --cpus-per-worker 0.5" in err
    assert "Traceback" not in err
    assert all_gone(below)
    assert folder.record().status == "interrupted"

    system = choice(Counting, **parameters)
    last = make_executor("ray", workers=workers, ray=HALF)
    go(tmp_path, system, n, resume=folder.path, executor=last)
    assert keys(folder) == everything(n)
    assert len(asked.read_text().split()) <= 2 * n + 2 * workers  # those in flight
    assert estimates(folder, n) == estimates(go(tmp_path, choice(), n), n)
