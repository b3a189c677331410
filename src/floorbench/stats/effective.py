"""How many clusters of equal weight a value is worth.

Thirty dialogues of which one holds half of the units say hardly more than a handful of equal ones,
and a mean over labels is no surer than its rarest label. The rules on few clusters therefore read
this number beside the plain count.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from floorbench.metrics.base import Bools, Floats, Metric, Scored

# Means over labels: the value is no surer than that of the rarest one.
MEANS = frozenset(("macro_accuracy", "average_all4", "action_average", "macro_f1"))
# Metrics of a label against the rest, or of several labels each against the rest.
AGAINST_REST = frozenset(
    (
        *("balanced_accuracy", "slot_balanced_accuracy", "auc", "auc_macro", "eer", "eer_macro"),
        *("auc_answered", "auc_macro_answered", "eer_answered", "eer_macro_answered"),
    )
)


def effective_clusters(sizes: Floats) -> float:
    """Return the number of equal clusters that vary as much as these: (sum m)^2 / sum m^2.

    Parameters
    ----------
    sizes : float64 array (clusters,)
        Mass of each cluster, 0 or more.

    Undefined
    ---------
    0 without any mass.

    Source
    ------
    L. Kish (1965), Survey Sampling, section 11.7 (the effect of unequal weights). It is exact for a
    mean over clusters whose own means vary alike, and too low where units within a cluster vary
    on their own.
    """
    squares = float(sizes @ sizes)
    return float(sizes.sum()) ** 2 / squares if squares else 0.0


def worth(metric: Metric, scored: Scored, units: Bools | None = None) -> float:
    """Return the effective number of clusters behind a metric's value.

    Parameters
    ----------
    metric : Metric
    scored : Scored
    units : bool array (n,) or None
        Those that enter the value (:func:`floorbench.stats.intervals.entering`); ``None`` for all.

    Returns
    -------
    float
        Over these units; 0 without any. Of a metric that rests on several gold labels (or on one
        and the rest), the least of theirs, labels without a unit left out.
    """
    here = np.ones(len(scored), dtype=np.bool_) if units is None else units
    name = metric.spec.name
    if name in MEANS or name in AGAINST_REST:
        found = [effective_clusters(_mass(scored, part & here)) for part in _parts(metric, scored)]
        return min((n for n in found if n), default=0.0)
    return effective_clusters(_mass(scored, here))


def _mass(scored: Scored, mask: Bools) -> Floats:
    found = np.bincount(
        scored.cluster[mask], weights=scored.weight[mask], minlength=len(scored.clusters)
    )
    return found.astype(np.float64, copy=False)


def _parts(metric: Metric, scored: Scored) -> Iterator[Bools]:
    """Yield which units have each of the gold labels that the metric rests on."""
    column, given = metric.spec.columns[0], metric.spec.parameters
    gold, names = scored.column(column), scored.vocab.get(column, ())
    listed = given.get("labels", given.get("scenarios", [given.get("label")]))
    asked = listed if isinstance(listed, list) else []
    codes = [code for code, name in enumerate(names) if name in asked]
    for code in codes or np.unique(gold):
        of: Bools = gold == code
        yield of
        if metric.spec.name in AGAINST_REST:
            yield ~of
