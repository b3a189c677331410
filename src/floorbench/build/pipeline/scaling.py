"""How long a large build takes, from a small one that is finished: the plan on paper.

Yields say how many items must be started for so many at the end; seconds per item and stage say
how long that takes on n processes. The small build's counts and spreads give the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from floorbench.build.pipeline.forecast import BuildForecast, StageForecast, assumptions
from floorbench.build.pipeline.measured import BuildFactors, Tokens, on_gpu, sees_all
from floorbench.build.pipeline.record import BuildRecord, StageReport, factors_of
from floorbench.errors import UsageError
from floorbench.run.planning import DRAWS, check_size
from floorbench.run.plans import Means, Range, range_of, share_of_speed
from floorbench.systems.api_cost import Price

Floats = NDArray[np.float64]


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
    total_sound = float(factors.sounds.sum())
    if hours is not None and not total_sound:
        raise UsageError("FB562", "the small build's dataset has no sound")
    rng = np.random.default_rng(seed)
    wanted = _wanted(factors, rng, items=items, hours=hours)
    flow = _flow(record, wanted, rng)
    count = int(wanted[0])
    sound = count * total_sound / record.finished
    stages = _stages(record.stages, flow, sound)
    efficiency = share_of_speed(means, max(record.workers, 1))
    rest = _rest(record, flow.alone)
    larger = flow.seeds / record.seeds
    time = _hours(_elapsed(flow, means.workers * efficiency) + (rest or 0.0) * larger)
    processor = _hours(flow.processor.sum(axis=0))
    graphics = np.array([s.needs == "gpu" for s in stages])
    tokens = _scaled_tokens(factors, float(larger[0]))
    seeds = range_of(float(flow.seeds[0]), flow.seeds[1:])
    taken = assumptions(factors, means, efficiency, stages, rest, float(larger[0]))
    return BuildForecast(
        recipe=record.recipe,
        preset=record.preset,
        measured={
            "seeds": record.seeds,
            "items": record.finished,
            "sound_seconds": round(total_sound, 3),
            "took": record.took,
            "workers": record.workers,
            "machine": dict(record.hardware),
        },
        items=count,
        seeds=seeds,
        sound=sound / 3600,
        workers=means.workers,
        stages=stages,
        processor=processor,
        real_time_factor=processor.value * 3600 / sound if sound else None,
        time=time,
        machine_cost=None
        if means.price_per_hour is None
        else time.times(means.workers * means.price_per_hour),
        model_cost=_model_cost(tokens, prices, seeds),
        currency=means.currency,
        tokens=tokens,
        gpu_hours=_hours(flow.clock[graphics].sum(axis=0)) if graphics.any() else None,
        bytes=factors.bytes / record.finished * count,
        bytes_per_hour=factors.bytes / total_sound * 3600 if total_sound else None,
        cache_bytes=None if factors.stored is None else factors.stored * float(larger[0]),
        assumptions=(*taken, *_unpriced(tokens, prices)),
    )


class _Flow(NamedTuple):
    """What goes through the stages of the larger build.

    Arrays have the expected value in their first column and the draws in the others; rows, where
    there are any, are stages. ``processor`` and ``clock`` are seconds of all items of a stage.
    """

    seeds: Floats
    entered: Floats
    left: Floats
    processor: Floats
    clock: Floats
    alone: NDArray[np.bool_]


def _wanted(
    factors: BuildFactors, rng: np.random.Generator, *, items: int | None, hours: float | None
) -> Floats:
    """Return the items at the end: as many as were asked for, or as make up the hours."""
    drawn = _drawn_sound(factors, rng)
    if hours is None:
        count = items if items is not None else factors.record.finished
        return np.full(1 + DRAWS, float(count))
    sound = float(factors.sounds.sum()) / factors.record.finished
    return np.concatenate([[math.ceil(hours * 3600 / sound)], hours * 3600 / drawn])


def _flow(record: BuildRecord, wanted: Floats, rng: np.random.Generator) -> _Flow:
    known = factors_of(record.stages)
    yields = np.stack([[known[s.stage].left, *_drawn_yield(s, rng)] for s in record.stages])
    cpu = np.stack([[known[s.stage].cpu, *_drawn_seconds(s, rng)] for s in record.stages])
    through = yields.cumprod(axis=0)
    seeds = wanted / through[-1]
    entered = np.vstack([np.ones_like(seeds), through[:-1]]) * seeds
    by_clock = np.array([s.wall / s.cpu if s.cpu else 1.0 for s in record.stages])
    return _Flow(
        seeds=seeds,
        entered=entered,
        left=entered * yields,
        processor=entered * cpu,
        clock=entered * cpu * by_clock[:, None],
        alone=np.array([sees_all(s) for s in record.stages]),
    )


def _stages(reports: Sequence[StageReport], flow: _Flow, sound: float) -> tuple[StageForecast, ...]:
    return tuple(
        StageForecast(
            stage=report.stage,
            entered=float(flow.entered[n, 0]),
            left=float(flow.left[n, 0]),
            left_share=float(flow.left[n, 0] / flow.entered[n, 0]),
            processor=_hours(flow.processor[n]),
            real_time_factor=float(flow.processor[n, 0]) / sound if sound else None,
            alone=bool(flow.alone[n]),
            needs="gpu" if on_gpu(report) else "processor" if report.deterministic else "service",
        )
        for n, report in enumerate(reports)
    )


def _elapsed(flow: _Flow, power: float) -> Floats:
    """Return the seconds of all stages: most are shared by the workers, some run alone."""
    shared = flow.clock[~flow.alone].sum(axis=0) / power
    return np.asarray(shared + flow.clock[flow.alone].sum(axis=0))


def _hours(seconds: Floats) -> Range:
    return range_of(float(seconds[0]) / 3600, seconds[1:] / 3600)


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


def _rest(record: BuildRecord, alone: NDArray[np.bool_]) -> float | None:
    """Return the seconds outside the stages; ``None`` where a cache hid what the stages took."""
    if any(s.cached for s in record.stages):
        return None
    wall = np.array([s.wall for s in record.stages])
    shared = float(wall[~alone].sum()) / max(record.workers, 1)
    return max(0.0, record.took - shared - float(wall[alone].sum()))


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


def _unpriced(tokens: Mapping[str, Tokens], prices: Mapping[str, Price] | None) -> list[str]:
    lacking = [m for m in tokens if prices is not None and m not in prices]
    return [f"no price for {', '.join(lacking)}: not in the cost of the models"] if lacking else []
