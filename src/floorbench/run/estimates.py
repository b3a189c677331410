"""From cells to estimates: one bootstrap for all cells that touch the same clusters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from floorbench.core.score import Estimate, Interval
from floorbench.metrics.base import AdditiveMetric, Ints, Measure, Metric, StatTable, point
from floorbench.metrics.bundle import evaluators
from floorbench.stats.bootstrap import bootstrap, compact
from floorbench.stats.intervals import counting_of, interval, is_share, share_bounds
from floorbench.stats.rates import wilson


def estimate_cells(
    measures: Sequence[Measure], *, seed: int, draws: int, level: float
) -> tuple[Estimate, ...]:
    """Estimate all cells; those that touch the same clusters are resampled together.

    Parameters
    ----------
    measures : sequence of Measure
    seed, draws, level
        Of the cluster bootstrap.

    Returns
    -------
    tuple of Estimate
        In the order given. A cell has the same value and interval whatever the others are, up to
        the rounding of a matrix product.

    Undefined
    ---------
    A cell that the system does not declare is N/A; an undefined value has the metric's reason.
    """
    intervals: dict[int, Interval] = {}
    for places, strata in _groups(measures):
        found = bootstrap(
            evaluators((str(i), measures[i].metric, compact(measures[i].scored)) for i in places),
            strata,
            draws=draws,
            seed=seed,
        )
        for i in places:
            metric, units = measures[i].metric, measures[i].scored
            rows = metric.rows(units) if isinstance(metric, AdditiveMetric) else None
            drawn = counting_of(found[str(i)], metric, units, rows=rows)
            made = interval(drawn, level=level, proportion=share_bounds(metric))
            intervals[i] = _with_wilson(made, metric, rows, level)
    return tuple(_estimate(measure, intervals.get(i), level) for i, measure in enumerate(measures))


class _Group(NamedTuple):
    """Measures, by place, whose slices have the same clusters in the same strata."""

    places: list[int]
    strata: Ints


def _groups(measures: Sequence[Measure]) -> list[_Group]:
    groups: dict[tuple[tuple[str, ...], bytes], _Group] = {}
    for i, measure in enumerate(measures):
        if measure.undeclared is None:
            units = compact(measure.scored)
            key = (units.clusters, units.strata.tobytes())
            groups.setdefault(key, _Group([], units.strata)).places.append(i)
    return list(groups.values())


def _estimate(measure: Measure, made: Interval | None, level: float) -> Estimate:
    value: float | None
    reason: str | None
    if made is None:
        value, reason = None, f"N/A: {measure.undeclared}"
        made = Interval(level=level, reason=measure.undeclared)
    else:
        value, reason = point(measure.metric, measure.scored)
    return Estimate(
        metric=measure.metric.spec.name,
        slice=measure.slice,
        value=value,
        interval=made,
        coverage=measure.coverage,
        units=len(measure.scored),
        reason=reason,
        note=measure.note,
    )


def _with_wilson(made: Interval, metric: Metric, rows: StatTable | None, level: float) -> Interval:
    """Put Wilson's interval beside that of a share whose clusters hold one unit each."""
    if rows is None or not is_share(metric) or share_bounds(metric) != (0.0, 1.0):
        return made
    counted = rows.cluster[~np.isnan(metric.value(rows.values))]  # units that enter the value
    value = float(metric.value(rows.totals()))
    if math.isnan(value) or len(set(counted.tolist())) != len(counted):
        return made
    beside = wilson(value * len(counted), len(counted), level=level)
    if beside.low is None or beside.high is None:
        return made
    return replace(made, beside={**made.beside, "wilson": (beside.low, beside.high)})
