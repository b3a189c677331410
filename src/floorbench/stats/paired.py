"""Two systems on the same samples: difference, interval, test, effect size, wording."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from floorbench.core.score import Interval
from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.metrics.base import (
    AdditiveMetric,
    Evaluator,
    Floats,
    Metric,
    Scored,
    point,
)
from floorbench.metrics.bundle import evaluators
from floorbench.metrics.jackknife import LeftOut, leave_one_out
from floorbench.stats.bootstrap import DRAWS, Draws, bootstrap, compact
from floorbench.stats.conservative import conservative
from floorbench.stats.intervals import behind, counting_of, interval, share_bounds
from floorbench.stats.permutation import (
    PERMUTATIONS,
    Pair,
    SwapTest,
    permutation_test,
    swap_metrics,
)
from floorbench.stats.power import minimal_detectable_difference
from floorbench.stats.rates import check_level, student_p
from floorbench.stats.unvaried import unvaried

ALPHA = 0.05
"""Up to this p a difference is said to be shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectSize:
    """How large a difference is beside its spread.

    ``name`` is ``d_z``, the mean of the per-cluster differences over their standard deviation
    (free of the number of clusters), or ``difference / standard error`` (grows with it).
    ``value`` is ``None`` exactly when ``reason`` says why.
    """

    name: str
    value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """System A against system B on one metric; every difference is A - B.

    Parameters
    ----------
    a, b, difference : float or None
        Values and their difference; ``reason`` says why one is undefined.
    interval : Interval
        Paired cluster bootstrap of the difference. Where the two differ on no cluster, the exact
        limits of :func:`floorbench.stats.unvaried.unvaried` to both sides; where a share differs
        by 1 on every cluster, those of n of n (Clopper-Pearson). Wider limits, where caution asks
        for them, stand ``beside`` as ``conservative``
        (:func:`floorbench.stats.conservative.conservative`).
    test : SwapTest
        Its p is not corrected; pass all p of a report through
        :func:`floorbench.stats.multiple.holm`.
    effect : EffectSize
    detectable : float or None
        Smallest difference found with power .8 at alpha .05 on these clusters.
    clusters : int
    reason : str or None
    note : str or None
        That swaps see a difference which its standard error does not (:func:`unlike`).
    """

    a: float | None
    b: float | None
    difference: float | None
    interval: Interval
    test: SwapTest
    effect: EffectSize
    detectable: float | None
    clusters: int
    reason: str | None
    note: str | None = None


def compare(
    metrics: Mapping[str, Metric],
    a: Scored,
    b: Scored,
    *,
    rates: Collection[str] = (),
    level: float = 0.95,
    draws: int = DRAWS,
    permutations: int = PERMUTATIONS,
    seed: int,
    stream: str = "paired",
) -> dict[str, Comparison]:
    """Compare two systems on every metric of a slice, with the same draws and swaps.

    Parameters
    ----------
    metrics : mapping of str to Metric
    a, b : Scored
        The same slice of both systems: same clusters, same strata, same clusters touched. The
        order of the clusters may differ.
    rates : collection of str
        Additive metrics whose value on a single cluster means something (accuracies, PASR);
        their effect size is ``d_z``.
    level, draws, permutations, seed, stream
        As in :func:`floorbench.stats.bootstrap.bootstrap` and
        :func:`floorbench.stats.permutation.permutation_test`. Two random streams are used,
        ``stream`` for the draws and ``stream + "/swap"``.

    Raises
    ------
    DataError
        ``FB651`` when the two do not have the same clusters.
    UsageError
        ``FB650`` for numbers out of range.
    """
    return compare_cells(
        {name: (metric, a, b) for name, metric in metrics.items()},
        rates=rates,
        level=level,
        draws=draws,
        permutations=permutations,
        seed=seed,
        stream=stream,
    )


