"""One run of the steps: items move on as they are made, and are counted where they are lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from floorbench.build.pipeline.gathering import gather
from floorbench.build.pipeline.pool import Pool, Task
from floorbench.build.pipeline.recipes import check_ids, stages_of
from floorbench.build.pipeline.record import Counter, Lost, StageReport, count
from floorbench.build.pipeline.runner import Done, Failure, Runner
from floorbench.build.pipeline.stage import Gather, Item, Rejected, Step, Work


class Progress(NamedTuple):
    """How far a build is, in steps of items; the total changes where items are lost or mined."""

    done: int
    total: int
    stage: str


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """An item, the results it came out of, and what it was before.

    Parameters
    ----------
    item : Item
    trail : tuple of str
        Keys of results, oldest first.
    step : int
        The step that made it, -1 for a seed.
    before : Traced or None
        What went into that step.
    """

    item: Item
    trail: tuple[str, ...] = ()
    step: int = -1
    before: Traced | None = None

    def ancestry(self) -> list[Traced]:
        """Return the item at every stage of its making, seed first."""
        out: list[Traced] = []
        one: Traced | None = self
        while one is not None:
            out.append(one)
            one = one.before
        return out[::-1]


class Sitting:
    """One run of the steps.

    Parameters
    ----------
    work : Work
    runner : Runner
        For the cache.
    pool : Pool
        Where items are made.
    progress : function or None
    """

    def __init__(
        self,
        work: Work,
        runner: Runner,
        pool: Pool,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._steps: tuple[Step, ...] = work.steps
        self._runner = runner
        self._pool = pool
        self._told = progress
        self._names = [tuple(s.name for s in stages_of(step)) for step in work.steps]
        self._counters = {name: Counter() for names in self._names for name in names}
        self._ids: list[set[str]] = [set() for _ in work.steps]
        self._done = self._left = 0
        self._number = 0
        self.lost: list[Lost] = []

    def reports(self) -> tuple[StageReport, ...]:
        """Return the counts of all stages."""
        return tuple(
            self._counters[s.name].report(
                stage=s.name,
                version=s.version,
                deterministic=s.deterministic,
                settings=dict(s.settings()),
            )
            for step in self._steps
            for s in stages_of(step)
        )

    def run(self, seeds: tuple[Item, ...]) -> list[Traced]:
        """Send the seeds through all steps; return what came through, in the order of ids.

        Steps between two gathering ones form a stretch in which items move on by themselves.
        """
        items = [Traced(item) for item in seeds]
        self._left = len(items) * len(self._steps)
        index = 0
        while index < len(self._steps):
            step = self._steps[index]
            if isinstance(step, Gather):
                items = self._gather(index, step, items)
                index += 1
            else:
                end = index
                while end < len(self._steps) and not isinstance(self._steps[end], Gather):
                    end += 1
                items = self._stretch(index, end, items)
                index = end
        return sorted(items, key=lambda t: t.item.id)

    def _stretch(self, first: int, end: int, items: list[Traced]) -> list[Traced]:
        todo = deque((first, t) for t in items)
        flying: dict[int, tuple[int, Traced, bool]] = {}
        through: list[Traced] = []

        def take(index: int, traced: Traced, done: Done) -> None:
            for one in self._took(index, traced, done):
                if index + 1 < end:
                    todo.append((index + 1, one))
                else:
                    through.append(one)

        while todo or flying:
            while todo and self._pool.free():
                index, traced = todo.popleft()
                found = self._runner.known(index, traced.item)
                if found is not None:
                    take(index, traced, found)
                else:
                    self._give(index, traced, flying, repair=False)
            for number, done in self._pool.collect() if flying else ():
                index, traced, repaired = flying.pop(number)
                if done.failed is not None and done.failed.damaged and not repaired:
                    self._give(index, traced, flying, repair=True)
                else:
                    take(index, traced, done)
        return through

    def _give(
        self,
        index: int,
        traced: Traced,
        flying: dict[int, tuple[int, Traced, bool]],
        *,
        repair: bool,
    ) -> None:
        line = traced.ancestry()
        steps = tuple(
            (after.step, before.item)
            for before, after in pairwise(line)
            if not isinstance(self._steps[after.step], Gather)
        )
        self._number += 1
        flying[self._number] = (index, traced, repair)
        self._pool.give(
            Task(
                number=self._number,
                index=index,
                item=traced.item,
                repair=steps if repair else (),
            )
        )

    def _took(self, index: int, traced: Traced, done: Done) -> list[Traced]:
        """Count what became of an item; return what goes on."""
        count(self._counters, self._names[index], done)
        check_ids(done.items, f"stage '{done.stage}'", self._ids[index])
        if done.rejected is not None:
            self._lose(traced.item.id, done.stage, done.rejected)
        if done.failed is not None:
            self._lose(traced.item.id, done.stage, done.failed)
        trail = (*traced.trail, *(call.key for call in done.calls))
        on = [Traced(item, trail, index, traced) for item in done.items]
        self._tell(index, done.stage, entered=1, left=len(on))
        return on

    def _gather(self, index: int, step: Gather, items: list[Traced]) -> list[Traced]:
        name = step.name
        counter = self._counters[name]
        before = {t.item.id: t for t in sorted(items, key=lambda t: t.item.id)}
        if not before:
            return []
        result, call = gather(step, self._runner, [t.item for t in before.values()])
        counter.call(call)
        counter.entered += len(before)
        counter.left += len(result.items or ())
        for left_out, why in result.left_out.items():
            counter.reject(why.reason)
            self._lose(left_out, name, why)
        self._tell(index, name, entered=len(before), left=len(result.items or ()))
        out = []
        for item in result.items or ():
            was = before.get(item.id)
            trail = was.trail if was is not None else ()
            out.append(Traced(item, (*trail, call.key), index, was))
        return out

    def _lose(self, item: str, stage: str, why: Rejected | Failure) -> None:
        if isinstance(why, Rejected):
            lost = Lost(
                item=item, stage=stage, kind="rejected", reason=why.reason, detail=why.detail
            )
        else:
            reason = why.code or why.what.partition(":")[0]
            lost = Lost(
                item=item, stage=stage, kind="failed", reason=reason, detail=why.what,
                trace=why.trace,
            )  # fmt: skip
        self.lost.append(lost)

    def _tell(self, index: int, stage: str, *, entered: int, left: int) -> None:
        after = len(self._steps) - index - 1
        self._done += entered
        self._left += left * after - entered * (after + 1)
        if self._told is not None:
            self._told(Progress(self._done, self._done + self._left, stage))
