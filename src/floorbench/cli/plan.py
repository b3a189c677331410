"""``floorbench plan``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from floorbench.build.pipeline.record import BUILD_FILE
from floorbench.cli import console
from floorbench.cli.options import ReaderSettings, open_given
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError
from floorbench.run.planning import aim, plan_run
from floorbench.run.plans import Means, Range, RunPlan
from floorbench.run.store import RUN_FILE

UNITS = ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def plan(
    path: Path,
    /,
    *,
    samples: int | None = None,
    hours: float | None = None,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    conditions: Annotated[list[str] | None, Parameter(name="--condition", negative=())] = None,
    trials: int | None = None,
    workers: int = 1,
    executor: Literal["serial", "thread", "process", "ray"] = "process",
    efficiency: float | None = None,
    price_per_hour: float | None = None,
    currency: str = "",
    prices: Path | None = None,
    cache: Path | None = None,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Say how long a full run or build takes and what it costs, from a small one.

    Parameters
    ----------
    path
        Folder of a finished run, or of a dataset that ``floorbench build`` made.
    samples
        Plan for so many samples like the small run's, or so many finished items of a build.
    hours
        Plan for so many hours of sound instead.
    data
        Plan for these data instead (runs only): a path, or ``starter:NAME``.
    reader
        Reader of the data; found by looking at it by default.
    conditions
        Only these conditions (runs; repeat the option); those of the small run by default.
    trials
        Predictions per sample and condition (runs).
    workers
        Workers of the full run.
    executor
        What runs the workers.
    efficiency
        Share of the small run's speed that each worker keeps, where you have measured it.
    price_per_hour
        What one worker costs for an hour.
    currency
        Currency of --price-per-hour, for the output.
    prices
        Your own dated price file of paid models.
    cache
        Cache folder of the build, for the space it takes.
    seed
        Seed of the resampling that gives the intervals.
    json
        Print JSON.
    """
    if seed < 0:
        raise UsageError("FB103", f"the seed is {seed}; it must be 0 or more")
    means: dict[str, Any] = {
        "workers": workers,
        "executor": executor,
        "efficiency": efficiency,
        "price_per_hour": price_per_hour,
        "currency": currency,
    }
    if (path / BUILD_FILE).is_file():
        only = {"--data": data, "--condition": conditions, "--trials": trials}
        for option, value in only.items():
            if value is not None:
                raise UsageError("FB103", f"{option} is for runs; '{path}' is a build")
        return _of_build(
            path,
            means,
            items=samples,
            hours=hours,
            prices=prices,
            cache=cache,
            seed=seed,
            json=json,
        )
    if not (path / RUN_FILE).is_file():
        raise DataError(
            "FB564",
            f"holds neither {RUN_FILE} nor {BUILD_FILE}",
            where=Place(str(path)),
            hint="give the folder that `floorbench run` or `floorbench build` has printed",
        )
    if cache is not None:
        raise UsageError("FB103", f"--cache is for builds; '{path}' is a run")
    from floorbench.run.factors import measure

    factors = measure(path)
    if prices is not None:
        means |= _model_price(factors.record.system.name, factors.record.system.parameters, prices)
    target = aim(
        factors,
        samples=samples,
        hours=hours,
        source=None if data is None else open_given(data, reader, reader_sets),
        conditions=conditions,
        trials=trials,
    )
    found = plan_run(factors, target, Means(**means), seed=seed)
    if json:
        console.data_json(found)
    else:
        console.data(console.columns(list(_run_rows(found)), ("plan", found.system)))
        _assume(found.assumptions)
    return 0


def _of_build(
    path: Path,
    means: dict[str, Any],
    *,
    items: int | None,
    hours: float | None,
    prices: Path | None,
    cache: Path | None,
    seed: int,
    json: bool,
) -> int:
    from floorbench.build.pipeline.measured import measure_build
    from floorbench.build.pipeline.scaling import forecast_build
    from floorbench.systems.api_cost import read_prices

    file = read_prices(prices) if prices is not None else None
    if file is not None and not means["currency"]:
        means["currency"] = file.currency
    found = forecast_build(
        measure_build(path, cache=cache),
        Means(**means),
        items=items,
        hours=hours,
        prices=None if file is None else file.models,
        seed=seed,
    )
    if json:
        console.data_json(found)
        return 0
    rows = [
        (
            s.stage,
            f"{s.entered:,.0f}",
            f"{s.left:,.0f}",
            f"{100 * s.left_share:.1f} %",
            seconds(s.processor.times(3600)),
            "-" if s.real_time_factor is None else f"{s.real_time_factor:.3f}",
            s.needs + (", alone" if s.alone else ""),
        )
        for s in found.stages
    ]
    head = ("stage", "in", "out", "yield", "processor time", "real-time factor", "needs")
    console.data(console.columns(rows, head))
    console.data(console.columns(list(_build_rows(found)), ("plan", found.recipe)))
    _assume(found.assumptions)
    return 0


