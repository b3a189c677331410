"""The engine: every item through every step, kept as it goes, then one dataset.

What is in the cache is taken from it here, what is missing is made in the pool. A build that is
interrupted or killed goes on by giving the same command again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from floorbench import codec
from floorbench.build.pipeline.export import (
    ExportFolder,
    check_apart,
    check_target,
    exporting,
    restore,
)
from floorbench.build.pipeline.pool import HerePool, Pool, ProcessPool
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
    write_factors,
)
from floorbench.build.pipeline.report import Showing, Shown, write_report
from floorbench.build.pipeline.runner import Runner, fresh_from
from floorbench.build.pipeline.sitting import Progress, Sitting, Traced
from floorbench.build.pipeline.stage import Recipe
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
        pool = _pool(
            executor,
            ray,
            runner,
            workers=workers,
            recipe=absolute_name(str(recipe)),
            settings=filled,
            cache=cache,
            item_timeout=item_timeout,
        )
        begun, started = time.monotonic(), now()

        def sit() -> Built:
            sitting = Sitting(work, runner, pool, progress)
            finished = sitting.run(work.seeds[:limit])
            lost = tuple(sorted(sitting.lost, key=lambda x: (x.item, x.stage)))
            reports = sitting.reports()
            with contextlib.suppress(EnvironmentProblem):  # a plan knows less without them
                write_factors(runner.folder, made.name, reports)
            record = BuildRecord(
                recipe=made.name,
                preset=preset,
                settings=provenance.redact(filled).parameters,
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
            try:
                with exporting(out, runner.sounds) as folder:
                    items = [t.item for t in finished]
                    made.export(items, runner.sounds, folder)
                    shown = made.shown(items) if isinstance(made, Showing) else Shown((), {})
                    _accompany(folder, record, lost, _lineage(finished, runner), shown)
            except SoundDamaged:
                _take_out_damaged(finished, runner)
                raise
            runner.folder.sweep()  # workers of a killed build may have lived on for a moment
            return Built(record=record, path=out, lost=lost)

        with contextlib.closing(pool):
            try:
                return sit()
            except SoundDamaged as error:
                notify(f"{error.what}: what is missing is made again")
                return sit()


def _pool(
    executor: str,
    ray: RayOptions | None,
    runner: Runner,
    *,
    workers: int,
    **given: Any,
) -> Pool:
    if not workers:
        return HerePool(runner)
    given |= {
        "workers": workers,
        "steps": tuple(runner.steps),
        "seed": runner.seed,
        "fresh": runner.fresh,
    }
    if executor == "ray":
        from floorbench.build.pipeline.ray_pool import RayPool

        return RayPool(options=ray, **given)
    return ProcessPool(**given)


def _take_out_damaged(finished: list[Traced], runner: Runner) -> None:
    """Look at every sound of the dataset; a damaged one leaves the store and is made again."""
    for traced in finished:
        for digest in traced.item.audio.values():
            with contextlib.suppress(SoundDamaged):
                runner.sounds.pcm(digest)


def _accompany(
    folder: ExportFolder,
    record: BuildRecord,
    lost: tuple[Lost, ...],
    lineage: Iterator[Any],
    shown: Shown,
) -> None:
    folder.lines(LINEAGE_FILE, lineage)
    folder.lines(REJECTED_FILE, (codec.to_builtins(x) for x in lost))
    folder.text(BUILD_FILE, codec.encode_pretty(record))
    write_report(folder, record, lost, figures=shown.figures, measured=shown.measured)
    folder.checksums()


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
