"""Permutation test of two systems: swap whole clusters and recompute the statistic.

If two systems do not differ, it does not matter whose answers to a cluster are called A's. The
test swaps the two systems' whole clusters, each with probability 1/2, recomputes the difference
of the metric, and asks how often it is at least as far from 0 as the observed one.

Both kinds of metric go through one door: :func:`swap_metrics` pools the units of both systems with
every cluster twice and lets weights of 0 and 1 choose the sides, which any metric understands.

A metric that reads scores by their order alone (AUC, EER) does not care on which scale a system
gives them, but a mixture of two scales has another order. The scores of either system are therefore
replaced by their mid-ranks before anything is swapped.

Source
------
E. S. Venkatraman and C. B. Begg (1996), Biometrika 83, 835-848: ranks within each of two paired
diagnostic scores are exchanged. Clusters for units are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import Bools, Evaluator, Floats, Metric, Scored, concat
from floorbench.metrics.bundle import evaluators
from floorbench.stats.streams import coins, generator

SwapStatistic = Callable[[Bools], Floats]
"""Map swaps ``(permutations, clusters)``, True where a cluster changes sides, to the differences
A - B ``(permutations,)``; NaN where undefined."""

Pair = tuple[Metric, Scored, Scored]
"""A metric and the units of both systems."""

FEWEST_CLUSTERS = 6
EXACT_CLUSTERS = 14
PERMUTATIONS = 9999
MOST_UNDEFINED = 0.01
MEMORY = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SwapTest:
    """Outcome of a permutation test.

    Parameters
    ----------
    p : float or None
        Two-sided; ``None`` exactly when ``reason`` says why there is no test.
    difference : float or None
        Observed A - B.
    method : str
        ``exact`` (all swaps), ``monte-carlo`` or ``none``.
    permutations : int
        Swaps evaluated: 2 ** clusters, or the random ones.
    undefined : int
        Swaps without a value; they count as at least as extreme.
    clusters : int
    reason : str or None
    """

    p: float | None
    difference: float | None
    method: str
    permutations: int
    undefined: int
    clusters: int
    reason: str | None


def permutation_test(
    statistics: Mapping[str, SwapStatistic],
    clusters: int,
    *,
    permutations: int = PERMUTATIONS,
    seed: int,
    stream: str = "swap",
    memory: int = MEMORY,
) -> dict[str, SwapTest]:
    """Test every statistic on the same swaps.

    Parameters
    ----------
    statistics : mapping of str to SwapStatistic
    clusters : int
        Clusters that both systems answered.
    permutations : int
        Random swaps when there are more than 14 clusters; below that all 2 ** clusters are used.
    seed, stream : int, str
    memory : int
        Bytes that one portion of swaps may take as weights.

    Returns
    -------
    dict of str to SwapTest
        Exact: p = share of all swaps, the identity among them, whose absolute difference is at
        least the observed one. Random: p = (1 + b) / (1 + B). Differences equal up to rounding
        count as equal.

    Undefined
    ---------
    No test, with the reason: fewer than 6 clusters (five cannot reach p < .05 on two sides); the
    observed difference is undefined; more than 1 % of the swaps are undefined.

    Raises
    ------
    UsageError
        ``FB650`` for ``permutations`` below 1.
    DataError
        ``FB652`` when a statistic returns an array of the wrong shape.

    Source
    ------
    B. Phipson and G. K. Smyth (2010), Statistical Applications in Genetics and Molecular Biology
    9, article 39, for (1 + b) / (1 + B).
    """
    if permutations < 1:
        raise UsageError("FB650", f"{counted(permutations, 'permutation')}; at least 1 is needed")
    none = np.zeros((1, clusters), dtype=np.bool_)
    observed = {name: float(_evaluate(name, f, none)[0]) for name, f in statistics.items()}
    if clusters < FEWEST_CLUSTERS:
        why = f"{counted(clusters, 'cluster')}; a test needs {FEWEST_CLUSTERS}"
        return {name: _no_test(observed[name], clusters, reason=why) for name in statistics}
    exact = clusters <= EXACT_CLUSTERS
    total = 2**clusters if exact else permutations
    values = {name: np.empty(total) for name in statistics}
    start = 0
    for swaps in _swaps(clusters, total, exact, seed, stream, memory):
        for name, statistic in statistics.items():
            values[name][start : start + len(swaps)] = _evaluate(name, statistic, swaps)
        start += len(swaps)
    return {
        name: _judge(observed[name], values[name], clusters=clusters, exact=exact)
        for name in statistics
    }


def swap_metrics(cells: Mapping[str, Pair]) -> dict[str, SwapStatistic]:
    """Build the statistic of any metric from the units of both systems.

    Parameters
    ----------
    cells : mapping of str to (metric, units of A, units of B)
        All units over one list of clusters.

    Raises
    ------
    DataError
        ``FB651`` when the lists of clusters differ; ``FB601`` when the columns or label sets do.
    """
    pooled: list[tuple[str, Metric, Scored]] = []
    for name, (metric, a, b) in cells.items():
        if a.clusters != b.clusters:
            raise DataError("FB651", "the two systems do not have the same list of clusters")
        order = getattr(metric, "by_order", None)
        marked = [
            replace(side, clusters=tuple(f"{mark}{cluster}" for cluster in side.clusters))
            for mark, side in (("a:", _ranked(a, order)), ("b:", _ranked(b, order)))
        ]
        pooled.append((name, metric, concat(marked)))
    sides = _Sides()

    def statistic(evaluate: Evaluator) -> SwapStatistic:
        def of(swaps: Bools) -> Floats:
            first, second = np.split(evaluate(sides.weights(swaps)), 2)
            difference: Floats = first - second
            return difference

        return of

    return {name: statistic(evaluate) for name, evaluate in evaluators(pooled).items()}


def _ranked(scored: Scored, column: str | None) -> Scored:
    """Return units with a score column as mid-ranks over those that have one, from 0 to 1."""
    if column is None or not len(scored):
        return scored
    values = np.asarray(scored.column(column), dtype=np.float64)
    ranks = np.full(values.shape, np.nan)
    wide, out = values.reshape(len(values), -1), ranks.reshape(len(values), -1)
    for k in range(wide.shape[1]):
        there = np.isfinite(wide[:, k])
        if there.any():
            _, place, count = np.unique(wide[there, k], return_inverse=True, return_counts=True)
            out[there, k] = (np.cumsum(count) - count / 2)[place] / there.sum()
    return scored.with_columns(**{column: ranks})


class _Sides:
    """Weights of the pooled clusters for the last swaps: the first side's, then the second's."""

    def __init__(self) -> None:
        self._swaps: Bools | None = None
        self._weights: Floats = np.empty((0, 0))

    def weights(self, swaps: Bools) -> Floats:
        if self._swaps is not swaps:
            rows, clusters = swaps.shape
            stayed = ~swaps
            weights = np.empty((2 * rows, 2 * clusters))
            weights[:rows, :clusters] = weights[rows:, clusters:] = stayed
            weights[:rows, clusters:] = weights[rows:, :clusters] = swaps
            self._weights, self._swaps = weights, swaps
        return self._weights


def _swaps(
    clusters: int, total: int, exact: bool, seed: int, stream: str, memory: int
) -> Iterator[Bools]:
    # Both sides' weights of both clusters (32 bytes), the raw words (8), and what evaluators need.
    most = max(1, memory // (56 * max(1, clusters)))
    source = generator(seed, stream)
    for start in range(0, total, most):
        rows = min(most, total - start)
        if exact:
            numbers = np.arange(start, start + rows)[:, None]
            yield (numbers >> np.arange(clusters)) & 1 == 1
        else:
            yield coins(source, (rows, clusters))


def _evaluate(name: str, statistic: SwapStatistic, swaps: Bools) -> Floats:
    values = np.asarray(statistic(swaps), dtype=np.float64)
    if values.shape != (len(swaps),):
        raise DataError(
            "FB652",
            f"the statistic '{name}' returned shape "
            f"{values.shape} for {counted(len(swaps), 'swap')}",
        )
    return np.where(np.isfinite(values), values, np.nan)


def _judge(observed: float, values: Floats, *, clusters: int, exact: bool) -> SwapTest:
    if np.isnan(observed):
        return _no_test(observed, clusters, reason="the difference itself is undefined")
    missing = np.isnan(values)
    undefined = int(missing.sum())
    if undefined > MOST_UNDEFINED * len(values):
        return _no_test(
            observed,
            clusters,
            undefined=undefined,
            reason=f"undefined in {undefined} of "
            f"{counted(len(values), 'permutation')} (more than 1 %)",
        )
    size = np.where(missing, np.inf, np.abs(values))
    noise = 1e-12 * max(1e-2, abs(observed))
    extreme = int((size >= abs(observed) - noise).sum())
    p = extreme / len(values) if exact else (1 + extreme) / (1 + len(values))
    return SwapTest(
        p=p,
        difference=observed,
        method="exact" if exact else "monte-carlo",
        permutations=len(values),
        undefined=undefined,
        clusters=clusters,
        reason=None,
    )


def _no_test(observed: float, clusters: int, *, reason: str, undefined: int = 0) -> SwapTest:
    return SwapTest(
        p=None,
        difference=None if np.isnan(observed) else observed,
        method="none",
        permutations=0,
        undefined=undefined,
        clusters=clusters,
        reason=reason,
    )
