from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.pipeline.gathering import gather
from floorbench.build.pipeline.runner import Runner
from floorbench.build.pipeline.stage import Gathered, Item, Rejected
from floorbench.errors import DataError

ITEMS = [Item(id="a"), Item(id="b")]
OUT = Rejected(reason="double", detail="of a")


class Gives:
    name = "g"
    version = 1
    deterministic = True

    def __init__(self, what: Any) -> None:
        self.what = what
        self.seen: list[str] = []

    def settings(self) -> dict[str, Any]:
        return {}

    def gather(self, items: Sequence[Item]) -> Gathered:
        self.seen += [item.id for item in items]
        found: Gathered = self.what
        return found


def test_a_gathering_step_is_kept_as_one_result(tmp_path: Path) -> None:
    step = Gives(Gathered(items=(ITEMS[0].having(split="test"),), rejected={"b": OUT}))
    for cached in (False, True):
        runner = Runner((step,), cache=tmp_path, seed=0)
        result, call = gather(step, runner, ITEMS)
        assert result.items == (Item(id="a", fields={"split": "test"}),)
        assert result.left_out == {"b": OUT}
        assert call.cached is cached
    assert step.seen == ["a", "b"]
    fresh = Runner((step,), cache=tmp_path, seed=0, fresh=frozenset({"g"}))
    assert gather(step, fresh, ITEMS)[1].cached is False
    more = Runner((step,), cache=tmp_path, seed=0)
    assert more.key(step, ITEMS[:1], 0) != more.key(step, ITEMS, 0)


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (Gathered(items=(ITEMS[0],)), "neither keeps nor rejects 'b'"),
        (Gathered(items=tuple(ITEMS), rejected={"b": OUT}), "both keeps and rejects 'b'"),
        (Gathered(items=(*ITEMS, ITEMS[0])), "gave the id 'a' twice"),
        (ITEMS, "returned a list"),
    ],
)
def test_no_item_gets_lost(tmp_path: Path, what: Any, said: str) -> None:
    with pytest.raises(DataError, match=f"FB852.*{said}"):
        gather(Gives(what), Runner((), cache=tmp_path, seed=0), ITEMS)
