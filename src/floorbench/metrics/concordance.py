"""AUC as a function of cluster weights, without ranking again in every draw.

Two ways, chosen by size. With few clusters, the concordance of every pair of clusters is computed
once: the AUC of a draw with cluster weights w is then w'Mw / (w'p)(w'n). With many clusters the
units are sorted once and every draw is a running sum. Both count ties half.
"""

from __future__ import annotations

import numpy as np

from floorbench.metrics.base import Bools, Floats, Ints, ratio

MATRIX_CLUSTERS = 2048
"""At most this many clusters get a concordance matrix (32 MiB of float64)."""
CHUNK = 4_000_000
"""Cells of a temporary (draws, units) array."""


class Concordance:
    """Evaluator of a weighted AUC.

    Parameters
    ----------
    score : float64 array (n,), finite
    positive : bool array (n,)
    weight : float64 array (n,)
    cluster : int64 array (n,)
    n_clusters : int
    """

    def __init__(
        self, score: Floats, positive: Bools, weight: Floats, cluster: Ints, n_clusters: int
    ) -> None:
        self._n_clusters = n_clusters
        order = np.argsort(score, kind="stable")
        self._score = score[order]
        self._cluster = cluster[order]
        self._positive = np.where(positive, weight, 0.0)[order]
        self._negative = np.where(positive, 0.0, weight)[order]
        self._is_positive = positive[order]
        self._matrix: Floats | None = None

    def __call__(self, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to AUC ``(draws,)``."""
        p = np.bincount(self._cluster, weights=self._positive, minlength=self._n_clusters)
        n = np.bincount(self._cluster, weights=self._negative, minlength=self._n_clusters)
        few = self._n_clusters <= min(MATRIX_CLUSTERS, 2 * len(weights))
        won = self._by_matrix(weights) if few else self._by_scan(weights)
        return ratio(won, (weights @ p) * (weights @ n))

    def _by_matrix(self, weights: Floats) -> Floats:
        if self._matrix is None:
            self._matrix = self._concordance_matrix()
        won: Floats = ((weights @ self._matrix) * weights).sum(axis=1)
        return won

    def _concordance_matrix(self) -> Floats:
        """Return M[a, b]: weighted wins of the positives of a over the negatives of b."""
        pos = np.flatnonzero(self._is_positive)
        neg = np.flatnonzero(~self._is_positive)
        if len(pos) <= len(neg):
            return self._wins(pos, neg, self._positive, self._negative, sign=1)
        return self._wins(neg, pos, self._negative, self._positive, sign=-1).T

    def _wins(
        self, asking: Ints, asked: Ints, asking_weight: Floats, asked_weight: Floats, *, sign: int
    ) -> Floats:
        """Return W[a, b]: wins of the smaller class in a over the larger one in b.

        With ``sign`` 1 a win is a higher score, with -1 a lower one.
        """
        out = np.zeros((self._n_clusters, self._n_clusters))
        at, mass = self._cluster[asking], asking_weight[asking]
        query = self._score[asking]
        by_cluster = asked[np.argsort(self._cluster[asked], kind="stable")]
        ends = np.searchsorted(self._cluster[by_cluster], np.arange(self._n_clusters + 1))
        for b in range(self._n_clusters):
            members = by_cluster[ends[b] : ends[b + 1]]  # still sorted by score
            if not len(members):
                continue
            values = self._score[members]
            total = np.concatenate([[0.0], np.cumsum(asked_weight[members])])
            below = total[np.searchsorted(values, query, side="left")]
            upto = total[np.searchsorted(values, query, side="right")]
            half = (below + upto) / 2
            won = half if sign > 0 else total[-1] - half
            out[:, b] = np.bincount(at, weights=mass * won, minlength=self._n_clusters)
        return out

    def _by_scan(self, weights: Floats) -> Floats:
        won = np.zeros(len(weights))
        n = len(self._score)
        if n == 0:
            return won
        starts = np.flatnonzero(np.concatenate([[True], self._score[1:] != self._score[:-1]]))
        step = max(1, CHUNK // n)
        for first in range(0, len(weights), step):
            w = weights[first : first + step][:, self._cluster]
            p = np.add.reduceat(w * self._positive, starts, axis=1)
            q = np.add.reduceat(w * self._negative, starts, axis=1)
            won[first : first + step] = (p * (np.cumsum(q, axis=1) - q / 2)).sum(axis=1)
        return won
