from itertools import pairwise
from pathlib import Path

import pytest

from floorbench.build.pipeline.pool import HerePool
from floorbench.build.pipeline.runner import Runner
from floorbench.build.pipeline.sitting import Progress, Sitting, Traced
from floorbench.build.pipeline.stage import Bench, Item, Outcome, Work, made
from floorbench.errors import DataError
from support.build_toy import DEFAULTS, Text, ToyRecipe


def sitting(tmp: Path, work: Work, told: list[Progress]) -> Sitting:
    runner = Runner(work.steps, cache=tmp, seed=0)
    return Sitting(work, runner, HerePool(runner), told.append)


def test_progress_ends_where_it_says(tmp_path: Path) -> None:
    for settings in ({}, {"pieces": 3}, {"attempts": 1}, {"trouble": "text:item-1:bug"}):
        told: list[Progress] = []
        work = ToyRecipe().work(settings)
        one = sitting(tmp_path / str(len(str(settings))), work, told)
        one.run(work.seeds)
        assert told[-1].done == told[-1].total
        assert all(a.done < b.done for a, b in pairwise(told))
        assert all(p.done <= p.total for p in told)


def test_what_came_through_is_in_the_order_of_ids(tmp_path: Path) -> None:
    work = ToyRecipe().work({"items": 12})
    through = sitting(tmp_path, work, []).run(work.seeds[::-1])
    ids = [t.item.id for t in through]
    assert ids == sorted(ids)
    assert len(ids) > 5


def test_ancestry_leads_back_to_the_seed() -> None:
    seed = Traced(Item(id="a"))
    child = Traced(Item(id="b"), ("k",), 0, seed)
    assert [t.item.id for t in child.ancestry()] == ["a", "b"]


class Same(Text):
    def treat(self, item: Item, bench: Bench) -> Outcome:
        return made(Item(id="same"))


def test_two_items_of_one_name_stop_the_build(tmp_path: Path) -> None:
    work = Work(seeds=(Item(id="a"), Item(id="b")), steps=(Same(DEFAULTS),))
    with pytest.raises(DataError, match="FB852 stage 'text' gave the id 'same' twice"):
        sitting(tmp_path, work, []).run(work.seeds)
