"""Builds on a real Ray: equal to those of this process, with workers that die."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.engine import Built, build
from floorbench.build.pipeline.export import UNLISTED
from floorbench.build.pipeline.pool import Order, Task
from floorbench.build.pipeline.ray_pool import RayPool
from floorbench.build.pipeline.stage import Item
from floorbench.errors import EnvironmentProblem
from floorbench.run.ray_cluster import RayOptions
from support.build_toy import ToyRecipe, calls

pytestmark = pytest.mark.needs_ray
HALF = RayOptions(cpus=0.5, place_timeout=200)


def made(
    tmp: Path,
    name: str,
    *,
    workers: int,
    ray: RayOptions = HALF,
    progress: Any = None,
    **settings: Any,
) -> Built:
    return build(
        "support.build_toy:ToyRecipe",
        out=tmp / name,
        cache=tmp / f"cache-{name}",
        workers=workers,
        executor="ray" if workers else "process",
        ray=ray if workers else None,
        progress=progress,
        settings={"log": str(tmp / f"log-{name}"), **settings},
    )


def content(out: Path) -> dict[str, bytes]:
    """All files but those that tell of one sitting: sounds, manifest, lineage, rejects."""
    files = [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in UNLISTED]
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in files}


def test_a_killed_worker_changes_nothing(ray_cluster: Any, tmp_path: Path) -> None:
    whole = content(made(tmp_path, "here", workers=0, pieces=2).path)
    log = tmp_path / "log-there"
    killed: list[int] = []

    def told(progress: Any) -> None:
        if not killed and len(calls(log)) > 5:
            killed.append(int(log.read_text().split()[-1]))
            os.kill(killed[0], signal.SIGKILL)

    there = made(tmp_path, "there", workers=2, progress=told, pieces=2, slow=0.05)
    assert killed
    assert content(there.path) == whole
    assert there.record.failed == 0
    assert len({line.split()[3] for line in log.read_text().splitlines()}) == 3
    assert not list((tmp_path / "cache-there" / "unfinished").glob("*-ray-*"))


def test_workers_that_find_no_place_keep_nobody_waiting(ray_cluster: Any, tmp_path: Path) -> None:
    large = RayOptions(cpus=1.5, place_timeout=200)  # one of three has a place
    built = made(tmp_path, "a", workers=3, ray=large)
    assert (built.record.failed, built.record.workers) == (0, 3)
    assert len({line.split()[3] for line in (tmp_path / "log-a").read_text().splitlines()}) == 1


def test_an_item_that_ends_its_worker_twice_fails(ray_cluster: Any, tmp_path: Path) -> None:
    built = made(tmp_path, "a", workers=2, trouble="voice:item-2:die")
    (lost,) = (x for x in built.lost if x.kind == "failed")
    assert (lost.item, lost.stage) == ("item-2", "voice")
    assert lost.detail == "its worker died 2 times (killed, crashed or out of memory)"
    tried = [c for c in calls(tmp_path / "log-a") if c[:2] == ("voice", "item-2")]
    assert tried == [("voice", "item-2", 0)] * 2


def test_a_stage_that_dies_at_its_start_stops_the_build(ray_cluster: Any, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"FB854.*'gate' ends its process while it loads"):
        made(tmp_path, "a", workers=1, trouble="gate:start:die")


def test_a_worker_must_see_the_cache(ray_cluster: Any, tmp_path: Path) -> None:
    order = Order(
        recipe="support.build_toy:ToyRecipe",
        settings={},
        steps=ToyRecipe().work({}).steps,
        cache=tmp_path / "cache",
        seed=0,
        fresh=frozenset(),
    )
    pool = RayPool(order, workers=1, options=HALF)
    try:
        for path in (tmp_path / "cache" / "unfinished").iterdir():
            path.unlink()  # as on a node that has another folder there
        assert pool.free()
        pool.give(Task(number=1, index=0, item=Item(id="item-0", fields={"n": 0})))
        assert not pool.free()
        with pytest.raises(EnvironmentProblem, match=r"FB838 .*/cache: machine '.*' does not see"):
            [pool.collect() for _ in range(5)]
    finally:
        pool.close()
