"""``floorbench build``."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from floorbench.audio.assets import cache_dir
from floorbench.build.pipeline.engine import ITEM_TIMEOUT, Built
from floorbench.build.pipeline.engine import build as build_dataset
from floorbench.build.pipeline.plan import Plan
from floorbench.build.pipeline.plan import plan as plan_dataset
from floorbench.build.pipeline.report import build_tables
from floorbench.build.pipeline.sitting import Progress
from floorbench.cli import console
from floorbench.cli.options import NO_WISHES, RayWishes, settings
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.run.child import cores

RecipeSettings = Annotated[
    list[str] | None,
    Parameter(name=["--set", "-s"], negative=(), help="Setting of the recipe, NAME=VALUE."),
]


def build(
    recipe: str,
    /,
    *,
    out: Path | None = None,
    preset: str | None = None,
    sets: RecipeSettings = None,
    limit: int | None = None,
    redo_from: Annotated[str | None, Parameter(name="--from")] = None,
    dry_run: bool = False,
    workers: int | None = None,
    item_timeout: float = ITEM_TIMEOUT,
    executor: Literal["process", "ray"] = "process",
    wishes: RayWishes = NO_WISHES,
    seed: int = 0,
    cache: Path | None = None,
    json: bool = False,
) -> int:
    """Build a dataset by a recipe; interrupted, it goes on when called again.

    Parameters
    ----------
    recipe
        A recipe of ``floorbench list recipes``, or ``path.py:Recipe``.
    out
        Folder of the dataset; an earlier build in it is replaced at the end.
    preset
        A set of settings that the recipe names.
    limit
        At most so many of the items that the recipe starts from.
    redo_from
        Make everything anew from this stage on.
    dry_run
        Make nothing; say what would be made and how long it would take.
    workers
        Processes or actors, one per core by default; the dataset does not depend on it.
    item_timeout
        Seconds that one item may take in one step; then its worker is killed and the item fails.
    executor
        ``ray`` makes the items on the nodes of a cluster, which must share the cache folder.
    seed
        Seed of everything random.
    cache
        Folder of finished parts; ``build`` in floorbench's cache by default.
    json
        Print JSON.
    """
    where = cache if cache is not None else cache_dir() / "build"
    processes = workers if workers is not None else cores()
    if processes < 1:
        raise UsageError("FB103", f"--workers {processes}: at least 1 is needed")
    given: dict[str, Any] = {
        "cache": where,
        "preset": preset,
        "settings": settings(sets),
        "seed": seed,
        "limit": limit,
        "redo_from": redo_from,
        "workers": processes,
    }
    if dry_run:
        return _print_plan(plan_dataset(recipe, **given), json)
    ray = wishes.options()
    if out is None:
        raise UsageError("FB103", "name the folder of the dataset with --out")
    with console.only_talk(), console.progress(f"build {recipe}") as tick:

        def told(p: Progress) -> None:
            tick(p.done, p.total)

        try:
            built = build_dataset(
                recipe,
                out=out,
                executor=executor,
                ray=ray,
                item_timeout=item_timeout,
                progress=told,
                notify=console.say,
                **given,
            )
        except KeyboardInterrupt:
            console.say("what is finished is kept; the same command goes on with it")
            raise
    return _print(built, json)


def _print(built: Built, json: bool) -> int:
    record = built.record
    if json:
        console.data_json({"dataset": str(built.path), **dataclasses.asdict(record)})
    else:
        for table in build_tables(record, built.lost):
            console.table(table)
        console.data(str(built.path))
    if record.failed:
        console.say(
            f"{counted(record.failed, 'item failed and is', 'items failed and are')} "
            "not in the dataset; the same command tries "
            "them again"
        )
    return 1 if record.failed else 0


def _print_plan(plan: Plan, json: bool) -> int:
    if json:
        console.data_json(plan)
        return 0
    rows = [
        (
            " + ".join(s.stages),
            f"{s.items:.0f}",
            str(s.cached),
            f"{s.to_make:.0f}",
            "?" if s.seconds is None else f"{s.seconds:.0f}",
            s.source,
            ", ".join(f"{name} {amount:.0f}" for name, amount in s.asks.items()),
        )
        for s in plan.steps
    ]
    head = ("stage", "items", "cached", "to make", "seconds", "known how", "asks for")
    console.data(console.columns(rows, head))
    console.data(
        f"{counted(plan.seeds, 'seed')}, about "
        f"{counted(plan.finished, 'item', form='.0f')} at the end; about "
        f"{plan.seconds:.0f} s with {counted(plan.workers, 'process', 'processes')}"
    )
    if plan.unknown:
        console.data(f"not in that sum, because nobody measured them: {', '.join(plan.unknown)}")
    return 0
