"""How often the interval of one system's value, and a wider one, hold the true value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.simulated.worlds import FAMILIES, SHAPES, truth
from floorbench.metrics.bundle import evaluators
from floorbench.stats.bootstrap import bootstrap, compact
from floorbench.stats.conservative import further_out
from floorbench.stats.intervals import counting_of, interval, share_bounds


@dataclass(slots=True, kw_only=True)
class Cell:
    """Counts of one metric, shape and number of clusters.

    ``held`` counts the intervals that hold the truth, ``wider`` the limits further out that a gate
    would take for so few clusters of equal weight.
    """

    worlds: int = 0
    given: int = 0
    held: int = 0
    wider: int = 0
    warned: int = 0
    held_unwarned: int = 0

    @property
    def coverage(self) -> float:
        return self.held / self.given if self.given else float("nan")


def coverage(
    family: str, shape: str, clusters: int, *, worlds: int, draws: int = 500, seed: int = 0
) -> dict[str, Cell]:
    """Count, over worlds, how often the interval of every metric of a family holds the truth."""
    make, metrics = FAMILIES[family]
    true = truth(family, SHAPES[shape])
    cells = {name: Cell() for name in metrics}
    for world in range(worlds):
        rng = np.random.default_rng((seed, clusters, world))
        scored = compact(make(rng, clusters, SHAPES[shape]))
        found = bootstrap(
            evaluators((name, metric, scored) for name, metric in metrics.items()),
            scored.strata,
            draws=draws,
            seed=world,
        )
        for name, cell in cells.items():
            drawn = counting_of(found[name], metrics[name], scored)
            made = interval(drawn, proportion=share_bounds(metrics[name]))
            cell.worlds += 1
            if made.low is None or made.high is None:
                continue
            held = made.low <= true[name] <= made.high
            low, high = further_out(drawn, made) or (made.low, made.high)
            cell.given += 1
            cell.held += held
            cell.wider += low <= true[name] <= high
            cell.warned += made.warning is not None
            cell.held_unwarned += held and made.warning is None
    return cells
