"""The engine: every item through every step, kept as it goes, then one dataset.

What is in the cache is taken from it here, what is missing is made in the pool. A build that is
interrupted or killed goes on by giving the same command again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from floorbench import codec
from floorbench.build.pipeline.export import (
    check_apart,
    check_target,
    exporting,
    restore,
)
from floorbench.build.pipeline.pool import HerePool, Order, Pool, ProcessPool
from floorbench.build.pipeline.recipes import (
    absolute_name,
    checked_work,
    open_recipe,
    with_preset,
)
from floorbench.build.pipeline.record import (
    BUILD_FILE,
    LINEAGE_FILE,
    REJECTED_FILE,
    BuildRecord,
    Lost,
    StageReport,
    write_factors,
)
from floorbench.build.pipeline.report import Showing, Shown, write_report
from floorbench.build.pipeline.runner import Runner, fresh_from
from floorbench.build.pipeline.sitting import Progress, Sitting, Traced
from floorbench.build.pipeline.stage import Recipe, Work
from floorbench.build.pipeline.store import SoundDamaged, locked
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from floorbench.run import provenance
from floorbench.run.executors import LONGEST_TIMEOUT
from floorbench.run.store import now

if TYPE_CHECKING:
    from floorbench.run.ray_cluster import RayOptions

ITEM_TIMEOUT = 1800.0
"""Seconds that one item may take in one step: more than a remote model's calls and repeats."""


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
    item_timeout: float | None = ITEM_TIMEOUT,
    executor: str = "process",
    ray: RayOptions | None = None,
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
        Processes or actors; 0 makes everything in this one.
    item_timeout : float or None
        Seconds that one item may take in one step, or a stage to load, in a worker. One that takes
        longer is killed, and the item fails. A gathering step has no limit.
    executor : str
        Where workers are: ``process`` for this machine, ``ray`` for a cluster.
    ray : RayOptions or None
        Which cluster, and what a worker reserves on it.
    progress, notify : function
        Hear how far the build is, and remarks.

    Raises
    ------
    UsageError
        ``FB101``, ``FB851`` or ``FB859`` for the recipe's name, its settings, its file; ``FB103``
        for an impossible number, or for options of Ray without it; ``FB837`` when dataset and
        cache lie in one another, or in recordings that the recipe reads.
    DataError
        ``FB852`` a broken contract, ``FB853`` the folder is being built, ``FB855`` it holds
        something else, ``FB857`` nothing came through.
    EnvironmentProblem
        ``FB836`` a stage that loads for too long, ``FB854``, ``FB858``, or a stage's own;
        ``FB515`` to ``FB517`` and ``FB838`` for a cluster that cannot do it. All finished results
        are kept.
    """
    _check(workers=workers, limit=limit, item_timeout=item_timeout, executor=executor, ray=ray)
    made = open_recipe(recipe) if isinstance(recipe, str) else recipe
    if not isinstance(recipe, str) and workers:
        raise UsageError("FB103", "a recipe object cannot go to other processes; give its name")
    filled = with_preset(made, preset, settings or {})
    work = checked_work(made, filled)
    fresh = fresh_from(work.steps, redo_from)
    out = out.resolve()  # a link stays, what it names is replaced
    check_apart(out, cache, work.sources)
    with locked(out.with_name(f".{out.name}.lock")):
        restore(out)
        check_target(out)
        runner = Runner(work.steps, cache=cache, seed=seed, fresh=fresh)
        swept = runner.folder.sweep()
        if swept:
            notify(f"removed {counted(swept, 'unfinished file')} of a build that was killed")
        making = _Making(
            recipe=made,
            work=work,
            runner=runner,
            out=out,
            preset=preset,
            settings=filled,
            limit=limit,
            workers=workers,
        )
        order = Order(
            recipe=absolute_name(str(recipe)),
            settings=filled,
            steps=work.steps,
            cache=cache,
            seed=seed,
            fresh=fresh,
        )
        pool = _pool(order, runner, workers, item_timeout, executor=executor, ray=ray)
        with contextlib.closing(pool):
            try:
                return making.sit(pool, progress)
            except SoundDamaged as error:
                notify(f"{error.what}: what is missing is made again")
                return making.sit(pool, progress)


def _check(
    *,
    workers: int,
    limit: int | None,
    item_timeout: float | None,
    executor: str,
    ray: RayOptions | None,
) -> None:
    if workers < 0 or (limit is not None and limit < 1):
        raise UsageError("FB103", f"workers {workers}, limit {limit}: too small")
    if item_timeout is not None and not 0 < item_timeout <= LONGEST_TIMEOUT:
        what = f"item timeout {item_timeout:g} s: above 0, at most {LONGEST_TIMEOUT:g}"
        raise UsageError("FB103", what)
    if executor not in ("process", "ray"):
        raise UsageError("FB103", f"there is no executor '{executor}': process or ray")
    if ray is not None and executor != "ray":
        raise UsageError(
            "FB103",
            f"options of Ray mean nothing to the executor '{executor}'",
            hint="give --executor ray too",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Making:
    """A build that has begun: what was asked for, what makes it, and since when."""

    recipe: Recipe
    work: Work
    runner: Runner
    out: Path
    preset: str | None
    settings: Mapping[str, JsonValue]
    limit: int | None
    workers: int
    started: str = field(default_factory=now)
    begun: float = field(default_factory=time.monotonic)

    def sit(self, pool: Pool, progress: Callable[[Progress], None] | None) -> Built:
        """Take every item through every step and write the dataset.

        Raises
        ------
        SoundDamaged
            When the cache holds a damaged sound; it has been taken out, another try makes it anew.
        """
        sitting = Sitting(self.work, self.runner, pool, progress)
        finished = sitting.run(self.work.seeds[: self.limit])
        lost = tuple(sorted(sitting.lost, key=lambda x: (x.item, x.stage)))
        reports = sitting.reports()
        with contextlib.suppress(EnvironmentProblem):  # a plan knows less without them
            write_factors(self.runner.folder, self.recipe.name, reports)
        record = self._record(len(finished), lost, reports)
        if not finished:
            raise _nothing(lost)
        try:
            self._write(finished, lost, record)
        except SoundDamaged:
            _take_out_damaged(finished, self.runner)
            raise
        self.runner.folder.sweep()  # workers of a killed build may have lived on for a moment
        return Built(record=record, path=self.out, lost=lost)

    def _record(
        self, finished: int, lost: tuple[Lost, ...], reports: tuple[StageReport, ...]
    ) -> BuildRecord:
        return BuildRecord(
            recipe=self.recipe.name,
            preset=self.preset,
            settings=provenance.redact(self.settings).parameters,
            seed=self.runner.seed,
            limit=self.limit,
            deterministic=all(s.deterministic for s in reports),
            seeds=len(self.work.seeds[: self.limit]),
            finished=finished,
            rejected=sum(x.kind == "rejected" for x in lost),
            failed=sum(x.kind == "failed" for x in lost),
            stages=reports,
            started=self.started,
            took=round(time.monotonic() - self.begun, 3),
            workers=self.workers,
            floorbench=provenance.code(),
            packages=provenance.packages(),
            hardware=provenance.hardware(),
        )

    def _write(self, finished: list[Traced], lost: tuple[Lost, ...], record: BuildRecord) -> None:
        items = [t.item for t in finished]
        sounds = self.runner.sounds
        with exporting(self.out, sounds) as folder:
            self.recipe.export(items, sounds, folder)
            shown = Shown((), {})
            if isinstance(self.recipe, Showing):
                shown = self.recipe.shown(items)
            folder.lines(LINEAGE_FILE, _lineage(finished, self.runner))
            folder.lines(REJECTED_FILE, (codec.to_builtins(x) for x in lost))
            folder.text(BUILD_FILE, codec.encode_pretty(record))
            write_report(folder, record, lost, figures=shown.figures, measured=shown.measured)
            folder.checksums()


def _pool(
    order: Order,
    runner: Runner,
    workers: int,
    item_timeout: float | None,
    *,
    executor: str,
    ray: RayOptions | None,
) -> Pool:
    if not workers:
        return HerePool(runner)
    if executor == "ray":
        from floorbench.build.pipeline.ray_pool import RayPool

        return RayPool(order, workers=workers, item_timeout=item_timeout, options=ray)
    return ProcessPool(order, workers=workers, item_timeout=item_timeout)


def _take_out_damaged(finished: list[Traced], runner: Runner) -> None:
    """Look at every sound of the dataset; a damaged one leaves the store and is made again."""
    for traced in finished:
        for digest in traced.item.audio.values():
            with contextlib.suppress(SoundDamaged):
                runner.sounds.pcm(digest)


def _nothing(lost: tuple[Lost, ...]) -> DataError:
    first = lost[0] if lost else None
    reason = (
        f"; first of {len(lost)}: {first.item} at {first.stage}: {first.detail}" if first else ""
    )
    return DataError("FB857", f"no item came through{reason}")


def _lineage(finished: list[Traced], runner: Runner) -> Iterator[dict[str, JsonValue]]:
    shared: dict[str, dict[str, JsonValue]] = {}  # gathering steps: one large result for all
    for traced in finished:
        steps: list[JsonValue] = []
        for key in traced.trail:
            step = shared.get(key) or _step(key, traced, runner)
            if not step["item"]:
                shared[key] = step
            steps.append({**step, "item": step["item"] or traced.item.id})
        source = traced.ancestry()[0].item
        yield {
            "item": traced.item.id,
            "seed": {"id": source.id, "fields": source.fields, "audio": source.audio},
            "sounds": traced.item.audio,
            "steps": steps,
        }


def _step(key: str, traced: Traced, runner: Runner) -> dict[str, JsonValue]:
    result = runner.results.get(key, whole=False)
    if result is None:
        raise DataError("FB852", f"the result {key[:12]} of '{traced.item.id}' has gone")
    return {
        "stage": result.stage,
        "version": result.version,
        "deterministic": result.deterministic,
        "key": key,
        "item": result.item,
        "attempt": result.attempt,
        "rejected": result.rejected.reason if result.rejected else None,
        "sounds": [s.digest for s in result.sounds],
        "notes": list(result.notes),
    }
