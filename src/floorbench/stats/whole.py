"""Totals of draws without weights, where all that is added are small whole numbers.

The general way counts how often each draw takes each cluster and multiplies the counts with the
clusters' sums. Most metrics add up ones and zeros. Whole numbers have one sum in whatever order
they are added, so the sums of the clusters drawn can be added directly, and those of several
columns side by side in one 64-bit word. The totals are those of the product, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from floorbench.metrics.base import Floats, Ints
from floorbench.stats.streams import BLOCK, indices

BITS = 62


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WholeSums:
    """The sums of each cluster in one word.

    Parameters
    ----------
    words : int64 array (clusters,)
        Column ``j`` stands ``bits * j`` bits up.
    bits : int
        Bits that a total of a draw may take.
    columns : int
    """

    words: Ints
    bits: int
    columns: int

    def drawn(
        self, groups: Mapping[int, Ints], sources: Mapping[int, np.random.Generator], draws: int
    ) -> Floats:
        """Return the totals of all draws ``(draws, columns)``.

        Parameters
        ----------
        groups : mapping of int to int64 array
            The clusters of each stratum; as many are drawn as it has.
        sources : mapping of int to Generator
            The random stream of each stratum.
        draws : int
        """
        added = np.zeros(draws, dtype=np.int64)
        for code, members in groups.items():
            held, n = self.words[members], len(members)
            step = BLOCK // n or 1
            for start in range(0, draws, step):
                part = added[start : start + step]
                part += held[indices(sources[code], n, (len(part), n))].sum(axis=1)
        mask = (1 << self.bits) - 1
        totals = [(added >> self.bits * j) & mask for j in range(self.columns)]
        return np.stack(totals, axis=1).astype(np.float64)


def whole_sums(sums: Floats) -> WholeSums | None:
    """Put the sums of each cluster into one word, or return ``None`` where that cannot be done.

    Parameters
    ----------
    sums : float64 array (clusters, k)

    Returns
    -------
    WholeSums or None
        ``None`` if a sum is no whole number of 0 or more, or the totals of a draw, as many
        clusters as there are, might take more than 62 bits side by side.
    """
    clusters, columns = sums.shape
    if not sums.size or not (most := sums.max()) < 1 << BITS:  # or NaN
        return None
    bits = (clusters * int(most)).bit_length()
    if bits * columns > BITS or sums.min() < 0 or (sums % 1).any():
        return None
    words = (sums.astype(np.int64) << (bits * np.arange(columns))).sum(axis=1)
    return WholeSums(words=words, bits=bits, columns=columns)
