"""How often the interval of one system's value holds the true value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from benchmarks.simulated.worlds import FAMILIES, SHAPES, truth
from floorbench.stats.intervals import intervals, share_bounds


@dataclass(slots=True, kw_only=True)
class Cell:
    """Counts of one metric, shape and number of clusters."""

    worlds: int = 0
    given: int = 0
    held: int = 0
    below: int = 0
    warned: int = 0
    held_unwarned: int = 0
    beside: int = 0
    methods: Counter[str] = field(default_factory=Counter)

    @property
    def coverage(self) -> float:
        return self.held / self.given if self.given else float("nan")

    @property
    def unwarned(self) -> float:
        n = self.given - self.warned
        return self.held_unwarned / n if n else float("nan")

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the coverage."""
        p = self.coverage
        return float(np.sqrt(p * (1 - p) / self.given)) if self.given else float("nan")


def coverage(
    family: str, shape: str, clusters: int, *, worlds: int, draws: int = 500, seed: int = 0
) -> dict[str, Cell]:
    """Count, over worlds, how often the interval of every metric of a family holds the truth."""
    make, metrics = FAMILIES[family]
    true = truth(family, SHAPES[shape])
    bounds = {name: share_bounds(metric) for name, metric in metrics.items()}
    proportions = {name: b for name, b in bounds.items() if b is not None}
    cells = {name: Cell() for name in metrics}
    for world in range(worlds):
        rng = np.random.default_rng((seed, clusters, world))
        scored = make(rng, clusters, SHAPES[shape])
        made = intervals(metrics, scored, proportions=proportions, draws=draws, seed=world)
        for name, cell in cells.items():
            found = made[name]
            cell.worlds += 1
            if found.low is None or found.high is None:
                continue
            held = found.low <= true[name] <= found.high
            cell.given += 1
            cell.held += held
            cell.below += true[name] < found.low
            cell.methods[found.method] += 1
            few = found.warning is not None
            cell.warned += few
            cell.held_unwarned += held and not few
            low, high = found.beside.get("percentile", (found.low, found.high))
            cell.beside += low <= true[name] <= high
    return cells
