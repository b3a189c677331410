"""Many metrics on the same clusters, one matrix product per portion of draws.

Reading a portion of bootstrap weights from memory costs more than using it. The cluster sums of
all additive metrics therefore stand side by side in one matrix, equal columns once, so that each
portion is multiplied once; every metric then maps its own columns to values.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from floorbench.errors import DataError
from floorbench.metrics.base import (
    AdditiveMetric,
    Evaluator,
    Floats,
    Ints,
    Metric,
    Scored,
    WeightedMetric,
    evaluator,
)
from floorbench.metrics.jackknife import LeftOut


def evaluators(cells: Iterable[tuple[str, Metric, Scored]]) -> dict[str, Evaluator]:
    """Return an evaluator per cell; those of additive metrics share their product.

    Each takes cluster weights ``(draws, clusters)`` as :func:`floorbench.metrics.base.evaluator`
    does and gives the same values. The product is kept for as long as the same array of weights is
    handed in, which has to stay unchanged between the calls.

    Parameters
    ----------
    cells : iterable of (name, metric, units)
        All units of one list of clusters. Those of an additive metric are let go when its sums are
        taken.

    Raises
    ------
    DataError
        ``FB601`` when two cells have different lists of clusters.
    """
    out: dict[str, Evaluator] = {}
    shared = _Product()
    clusters: tuple[str, ...] | None = None
    for name, metric, scored in cells:
        if clusters is not None and scored.clusters != clusters:
            raise DataError("FB601", f"cell '{name}' has other clusters than the cells before it")
        clusters = scored.clusters
        if isinstance(metric, WeightedMetric):
            out[name] = evaluator(metric, scored)
        else:
            out[name] = Part(metric, shared, shared.add(metric.rows(scored).by_cluster()))
    shared.close()
    return out


class Shared(NamedTuple):
    """Evaluators that share one product: its columns, and what becomes of their totals."""

    sums: Floats
    parts: Mapping[str, Part]


def one_product(evaluators: Mapping[str, Evaluator]) -> Shared | None:
    """Return what all these evaluators share, or ``None`` when they share nothing.

    Parameters
    ----------
    evaluators : mapping of str to Evaluator
    """
    parts = {name: one for name, one in evaluators.items() if isinstance(one, Part)}
    products = {id(one.shared): one.shared for one in parts.values()}
    if len(parts) < len(evaluators) or len(products) != 1:
        return None
    (product,) = products.values()
    return Shared(product.sums, parts)


class _Product:
    """The distinct columns of all cells, and their totals for the last array of weights."""

    def __init__(self) -> None:
        self._place: dict[bytes, int] = {}
        self._columns: list[Floats] = []
        self._weights: Floats | None = None
        self._totals: Floats = np.empty((0, 0))
        self.sums: Floats = np.empty((0, 0))

    def add(self, sums: Floats) -> Ints:
        """Take in the columns of a cell and return where they stand."""
        places = []
        for column in np.ascontiguousarray(sums.T):
            key = hashlib.blake2b(column, digest_size=32).digest()
            place = self._place.setdefault(key, len(self._columns))
            if place == len(self._columns):
                self._columns.append(column)
            places.append(place)
        return np.array(places, dtype=np.int64)

    def close(self) -> None:
        """Write the columns into one matrix."""
        if self._columns:
            self.sums = np.stack(self._columns, axis=1)
        self._place, self._columns = {}, []

    def totals(self, weights: Floats) -> Floats:
        """Return the totals ``(draws, columns)`` of all cells."""
        if self._weights is not weights:
            self._totals = weights @ self.sums
            self._weights = weights
        return self._totals


class Part:
    """Evaluator of one additive metric on its columns of the product."""

    def __init__(self, metric: AdditiveMetric, shared: _Product, columns: Ints) -> None:
        self._metric = metric
        self.shared = shared
        self._columns = columns

    def __call__(self, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to values ``(draws,)``."""
        return self.of_totals(self.shared.totals(weights))

    def of_totals(self, totals: Floats) -> Floats:
        """Map totals ``(draws, columns)`` of the whole product to values ``(draws,)``."""
        return self._metric.value(totals[:, self._columns])

    def leave_one_out(self, left: LeftOut) -> Floats:
        """Return the value without each cluster in turn."""
        return self._metric.value(left.totals(self.shared.sums[:, self._columns]))
