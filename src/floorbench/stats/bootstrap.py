"""Stratified cluster bootstrap: one set of draws for every metric of a slice.

Whole clusters are drawn with replacement inside each stratum, as many as the stratum has. A
cluster that touches several strata belongs to a stratum of its own kind: its code stands for the
*set* of strata it touches, so that no cluster is split and every cluster has exactly one code.

Only clusters that a slice touches are resampled. Each stratum has its own random stream, named
by seed, stream name and stratum code, and a draw depends on nothing else but the number of
clusters present there. So two slices share the draws of every stratum in which they hold the
same clusters, and another metric, slice or stratum moves no figure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import Bools, Evaluator, Floats, Ints, Scored
from floorbench.metrics.bundle import one_product
from floorbench.metrics.jackknife import leave_one_out, left_out
from floorbench.stats.streams import BLOCK, generator, indices
from floorbench.stats.whole import whole_sums

DRAWS = 2000
MEMORY = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draws:
    """What a bootstrap found out about one metric.

    Parameters
    ----------
    point : float
        Value on the data as they are; NaN when undefined.
    values : float64 array (draws,)
        Value per draw; NaN when undefined (an infinite value counts as undefined).
    jackknife : float64 array (j,) or None
        Value with one cluster left out, for clusters of strata with two or more; ``None`` where
        the resampling has no jackknife (two-way).
    jackknife_strata : int64 array (j,) or None
        Stratum code of the cluster left out.
    clusters : int
        Clusters resampled; the smaller side in a two-way bootstrap.
    strata : int
        Strata with at least one cluster.
    singletons : int
        Strata with exactly one cluster: they return it in every draw and add no variance.
    unit : str
        What ``clusters`` counts, for messages.
    effective : float or None
        How many clusters of equal weight the value is worth
        (:func:`floorbench.stats.effective.worth`); ``None`` where that is not known.
    """

    point: float
    values: Floats
    clusters: int
    strata: int
    singletons: int
    jackknife: Floats | None = None
    jackknife_strata: Ints | None = None
    unit: str = "clusters"
    effective: float | None = None

    @property
    def defined(self) -> Floats:
        """Return the draws that have a value."""
        return self.values[~np.isnan(self.values)]

    @property
    def standard_error(self) -> float | None:
        """Standard deviation of the defined draws (n - 1); ``None`` with fewer than two."""
        values = self.defined
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    @property
    def noise(self) -> float:
        """Largest distance that rounding alone can put between equal values.

        1e-12 of the largest value, and at least 1e-14: a difference of two values of ordinary
        size carries their rounding even where it is 0 itself.
        """
        largest = np.abs(self.defined).max(initial=abs(self.point))
        return 1e-12 * max(1e-2, float(largest))


def bootstrap(
    evaluators: Mapping[str, Evaluator],
    strata: Ints,
    *,
    present: Bools | None = None,
    draws: int = DRAWS,
    seed: int,
    stream: str = "bootstrap",
    memory: int = MEMORY,
) -> dict[str, Draws]:
    """Resample the clusters once and evaluate every metric on the same draws.

    Parameters
    ----------
    evaluators : mapping of str to Evaluator
        Functions from cluster weights ``(draws, clusters)`` to values ``(draws,)``. The weights
        are read-only.
    strata : int64 array (clusters,)
        Stratum code of each cluster.
    present : bool array (clusters,) or None
        Clusters that the slice touches; all by default. The others get weight 0 and count
        nowhere.
    draws : int
        At least 1.
    seed, stream : int, str
        Recorded seed and name of the stream. Slices and metrics of one run use the same name.
    memory : int
        Bytes that the weights of one portion may take; the values do not depend on it beyond
        the rounding of the evaluators.

    Returns
    -------
    dict of str to Draws

    Raises
    ------
    UsageError
        ``FB650`` for ``draws`` below 1.
    DataError
        ``FB651`` for a mask of the wrong length; ``FB652`` when an evaluator returns an array of
        the wrong shape.

    Undefined
    ---------
    Values that are not finite become NaN; :func:`floorbench.stats.intervals.interval` counts
    them. Without clusters nothing is evaluated and everything is NaN.

    Source
    ------
    A. C. Davison and D. V. Hinkley (1997), Bootstrap Methods and their Application, sections 3.2
    (several samples) and 3.8 (hierarchical data: resample whole clusters). Leave-one-out values
    reweight the rest of the stratum by n / (n - 1), so that each stratum keeps its share.
    """
    check_draws(draws)
    strata = np.asarray(strata, dtype=np.int64)
    mask = _mask(strata, present)
    groups = _groups(strata, mask)
    sizes = np.array([len(members) for members in groups.values()], dtype=np.int64)
    clusters = int(mask.sum())
    left = left_out(strata, mask, memory=memory)
    points = dict.fromkeys(evaluators, np.nan)
    values = {name: np.full(draws, np.nan) for name in evaluators}
    jackknife = {name: np.full(len(left), np.nan) for name in evaluators}
    if clusters:
        whole = _frozen(mask.astype(np.float64)[None, :])
        for name, evaluate in evaluators.items():
            points[name] = float(_evaluate(name, evaluate, whole)[0])
        shared = one_product(evaluators)
        added = None if shared is None else whole_sums(shared.sums)
        if shared is not None and added is not None:
            totals = added.drawn(groups, _sources(groups, seed, stream), draws)
            for name, part in shared.parts.items():
                values[name] = _checked(name, part.of_totals(totals), draws)
        else:
            start = 0
            for weights in draw_weights(
                strata, present=mask, draws=draws, seed=seed, stream=stream, memory=memory
            ):
                for name, evaluate in evaluators.items():
                    values[name][start : start + len(weights)] = _evaluate(name, evaluate, weights)
                start += len(weights)
        for name, evaluate in evaluators.items():
            jackknife[name] = _checked(name, leave_one_out(evaluate, left), len(left))
    return {
        name: Draws(
            point=points[name],
            values=values[name],
            jackknife=jackknife[name],
            jackknife_strata=strata[left.clusters],
            clusters=clusters,
            strata=len(groups),
            singletons=int((sizes == 1).sum()),
        )
        for name in evaluators
    }


def draw_weights(
    strata: Ints,
    *,
    present: Bools | None = None,
    draws: int,
    seed: int,
    stream: str,
    memory: int = MEMORY,
) -> Iterator[Floats]:
    """Yield portions of the weights ``(draws, clusters)``: how often each draw takes a cluster.

    Each stratum draws as many clusters as it has present, with replacement, so its counts are
    multinomial and sum to its size in every draw.

    Parameters
    ----------
    strata : int64 array (clusters,)
    present : bool array (clusters,) or None
    draws, seed, stream, memory
        As in :func:`bootstrap`.
    """
    strata = np.asarray(strata, dtype=np.int64)
    groups = _groups(strata, _mask(strata, present))
    sources = _sources(groups, seed, stream)
    for rows in _portions(draws, len(strata), memory):
        weights = np.zeros((rows, len(strata)))
        for code, members in groups.items():
            _count(sources[code], members, weights)
        yield _frozen(weights)


def _count(source: np.random.Generator, members: Ints, weights: Floats) -> None:
    """Write how often each row's draw takes each member; some rows at a time, in the cache."""
    n = len(members)
    first, last = members[0], members[-1]
    place = slice(first, last + 1) if last - first == n - 1 else members
    step = BLOCK // n or 1
    for start in range(0, len(weights), step):
        part = weights[start : start + step]
        taken = indices(source, n, (len(part), n))
        taken += np.arange(0, taken.size, n)[:, None]
        counts = np.bincount(taken.ravel(), minlength=taken.size)
        part[:, place] = counts.reshape(taken.shape)


