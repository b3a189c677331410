"""A gathering step: all items at once, kept as one result."""

from __future__ import annotations

import time
from collections.abc import Sequence

from floorbench.build.pipeline.recipes import check_ids
from floorbench.build.pipeline.runner import Call, Runner
from floorbench.build.pipeline.stage import Gather, Gathered, Item
from floorbench.build.pipeline.store import Result
from floorbench.errors import DataError


def gather(step: Gather, runner: Runner, items: Sequence[Item]) -> tuple[Result, Call]:
    """Return the result of a gathering step, from the cache where it holds it.

    Parameters
    ----------
    step : Gather
    runner : Runner
    items : sequence of Item
        In the order of their ids.

    Raises
    ------
    DataError
        ``FB852`` when an item is neither kept nor rejected, or an id is bad.
    """
    key = runner.key(step, list(items), 0)
    result = None if step.name in runner.fresh else runner.results.get(key)
    cached = result is not None
    if result is None:
        wall, cpu = time.perf_counter(), time.process_time()
        found = step.gather(items)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        _check(step.name, items, found)
        result = runner.results.put(
            Result(
                key=key,
                stage=step.name,
                version=step.version,
                deterministic=step.deterministic,
                item="",
                attempt=0,
                items=tuple(found.items),
                left_out=dict(found.rejected),
                wall=round(wall, 6),
                cpu=round(cpu, 6),
            )
        )
    call = Call(
        stage=step.name,
        key=key,
        attempt=0,
        cached=cached,
        wall=result.wall,
        cpu=result.cpu,
        seconds=0.0,
        reason=None,
    )
    return result, call


def _check(stage: str, items: Sequence[Item], found: object) -> None:
    if not isinstance(found, Gathered):
        raise DataError("FB852", f"stage '{stage}' returned a {type(found).__name__}")
    kept: set[str] = set()
    check_ids(found.items, f"stage '{stage}'", kept)
    for item in items:
        if (item.id in kept) == (item.id in found.rejected):
            how = "both keeps and rejects" if item.id in kept else "neither keeps nor rejects"
            raise DataError("FB852", f"stage '{stage}' {how} '{item.id}'")
