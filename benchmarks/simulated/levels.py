"""How often a test finds a difference, and an interval leaves out 0, where there is none."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.simulated.nulls import NULLS
from floorbench.stats.paired import compare

ALPHA = 0.05


@dataclass(slots=True, kw_only=True)
class Level:
    """Counts of one metric, null and number of clusters."""

    worlds: int = 0
    tested: int = 0
    rejected: int = 0
    given: int = 0
    held: int = 0
    kept_zero: int = 0
    warned: int = 0

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
    """Count, over pairs of equally good systems, rejections at .05 and intervals that hold 0."""
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
            if one.interval.low is not None and one.interval.high is not None:
                cell.given += 1
                cell.held += one.interval.low <= 0 <= one.interval.high
                cell.warned += one.interval.warning is not None
    return cells