def compact(scored: Scored) -> Scored:
    """Prepare a slice for resampling: its own clusters only, and no stratum of one cluster.

    A narrow slice of a large run is then resampled at the cost of its own clusters. A stratum that
    holds one cluster of the slice would come back in every draw and hide that cluster's variance;
    such strata are collapsed into one (:func:`collapsed`).
    """
    present = scored.present()
    if present.all():
        strata = collapsed(scored.strata)
        return scored if strata is scored.strata else replace(scored, strata=strata)
    new_codes = np.cumsum(present) - 1
    return replace(
        scored,
        cluster=new_codes[scored.cluster],
        clusters=tuple(compress(scored.clusters, present.tolist())),
        strata=collapsed(scored.strata[present]),
    )


def collapsed(strata: Ints) -> Ints:
    """Return strata in which no stratum has a single cluster, if there are two clusters or more.

    All strata of one cluster become one stratum, under the smallest of their codes; a single one
    joins the smallest other stratum (the lowest code among equals).

    Parameters
    ----------
    strata : int64 array (clusters,)

    Source
    ------
    W. G. Cochran (1977), Sampling Techniques, section 5A.12: collapsed strata. The variance is
    overstated when the collapsed strata differ, never understated.
    """
    codes, sizes = np.unique(strata, return_counts=True)
    single = codes[sizes == 1]
    if len(single) == 0 or len(codes) == 1:
        return strata
    if len(single) > 1:
        target = single.min()
    else:
        others = codes[sizes > 1]
        target = others[np.argmin(sizes[sizes > 1])]
    out: Ints = np.where(np.isin(strata, single), target, strata)
    return out


def check_draws(draws: int) -> None:
    """Raise ``FB650`` unless at least one draw is asked for."""
    if draws < 1:
        raise UsageError("FB650", f"{counted(draws, 'draw')}; at least 1 is needed")


def _mask(strata: Ints, present: Bools | None) -> Bools:
    if strata.ndim != 1:
        raise DataError("FB651", f"strata have {strata.ndim} dimensions; one code per cluster")
    if present is None:
        return np.ones(len(strata), dtype=np.bool_)
    if present.shape != strata.shape or present.dtype != np.bool_:
        raise DataError(
            "FB651",
            f"the mask of present clusters is {present.dtype} {present.shape}, "
            f"the strata are {strata.shape}",
        )
    return present


def _groups(strata: Ints, mask: Bools) -> dict[int, Ints]:
    """Return the present clusters of each stratum, strata in ascending order of code."""
    codes = np.unique(strata[mask])
    return {int(code): np.flatnonzero(mask & (strata == code)) for code in codes}


def _sources(groups: Mapping[int, Ints], seed: int, stream: str) -> dict[int, np.random.Generator]:
    return {code: generator(seed, stream, "stratum", str(code)) for code in groups}


def _portions(total: int, clusters: int, memory: int) -> Iterator[int]:
    # Weights, raw words, flat indices and counts live at once: four words per cluster and draw.
    most = max(1, memory // (32 * max(1, clusters)))
    for start in range(0, total, most):
        yield min(most, total - start)


def _evaluate(name: str, evaluate: Evaluator, weights: Floats) -> Floats:
    return _checked(name, evaluate(weights), len(weights))


def _checked(name: str, values: Floats, draws: int) -> Floats:
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (draws,):
        raise DataError(
            "FB652",
            f"the evaluator '{name}' returned shape {values.shape} for {counted(draws, 'draw')}",
        )
    return np.where(np.isfinite(values), values, np.nan)


def _frozen(weights: Floats) -> Floats:
    weights.flags.writeable = False
    return weights
