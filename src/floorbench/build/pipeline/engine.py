"""The engine: every item through every step, kept as it goes, then one dataset.

Steps between two gathering ones form a stretch in which items move on by themselves; what is in
the cache is taken from it here, what is missing is made in the pool. A build that is interrupted or
killed goes on by giving the same command again.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from floorbench.build.pipeline.export import ExportFolder, check_target, exporting, restore
from floorbench.build.pipeline.gathering import gather
from floorbench.build.pipeline.pool import HerePool, Pool, ProcessPool, Task
from floorbench.build.pipeline.recipes import (
    absolute_name,
    check_ids,
    checked_work,
    open_recipe,
    stages_of,
    with_preset,
)
from floorbench.build.pipeline.record import (
    BUILD_FILE,
    LINEAGE_FILE,
    REJECTED_FILE,
    BuildRecord,
    Counter,
    Lost,
    count,
    write_factors,
)
from floorbench.build.pipeline.report import write_report
from floorbench.build.pipeline.runner import Done, Failure, Runner, fresh_from
from floorbench.build.pipeline.stage import Gather, Item, Recipe, Rejected, Step, Work
from floorbench.build.pipeline.store import locked
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, UsageError
from floorbench.run import provenance
from floorbench.run.store import now


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """What a build gave: its record, the folder, and every item that did not come through."""

    record: BuildRecord
    path: Path
    lost: tuple[Lost, ...]


def build(
    recipe: str | Recipe,
    *,
    out: Path,
    cache: Path,
    preset: str | None = None,
    settings: Mapping[str, JsonValue] | None = None,
    seed: int = 0,
    limit: int | None = None,
    redo_from: str | None = None,
    workers: int = 0,
    progress: Callable[[Progress], None] | None = None,
    notify: Callable[[str], None] = lambda _: None,
) -> Built:
    """Build a dataset.

    Parameters
    ----------
    recipe : str or Recipe
        A name (see :func:`~floorbench.build.pipeline.recipes.open_recipe`), or a recipe object,
        which needs ``workers=0``.
    out : Path
        The dataset's folder; an earlier build in it is replaced once the new one is whole.
    cache : Path
        Folder of results and sounds; builds may share it.
    preset : str or None
    settings : mapping or None
        Stand above the preset's.
    seed : int
    limit : int or None
        At most so many seeds, the first ones.
    redo_from : str or None
        A stage from which on cached results are not used.
    workers : int
        Processes; 0 makes everything in this one.
    progress, notify : function
        Hear how far the build is, and remarks.

    Raises
    ------
    UsageError
        ``FB101``, ``FB851`` or ``FB859`` for the recipe's name, its settings, its file; ``FB103``
        for an impossible number.
    DataError
        ``FB852`` a broken contract, ``FB853`` the folder is being built, ``FB855`` it holds
        something else, ``FB857`` nothing came through.
    EnvironmentProblem
        ``FB854``, ``FB858``, or a stage's own. All finished results are kept.
    """
    if workers < 0 or (limit is not None and limit < 1):
        raise UsageError("FB103", f"workers {workers}, limit {limit}: too small")
    made = open_recipe(recipe) if isinstance(recipe, str) else recipe
    if not isinstance(recipe, str) and workers:
        raise UsageError("FB103", "a recipe object cannot go to other processes; give its name")
    filled = with_preset(made, preset, settings or {})
    work = checked_work(made, filled)
    fresh = fresh_from(work.steps, redo_from)
    out = out.absolute()
    with locked(out.with_name(f".{out.name}.lock")):
        restore(out)
        check_target(out)
        runner = Runner(work.steps, cache=cache, seed=seed, fresh=fresh)
        swept = runner.folder.sweep()
        if swept:
            notify(f"removed {swept} unfinished files of a build that was killed")
        pool: Pool = (
            ProcessPool(
                workers=workers,
                steps=work.steps,
                recipe=absolute_name(str(recipe)),
                settings=filled,
                cache=cache,
                seed=seed,
                fresh=fresh,
            )
            if workers
            else HerePool(runner)
        )
        begun, started = time.monotonic(), now()
        with contextlib.closing(pool):
            sitting = _Sitting(work, runner, pool, progress)
            finished = sitting.run(work.seeds[:limit])
        lost = tuple(sorted(sitting.lost, key=lambda x: (x.item, x.stage)))
        reports = sitting.reports()
        write_factors(runner.folder, made.name, reports)
        record = BuildRecord(
            recipe=made.name,
            preset=preset,
            settings=filled,
            seed=seed,
            limit=limit,
            deterministic=all(s.deterministic for s in reports),
            seeds=len(work.seeds[:limit]),
            finished=len(finished),
            rejected=sum(x.kind == "rejected" for x in lost),
            failed=sum(x.kind == "failed" for x in lost),
            stages=reports,
            started=started,
            took=round(time.monotonic() - begun, 3),
            workers=workers,
            floorbench=provenance.code(),
            packages=provenance.packages(),
            hardware=provenance.hardware(),
        )
        if not finished:
            raise _nothing(lost)
        with exporting(out, runner.sounds) as folder:
            made.export([t.item for t in finished], runner.sounds, folder)
            _accompany(folder, record, lost, _lineage(finished, runner))
    return Built(record=record, path=out, lost=lost)


def _accompany(
    folder: ExportFolder, record: BuildRecord, lost: tuple[Lost, ...], lineage: Iterator[Any]
) -> None:
    from floorbench import codec

    folder.lines(LINEAGE_FILE, lineage)
    folder.lines(REJECTED_FILE, (codec.to_builtins(x) for x in lost))
    folder.text(BUILD_FILE, codec.encode_pretty(record))
    write_report(folder, record, lost)
    folder.checksums()


def _nothing(lost: tuple[Lost, ...]) -> DataError:
    first = lost[0] if lost else None
    reason = f"; first of {len(lost)}: {first.item} at {first.stage}: {first.detail}" if first else ""
    return DataError("FB857", f"no item came through{reason}")


def _lineage(finished: list[Traced], runner: Runner) -> Iterator[dict[str, JsonValue]]:
    for traced in finished:
        steps: list[JsonValue] = []
        for key in traced.trail:
            result = runner.results.get(key)
            if result is None:
                raise DataError("FB852", f"the result {key[:12]} of '{traced.item.id}' has gone")
            steps.append(
                {
                    "stage": result.stage,
                    "version": result.version,
                    "deterministic": result.deterministic,
                    "key": key,
                    "item": result.item or traced.item.id,
                    "attempt": result.attempt,
                    "rejected": result.rejected.reason if result.rejected else None,
                    "sounds": [s.digest for s in result.sounds],
                    "notes": list(result.notes),
                }
            )
        source = traced.ancestry()[0].item
        yield {
            "item": traced.item.id,
            "seed": {"id": source.id, "fields": source.fields, "audio": source.audio},
            "sounds": traced.item.audio,
            "steps": steps,
        }


class _Sitting:
    """One run of the steps."""

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

    def reports(self) -> Any:
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
        """Send the seeds through all steps; return what came through, in the order of ids."""
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
                found = self._runner.treat(index, traced.item, make=False)
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
            for before, after in zip(line, line[1:], strict=False)
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
        for item, why in result.left_out.items():
            counter.reject(why.reason)
            self._lose(item, name, why)
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
