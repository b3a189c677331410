"""Leave-one-out values: one cluster is left out at a time, its stratum makes up for it.

A value without cluster ``c`` of stratum ``h`` with ``n`` clusters has these cluster weights: 0 for
``c``, n / (n - 1) for the rest of ``h``, 1 elsewhere. As a matrix that is one weight per pair of
clusters; sums need none of it, since the totals without ``c`` are
``T - T_h + (T_h - s_c) * n / (n - 1)``. An evaluator with such a short way offers it as a method
(:class:`LeavesOut`); :func:`leave_one_out` takes it, or hands in the weights portion by portion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """The clusters that are left out, one after the other.

    Built by :func:`left_out`.

    Parameters
    ----------
    present : bool array (clusters,)
        Clusters that take part at all.
    stratum : int64 array (clusters,)
        Position of each cluster's stratum among those with a present cluster; 0 where absent.
    clusters : int64 array (j,)
        The cluster left out in each value; its stratum has two present clusters or more.
    factor : float64 array (j,)
        Weight of the rest of its stratum, n / (n - 1).
    memory : int
        Bytes that one portion of weights may take.
    """

    present: NDArray[np.bool_]
    stratum: NDArray[np.int64]
    clusters: NDArray[np.int64]
    factor: Floats
    memory: int

    def __len__(self) -> int:
        return len(self.clusters)

    def by_stratum(self, sums: Floats) -> Floats:
        """Return sums per stratum ``(strata, k)`` of sums per cluster ``(clusters, k)``."""
        inside = np.flatnonzero(self.present)
        inside = inside[np.argsort(self.stratum[inside], kind="stable")]
        codes = self.stratum[inside]
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        found: Floats = np.add.reduceat(sums[inside], starts, axis=0)
        return found

    def totals(self, sums: Floats) -> Floats:
        """Return totals ``(j, k)`` without each cluster, from sums ``(clusters, k)``."""
        strata = self.by_stratum(sums)
        own = strata[self.stratum[self.clusters]]
        without: Floats = (own - sums[self.clusters]) * self.factor[:, np.newaxis]
        without += strata.sum(axis=0) - own
        return without

    def weights(self) -> Iterator[Floats]:
        """Yield portions of the weights ``(rows, clusters)``, read-only."""
        step = max(1, self.memory // (32 * max(1, len(self.present))))
        for start in range(0, len(self), step):
            gone = self.clusters[start : start + step]
            factor = self.factor[start : start + step, np.newaxis]
            mates = self.stratum[gone][:, np.newaxis] == self.stratum
            weights = np.where(mates, factor, 1.0) * self.present
            weights[np.arange(len(gone)), gone] = 0.0
            weights.flags.writeable = False
            yield weights


@runtime_checkable
class LeavesOut(Protocol):
    """An evaluator with a short way to its leave-one-out values."""

    def __call__(self, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to values ``(draws,)``."""
        ...

    def leave_one_out(self, left: LeftOut) -> Floats:
        """Return the values ``(j,)`` that the weights of ``left`` would give, up to rounding."""
        ...


def left_out(strata: NDArray[np.int64], present: NDArray[np.bool_], *, memory: int) -> LeftOut:
    """Leave out every present cluster that is not alone in its stratum, stratum by stratum.

    Parameters
    ----------
    strata : int64 array (clusters,)
        Stratum code of each cluster.
    present : bool array (clusters,)
    memory : int
        Bytes that one portion of weights may take.
    """
    stratum = np.zeros(len(strata), dtype=np.int64)
    inside = np.flatnonzero(present)
    stratum[inside] = np.unique(strata[inside], return_inverse=True)[1]
    sizes = np.bincount(stratum[inside])[stratum] if len(inside) else stratum
    chosen = inside[sizes[inside] > 1]
    chosen = chosen[np.argsort(stratum[chosen], kind="stable")]
    n = sizes[chosen].astype(np.float64)
    return LeftOut(present, stratum, chosen, n / (n - 1), memory)


def leave_one_out(evaluate: Callable[[Floats], Any], left: LeftOut) -> Floats:
    """Return the leave-one-out values ``(j,)`` of any evaluator.

    Parameters
    ----------
    evaluate : Evaluator
        Its own short way is used if it is a :class:`LeavesOut`.
    left : LeftOut
    """
    if isinstance(evaluate, LeavesOut):
        return evaluate.leave_one_out(left)
    parts = [evaluate(weights) for weights in left.weights()]
    return np.concatenate(parts) if parts else np.empty(0)
