from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorbench.build.pipeline.runner import Runner, WorkBench, fresh_from
from floorbench.build.pipeline.stage import Bench, Item, Outcome, Rejected, Retried, made
from floorbench.build.pipeline.store import Folder, SoundStore
from floorbench.errors import DataError
from support.build_toy import ToyRecipe


class Does:
    """A stage that does what it is given."""

    version = 1
    deterministic = True

    def __init__(self, name: str, what: Callable[[Item, Bench], Any]) -> None:
        self.name = name
        self.what = what
        self.started = 0

    def settings(self) -> dict[str, Any]:
        return {}

    def start(self) -> None:
        self.started += 1

    def make(self, item: Item, bench: Bench) -> Outcome:
        outcome: Outcome = self.what(item, bench)
        return outcome


def bench(tmp: Path, **more: Any) -> WorkBench:
    given = {"seed": 0, "stage": "s", "item": "i", "attempt": 0, **more}
    return WorkBench(SoundStore(Folder(tmp)), **given)


def test_the_generator_depends_on_seed_stage_item_and_attempt(tmp_path: Path) -> None:
    first = bench(tmp_path)
    assert first.rng.random() == first.rng.random() == bench(tmp_path).rng.random()
    others = [{"seed": 1}, {"stage": "t"}, {"item": "j"}, {"attempt": 1}]
    drawn = {bench(tmp_path, **o).rng.random() for o in ({}, *others)}
    assert len(drawn) == 5


def test_the_bench_keeps_and_notes(tmp_path: Path) -> None:
    one = bench(tmp_path)
    assert one.seed == 0
    digest = one.keep(np.zeros(10, dtype=np.float32), 10)
    assert one.load(digest)[1] == 10
    one.note("room", size=3)
    assert one.notes == [{"kind": "room", "size": 3}]
    assert [k.seconds for k in one.kept] == [1.0]


def treated(tmp: Path, stage: Any) -> Any:
    return Runner((stage,), cache=tmp, seed=0).treat(0, Item(id="a"))


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        (lambda item, b: item, "FB852", "returned a Item"),
        (lambda item, b: made(Item(id="a/b")), "FB852", "gave the id 'a/b'"),
        (lambda item, b: made(item.having(x=float("nan"))), "FB202", "nan"),
        (lambda item, b: made(item.having(x=object())), None, "TypeError"),
        (lambda item, b: b.load("0" * 64), "FB856", "missing or damaged"),
    ],
)
def test_a_stage_that_breaks_its_contract_fails_its_item(
    tmp_path: Path, what: Any, code: str | None, said: str
) -> None:
    done = treated(tmp_path, Does("s", what))
    assert done.failed.code == code
    assert said in done.failed.what
    assert not list(tmp_path.rglob("*.jsonl"))


def test_models_are_loaded_once_and_only_when_something_is_made(tmp_path: Path) -> None:
    stage = Does("s", lambda item, b: made(item))
    runner = Runner((stage,), cache=tmp_path, seed=0)
    assert runner.known(0, Item(id="a")) is None
    assert stage.started == 0
    for name in ("a", "b"):
        runner.treat(0, Item(id=name))
    assert stage.started == 1
    again = Does("s", lambda item, b: made(item))
    assert Runner((again,), cache=tmp_path, seed=0).known(0, Item(id="a")) is not None
    assert again.started == 0


def test_a_maker_that_rejects_is_asked_again(tmp_path: Path) -> None:
    def third(item: Item, b: Bench) -> Outcome:
        if b.attempt < 2:
            return Rejected(reason="refused", detail=str(b.attempt))
        return made(item.having(n=b.attempt))

    checker = Does("c", lambda item, b: made(item.having(ok=True)))
    step = Retried(maker=Does("m", third), checker=checker, attempts=3)
    done = Runner((step,), cache=tmp_path, seed=0).treat(0, Item(id="a"))
    assert done is not None
    assert done.items[0].fields == {"n": 2, "ok": True}
    assert [(c.stage, c.attempt, c.reason) for c in done.calls] == [
        ("m", 0, "refused"),
        ("m", 1, "refused"),
        ("m", 2, None),
        ("c", 2, None),
    ]
    short = Retried(maker=step.maker, checker=checker, attempts=2)
    last = Runner((short,), cache=tmp_path, seed=0).treat(0, Item(id="a"))
    assert last is not None
    assert last.rejected == Rejected(reason="refused", detail="1")
    assert last.stage == "m"
    assert all(c.cached for c in last.calls)


def test_what_is_no_json_stops_the_build(tmp_path: Path) -> None:
    stage = Does("s", lambda item, b: made(item))
    with pytest.raises(DataError, match="FB852 settings or items of stage 's' are no JSON"):
        Runner((stage,), cache=tmp_path, seed=0).treat(0, Item(id="a", fields={"x": tmp_path}))


def test_an_item_that_is_used_up(tmp_path: Path) -> None:
    from floorbench.build.pipeline.stage import Made

    done = treated(tmp_path, Does("s", lambda item, b: Made(items=())))
    assert (done.items, done.rejected, done.failed) == ((), None, None)


def test_fresh_from_a_stage() -> None:
    steps = ToyRecipe().work({}).steps
    assert fresh_from(steps, None) == frozenset()
    assert fresh_from(steps, "cut") == {"cut", "balance", "last"}
    with pytest.raises(DataError, match="FB851"):
        fresh_from(steps, "cutt")
