"""How often a gate keeps a candidate that is worse by exactly the margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.simulated.nulls import EACH, units_of
from floorbench.metrics.classification import accuracy
from floorbench.run.gate import judged_limits, verdict_by
from floorbench.stats.paired import compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a candidate does to a cluster that the baseline answers.

    Parameters
    ----------
    lost, gained : float
        Share of clusters that are lost and gained.
    each : int
        Units of a cluster; a change is one of the whole cluster.
    jitter : float
        Share of single units that flip to and fro, half to either side.
    spread : float
        Standard deviation of the logarithm of cluster sizes.
    """

    lost: float
    gained: float = 0.0
    each: int = 1
    jitter: float = 0.0
    spread: float = 0.0

    @property
    def margin(self) -> float:
        return self.lost - self.gained


CHANGES = {
    "10 % lost, 5 % gained": Change(lost=0.10, gained=0.05),
    "5 % lost": Change(lost=0.05),
    "3 % lost, 1 % gained": Change(lost=0.03, gained=0.01),
    "clusters of 6, 10 % lost, 5 % gained": Change(lost=0.10, gained=0.05, each=EACH),
    "clusters of 6, 3 % lost, units flip": Change(lost=0.03, each=EACH, jitter=0.04),
    "unequal clusters, 15 % lost, 10 % gained": Change(
        lost=0.15, gained=0.10, each=EACH, spread=1.0
    ),
}


class Passes(NamedTuple):
    """In how many worlds the candidate is kept at its true loss.

    ``kept`` by the gate, that is by the conservative limits; ``plain`` by those of the interval.
    """

    kept: int
    plain: int


def passes(change: str, clusters: int, *, worlds: int, draws: int = 400, seed: int = 0) -> Passes:
    """Count, over worlds, how often the candidate is kept."""
    how = CHANGES[change]
    kept = plain = 0
    for world in range(worlds):
        rng = np.random.default_rng((seed, clusters, world))
        sizes = np.round(how.each * np.exp(rng.normal(0, how.spread, clusters)))
        cluster = np.repeat(np.arange(clusters), np.maximum(1, sizes).astype(np.int64))
        n = len(cluster)
        u = rng.random(clusters)[cluster]
        lost, gained = u < how.lost, u > 1 - how.gained
        v = rng.random(n)
        flip = (v < how.jitter) & ~lost & ~gained
        base = np.where(flip, v < how.jitter / 2, ~gained)
        mine = np.where(flip, v >= how.jitter / 2, ~lost)
        sides = [
            units_of(cluster, clusters, gold=np.ones(n, np.int64), predicted=s.astype(np.int64))
            for s in (mine, base)
        ]
        made = compare({"x": accuracy()}, *sides, draws=draws, permutations=1, seed=world)["x"]
        found = made.interval
        kept += verdict_by(*judged_limits(found), margin=how.margin) == "kept"
        plain += verdict_by(found.low, found.high, margin=how.margin) == "kept"
    return Passes(kept, plain)