def _model_price(system: str, parameters: Any, prices: Path) -> dict[str, Any]:
    from floorbench.cli.paying import model_price

    file, price = model_price(system, dict(parameters), prices)
    return {"price": price, "currency": file.currency}


def _run_rows(p: RunPlan) -> Iterator[tuple[str, str]]:
    m = p.measured
    batch = f", batches of {m['batch']}" if m["batch"] != 1 else ""
    yield (
        "measured on",
        f"{counted(m['samples'], 'sample')}, {counted(m['predictions'], 'answer')}; "
        f"{m['executor']}, "
        f"{counted(m['workers'], 'worker')}{batch}",
    )
    yield (
        "planned",
        f"{p.target}; {counted(p.predictions, 'answer', form=',')}, {p.hours:.4g} h of sound",
    )
    per = "second of sound" if p.unit == "second" else "character"
    yield "an answer, fixed part", seconds(p.fixed)
    yield f"and per {per} shown", seconds(p.per_unit)
    yield "outside the answers, each", _seconds_or(p.overhead, "not measured")
    yield "loading, each worker", _seconds_or(p.loading, "not measured")
    yield "all answers in a row", seconds(p.answers)
    if p.processor is not None:
        yield "processor time of them", seconds(p.processor)
    yield f"time with {counted(p.workers, 'worker')}", seconds(p.time)
    if p.time_unloaded is not None:
        yield "the same on an idle machine", seconds(p.time_unloaded)
    if p.gpu_hours is not None:
        yield "GPU hours", amount(p.gpu_hours)
    if p.machine_cost is not None:
        yield "cost of the workers", f"{amount(p.machine_cost)} {p.currency}".rstrip()
    if p.tokens_in is not None:
        yield "tokens read", amount(p.tokens_in)
    if p.tokens_out is not None:
        yield "tokens written", amount(p.tokens_out)
    if p.model_cost is not None:
        yield "cost of the model, at most", f"{amount(p.model_cost)} {p.currency}".rstrip()
    yield "journal", size(p.journal_bytes)
    if p.audio_bytes_per_hour is not None:
        yield "data as they lie here", f"{size(p.audio_bytes_per_hour)} per hour of sound"


def _build_rows(p: Any) -> Iterator[tuple[str, str]]:
    m = p.measured
    yield (
        "measured on",
        f"{m['seeds']} started, {m['items']} finished, {m['sound_seconds'] / 3600:.3g} h of sound; "
        f"{m['took']:.0f} s with {counted(m['workers'], 'process', 'processes')}",
    )
    yield "planned", f"{counted(p.items, 'item', form=',')}, {p.sound:.4g} h of sound"
    yield "to be started", amount(p.seeds)
    yield "processor time", seconds(p.processor.times(3600))
    if p.real_time_factor is not None:
        yield "processor seconds per second of sound", f"{p.real_time_factor:.3f}"
    yield f"time with {counted(p.workers, 'process', 'processes')}", seconds(p.time.times(3600))
    if p.machine_cost is not None:
        yield "cost of the processes", f"{amount(p.machine_cost)} {p.currency}".rstrip()
    if p.gpu_hours is not None:
        yield "GPU hours", amount(p.gpu_hours)
    for model, t in p.tokens.items():
        yield (
            f"tokens of {model}",
            f"{t.read:,} read, {t.written:,} written, {counted(t.calls, 'call', form=',')}",
        )
    if p.model_cost is not None:
        yield "cost of the models", f"{amount(p.model_cost)} {p.currency}".rstrip()
    per = "" if p.bytes_per_hour is None else f", {size(p.bytes_per_hour)} per hour of sound"
    yield "dataset on disk", size(p.bytes) + per
    if p.cache_bytes is not None:
        yield "cache on disk", size(p.cache_bytes)


def _assume(lines: tuple[str, ...]) -> None:
    console.data("assumed:\n" + "\n".join(f"- {line}" for line in lines))


def _seconds_or(value: float | None, without: str) -> str:
    return without if value is None else seconds(Range(value=value))


def seconds(r: Range) -> str:
    """Return seconds in the unit that suits them, with the interval."""
    scale, unit = next((u for u in UNITS if abs(r.value) >= u[0]), UNITS[-1])
    return f"{amount(r.times(1 / scale))} {unit}"


def amount(r: Range) -> str:
    """Return a value with its interval, three figures each."""
    if r.low is None or r.high is None:
        return _three(r.value)
    return f"{_three(r.value)} ({_three(r.low)} to {_three(r.high)})"


def size(value: float) -> str:
    """Return bytes in the unit that suits them.

    Examples
    --------
    >>> size(20_000_000)
    '20 MB'
    """
    for scale, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= scale:
            return f"{_three(value / scale)} {unit}"
    return f"{value:.0f} B"


def _three(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
