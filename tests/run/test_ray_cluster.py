from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floorbench.errors import DataError, EnvironmentProblem, Place, UsageError
from floorbench.run.ray_cluster import (
    HERE,
    STILLBORN,
    Crew,
    Death,
    RayOptions,
    RayWorker,
    _refused,
)
from floorbench.run.worker import error_to_wire


@pytest.mark.parametrize(
    "options",
    [
        {"cpus": -1.0},
        {"gpus": float("nan")},
        {"memory": float("inf")},
        {"place_timeout": 0.0},
        {"place_timeout": float("nan")},
        {"place_timeout": float("inf")},
        {"gpus": 1.5},
    ],
)
def test_impossible_resources_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        RayOptions(**options)


def test_a_wish_is_told_in_words() -> None:
    assert RayOptions().wish() == "1 CPUs, 0 GPUs"
    assert RayOptions(cpus=0.5, gpus=0.25, memory=2).wish() == (
        "0.5 CPUs, 0.25 GPUs, 2 GiB of memory"
    )


def test_options_are_told_as_the_command_line_reads_them() -> None:
    assert RayOptions().arguments() == ()
    given = RayOptions(address="auto", gpus=0.25, memory=8, place_timeout=600)
    assert given.arguments() == (
        *("--ray-address", "auto", "--gpus-per-worker", "0.25"),
        *("--memory-per-worker", "8", "--place-timeout", "600"),
    )


def test_a_file_that_only_the_caller_sees_is_not_the_data_s_fault(tmp_path: Path) -> None:
    there = tmp_path / "clip.wav"
    there.write_bytes(b"x")
    worker = RayWorker(0, None, host="node-7")
    for file, kind, text in (
        (there, EnvironmentProblem, "FB518 .*clip.wav: node node-7 does not see the file"),
        (tmp_path / "nowhere.wav", DataError, "FB301 .*nowhere.wav"),
    ):
        error = DataError("FB301", "cannot be opened", where=Place(str(file)))
        with pytest.raises(kind, match=text):
            raise _refused(worker, {"refused": error_to_wire(error)})


def test_a_node_without_floorbench_is_named() -> None:
    worker = RayWorker(0, None, host="node-7")
    with pytest.raises(EnvironmentProblem, match="FB517 node node-7 cannot import floorbench"):
        raise _refused(worker, {"absent": "No module named 'msgspec'"})


def crew() -> Crew:
    return Crew(RayOptions(cpus=0.5), served="floorbench.run.worker:Desk", threads=1)


@pytest.mark.needs_ray
def test_deaths_are_told_apart(ray_cluster: Any) -> None:
    import ray

    one = crew()
    one.join(1, {})
    (here,) = (n["NodeID"] for n in ray.nodes() if n["Alive"])
    worker = RayWorker(0, None, node=here, host="node-7")
    memory = one.death(worker, ray.exceptions.OutOfMemoryError("..."))
    assert memory == (False, "its node node-7 ran out of memory and Ray ended it")
    node = one.death(worker, ray.exceptions.NodeDiedError("..."))
    assert node == (True, "its node node-7 left the cluster")
    preempted = ray.exceptions.RayActorError(preempted=True)
    assert one.death(worker, preempted).node
    killed = one.death(worker, ray.exceptions.ActorDiedError())
    assert killed == (False, "killed, crashed or out of memory")
    one.leave()


def test_only_so_many_are_spawned_after_one_another() -> None:
    one = crew()
    fresh, crash, left = RayWorker(0, None), Death(False, "crash"), Death(True, "left")
    assert all(one.may_replace(fresh, left) for _ in range(10))
    assert [one.may_replace(fresh, crash) for _ in range(STILLBORN)] == [True, True, False]
    assert one.may_replace(RayWorker(1, None, opened=True), crash)  # it had loaded: start anew


def test_ray_that_was_started_here_and_died_is_told_at_once() -> None:
    one = crew()
    nodes = [{"NodeID": "a", "Alive": True}]
    one._ray = SimpleNamespace(nodes=lambda: nodes)
    one._connection = SimpleNamespace(started=True)  # type: ignore[assignment]
    one.workers = [RayWorker(0, None)]
    assert one._patience() == pytest.approx(HERE)
    nodes[0]["Alive"] = False
    with pytest.raises(EnvironmentProblem) as error:
        one._patience()
    assert error.value.code == "FB516"
    assert "--resume" in error.value.hint
    one._connection = SimpleNamespace(started=False)  # type: ignore[assignment]
    assert one._patience()  # a cluster may get new nodes


@pytest.mark.needs_ray
def test_workers_get_threads_and_a_part_of_a_gpu(
    ray_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looking.py").write_text(
        "import os, sys\n"
        "class Looks:\n"
        "    greeting = 'ready'\n"
        "    def __init__(self, hello): pass\n"
        "    def look(self, *_):\n"
        "        import numpy, threadpoolctl\n"
        "        pools = [p['num_threads'] for p in threadpoolctl.threadpool_info()]\n"
        "        return [pools, os.getcwd(), sys.stdin.read(),\n"
        "            os.environ['CUDA_VISIBLE_DEVICES']]\n"
        "def refusal(error): return repr(error)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    half = RayOptions(cpus=0.5, gpus=0.5)
    one = Crew(half, served="looking:Looks", threads=1)
    one.join(2, {})
    first, second = one.spawn(), one.spawn()
    said: list[Any] = []
    while len(said) < 2:
        for event in one.events():
            if event.kind == "open":
                event.worker.call("look")
            else:
                said.append(event.said)
    one.leave()
    assert first.node == second.node
    for pools, folder, read, gpu in said:
        assert pools
        assert set(pools) == {1}
        assert (folder, read, gpu) == (str(Path.cwd()), "", "0")
