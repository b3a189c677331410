"""How long a full run takes and what it costs, from the factors of a small one.

The seconds of an answer are a fixed part and a part per second of sound (or per character), fitted
to the small run by least squares, both at least 0. Samples are resampled for the interval; it holds
the uncertainty of the factors and that of the questions to come, and nothing else: that the full
run meets the same data, machine and load is an assumption, and every assumption is a line.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from floorbench.core.ports import DatasetSource
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.metrics.base import Floats
from floorbench.run.due import Plan, due_items, make_plan, short
from floorbench.run.factors import (
    RunFactors,
    folder_bytes,
    recorded_seconds,
    shown_lengths,
)
from floorbench.run.plans import Means, Range, RunPlan, Target, range_of, share_of_speed

DRAWS = 1000
MOST_SAMPLES = 10**12
MOST_HOURS = 1e9


def aim(
    factors: RunFactors,
    *,
    samples: int | None = None,
    hours: float | None = None,
    source: DatasetSource | None = None,
    conditions: Sequence[str] | None = None,
    trials: int | None = None,
) -> Target:
    """Say what the full run asks; by default all of the small run's data.

    Parameters
    ----------
    factors : RunFactors
    samples : int or None
        So many samples like the small run's.
    hours : float or None
        So many hours of sound in samples like the small run's.
    source : DatasetSource or None
        These data.
    conditions, trials
        Those of the small run by default.

    Raises
    ------
    UsageError
        ``FB103`` for more than one of the three, or a number below its range; ``FB205`` for a
        condition that the task does not have; ``FB562`` for hours of data without sound.
    """
    if sum(x is not None for x in (samples, hours, source)) > 1:
        raise UsageError("FB103", "give one of --samples, --hours and --data")
    check_size(samples, hours)
    opened = factors.opened
    plan = make_plan(
        opened.task,
        opened.system,
        conditions=conditions if conditions is not None else opened.plan.conditions,
        trials=trials if trials is not None else opened.plan.trials,
    )
    if samples is not None:
        return _like_the_small_run(factors, plan, samples)
    if hours is None:
        return _all_of(factors, plan, source if source is not None else opened.source)
    mean = float(factors.recorded.mean())
    if not mean:
        raise UsageError(
            "FB562", "the small run's data have no sound, so hours say nothing of them"
        )
    return _like_the_small_run(factors, plan, max(1, round(hours * 3600 / mean)))


def _all_of(factors: RunFactors, plan: Plan, source: DatasetSource) -> Target:
    opened = factors.opened
    dues = list(due_items(opened.task, source, opened.system, plan._replace(trials=1)))
    ids = {due.sample.id: due.sample for due in dues}
    return Target(
        samples=len(ids),
        predictions=len(dues) * plan.trials,
        hours=sum(recorded_seconds(sample) for sample in ids.values()) / 3600,
        trials=plan.trials,
        lengths=np.array(list(shown_lengths(opened, dues)), dtype=np.float64),
        mean_length=None,
        conditions=plan.conditions,
        words=f"all of '{source.name}'",
    )


def _like_the_small_run(factors: RunFactors, plan: Plan, samples: int) -> Target:
    opened = factors.opened
    once = plan._replace(trials=1, limit=opened.plan.limit)
    dues = list(due_items(opened.task, opened.source, opened.system, once))
    sums: dict[str, float] = {}
    for due, length in zip(dues, shown_lengths(opened, dues), strict=True):
        sums[due.sample.id] = sums.get(due.sample.id, 0.0) + length
    return Target(
        samples=samples,
        predictions=samples * len(plan.conditions) * plan.trials,
        hours=samples * float(factors.recorded.mean()) / 3600,
        trials=plan.trials,
        lengths=None,
        mean_length=np.array(list(sums.values()), dtype=np.float64),
        conditions=plan.conditions,
        words=f"{counted(samples, 'sample')} like those of the small run",
    )


def check_size(samples: int | None, hours: float | None) -> None:
    """Refuse a size that nothing has (``FB103``)."""
    if samples is not None and not 1 <= samples <= MOST_SAMPLES:
        raise UsageError("FB103", f"--samples {short(samples)}: from 1 to {MOST_SAMPLES:g}")
    if hours is not None and not 0 < hours <= MOST_HOURS:
        raise UsageError("FB103", f"--hours {hours:g}: above 0, at most {MOST_HOURS:g}")


def plan_run(factors: RunFactors, target: Target, means: Means, *, seed: int = 0) -> RunPlan:
    """Plan a full run.

    Parameters
    ----------
    factors : RunFactors
        From :func:`floorbench.run.factors.measure`.
    target : Target
        From :func:`aim`.
    means : Means
    seed : int
        Of the resampling.

    Raises
    ------
    UsageError
        ``FB103`` for numbers outside their range.

    Notes
    -----
    Time from start to end: loading, then all answers with their overhead shared by the workers at
    their efficiency, then the longest measured batch for all workers but one, since the last batch
    may start when the others are done. Workers beyond the number of batches have nothing to do.
    """
    record, sitting = factors.record, factors.sitting
    efficiency = share_of_speed(means, sitting.workers)
    wall = _fit(factors, factors.wall, target, seed)
    cpu = _fit(factors, factors.cpu, target, seed) if factors.cpu is not None else None
    per = (factors.overhead or 0.0) * target.predictions
    busy = max(1, min(means.workers, math.ceil(target.predictions / sitting.batch)))
    start = (factors.loading or 0.0) + factors.warming

    def whole(answers: Range, longest: float) -> Range:
        tail = longest * sitting.batch * (1 - 1 / busy)
        return answers.plus(per).times(1 / (busy * efficiency)).plus(start + tail)

    time = whole(wall.total, float(factors.wall.max()))
    unloaded = None
    if cpu is not None and factors.cpu is not None and cpu.total.value < wall.total.value:
        unloaded = whole(cpu.total, float(factors.cpu.max()))
    hours = time.times(means.workers / 3600)
    price = means.price
    model_cost = None
    if price is not None:
        spent = np.array([price.spent(cost) for cost in factors.costs], dtype=np.float64)
        model_cost = _mean(factors, spent, target, seed)
    device = str(record.system_spec.parameters.get("device", ""))
    return RunPlan(
        task=record.task_spec.name,
        system=record.system_spec.name,
        dataset=record.dataset.name,
        measured={
            "samples": factors.samples,
            "predictions": len(factors.wall),
            "executor": sitting.executor,
            "workers": sitting.workers,
            "batch": sitting.batch,
            "machine": dict(record.hardware),
        },
        target=target.words,
        samples=target.samples,
        predictions=target.predictions,
        workers=means.workers,
        hours=target.hours,
        unit="second" if factors.sounds else "character",
        fixed=wall.fixed,
        per_unit=wall.slope,
        answers=wall.total,
        processor=None if cpu is None else cpu.total,
        overhead=factors.overhead,
        loading=None if factors.loading is None else start,
        time=time,
        time_unloaded=unloaded,
        gpu_hours=hours if device.startswith("cuda") else None,
        machine_cost=None if means.price_per_hour is None else hours.times(means.price_per_hour),
        model_cost=model_cost,
        tokens_in=None
        if factors.tokens_in is None
        else _mean(factors, factors.tokens_in, target, seed),
        tokens_out=None
        if factors.tokens_out is None
        else _mean(factors, factors.tokens_out, target, seed),
        currency=means.currency,
        journal_bytes=factors.bytes / factors.predictions * target.predictions,
        audio_bytes_per_hour=_audio_bytes(factors),
        assumptions=tuple(_assumptions(factors, target, means, efficiency, busy)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitted:
    fixed: Range
    slope: Range
    total: Range


def _fit(factors: RunFactors, seconds: Floats, target: Target, seed: int) -> _Fitted:
    """Fit seconds to lengths and carry the fit over to the target."""
    x, y, s, count = factors.length, seconds, factors.sample, factors.samples
    sums: Floats = np.stack(
        [np.bincount(s, weights=v, minlength=count) for v in (np.ones_like(x), x, y, x * y, x * x)]
    ).astype(np.float64)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS)
    drawn: Floats = sums @ weights.astype(np.float64).T  # (5, draws)
    fixed, slope = _line(sums.sum(axis=1)[:, None])
    fixes, slopes = _line(drawn)
    rest = np.bincount(s, weights=y - fixed[0] - slope[0] * x, minlength=count)
    noise = float(np.var(rest, ddof=1))
    if target.lengths is not None:
        shown = float(target.lengths.sum()) * target.trials
        total = fixed[0] * target.predictions + slope[0] * shown
        totals = fixes * target.predictions + slopes * shown
    else:
        assert target.mean_length is not None  # noqa: S101 -- the one or the other
        held = target.mean_length * target.trials
        each = rng.multinomial(len(held), np.full(len(held), 1 / len(held)), size=DRAWS) @ held
        total = fixed[0] * target.predictions + slope[0] * target.samples * float(held.mean())
        totals = fixes * target.predictions + slopes * target.samples * each / len(held)
        noise += slope[0] ** 2 * float(np.var(held, ddof=1))
    totals = totals + rng.normal(0.0, math.sqrt(noise * target.samples), DRAWS)
    return _Fitted(
        fixed=range_of(fixed[0], fixes),
        slope=range_of(slope[0], slopes),
        total=range_of(total, np.maximum(totals, 0.0)),
    )


def _line(sums: Floats) -> tuple[Floats, Floats]:
    """Return intercept and slope, both at least 0, from n, Σx, Σy, Σxy, Σxx (5, draws)."""
    n, x, y, xy, xx = sums
    spread = n * xx - x * x
    enough = spread > 1e-9 * np.maximum(n * xx, 1e-300)
    slope = np.where(enough, (n * xy - x * y) / np.where(enough, spread, 1.0), 0.0)
    slope = np.maximum(slope, 0.0)
    fixed = (y - slope * x) / n
    through = np.divide(xy, xx, out=np.zeros_like(xy), where=xx > 0)
    slope = np.where(fixed < 0, through, slope)
    return np.maximum(fixed, 0.0), slope


def _mean(factors: RunFactors, values: Floats, target: Target, seed: int) -> Range:
    """Carry a mean per prediction over to the target."""
    count = factors.samples
    sums = np.bincount(factors.sample, weights=values, minlength=count)
    rows = np.bincount(factors.sample, minlength=count).astype(np.float64)
    rng = np.random.default_rng(seed)
    weights = rng.multinomial(count, np.full(count, 1 / count), size=DRAWS).astype(np.float64)
    means = (weights @ sums) / (weights @ rows)
    noise = rng.normal(0.0, math.sqrt(float(np.var(sums, ddof=1)) * target.samples), DRAWS)
    mean = float(values.mean())
    drawn = np.maximum(means * target.predictions + noise, 0.0)
    return range_of(mean * target.predictions, drawn)


def _audio_bytes(factors: RunFactors) -> float | None:
    path = factors.opened.source.locator().get("path")
    if not isinstance(path, str) or not Path(path).exists():
        return None
    seconds = sum(recorded_seconds(sample) for sample in factors.opened.source.samples())
    return folder_bytes(Path(path)) / seconds * 3600 if seconds else None


def _assumptions(
    factors: RunFactors, target: Target, means: Means, efficiency: float, busy: int
) -> list[str]:
    record, sitting = factors.record, factors.sitting
    lines = [
        f"same kind of machine and load as the small run: {machine_named(record.hardware)}",
        f"{efficiency:.0%} of the small run's speed for each worker"
        + ("" if means.efficiency is not None else " (assumed, not measured; --efficiency)"),
        "intervals (95 %) hold the spread of the small run's samples, no change of machine or load",
    ]
    if target.lengths is None:
        lines.append("samples of the same lengths and kinds as the small run's")
    if factors.cpu is not None:
        share = float(factors.cpu.sum() / factors.wall.sum()) if factors.wall.sum() else 0.0
        lines.append(
            f"the small run's answers had a processor {share:.0%} of their time; below 100 % they "
            "waited for something, or for a busy machine"
        )
    if factors.overhead is None:
        lines.append("the small run did not measure what lies outside the answers: not in the time")
    if means.executor != sitting.executor:
        lines.append(
            f"the small run was {sitting.executor}, the full one is {means.executor}: what "
            "sending questions to workers costs, and starting them, is not in the time"
        )
    if sitting.batch > 1:
        lines.append(f"batches of {sitting.batch} as in the small run")
    if busy < means.workers:
        lines.append(
            f"{means.workers - busy} of {counted(means.workers, 'worker')} have nothing to do"
        )
    if factors.tokens_in is not None:
        lines.append("a service's limits on calls and tokens a minute are not known here")
    if not set(target.conditions) <= set(record.conditions):
        lines.append("conditions that the small run did not have follow from length alone")
    lines.append("nothing fails, stops or is asked again")
    return lines


def machine_named(hardware: object) -> str:
    """Return a machine in a few words."""
    known = dict(hardware) if isinstance(hardware, dict) else {}
    names = [str(known[k]) for k in ("processor",) if known.get(k)]
    names.append(f"{known.get('cores', '?')} cores")
    more = known.get("accelerators")
    names += [str(name) for name in more] if isinstance(more, list | tuple) else []
    return ", ".join(names)
