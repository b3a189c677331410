"""Many metrics on the same clusters, one matrix product per portion of draws.

Reading a portion of bootstrap weights from memory costs more than using it. The cluster sums of
all additive metrics therefore stand side by side in one matrix, so that each portion is multiplied
once; every metric then maps its own columns to values.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from floorbench.errors import DataError
from floorbench.metrics.base import Evaluator, Floats, Metric, Scored, WeightedMetric, evaluator


def evaluators(cells: Mapping[str, tuple[Metric, Scored]]) -> dict[str, Evaluator]:
    """Return an evaluator per cell; those of additive metrics share their product.

    Each takes cluster weights ``(draws, clusters)`` as :func:`floorbench.metrics.base.evaluator`
    does and gives the same values. The product is kept for as long as the same array of weights is
    handed in, which has to stay unchanged between the calls.

    Parameters
    ----------
    cells : mapping of str to (metric, units)
        All units of one list of clusters.

    Raises
    ------
    DataError
        ``FB601`` when two cells have different lists of clusters.
    """
    out: dict[str, Evaluator] = {}
    sums: list[Floats] = []
    shared = _Product()
    clusters: tuple[str, ...] | None = None
    width = 0
    for name, (metric, scored) in cells.items():
        if clusters is not None and scored.clusters != clusters:
            raise DataError("FB601", f"cell '{name}' has other clusters than the cells before it")
        clusters = scored.clusters
        if isinstance(metric, WeightedMetric):
            out[name] = evaluator(metric, scored)
            continue
        sums.append(metric.rows(scored).by_cluster())
        columns = slice(width, width + sums[-1].shape[1])
        width = columns.stop
        out[name] = lambda w, m=metric, c=columns: m.value(  # type: ignore[misc]
            shared.totals(w)[:, c]
        )
    if sums:
        shared.sums = np.concatenate(sums, axis=1)
    return out


class _Product:
    """Totals of the last array of weights."""

    def __init__(self) -> None:
        self.sums: Floats = np.empty((0, 0))
        self._weights: Floats | None = None
        self._totals: Floats = np.empty((0, 0))

    def totals(self, weights: Floats) -> Floats:
        if self._weights is not weights:
            self._totals = weights @ self.sums
            self._weights = weights
        return self._totals
