"""Equal error rate as a function of cluster weights.

Units are sorted once. A table of class mass per block of scores and cluster finds, for all draws
at once by a matrix product, the block in which the two error rates cross; only that block is then
walked unit by unit.
"""

from __future__ import annotations

import numpy as np

from floorbench.metrics.base import Bools, Floats, Ints

BLOCKS = 2048
"""At most this many blocks of scores."""
TABLE = 4_000_000
"""Cells of a (blocks, clusters) table."""
CHUNK = 256
"""Draws handled at once."""


class EqualError:
    """Evaluator of a weighted equal error rate.

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
        order = np.argsort(-score, kind="stable")
        ranked = score[order]
        self._cluster = cluster[order]
        self._positive = np.where(positive, weight, 0.0)[order]
        self._negative = np.where(positive, 0.0, weight)[order]
        last = np.ones(len(order), dtype=np.bool_)  # last unit of its group of equal scores
        last[:-1] = ranked[1:] != ranked[:-1]
        self._last = last
        ends = np.flatnonzero(last) + 1
        blocks = max(1, min(BLOCKS, TABLE // max(n_clusters, 1), len(ends)))
        wanted = np.linspace(0, len(order), blocks + 1)[1:]
        self._ends = (
            np.unique(ends[np.searchsorted(ends, wanted, side="left")]) if len(ends) else (ends)
        )
        block = np.searchsorted(self._ends, np.arange(len(order)), side="right")
        cell = block * n_clusters + self._cluster
        shape = (len(self._ends), n_clusters)
        size = shape[0] * shape[1]
        self._p = np.bincount(cell, self._positive, minlength=size).reshape(shape)
        self._n = np.bincount(cell, self._negative, minlength=size).reshape(shape)

    def __call__(self, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to EER ``(draws,)``."""
        out = np.full(len(weights), np.nan)
        if not len(self._ends):
            return out
        for first in range(0, len(weights), CHUNK):
            w = weights[first : first + CHUNK]
            out[first : first + CHUNK] = self._chunk(w)
        return out

    def _chunk(self, weights: Floats) -> Floats:
        p = np.cumsum(weights @ self._p.T, axis=1)
        n = np.cumsum(weights @ self._n.T, axis=1)
        out = np.full(len(weights), np.nan)
        for d in np.flatnonzero((p[:, -1] > 0) & (n[:, -1] > 0)):
            tpr, fpr = p[d] / p[d, -1], n[d] / n[d, -1]
            b = _first_crossing(fpr, tpr)
            before = (p[d, b - 1], n[d, b - 1]) if b else (0.0, 0.0)
            inside = slice(self._ends[b - 1] if b else 0, self._ends[b])
            w = weights[d, self._cluster[inside]]
            last = self._last[inside]
            steps_p = before[0] + np.cumsum(w * self._positive[inside])[last]
            steps_n = before[1] + np.cumsum(w * self._negative[inside])[last]
            out[d] = _interpolated(
                np.concatenate([[before[1]], steps_n]) / n[d, -1],
                np.concatenate([[before[0]], steps_p]) / p[d, -1],
            )
        return out


def _first_crossing(fpr: Floats, tpr: Floats) -> int:
    """Return the first point with FPR >= FNR; the last point of a ROC always qualifies."""
    crossed = fpr + tpr >= 1.0
    crossed[-1] = True
    return int(np.argmax(crossed))


def _interpolated(fpr: Floats, tpr: Floats) -> float:
    """Return FPR where FPR = 1 - TPR on the line through the points around the crossing."""
    i = max(_first_crossing(fpr, tpr), 1)
    low = 1.0 - fpr[i - 1] - tpr[i - 1]
    high = fpr[i] + tpr[i] - 1.0
    share = low / (low + high) if low + high > 0 else 0.0
    return float(fpr[i - 1] + share * (fpr[i] - fpr[i - 1]))