def compare_cells(
    cells: Mapping[str, Pair],
    *,
    rates: Collection[str] = (),
    level: float = 0.95,
    draws: int = DRAWS,
    permutations: int = PERMUTATIONS,
    seed: int,
    stream: str = "paired",
) -> dict[str, Comparison]:
    """Compare two systems on many cells; those with the same clusters share draws and swaps.

    Parameters
    ----------
    cells : mapping of str to (metric, units of A, units of B)
        As in :func:`compare`, each with a slice of its own. A cell has the same result whatever
        the other cells are.
    rates, level, draws, permutations, seed, stream
        As in :func:`compare`; ``rates`` are names of cells.

    Raises
    ------
    DataError, UsageError
        As in :func:`compare`.
    """
    check_level(level)
    groups: dict[tuple[tuple[str, ...], bytes], dict[str, Pair]] = {}
    for name, (metric, a, b) in cells.items():
        a, b = matched(a, b)
        groups.setdefault((a.clusters, a.strata.tobytes()), {})[name] = (metric, a, b)
    out: dict[str, Comparison] = {}
    for (clusters, _), group in groups.items():
        left = evaluators((name, metric, a) for name, (metric, a, _) in group.items())
        right = evaluators((name, metric, b) for name, (metric, _, b) in group.items())
        drawn = bootstrap(
            {name: Difference(left[name], right[name]) for name in group},
            next(iter(group.values()))[1].strata,
            draws=draws,
            seed=seed,
            stream=stream,
        )
        tests = permutation_test(
            swap_metrics(group),
            len(clusters),
            permutations=permutations,
            seed=seed,
            stream=f"{stream}/swap",
        )
        for name, cell in group.items():
            out[name] = _comparison(*cell, drawn[name], tests[name], level, name in rates)
    return {name: out[name] for name in cells}


def matched(a: Scored, b: Scored) -> tuple[Scored, Scored]:
    """Return both sides on their own clusters only, in A's order.

    Raises
    ------
    DataError
        ``FB651`` as in :func:`align`.
    """
    a, b = compact(a), compact(b)
    return a, align(a, b)


