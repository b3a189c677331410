from pathlib import Path

import pytest

from floorbench.build.pipeline.pool import ONE_THREAD, HerePool, Order, ProcessPool, Task
from floorbench.build.pipeline.runner import Done, Runner
from floorbench.build.pipeline.stage import Item
from floorbench.errors import EnvironmentProblem, FloorbenchError
from support.build_toy import ToyRecipe

ITEM = Item(id="item-0", fields={"n": 0})


def pool(tmp: Path, workers: int, recipe: str = "support.build_toy:ToyRecipe") -> ProcessPool:
    order = Order(
        recipe=recipe,
        settings={},
        steps=ToyRecipe().work({}).steps,
        cache=tmp,
        seed=0,
        fresh=frozenset(),
    )
    return ProcessPool(order, workers=workers)


def finish(one: ProcessPool | HerePool, number: int) -> dict[int, Done]:
    found: dict[int, Done] = {}
    while len(found) < number:
        found.update(one.collect())
    return found


def test_both_pools_make_the_same(tmp_path: Path) -> None:
    here = HerePool(Runner(ToyRecipe().work({}).steps, cache=tmp_path / "a", seed=0))
    assert here.free()
    here.give(Task(number=1, index=0, item=ITEM))
    assert not here.free()
    mine = finish(here, 1)[1]
    here.close()
    there = pool(tmp_path / "b", 2)
    try:
        for number in (1, 2):
            assert there.free()
            item = Item(id=f"item-{number - 1}", fields={"n": number - 1})
            there.give(Task(number=number, index=0, item=item))
        assert not there.free()
        found = finish(there, 2)
    finally:
        there.close()
    assert found[1].items == mine.items
    assert [c.key for c in found[1].calls] == [c.key for c in mine.calls]
    assert found[2].items != mine.items


def test_no_process_is_left(tmp_path: Path) -> None:
    one = pool(tmp_path, 2)
    one.give(Task(number=1, index=0, item=ITEM))
    processes = [w.process for w in one._pool]
    one.close()
    assert processes
    assert all(p.returncode is not None for p in processes)


def test_a_worker_that_cannot_open_the_recipe_says_so(tmp_path: Path) -> None:
    one = pool(tmp_path, 1, recipe="support.build_toy:Nothing")
    try:
        one.give(Task(number=1, index=0, item=ITEM))
        with pytest.raises(FloorbenchError, match=r"FB859 .*there is no 'Nothing'"):
            finish(one, 1)
    finally:
        one.close()


def test_a_worker_that_dies_at_once_says_so(tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text("import os\nos._exit(7)\n")
    one = pool(tmp_path, 1, recipe=f"{tmp_path}/dies.py:X")
    try:
        one.give(Task(number=1, index=0, item=ITEM))
        with pytest.raises(EnvironmentProblem, match=r"FB854 .*as it began \(exit status 7\)"):
            finish(one, 1)
    finally:
        one.close()


def test_workers_compute_with_one_thread(tmp_path: Path) -> None:
    assert ONE_THREAD["OMP_NUM_THREADS"] == "1"
    assert set(ONE_THREAD.values()) == {"1"}
    (tmp_path / "looks.py").write_text(
        "import os\nassert os.environ['OPENBLAS_NUM_THREADS'] == '1'\n"
        "from support.build_toy import ToyRecipe as X\n"
    )
    one = pool(tmp_path / "c", 1, recipe=f"{tmp_path}/looks.py:X")
    try:
        one.give(Task(number=1, index=0, item=ITEM))
        assert finish(one, 1)[1].items
    finally:
        one.close()
