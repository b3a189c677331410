"""What the construction pipeline costs beside calling the stages of a toy recipe in a loop.

The pipeline keeps every result and every sound on disk, writes lineage and a report, and exports
the set; a second build takes everything from its cache.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from benchmarks.ratios import Case
from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.stage import Item, Made, Retried, Stage
from support.bench import FakeBench
from support.build_toy import ToyRecipe


def loop(items: int) -> int:
    """Treat every item by the toy recipe's stages, sounds in memory; return how many are left."""
    work = ToyRecipe().work({"items": items})
    left: list[Item] = []
    for seed in work.seeds:
        found = [seed]
        sounds = FakeBench(seed.id).sounds
        for step in work.steps:
            stages: tuple[Stage, ...] = ()
            if isinstance(step, Retried):
                stages = (step.maker, step.checker)
            elif isinstance(step, Stage):
                stages = (step,)
            for stage in stages:
                made = []
                for item in found:
                    bench = FakeBench(item.id, stage=stage.name)
                    bench.sounds = sounds
                    outcome = stage.make(item, bench)
                    made += list(outcome.items) if isinstance(outcome, Made) else []
                found = made
        left += found
    return len(left)


def cases(full: bool) -> Iterator[Case]:
    items = 400 if full else 100
    number = count()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)

        def fresh() -> int:
            n = next(number)
            made = build(
                ToyRecipe(), out=root / f"out{n}", cache=root / f"cache{n}",
                settings={"items": items},
            )  # fmt: skip
            return made.record.finished

        def again() -> int:
            made = build(
                ToyRecipe(), out=root / f"out{next(number)}", cache=root / "cache",
                settings={"items": items},
            )  # fmt: skip
            return made.record.finished

        again()
        yield Case(
            name="a build of a toy recipe of 6 stages",
            size=f"{items} items, nothing in the cache",
            ours=fresh,
            peers={"the stages in a loop, sounds in memory": lambda: loop(items)},
            per=(items, "item"),
        )
        yield Case(
            name="the same build again",
            size=f"{items} items, everything in the cache",
            ours=again,
            peers={"the stages in a loop, sounds in memory": lambda: loop(items)},
            per=(items, "item"),
        )
