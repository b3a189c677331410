"""Ratios of counts: the formulas that several families share, vectorised and NaN where undefined.

tp, fp, fn and tn are counts of one label against the rest. A unit without an answer is a miss of
its gold label (fn) and nothing else: it is never a false positive, and as a negative it earns no
tn, so that it leaves that denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from floorbench.metrics.base import Floats, Ints, ratio
from floorbench.metrics.inputs import Labels, as_rows


def precision(tp: Floats, fp: Floats) -> Floats:
    """TP / (TP + FP); undefined without a prediction of the label."""
    return ratio(tp, tp + fp)


def recall(tp: Floats, fn: Floats) -> Floats:
    """TP / (TP + FN); undefined without a unit of the label."""
    return ratio(tp, tp + fn)


def f_beta(tp: Floats, fp: Floats, fn: Floats, beta: float = 1.0) -> Floats:
    """(1 + b^2) TP / ((1 + b^2) TP + FP + b^2 FN); undefined only if all three are 0.

    Parameters
    ----------
    tp, fp, fn : float64 arrays
        Counts of one label against the rest.
    beta : float
        Weight of recall.
    """
    b2 = beta * beta
    return ratio((1 + b2) * tp, (1 + b2) * tp + fp + b2 * fn)


def specificity(tn: Floats, fp: Floats) -> Floats:
    """TN / (TN + FP); undefined without an answered negative."""
    return ratio(tn, tn + fp)


class Counts(NamedTuple):
    """Counts of one label against the rest."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


def split(totals: Floats) -> Counts:
    """Name the columns of totals ``(..., 4)``."""
    return Counts(totals[..., 0], totals[..., 1], totals[..., 2], totals[..., 3])


def one_label(labels: Labels, code: int) -> Floats:
    """Return 0/1 rows ``(n, 4)`` of one label, in the order of :class:`Counts`."""
    gold = (labels.gold == code) & labels.kept
    said = (labels.predicted == code) & labels.answered & labels.kept
    neither = labels.kept & labels.answered & ~gold & ~said
    return as_rows(gold & said, said & ~gold, gold & ~said, neither)


def many_labels(labels: Labels, codes: Ints) -> Floats:
    """Return rows ``(n, 3 k)``: tp of the k labels, then their fp, then their fn."""
    gold = (labels.gold[:, np.newaxis] == codes) & labels.kept[:, np.newaxis]
    said = labels.predicted[:, np.newaxis] == codes
    said &= (labels.answered & labels.kept)[:, np.newaxis]
    return np.concatenate([gold & said, said & ~gold, gold & ~said], axis=1).astype(np.float64)


def thirds(totals: Floats) -> tuple[Floats, Floats, Floats]:
    """Split totals ``(..., 3 k)`` into tp, fp and fn, each ``(..., k)``."""
    k = totals.shape[-1] // 3
    return totals[..., :k], totals[..., k : 2 * k], totals[..., 2 * k :]


def count_names(labels: Sequence[str]) -> tuple[str, ...]:
    """Name the columns of :func:`many_labels`."""
    return tuple(f"{kind}:{label}" for kind in ("tp", "fp", "fn") for label in labels)


def empty_labels(totals: Floats, labels: Sequence[str], *, gold_only: bool) -> list[str]:
    """Return the labels without a gold unit, or (``gold_only=False``) without any trace at all."""
    tp, fp, fn = thirds(np.asarray(totals))
    seen = tp + fn if gold_only else tp + fn + fp
    return [label for label, n in zip(labels, seen.tolist(), strict=True) if n == 0]
