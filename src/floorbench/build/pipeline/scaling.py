"""How long a large build takes, from a small one that is finished: the plan on paper.

Yields say how many items must be started for so many at the end; seconds per item and stage say
how long that takes on n processes. The small build's counts and spreads give the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from floorbench.build.pipeline.measured import BuildFactors, Tokens, on_gpu, sees_all
from floorbench.build.pipeline.record import StageReport, factors_of
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.run.planning import DRAWS, check_size, machine_named
from floorbench.run.plans import Means, Range, range_of, share_of_speed
from floorbench.systems.api_cost import Price

Floats = NDArray[np.float64]


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


def forecast_build(
    factors: BuildFactors,
    means: Means,
    *,
    items: int | None = None,
    hours: float | None = None,
    prices: Mapping[str, Price] | None = None,
    seed: int = 0,
) -> BuildForecast:
    """Plan a build of another size.

    Parameters
    ----------
    factors : BuildFactors
        From :func:`floorbench.build.pipeline.measured.measure_build`.
    means : Means
        Workers and their price; ``price`` is not used.
    items : int or None
        Wanted at the end; the small build's own number by default.
    hours : float or None
        Of sound in the dataset, instead.
    prices : mapping of str to Price or None
        By model.
    seed : int
        Of the resampling.

    Raises
    ------
    UsageError
        ``FB103`` for numbers outside their range, ``FB562`` for hours of a dataset without sound.

    Notes
    -----
    Draws: a yield of at most 1 is drawn from the beta distribution of its counts (half an item
    added to either), a higher one from a normal of relative deviation ``1 / sqrt(left)``; mean
    seconds from a normal with the measured standard error, where a spread was measured; the sound
    of an item by resampling the files.
    """
    record = factors.record
    if items is not None and hours is not None:
        raise UsageError("FB103", "give one of --samples and --hours")
    check_size(items, hours)
    sound = float(factors.sounds.sum()) / record.finished  # seconds an item
    if hours is not None and not sound:
        raise UsageError("FB562", "the small build's dataset has no sound")
    rng = np.random.default_rng(seed)
    drawn_sound = _drawn_sound(factors, rng)
    if hours is not None:
        wanted = math.ceil(hours * 3600 / sound)
        wanted_draws = hours * 3600 / drawn_sound
    else:
        wanted = items if items is not None else record.finished
        wanted_draws = np.full(DRAWS, float(wanted))
    known = factors_of(record.stages)
    yields = np.array([known[s.stage].left for s in record.stages])
    yield_draws = np.stack([_drawn_yield(s, rng) for s in record.stages])
    total = float(wanted / yields.prod())
    total_draws = wanted_draws / yield_draws.prod(axis=0)
    entered = np.concatenate([[1.0], yields.cumprod()[:-1]]) * total
    grown = np.vstack([np.ones(DRAWS), yield_draws.cumprod(axis=0)[:-1]]) * total_draws
    cpu = np.array([known[s.stage].cpu for s in record.stages])
    cpu_draws = np.stack([_drawn_seconds(s, rng) for s in record.stages])
    ratio = np.array([s.wall / s.cpu if s.cpu else 1.0 for s in record.stages])
    alone = np.array([sees_all(s) for s in record.stages])
    made_sound = wanted * sound

    def hours_of(values: Floats) -> Floats:
        return values / 3600

    stages = tuple(
        StageForecast(
            stage=s.stage,
            entered=float(entered[n]),
            left=float(entered[n] * yields[n]),
            left_share=float(yields[n]),
            processor=range_of(
                float(entered[n] * cpu[n]) / 3600, hours_of(grown[n] * cpu_draws[n])
            ),
            real_time_factor=float(entered[n] * cpu[n]) / made_sound if made_sound else None,
            alone=bool(alone[n]),
            needs="gpu" if on_gpu(s) else "processor" if s.deterministic else "service",
        )
        for n, s in enumerate(record.stages)
    )
    efficiency = share_of_speed(means, max(record.workers, 1))
    rest = _rest(record.took, record.workers, record.stages, alone)
    larger = total / record.seeds
    power = means.workers * efficiency

    def time_of(per_stage: Floats, larger: Floats | float) -> Floats:
        clock = per_stage * (ratio if per_stage.ndim == 1 else ratio[:, None])
        shared = clock[~alone].sum(axis=0) / power
        single = clock[alone].sum(axis=0)
        return np.asarray(shared + single + (rest or 0.0) * larger) / 3600

    time = range_of(
        float(time_of(entered * cpu, larger)),
        time_of(grown * cpu_draws, total_draws / record.seeds),
    )
    processor = range_of(
        float((entered * cpu).sum()) / 3600, hours_of((grown * cpu_draws).sum(axis=0))
    )
    graphics = np.array([s.needs == "gpu" for s in stages])
    gpu = None
    if graphics.any():
        clock = entered * cpu * ratio
        clock_draws = grown * cpu_draws * ratio[:, None]
        gpu = range_of(
            float(clock[graphics].sum()) / 3600, hours_of(clock_draws[graphics].sum(axis=0))
        )
    tokens = _scaled_tokens(factors, larger)
    dear = [m for m in tokens if prices is not None and m not in prices]
    unpriced = [f"no price for {', '.join(dear)}: not in the cost of the models"] if dear else []
    return BuildForecast(
        recipe=record.recipe,
        preset=record.preset,
        measured={
            "seeds": record.seeds,
            "items": record.finished,
            "sound_seconds": round(float(factors.sounds.sum()), 3),
            "took": record.took,
            "workers": record.workers,
            "machine": dict(record.hardware),
        },
        items=wanted,
        seeds=range_of(total, total_draws),
        sound=made_sound / 3600,
        workers=means.workers,
        stages=stages,
        processor=processor,
        real_time_factor=processor.value * 3600 / made_sound if made_sound else None,
        time=time,
        machine_cost=None
        if means.price_per_hour is None
        else time.times(means.workers * means.price_per_hour),
        model_cost=_model_cost(tokens, prices, range_of(total, total_draws)),
        currency=means.currency,
        tokens=tokens,
        gpu_hours=gpu,
        bytes=factors.bytes / record.finished * wanted,
        bytes_per_hour=factors.bytes / float(factors.sounds.sum()) * 3600 if sound else None,
        cache_bytes=None if factors.stored is None else factors.stored * larger,
        assumptions=(
            *_assumptions(factors, means, efficiency, stages, rest, larger),
            *unpriced,
        ),
    )


def _drawn_sound(factors: BuildFactors, rng: np.random.Generator) -> Floats:
    """Return seconds of sound an item, files resampled."""
    count = len(factors.sounds)
    if not count:
        return np.zeros(DRAWS)
    weights = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS)
    return np.asarray(weights @ factors.sounds / factors.record.finished, dtype=np.float64)


def _drawn_yield(stage: StageReport, rng: np.random.Generator) -> Floats:
    if stage.left <= stage.entered:
        return rng.beta(stage.left + 0.5, stage.entered - stage.left + 0.5, DRAWS)
    factor = stage.left / stage.entered
    return np.maximum(rng.normal(factor, factor / math.sqrt(stage.left), DRAWS), 1e-9)


def _drawn_seconds(stage: StageReport, rng: np.random.Generator) -> Floats:
    mean = stage.cpu / stage.entered
    if stage.spread is None:
        return np.full(DRAWS, mean)
    return np.maximum(rng.normal(mean, stage.spread / math.sqrt(stage.entered), DRAWS), 0.0)


def _rest(
    took: float, workers: int, stages: Sequence[StageReport], alone: NDArray[np.bool_]
) -> float | None:
    """Return the seconds outside the stages; ``None`` where a cache hid what the stages took."""
    if any(s.cached for s in stages):
        return None
    wall = np.array([s.wall for s in stages])
    return max(0.0, took - float(wall[~alone].sum()) / max(workers, 1) - float(wall[alone].sum()))


def _scaled_tokens(factors: BuildFactors, larger: float) -> dict[str, Tokens]:
    """Scale tokens to the larger build, calls of items that were lost included."""
    calls = {s.stage: s.calls for s in factors.record.stages}
    out: dict[str, Tokens] = {}
    for stage, models in factors.tokens.items():
        seen = sum(t.calls for t in models.values())
        scale = larger * max(1.0, calls.get(stage, seen) / seen)
        for model, t in models.items():
            had = out.get(model, Tokens(calls=0, read=0, written=0))
            out[model] = Tokens(
                calls=had.calls + round(t.calls * scale),
                read=had.read + round(t.read * scale),
                written=had.written + round(t.written * scale),
            )
    return out


def _model_cost(
    tokens: Mapping[str, Tokens], prices: Mapping[str, Price] | None, seeds: Range
) -> Range | None:
    if prices is None or not set(tokens) & set(prices):
        return None
    cost = sum(
        (t.read * prices[m].text_in + t.written * prices[m].text_out) / 1e6
        for m, t in tokens.items()
        if m in prices
    )
    return seeds.times(cost / seeds.value)


def _assumptions(
    factors: BuildFactors,
    means: Means,
    efficiency: float,
    stages: Sequence[StageForecast],
    rest: float | None,
    larger: float,
) -> list[str]:
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
