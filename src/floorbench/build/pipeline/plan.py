"""The dry run: what a build would make, how long that takes and what it asks for, making nothing.

What lies in the cache is followed item by item. From the first result that is missing, counts are
expectations: yields and seconds measured by earlier builds with the same cache folder, else what
the recipe declares, else unknown. A step that keeps a wanted number says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from floorbench.build.pipeline.recipes import checked_work, open_recipe, stages_of, with_preset
from floorbench.build.pipeline.record import Factor, read_factors
from floorbench.build.pipeline.runner import Runner, fresh_from
from floorbench.build.pipeline.stage import Gather, Item, Recipe
from floorbench.core.sample import JsonValue
from floorbench.errors import UsageError


@runtime_checkable
class Expecting(Protocol):
    """A stage that can say beforehand what an item will ask for; a stage need not."""

    def expect(self, item: Item) -> Mapping[str, float]:
        """Return amounts by name: ``calls``, ``tokens_in``, ``tokens_out``, ``sound_seconds``.

        The item may lack what earlier stages would add. The amounts are those of one attempt.
        """
        ...


@runtime_checkable
class Choosing(Protocol):
    """A step that sees all items and keeps so many of them at most; a step need not say it."""

    def at_most(self, seeds: Sequence[Item]) -> int | None:
        """Return how many items a build of these seeds keeps; ``None`` when it cannot be known."""
        ...


@runtime_checkable
class Declaring(Protocol):
    """A recipe that declares how long its stages take; it need not."""

    factors: Mapping[str, float]
    """Seconds by the clock per item that enters a stage, by stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """What one step would do.

    Parameters
    ----------
    stages : tuple of str
        The stage, or maker and checker.
    items : float
        That would enter it, those in the cache included.
    cached : int
        Items whose results are all there.
    to_make : float
    seconds : float or None
        For what is to be made, on one process; ``None`` when nobody knows.
    source : str
        ``measured`` (by an earlier build), ``declared`` (by the recipe), ``unknown``, or
        ``cached`` where nothing is to be made.
    asks : mapping of str to float
        Sums of what the stages expect for the items to be made.
    """

    stages: tuple[str, ...]
    items: float
    cached: int
    to_make: float
    seconds: float | None
    source: str
    asks: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A dry run: steps, the sum of the known seconds over the workers, and what nobody knows.

    Parameters
    ----------
    recipe : str
    seeds, workers : int
    finished : float
        Items expected to come through.
    steps : tuple of StagePlan
    seconds : float
        Sum of the known seconds divided by the workers.
    unknown : tuple of str
        Stages without a factor; their time is not in the sum.
    measured_on : mapping of str to int
        Number of items behind each measured factor.
    """

    recipe: str
    seeds: int
    workers: int
    finished: float
    steps: tuple[StagePlan, ...]
    seconds: float
    unknown: tuple[str, ...]
    measured_on: Mapping[str, int]


def plan(
    recipe: str | Recipe,
    *,
    cache: Path,
    preset: str | None = None,
    settings: Mapping[str, JsonValue] | None = None,
    seed: int = 0,
    limit: int | None = None,
    redo_from: str | None = None,
    workers: int = 1,
) -> Plan:
    """Plan a build; parameters and errors as :func:`floorbench.build.pipeline.engine.build`."""
    if workers < 0 or (limit is not None and limit < 1):
        raise UsageError("FB103", f"workers {workers}, limit {limit}: too small")
    made = open_recipe(recipe) if isinstance(recipe, str) else recipe
    work = checked_work(made, with_preset(made, preset, settings or {}))
    runner = Runner(work.steps, cache=cache, seed=seed, fresh=fresh_from(work.steps, redo_from))
    measured = read_factors(cache, made.name).stages
    declared = made.factors if isinstance(made, Declaring) else {}
    seeds = work.seeds[:limit]
    known: list[Item] = list(seeds)  # exactly known before the step
    waiting: list[tuple[Item, float]] = []  # last known form of an item to be made, its share
    steps = []
    for index, step in enumerate(work.steps):
        names = tuple(s.name for s in stages_of(step))
        on, cached, missing = _follow(runner, index, known, complete=not waiting)
        waiting += [(item, 1.0) for item in missing]
        to_make = sum(share for _, share in waiting)
        seconds, source = _seconds(names, to_make, measured, declared)
        asks: dict[str, float] = {}
        for stage in stages_of(step):
            if isinstance(stage, Expecting):
                for item, share in waiting:
                    for name, amount in stage.expect(item).items():
                        asks[name] = asks.get(name, 0.0) + amount * share
        steps.append(
            StagePlan(
                stages=names,
                items=cached + to_make,
                cached=cached,
                to_make=to_make,
                seconds=seconds,
                source=source,
                asks=asks,
            )
        )
        gain = _yield(names, measured)
        most = step.at_most(seeds) if isinstance(step, Choosing) else None
        if most is not None and to_make:
            gain = min(1.0, most / to_make)
        waiting = [(item, share * gain) for item, share in waiting]
        known = on
    unknown = tuple(n for s in steps if s.source == "unknown" for n in s.stages)
    return Plan(
        recipe=made.name,
        seeds=len(seeds),
        workers=max(workers, 1),
        finished=len(known) + sum(share for _, share in waiting),
        steps=tuple(steps),
        seconds=sum(s.seconds or 0.0 for s in steps) / max(workers, 1),
        unknown=unknown,
        measured_on={n: f.items for n, f in measured.items()},
    )


def _follow(
    runner: Runner, index: int, known: list[Item], *, complete: bool
) -> tuple[list[Item], int, list[Item]]:
    """Return items after a step as far as cached, how many were, and those that must be made."""
    step: Any = runner.steps[index]
    if isinstance(step, Gather):
        items = sorted(known, key=lambda item: item.id)
        got = None
        if complete and step.name not in runner.fresh:
            got = runner.results.get(runner.key(step, items, 0))
        return ([], 0, items) if got is None else (list(got.items or ()), len(items), [])
    on: list[Item] = []
    missing: list[Item] = []
    for item in known:
        done = runner.known(index, item)
        if done is None:
            missing.append(item)
        else:
            on += done.items
    return on, len(known) - len(missing), missing


def _seconds(
    names: tuple[str, ...],
    to_make: float,
    measured: Mapping[str, Factor],
    declared: Mapping[str, float],
) -> tuple[float | None, str]:
    if not to_make:
        return 0.0, "cached"
    if all(n in measured for n in names):
        return to_make * sum(measured[n].wall for n in names), "measured"
    if all(n in declared for n in names):
        return to_make * sum(declared[n] for n in names), "declared"
    return None, "unknown"


def _yield(names: tuple[str, ...], measured: Mapping[str, Factor]) -> float:
    gain = 1.0
    for name in names:
        gain *= measured[name].left if name in measured else 1.0
    return gain
