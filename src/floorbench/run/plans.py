"""What a plan is made of: ranges, the means, what is asked for, and the plan of a run itself."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.errors import UsageError
from floorbench.metrics.base import Floats
from floorbench.run.due import MOST, short
from floorbench.systems.api_cost import Price

LEVEL = 0.95
EFFICIENCY = 0.9
SLOWEST = 1e-3  # share of the small run's speed
DEAREST = 1e9  # an hour


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """An expected value and its 95 % interval; ``None`` where there is none."""

    value: float
    low: float | None = None
    high: float | None = None

    def times(self, factor: float) -> Range:
        """Return all three multiplied."""
        low = None if self.low is None else self.low * factor
        high = None if self.high is None else self.high * factor
        return Range(value=self.value * factor, low=low, high=high)

    def plus(self, amount: float) -> Range:
        """Return all three moved."""
        low = None if self.low is None else self.low + amount
        high = None if self.high is None else self.high + amount
        return Range(value=self.value + amount, low=low, high=high)


def range_of(value: float, draws: Floats) -> Range:
    """Return an expected value with the interval of its draws, widened to hold the value.

    The draws may all lie on one side of it: where nothing was lost, every drawn yield is smaller.
    """
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Range(value=float(value), low=min(float(low), value), high=max(float(high), value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """With what the full run is made.

    Parameters
    ----------
    workers : int
    executor : str
        For the assumptions.
    efficiency : float or None
        Share of the small run's speed that each of several workers keeps, above 0; by default 1
        up to the small run's number of workers, else 0.9.
    price_per_hour : float or None
        Of one worker.
    currency : str
    price : Price or None
        Prices of a paid model.
    """

    workers: int = 1
    executor: str = "process"
    efficiency: float | None = None
    price_per_hour: float | None = None
    currency: str = ""
    price: Price | None = None


def share_of_speed(means: Means, measured_on: int) -> float:
    """Check the means; return the speed of each worker as a share of the small run's.

    Raises
    ------
    UsageError
        ``FB103`` for numbers outside their range.
    """
    efficiency, price = means.efficiency, means.price_per_hour
    if not 1 <= means.workers <= MOST:
        raise UsageError("FB103", f"--workers {short(means.workers)}: from 1 to {MOST}")
    if efficiency is not None and not SLOWEST <= efficiency <= 2:
        raise UsageError("FB103", f"--efficiency {efficiency:g} is not from {SLOWEST:g} to 2")
    if price is not None and not 0 <= price <= DEAREST:
        raise UsageError("FB103", f"--price-per-hour {price:g} is not from 0 to {DEAREST:g}")
    if efficiency is not None:
        return efficiency
    return 1.0 if means.workers <= measured_on else EFFICIENCY


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Target:
    """What the full run asks.

    Parameters
    ----------
    samples, predictions : int
    hours : float
        Of the samples' own sound.
    trials : int
        How often each question is asked.
    lengths : float64 array (predictions / trials,) or None
        What each question shows, where the data are there.
    mean_length : float64 array or None
        Else: sum of what the questions of each measured sample show, asked once.
    conditions : tuple of str
    words : str
        For people.
    """

    samples: int
    predictions: int
    hours: float
    trials: int
    lengths: Floats | None
    mean_length: Floats | None
    conditions: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPlan:
    """A plan; seconds unless a name says otherwise.

    Parameters
    ----------
    task, system, dataset : str
        Of the small run.
    measured : mapping
        What the small run had: samples, predictions, executor, workers, batch, machine.
    target : str
    samples, predictions, workers : int
    hours : float
        Of sound.
    unit : str
        ``second`` of sound or ``character``: what ``per_unit`` counts.
    fixed, per_unit : Range
        Seconds of an answer by the clock: a fixed part, and a part per unit shown.
    answers : Range
        Of all answers, one after the other.
    processor : Range or None
        Of this program's processors in them; ``None`` where the small run cannot tell.
    overhead : float or None
        Per prediction, outside the answers.
    loading : float or None
        Per worker, the first answer's delay included.
    time : Range
        From start to end.
    time_unloaded : Range or None
        The same if answers took their processor seconds only: for a small run on a busy machine.
    gpu_hours, machine_cost, model_cost, tokens_in, tokens_out : Range or None
    currency : str
    journal_bytes : float
    audio_bytes_per_hour : float or None
        Of the small run's data as they lie on the disk.
    assumptions : tuple of str
    """

    task: str
    system: str
    dataset: str
    measured: dict[str, JsonValue] = field(default_factory=dict)
    target: str
    samples: int
    predictions: int
    workers: int
    hours: float
    unit: str
    fixed: Range
    per_unit: Range
    answers: Range
    processor: Range | None
    overhead: float | None
    loading: float | None
    time: Range
    time_unloaded: Range | None
    gpu_hours: Range | None
    machine_cost: Range | None
    model_cost: Range | None
    tokens_in: Range | None
    tokens_out: Range | None
    currency: str
    journal_bytes: float
    audio_bytes_per_hour: float | None
    assumptions: tuple[str, ...]
