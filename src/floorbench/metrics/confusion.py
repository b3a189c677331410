"""The confusion matrix: counts and row shares, for reading and not for averaging."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from floorbench.metrics.base import Floats, Scored, ratio
from floorbench.metrics.inputs import check_labels, check_missing, codes_of, summed
from floorbench.metrics.inputs import labels as read_labels


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion:
    """Weighted counts of gold label by predicted label.

    Parameters
    ----------
    labels : tuple of str
        Rows, and all columns but the last two.
    counts : float64 array (k, k + 2)
        The last two columns are answers with a label outside ``labels`` and units without an
        answer. All rows add up to the number of units whose gold label is in ``labels``.
    """

    labels: tuple[str, ...]
    counts: Floats

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*self.labels, "(other)", "(none)")

    @property
    def support(self) -> Floats:
        """Units per gold label, shape ``(k,)``."""
        support: Floats = self.counts.sum(axis=1)
        return support

    def shares(self) -> list[list[float] | None]:
        """Return each row divided by its sum; ``None`` for a label without a unit."""
        shares = ratio(self.counts, self.support[:, np.newaxis])
        return [
            None if n == 0 else row
            for n, row in zip(self.support.tolist(), shares.tolist(), strict=True)
        ]


def confusion(
    scored: Scored,
    *,
    labels: Sequence[str],
    gold: str = "gold",
    predicted: str = "predicted",
    missing: str = "wrong",
) -> Confusion:
    """Count gold against predicted labels.

    Parameters
    ----------
    scored : Scored
    labels : sequence of str
        The task's label set, in the order of rows and columns.
    missing : {'wrong', 'drop'}
        Missing predictions stand in the column ``(none)`` or are left out; unsupported ones
        always stand in ``(none)``.
    gold, predicted : str
        Names of the two label columns.
    """
    check_missing(missing)
    wanted = check_labels(labels)
    found = read_labels(scored, missing=missing, gold=gold, predicted=predicted)
    codes = codes_of(scored, gold, wanted)
    k = len(wanted)
    place = np.full(len(scored.vocab[gold]) + 1, k, dtype=np.int64)
    place[codes] = np.arange(k)
    row = place[found.gold]
    column = np.where(found.answered, place[found.predicted], k + 1)
    use = found.kept & (row < k)
    flat = summed(row[use] * (k + 2) + column[use], scored.weight[use], k * (k + 2))
    return Confusion(labels=wanted, counts=flat.reshape(k, k + 2))
