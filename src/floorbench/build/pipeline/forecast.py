"""What a plan of a large build says, and what it takes for granted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from floorbench.build.pipeline.measured import BuildFactors, Tokens, sees_all
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.run.planning import machine_named
from floorbench.run.plans import Means, Range


@dataclass(frozen=True, slots=True, kw_only=True)
class StageForecast:
    """What one stage would do.

    Parameters
    ----------
    stage : str
    entered, left : float
        Items.
    left_share : float
        Items that leave per item that enters.
    processor : Range
        Hours of the processor.
    real_time_factor : float or None
        Processor seconds per second of sound in the finished dataset.
    alone : bool
        Sees all items at once and runs in one process.
    needs : str
        ``processor``, ``gpu`` or ``service``, as the small build did it.
    """

    stage: str
    entered: float
    left: float
    left_share: float
    processor: Range
    real_time_factor: float | None
    alone: bool
    needs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildForecast:
    """A plan of a build; hours unless a name says otherwise.

    Parameters
    ----------
    recipe : str
    preset : str or None
    measured : mapping
        Seeds, items, seconds of sound and machine of the small build.
    items : int
        Wanted at the end.
    seeds : Range
        To start with.
    sound : float
        Hours of sound in the dataset.
    workers : int
    stages : tuple of StageForecast
    processor : Range
        Of all stages.
    real_time_factor : float or None
        Processor seconds per second of the dataset's sound, all stages.
    time : Range
        From start to end.
    machine_cost, model_cost : Range or None
    currency : str
    tokens : mapping of str to Tokens
        By model.
    gpu_hours : Range or None
        Of workers, in stages whose settings name a CUDA device.
    bytes : float
        Of the dataset.
    bytes_per_hour : float or None
        Of the dataset per hour of its sound.
    cache_bytes : float or None
        Of the cache.
    assumptions : tuple of str
    """

    recipe: str
    preset: str | None
    measured: Mapping[str, JsonValue]
    items: int
    seeds: Range
    sound: float
    workers: int
    stages: tuple[StageForecast, ...]
    processor: Range
    real_time_factor: float | None
    time: Range
    machine_cost: Range | None
    model_cost: Range | None
    currency: str
    tokens: Mapping[str, Tokens] = field(default_factory=dict)
    gpu_hours: Range | None
    bytes: float
    bytes_per_hour: float | None
    cache_bytes: float | None
    assumptions: tuple[str, ...]


def assumptions(
    factors: BuildFactors,
    means: Means,
    efficiency: float,
    stages: Sequence[StageForecast],
    rest: float | None,
    larger: float,
) -> list[str]:
    """Return what a plan takes for granted, a sentence each.

    Parameters
    ----------
    factors : BuildFactors
        Of the small build.
    means : Means
    efficiency : float
        Share of the small build's speed that a process keeps.
    stages : sequence of StageForecast
    rest : float or None
        Seconds of the small build outside its stages.
    larger : float
        Times as many seeds as the small build's.
    """
    record = factors.record
    lines = [
        f"same kind of machine as the small build: {machine_named(record.hardware)}",
        f"{efficiency:.0%} of the small build's speed for each process"
        + ("" if means.efficiency is not None else " (assumed, not measured; --efficiency)"),
        "yields as in the small build; a step that looks for duplicates or balances may keep a "
        "smaller share of more items",
        "an item's sound, and each stage's seconds for it, as in the small build; files and "
        "finished lines that items share count once, and more items may share more",
    ]
    for s in record.stages:
        if sees_all(s) and s.left < s.entered:
            lines.append(
                f"{s.stage} leaves out {1 - s.left / s.entered:.0%} as in the small build; where "
                "that is a choice and no fault, another setting starts fewer"
            )
    alone = [s for s in stages if s.alone]
    if alone:
        hours = sum(s.processor.value for s in alone)
        lines.append(
            f"steps that see all items at once ({', '.join(s.stage for s in alone)}) grow with "
            f"their number and run in one process: {hours:.2g} h; with its square they would take "
            f"{hours * larger:.2g} h"
        )
    if rest is None:
        lines.append(
            "part of the small build came from the cache: loading, writing and waiting are not "
            "in the time"
        )
    else:
        lines.append(
            f"loading, export and waiting, {rest:.0f} s in the small build, grow with the items "
            "and are not shared"
        )
    unknown = [s.stage for s in record.stages if s.spread is None and not sees_all(s)]
    if unknown:
        lines.append(
            "intervals hold the yields and the sound of an item, not the seconds of "
            + ", ".join(unknown)
        )
    if record.failed:
        lines.append(f"{record.failed} of {counted(record.seeds, 'item')} failed and count as lost")
    lines.append(
        "the space of the cache is not known without --cache"
        if factors.stored is None
        else "nothing but this build was in the cache"
    )
    services = [s.stage for s in stages if s.needs == "service"]
    if services:
        lines.append(f"limits of the services behind {', '.join(services)} are not known here")
    if not any(s.needs == "gpu" for s in stages):
        lines.append("no stage used a GPU; what one would change is not known from this build")
    return lines
