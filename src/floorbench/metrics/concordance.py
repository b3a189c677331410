"""AUC as a function of cluster weights, without ranking again in every draw.

Two ways, chosen by size. With few clusters, the concordance of every pair of clusters is computed
once: the AUC of a draw with cluster weights w is then w'Mw / (w'p)(w'n). With many clusters the
units are sorted once and every draw is a running sum. Both count ties half. Leave-one-out values
are the same quadratic form at weights that differ from 1 in one stratum; its terms are sums of
wins over everything, over the own stratum and over the own cluster, a sort each.
"""

from __future__ import annotations

import numpy as np

from floorbench.metrics.base import Bools, Floats, Ints, ratio
from floorbench.metrics.jackknife import LeftOut

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

    def leave_one_out(self, left: LeftOut) -> Floats:
        """Return the AUC without each cluster in turn.

        With M the concordance of pairs of clusters, u the present clusters, h the stratum of the
        cluster c left out and f the weight of its rest, the weights are
        w = u + (f - 1) 1_h - f 1_c, and w'Mw is written out term by term.
        """
        inside = left.present[self._cluster]
        cluster = self._cluster[inside]
        stratum = left.stratum[cluster]
        score, positive = self._score[inside], self._is_positive[inside]
        p, n = self._positive[inside], self._negative[inside]

        def mass(values: Floats) -> Floats:
            found = np.bincount(cluster, weights=values, minlength=self._n_clusters)
            return found.astype(np.float64, copy=False)

        def terms(group: Ints) -> Floats:
            won = _won(score, group, positive, p, n)
            return np.stack([mass(np.where(positive, won, 0.0)),
                             mass(np.where(positive, 0.0, won))], axis=1)  # fmt: skip

        everywhere, in_stratum = terms(np.zeros_like(cluster)), terms(stratum)
        alone = terms(cluster)[:, 0]
        of_stratum = [left.by_stratum(t)[left.stratum[left.clusters]] for t in
                      (everywhere, in_stratum)]  # fmt: skip
        c, f = left.clusters, left.factor
        g = f - 1
        won = (
            everywhere[left.present, 0].sum()
            + g * of_stratum[0].sum(axis=1)
            - f * everywhere[c].sum(axis=1)
            + g * g * of_stratum[1][:, 0]
            - g * f * in_stratum[c].sum(axis=1)
            + f * f * alone[c]
        )
        totals = left.totals(np.stack([mass(p), mass(n)], axis=1))
        return ratio(won, totals[:, 0] * totals[:, 1])

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


def _won(score: Floats, group: Ints, positive: Bools, p: Floats, n: Floats) -> Floats:
    """Return each unit's weighted comparisons won by the positive side, inside its group.

    For a positive unit: its weight times the mass of negatives below it; for a negative unit: its
    weight times the mass of positives above it; ties half.

    Parameters
    ----------
    score : float64 array (n,), rising
    group : int64 array (n,)
    positive : bool array (n,)
    p, n : float64 arrays (n,)
        Weight of each unit as a positive and as a negative.
    """
    out = np.empty(len(score))
    if not len(score):
        return out
    order = np.argsort(group, kind="stable")
    g, s = group[order], score[order]
    first = np.concatenate([[True], g[1:] != g[:-1]])
    tied = np.flatnonzero(first | np.concatenate([[True], s[1:] != s[:-1]]))
    block = np.repeat(np.arange(len(tied)), np.diff(tied, append=len(s)))
    starts = np.flatnonzero(first)
    mine = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(s)))

    def below(mass: Floats) -> tuple[Floats, Floats]:
        """Mass under each unit with ties half, and the mass of its group."""
        blocks = np.add.reduceat(mass, tied)
        before = np.cumsum(blocks) - blocks
        under = (before + blocks / 2)[block] - before[block[starts]][mine]
        return under, np.add.reduceat(mass, starts)[mine]

    negatives, _ = below(n[order])
    positives, all_positives = below(p[order])
    out[order] = np.where(
        positive[order], p[order] * negatives, n[order] * (all_positives - positives)
    )
    return out
