"""Two systems that differ on none of n clusters, or to one side only: what was not seen.

Draws of a difference that is 0 on every cluster are all 0, so a bootstrap has no interval. The
share of clusters on which the systems differ has exact limits, though, those of 0 of n; and for
some metrics the difference cannot exceed what such a share allows.

Where one system is better on some clusters and worse on none, all draws lie on one side of 0: they
know as little of the losses as draws of 0 know of anything. The same exact limit says how many
clusters may be lost unseen.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from floorbench.metrics.base import AdditiveMetric, Column, Floats, Metric, Scored
from floorbench.stats.effective import SHARES
from floorbench.stats.intervals import FEWEST_CLUSTERS, Limits, alone
from floorbench.stats.rates import clopper_pearson

# Means over labels of accuracies in one label.
MEANS = frozenset(("macro_accuracy", "average_all4", "action_average", "balanced_accuracy"))
# Metrics that read the order of the scores alone.
RANKS = frozenset(
    name + items for name in ("auc", "auc_macro", "eer", "eer_macro") for items in ("", "_answered")
)


class Unvaried(NamedTuple):
    """The largest difference, and the number of clusters that it rests on."""

    limit: float
    clusters: int


def unvaried(metric: Metric, a: Scored, b: Scored, *, level: float = 0.95) -> Unvaried | None:
    """Return how large a difference can be that is seen on no cluster.

    Parameters
    ----------
    metric : Metric
    a, b : Scored
        The same clusters in the same order.
    level : float
        Two-sided, inside (0, 1).

    Returns
    -------
    Unvaried or None
        With u the upper Clopper-Pearson limit of 0 of n: u for a share, n being the clusters that
        enter it; u for a mean over labels, n being the clusters of the rarest label; 1 - (1 - u)^2
        for AUC and EER, since a pair of units has two chances to change, n as for a mean.

    Undefined
    ---------
    ``None`` when the two differ on a cluster (for a rank metric: in the order of scores), for
    fewer than 10 clusters, and for all other metrics.
    """
    name = metric.spec.name
    if name in RANKS:
        n = _rarest(metric, a) if _same_order(metric, a, b) else None
    elif not isinstance(metric, AdditiveMetric):
        return None
    elif name in SHARES:
        n = _entering(metric, a, b)
    elif name in MEANS:
        left, right = (metric.rows(side).by_cluster() for side in (a, b))
        n = _rarest(metric, a) if np.array_equal(left, right) else None
    else:
        return None
    if n is None or n < FEWEST_CLUSTERS:
        return None
    most = clopper_pearson(0, n, level=level).high or 0.0
    return Unvaried(1 - (1 - most) ** 2 if name in RANKS else most, n)


def spread_unseen(
    limits: Limits, metric: Metric, a: Scored, b: Scored, *, difference: float, level: float
) -> tuple[Limits, str | None]:
    """Return limits that allow for losses, or gains, of which no cluster has any.

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
    (Limits, str or None)
        A difference is what A gains less what it loses. Where A is worse on none of n clusters and
        better on some, u being the upper Clopper-Pearson limit of 0 of n, the lower limit becomes
        difference - sqrt((difference - low)^2 + u^2); the other way round alike. With what was
        done, in words. Other limits and metrics come back as they are. Shares and means over labels
        of accuracies are looked at; n counts clusters as in :func:`unvaried`.

    Source
    ------
    R. G. Newcombe (1998), Statistics in Medicine 17: 2635-2650, and G. Y. Zou and A. Donner (2008),
    Statistics in Medicine 27: 1693-1702: limits of a difference from those of its parts ("square
    and add").
    """
    found = _gains(metric, a, b)
    if found is None:
        return limits, None
    gains, n = found
    if (worse := bool((gains < 0).any())) == bool((gains > 0).any()):
        return limits, None
    u = clopper_pearson(0, n, level=level).high or 0.0
    note = (
        f"A is {'above' if worse else 'below'} B on none of {n} clusters; 0 of {n} is allowed for"
    )
    if worse:
        high = difference + math.hypot(limits.high - difference, u)
        return Limits(limits.low, high), note
    low = difference - math.hypot(difference - limits.low, u)
    return Limits(low, limits.high), note


def _gains(metric: Metric, a: Scored, b: Scored) -> tuple[Floats, int] | None:
    """Return what A gains in each cluster (and label), and the clusters that this rests on."""
    if metric.spec.name in SHARES:
        left, right = alone(metric, a), alone(metric, b)
        if left is None or right is None or (np.isnan(left) != np.isnan(right)).any():
            return None
        gains = (left - right)[~np.isnan(left)]
        return (gains, len(gains)) if len(gains) else None
    if metric.spec.name not in MEANS or not isinstance(metric, AdditiveMetric):
        return None
    tables = [metric.rows(side) for side in (a, b)]
    hits = [i for i, name in enumerate(tables[0].names) if name.split(":")[0] in ("tp", "tn")]
    n = _rarest(metric, a)
    if n is None:
        return None
    return tables[0].by_cluster()[:, hits] - tables[1].by_cluster()[:, hits], n


def _entering(metric: Metric, a: Scored, b: Scored) -> int | None:
    left, right = alone(metric, a), alone(metric, b)
    if left is None or right is None or not np.array_equal(left, right, equal_nan=True):
        return None
    return int((~np.isnan(left)).sum())


def _rarest(metric: Metric, a: Scored) -> int | None:
    """Return the number of clusters of the label that has the fewest."""
    if not len(a):
        return None
    gold = a.column(metric.spec.columns[0])
    return min(len(np.unique(a.cluster[gold == code])) for code in np.unique(gold))


def _same_order(metric: Metric, a: Scored, b: Scored) -> bool:
    if not np.array_equal(a.cluster, b.cluster):
        return False
    return all(_same_ranks(a.column(c), b.column(c)) for c in metric.spec.columns)


def _same_ranks(left: Column, right: Column) -> bool:
    if left.ndim == 1 and left.dtype.kind == right.dtype.kind == "f":
        left, right = (np.unique(x, return_inverse=True)[1] for x in (left, right))
    return np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