class Difference:
    """A - B as one evaluator, so that both systems see the same draw.

    Parameters
    ----------
    a, b : Evaluator
    """

    def __init__(self, a: Evaluator, b: Evaluator) -> None:
        self._a, self._b = a, b

    def __call__(self, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to differences ``(draws,)``."""
        return self._a(weights) - self._b(weights)

    def leave_one_out(self, left: LeftOut) -> Floats:
        """Return the difference without each cluster in turn."""
        return leave_one_out(self._a, left) - leave_one_out(self._b, left)


def align(a: Scored, b: Scored) -> Scored:
    """Return B with its clusters in A's order.

    Raises
    ------
    DataError
        ``FB651`` naming a cluster that only one of them has or that changes stratum.
    """
    only = sorted(set(a.clusters) ^ set(b.clusters))
    if only:
        raise DataError(
            "FB651",
            f"{counted(len(only), 'cluster belongs', 'clusters belong')} "
            f"to one system only, for example '{only[0]}' "
            f"({'A' if only[0] in a.clusters else 'B'})",
        )
    place = {name: i for i, name in enumerate(a.clusters)}
    codes = np.array([place[name] for name in b.clusters], dtype=np.int64)
    strata = np.empty_like(b.strata)
    strata[codes] = b.strata
    if (a.strata != strata).any():
        name = a.clusters[int((a.strata != strata).argmax())]
        raise DataError("FB651", f"cluster '{name}' stands in two strata")
    return replace(b, cluster=codes[b.cluster], clusters=a.clusters, strata=strata)


def effect_size(drawn: Draws, per_cluster: Floats | None = None) -> EffectSize:
    """Return the effect size of a paired difference.

    Parameters
    ----------
    drawn : Draws
        Bootstrap of the difference.
    per_cluster : float64 array (clusters,) or None
        The metric's difference A - B on each cluster alone, NaN where one is undefined; only for
        rates. Then the result is d_z = mean / standard deviation (n - 1), each cluster counted
        once. Without it the result is difference / bootstrap standard error.

    Undefined
    ---------
    The spread is 0, or fewer than two clusters have a difference.
    """
    if per_cluster is None:
        name = "difference / standard error"
        if np.isnan(drawn.point):
            return EffectSize(name=name, value=None, reason="the difference is undefined")
        mean, spread = drawn.point, drawn.standard_error
    else:
        name = "d_z"
        defined = per_cluster[~np.isnan(per_cluster)]
        mean = float(defined.mean()) if len(defined) else 0.0
        spread = float(defined.std(ddof=1)) if len(defined) > 1 else None
    if spread is None:
        return EffectSize(name=name, value=None, reason="too few values for a spread")
    if spread <= drawn.noise:
        return EffectSize(name=name, value=None, reason="the difference does not vary")
    return EffectSize(name=name, value=mean / spread, reason=None)


def unlike(test: SwapTest, drawn: Draws, *, alpha: float = ALPHA) -> str | None:
    """Say that swaps see a difference which its standard error does not.

    Swaps ask whether the systems are drawn alike. Systems may be equally good by a metric and
    unlike otherwise: one answers seldom, or its latencies scatter. Swapping then mixes the two, and
    the differences of the mixtures can vary far less than the difference itself. The bootstrap
    redraws each system as it is, so its standard error holds whether they are alike or not.

    Parameters
    ----------
    test : SwapTest
    drawn : Draws
        Of the difference, with the clusters behind it.
    alpha : float
        Inside (0, 1).

    Returns
    -------
    str or None
        A sentence with both p where that of the swaps, not corrected, is at most ``alpha`` and that
        of the difference over its standard error is above it: Student's t with one degree of
        freedom less than there are clusters of equal weight behind the difference. ``None``
        otherwise, and without a test or a spread.

    Source
    ------
    E. Chung and J. P. Romano (2013), Annals of Statistics 41: 484-507: a permutation test is not
    one of equal parameters unless the statistic is studentised.
    """
    error = drawn.standard_error
    if test.p is None or error is None or error <= drawn.noise or np.isnan(drawn.point):
        return None
    p = student_p(drawn.point / error, max(behind(drawn) - 1, 1.0))
    if test.p > alpha or p <= alpha:
        return None
    return (
        f"swaps see a difference ({_p(test.p)}) that its standard error does not ({_p(p)}): "
        "the systems may scatter differently"
    )


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.001 else "p < .001"


def wording(found: Comparison, adjusted: float | None, *, alpha: float = ALPHA) -> str:
    """Say in words what a comparison shows, after correction over all tests of the report.

    Parameters
    ----------
    found : Comparison
    adjusted : float or None
        Holm-adjusted p of this comparison.
    alpha : float
        Inside (0, 1).

    Returns
    -------
    str
        ``A above B``, ``A below B``, or ``no difference shown``, with p; or ``not tested`` with
        the reason. "No difference shown" never says that there is none, and names the smallest
        difference that the data could have shown. A small p beside an interval that reaches 0, or
        beside a standard error that shows no difference, is told.
    """
    check_level(alpha)
    if adjusted is None or found.difference is None:
        return f"not tested: {found.reason or found.test.reason or 'no corrected p'}"
    p = _p(adjusted)
    if adjusted <= alpha and found.difference != 0:
        made, doubts = found.interval, []
        if made.low is not None and made.high is not None and made.low <= 0 <= made.high:
            doubts.append("the interval reaches 0")
        if found.note is not None:
            doubts.append("the systems may scatter differently")
        p += f", though {' and '.join(doubts)}" if doubts else ""
        return f"A {'above' if found.difference > 0 else 'below'} B ({p})"
    if found.detectable is None:
        return f"no difference shown ({p})"
    return f"no difference shown ({p}; detectable from {found.detectable:.3g})"


def _interval(metric: Metric, a: Scored, b: Scored, drawn: Draws, level: float) -> Interval:
    """Return the interval of a difference, an exact one where no draw varies."""
    bounds = share_bounds(metric)  # a difference of shares lies between -1 and 1
    made = interval(drawn, level=level, proportion=None if bounds is None else (-1.0, 1.0))
    if made.low is not None or drawn.point != 0:
        return conservative(metric, a, b, drawn, made)
    exact = unvaried(metric, a, b, level=level)
    if exact is None:
        return made
    return replace(
        made,
        low=-exact.limit,
        high=exact.limit,
        method="clopper-pearson",
        clusters=exact.clusters,
        reason=None,
    )


def _comparison(
    metric: Metric, a: Scored, b: Scored, drawn: Draws, test: SwapTest, level: float, rate: bool
) -> Comparison:
    left, right = point(metric, a), point(metric, b)
    clusters, drawn = drawn.clusters, counting_of(drawn, metric, a, b)
    per_cluster = None
    if rate and isinstance(metric, AdditiveMetric):
        sums = [metric.rows(side).by_cluster() for side in (a, b)]
        per_cluster = metric.value(sums[0]) - metric.value(sums[1])
    reasons = [f"{side}: {p.reason}" for side, p in (("A", left), ("B", right)) if p.reason]
    undefined = left.value is None or right.value is None
    return Comparison(
        a=left.value,
        b=right.value,
        difference=None if undefined else drawn.point,
        interval=_interval(metric, a, b, drawn, level),
        test=test,
        effect=effect_size(drawn, per_cluster),
        detectable=minimal_detectable_difference(drawn),
        clusters=clusters,
        reason="; ".join(reasons) or None,
        note=unlike(test, drawn),
    )
