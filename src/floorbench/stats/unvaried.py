"""Two systems that differ on none of n clusters: how different can they still be?

Draws of a difference that is 0 on every cluster are all 0, so a bootstrap has no interval. The
share of clusters on which the systems differ has exact limits, though, those of 0 of n; and for
some metrics the difference cannot exceed what such a share allows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from floorbench.metrics.base import AdditiveMetric, Column, Metric, Scored
from floorbench.stats.intervals import FEWEST_CLUSTERS, entering, is_share
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
        enter it; u for a mean over labels, n being those of the rarest label; 1 - (1 - u)^2 for
        AUC and EER, since a pair of units has two chances to change, n as for a mean.

    Undefined
    ---------
    ``None`` when the two differ on a cluster (for a rank metric: in the order of scores), for
    fewer than 10 clusters, and for all other metrics.
    """
    name = metric.spec.name
    if name in RANKS:
        n = rarest(metric, a) if _same_order(metric, a, b) else 0
    elif is_share(metric):
        n = _alike(metric, a, b)
    elif name in MEANS and isinstance(metric, AdditiveMetric):
        left, right = (metric.rows(side).by_cluster() for side in (a, b))
        n = rarest(metric, a) if np.array_equal(left, right) else 0
    else:
        return None
    if n < FEWEST_CLUSTERS:
        return None
    most = clopper_pearson(0, n, level=level).high or 0.0
    return Unvaried(1 - (1 - most) ** 2 if name in RANKS else most, n)


def _alike(metric: AdditiveMetric, a: Scored, b: Scored) -> int:
    """Return the number of clusters that enter a share, 0 if it differs on one of them."""
    left, right = (metric.value(metric.rows(side).by_cluster()) for side in (a, b))
    return int((~np.isnan(left)).sum()) if np.array_equal(left, right, equal_nan=True) else 0


def rarest(metric: Metric, a: Scored) -> int:
    """Return the number of clusters of the label that has the fewest, among what enters."""
    units = entering(metric, a)
    here = a if units is None else a.where(units)
    gold = here.column(metric.spec.columns[0])
    clusters = (np.unique(here.cluster[gold == code]) for code in np.unique(gold))
    return min(map(len, clusters), default=0)


def _same_order(metric: Metric, a: Scored, b: Scored) -> bool:
    if not np.array_equal(a.cluster, b.cluster):
        return False
    return all(_same_ranks(a.column(c), b.column(c)) for c in metric.spec.columns)


def _same_ranks(left: Column, right: Column) -> bool:
    if left.ndim == 1 and left.dtype.kind == right.dtype.kind == "f":
        left, right = (np.unique(x, return_inverse=True)[1] for x in (left, right))
    return np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
