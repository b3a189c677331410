"""Wider limits of a paired difference, for those who must not be wrong in one direction.

BCa limits of few or unequal clusters hold less often than they say, and draws that all lie on one
side of 0 know nothing of the other. A release gate judges by limits that allow for both; the
interval that is printed stays as it is. ``docs/decisions/coverage.md`` has both measured.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from floorbench.core.score import Interval
from floorbench.metrics.base import AdditiveMetric, Floats, Metric, Scored
from floorbench.stats.bootstrap import Draws
from floorbench.stats.intervals import FEW_CLUSTERS, Limits, bca, behind, is_share, percentile
from floorbench.stats.rates import clopper_pearson, normal_cdf, student_quantile
from floorbench.stats.unvaried import MEANS, rarest

NAME = "conservative"
"""Under which a comparison's interval carries these limits beside its own."""


def conservative(metric: Metric, a: Scored, b: Scored, drawn: Draws, made: Interval) -> Interval:
    """Return the interval of a difference with conservative limits beside it, if these differ.

    Parameters
    ----------
    metric : Metric
    a, b : Scored
        The same clusters in the same order.
    drawn : Draws
        Of the difference A - B.
    made : Interval
        Of these draws.

    Returns
    -------
    Interval
        With ``beside["conservative"]``: limits of quantiles further out where fewer than 30
        clusters of equal weight stand behind the difference (:func:`widened`), then moved where A
        is above B on some clusters and below it on none, or the reverse (:func:`spread_unseen`).
        Without an interval, with an exact one, and where neither applies, the interval as it is.
    """
    if made.low is None or made.high is None or made.method == "clopper-pearson":
        return made
    plain = Limits(made.low, made.high)
    limits = spread_unseen(
        further_out(drawn, made) or plain, metric, a, b, difference=drawn.point, level=made.level
    )
    if limits == plain:
        return made
    return replace(made, beside={**made.beside, NAME: (limits.low, limits.high)})


def further_out(drawn: Draws, made: Interval) -> Limits | None:
    """Return limits at the quantiles of :func:`widened`.

    Parameters
    ----------
    drawn : Draws
    made : Interval
        Of these draws, with limits.

    Returns
    -------
    Limits or None
        ``None`` from 30 clusters of equal weight on, for draws of two ways and exact intervals.
    """
    level = widened(made.level, drawn)
    if drawn.jackknife is None or level == made.level or made.method == "clopper-pearson":
        return None
    found = bca(drawn, level=level).limits if made.method == "bca" else None
    return found or percentile(drawn, level=level)


def widened(level: float, draws: Draws) -> float:
    """Return the level whose normal quantiles lie where Student's t wants them for few clusters.

    With n clusters of equal weight behind the value, draws spread by sqrt((n - 1) / n) less than
    estimates do, and their spread is itself an estimate with n - 1 degrees of freedom. So the
    quantiles are taken at +- sqrt(n / (n - 1)) t instead of +- z: 22 % further out at 10 clusters,
    6 % at 29. From 30 on the level stays as it is.

    Parameters
    ----------
    level : float
    draws : Draws

    Source
    ------
    T. C. Hesterberg (2015), The American Statistician 69: 371-386, section 5.3 (expanded percentile
    interval). Its use within BCa and with effective numbers of clusters is ours.
    """
    n = max(behind(draws), 2.0)
    if n >= FEW_CLUSTERS:
        return level
    z = math.sqrt(n / (n - 1)) * student_quantile((1 + level) / 2, n - 1)
    return 1 - 2 * max(normal_cdf(-z), 0.5 / len(draws.values))


def spread_unseen(
    limits: Limits, metric: Metric, a: Scored, b: Scored, *, difference: float, level: float
) -> Limits:
    """Return limits that allow for losses, or gains, of which no cluster has any.

    Where one system is better on some clusters and worse on none, all draws lie on one side of 0:
    they know as little of the losses as draws of 0 know of anything. The exact limit of 0 of n says
    how many clusters may be lost unseen.

    Parameters
    ----------
    limits : Limits
        Of the difference A - B.
    metric : Metric
    a, b : Scored
        The same clusters in the same order.
    difference : float
    level : float
        Two-sided, inside (0, 1).

    Returns
    -------
    Limits
        A difference is what A gains less what it loses. Where A is worse on none of n clusters and
        better on some, u being the upper Clopper-Pearson limit of 0 of n, the lower limit becomes
        difference - sqrt((difference - low)^2 + u^2); the other way round alike. Other limits and
        metrics come back as they are. Shares and means over labels of accuracies are looked at; n
        counts clusters as in :func:`floorbench.stats.unvaried.unvaried`.

    Source
    ------
    R. G. Newcombe (1998), Statistics in Medicine 17: 2635-2650, and G. Y. Zou and A. Donner (2008),
    Statistics in Medicine 27: 1693-1702: limits of a difference from those of its parts ("square
    and add").
    """
    found = _gains(metric, a, b)
    if found is None:
        return limits
    gains, n = found
    if (worse := bool((gains < 0).any())) == bool((gains > 0).any()):
        return limits
    u = clopper_pearson(0, n, level=level).high or 0.0
    if worse:
        return Limits(limits.low, difference + math.hypot(limits.high - difference, u))
    return Limits(difference - math.hypot(difference - limits.low, u), limits.high)


class _Gains(NamedTuple):
    """What A gains in each cluster (and label), and the clusters that this rests on."""

    gains: Floats
    clusters: int


def _gains(metric: Metric, a: Scored, b: Scored) -> _Gains | None:
    if is_share(metric):
        left, right = (metric.value(metric.rows(side).by_cluster()) for side in (a, b))
        if (np.isnan(left) != np.isnan(right)).any():
            return None
        gains = (left - right)[~np.isnan(left)]
        return _Gains(gains, len(gains)) if len(gains) else None
    if metric.spec.name not in MEANS or not isinstance(metric, AdditiveMetric):
        return None
    tables = [metric.rows(side) for side in (a, b)]
    hits = [i for i, name in enumerate(tables[0].names) if name.split(":")[0] in ("tp", "tn")]
    n = rarest(metric, a)
    left, right = (table.by_cluster()[:, hits] for table in tables)
    return _Gains(left - right, n) if n else None
