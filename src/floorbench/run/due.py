"""Which predictions a protocol asks for, in one fixed order, for engine, checks and scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import PredictionKey
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec
from floorbench.errors import UsageError
from floorbench.metrics.base import ScoringTask

MOST = 1_000_000
"""Trials, workers or samples of a batch at most."""
LARGEST = 1 << 53
"""What is counted is at most this."""


class Due(NamedTuple):
    """One (sample, condition, trial) that is asked for."""

    sample: Sample
    condition: str
    trial: int

    @property
    def key(self) -> PredictionKey:
        """Return its key."""
        return PredictionKey(self.sample.id, self.condition, self.trial)


class Plan(NamedTuple):
    """What decides, beside the task and the data, which predictions are due."""

    conditions: tuple[str, ...]
    trials: int = 1
    limit: int | None = None


def make_plan(
    task: ScoringTask,
    system: SystemSpec,
    *,
    conditions: Sequence[str] | None = None,
    trials: int = 1,
    limit: int | None = None,
) -> Plan:
    """Settle the conditions (the task's for this system by default), trials and limit.

    Parameters
    ----------
    task : ScoringTask
    system : SystemSpec
    conditions : sequence of str or None
    trials : int
        Predictions per sample and condition.
    limit : int or None
        At most so many samples.

    Raises
    ------
    UsageError
        ``FB205`` for a condition that the task does not have, ``FB103`` for a number below 1,
        more than ``MOST`` trials or a limit above ``LARGEST``.
    """
    offered = task.conditions(system)
    if trials < 1 or (limit is not None and limit < 1):
        raise UsageError("FB103", f"trials {trials} and limit {limit} must be at least 1")
    if trials > MOST or (limit is not None and limit > LARGEST):
        what = f"trials {short(trials)}: at most {MOST}; a limit is at most {LARGEST}"
        raise UsageError("FB103", what)
    if conditions is None:
        return Plan(offered, trials, limit)
    for condition in conditions:
        if condition not in offered:
            names = ", ".join(repr(c) for c in offered)
            raise UsageError(
                "FB205",
                f"'{task.spec.name}' has no condition '{condition}' for '{system.name}'",
                hint=f"conditions: {names}",
            )
    return Plan(tuple(c for c in offered if c in set(conditions)), trials, limit)


def short(number: float) -> str:
    """Return a number in a few digits, however large it is."""
    try:
        return f"{float(number):g}"
    except OverflowError:
        return "1e308 or more"


def due_samples(
    task: ScoringTask, source: DatasetSource, system: SystemSpec, limit: int | None
) -> Iterator[Sample]:
    """Yield the samples in the system's declared capability, at most ``limit`` of them.

    Parameters
    ----------
    task : ScoringTask
    source : DatasetSource
    system : SystemSpec
    limit : int or None
    """
    count = 0
    for sample in source.samples():
        if not task.due(sample, system):
            continue
        if limit is not None and count >= limit:
            return
        count += 1
        yield sample


def due_items(
    task: ScoringTask, source: DatasetSource, system: SystemSpec, plan: Plan
) -> Iterator[Due]:
    """Yield every (sample, condition, trial) that the protocol asks for, samples outermost.

    Parameters
    ----------
    task : ScoringTask
    source : DatasetSource
    system : SystemSpec
    plan : Plan
    """
    for sample in due_samples(task, source, system, plan.limit):
        for condition in plan.conditions:
            for trial in range(plan.trials):
                yield Due(sample, condition, trial)
