"""How often a test finds a difference, with and without a note, where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.simulated.nulls import NULLS
from floorbench.stats.conservative import NAME
from floorbench.stats.paired import compare

ALPHA = 0.05


@dataclass(slots=True, kw_only=True)
class Level:
    """Counts of one metric, null and number of clusters.

    ``rejected`` are p values of swaps of at most .05, ``unnoted`` those without the note that the
    standard error does not show the difference; ``held`` and ``wider`` are intervals and
    conservative limits that hold 0.
    """

    worlds: int = 0
    tested: int = 0
    rejected: int = 0
    unnoted: int = 0
    given: int = 0
    held: int = 0
    wider: int = 0

    @property
    def level(self) -> float:
        return self.rejected / self.tested if self.tested else float("nan")

    @property
    def coverage(self) -> float:
        return self.held / self.given if self.given else float("nan")


def levels(
    null: str, clusters: int, *, worlds: int, draws: int = 300, permutations: int = 399,
    seed: int = 0,
) -> dict[str, Level]:  # fmt: skip
    """Count, over pairs of equally good systems, rejections at .05 and limits that hold 0."""
    make, metrics = NULLS[null]
    cells = {name: Level() for name in metrics}
    for world in range(worlds):
        a, b = make(np.random.default_rng((seed, clusters, world)), clusters)
        found = compare(metrics, a, b, draws=draws, permutations=permutations, seed=world)
        for name, cell in cells.items():
            one = found[name]
            cell.worlds += 1
            if one.test.p is not None:
                cell.tested += 1
                cell.rejected += one.test.p <= ALPHA
                cell.unnoted += one.test.p <= ALPHA and one.note is None
            if one.interval.low is not None and one.interval.high is not None:
                cell.given += 1
                cell.held += one.interval.low <= 0 <= one.interval.high
                low, high = one.interval.beside.get(NAME, (one.interval.low, one.interval.high))
                cell.wider += low <= 0 <= high
    return cells
