from pathlib import Path
from typing import Any

import pytest

from floorbench.errors import DataError, EnvironmentProblem, Place, UsageError
from floorbench.run.ray_cluster import STILLBORN, Crew, Death, RayOptions, RayWorker, _refused
from floorbench.run.worker import error_to_wire


@pytest.mark.parametrize(
    "options",
    [
        {"cpus": -1.0},
        {"gpus": float("nan")},
        {"memory": float("inf")},
        {"place_timeout": 0.0},
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


@pytest.mark.needs_ray
def test_workers_compute_with_as_many_threads_as_told(
    ray_cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "looking.py").write_text(
        "import os, sys\n"
        "class Looks:\n"
        "    spec = 'ready'\n"
        "    def __init__(self, hello): pass\n"
        "    def look(self, *_):\n"
        "        import numpy, threadpoolctl\n"
        "        pools = [p['num_threads'] for p in threadpoolctl.threadpool_info()]\n"
        "        return [pools, os.getcwd(), sys.stdin.read()]\n"
        "def refusal(error): return repr(error)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    one = Crew(RayOptions(cpus=0.5), served="looking:Looks", threads=1)
    one.join(1, {})
    worker = one.spawn()
    said: dict[str, Any] = {}
    while "look" not in said:
        for event in one.events():
            said[event.kind] = event.said
            if event.kind == "open":
                worker.call("look")
    one.leave()
    pools, folder, read = said["look"]
    assert pools
    assert set(pools) == {1}
    assert (folder, read) == (str(Path.cwd()), "")
