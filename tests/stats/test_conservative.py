"""Limits that a gate judges by: wider for few clusters, and for losses that no cluster shows."""

import math

import numpy as np
import pytest
from scipy import stats

from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.metrics.fscore import balanced_accuracy, macro_f1
from floorbench.metrics.scored import OK, Scored
from floorbench.stats.bootstrap import Draws
from floorbench.stats.conservative import conservative, spread_unseen, widened
from floorbench.stats.intervals import Limits, interval
from floorbench.stats.paired import compare

LABELS = ("no", "yes")
SPREAD = np.linspace(-0.2, 0.2, 2000)


def drawn(*, clusters: int = 40, effective: float | None = None, jackknife: bool = True) -> Draws:
    return Draws(
        point=0.0,
        values=SPREAD,
        clusters=clusters,
        strata=1,
        singletons=0,
        effective=effective,
        jackknife=np.linspace(0, 1, clusters) ** 2 if jackknife else None,
        jackknife_strata=np.zeros(clusters, np.int64) if jackknife else None,
    )


def upper(n: int) -> float:
    return float(1 - 0.025 ** (1 / n))


def units(clusters: int = 60, *, yes: int = 30, wrong: tuple[int, ...] = ()) -> Scored:
    """One unit a cluster, "yes" in the first ones; wrong in some."""
    gold = (np.arange(clusters) < yes).astype(np.int64)
    said = gold.copy()
    said[list(wrong)] = 1 - said[list(wrong)]
    return Scored(
        cluster=np.arange(clusters),
        clusters=tuple(map(str, range(clusters))),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(clusters),
        columns={"gold": gold, "predicted": said, "outcome": np.full(clusters, OK)},
        vocab={"gold": LABELS, "predicted": LABELS},
    )


def test_the_level_reaches_as_far_as_student_for_so_few() -> None:
    for n, times in ((10, 1.217), (20, 1.096), (29, 1.063)):
        z = stats.norm.ppf((1 + widened(0.95, drawn(clusters=n))) / 2)
        assert z == pytest.approx(stats.t.ppf(0.975, n - 1) * np.sqrt(n / (n - 1)), rel=1e-9)
        assert z / stats.norm.ppf(0.975) == pytest.approx(times, abs=1e-3)
    assert widened(0.95, drawn(clusters=30)) == 0.95
    assert widened(0.95, drawn(clusters=400, effective=12.5)) == pytest.approx(
        2 * stats.norm.cdf(stats.t.ppf(0.975, 11.5) * np.sqrt(12.5 / 11.5)) - 1, rel=1e-9
    )
    # One cluster that outweighs all: no further than the outermost draws.
    assert widened(0.95, drawn(effective=1.01)) == 1 - 1 / 2000


@pytest.mark.parametrize(
    ("given", "wider"),
    [
        ({"clusters": 12}, True),
        ({"effective": 12.0}, True),
        ({}, False),
        ({"clusters": 12, "jackknife": False}, False),
    ],
)
def test_few_clusters_move_the_limits_beside_and_not_the_interval(given, wider) -> None:
    both = units(wrong=(1,)), units(wrong=(2,))
    made = interval(drawn(**given))
    found = conservative(accuracy(), *both, drawn(**given), made)
    assert (found.low, found.high, found.warning) == (made.low, made.high, made.warning)
    assert ("conservative" in found.beside) is wider
    if wider:
        low, high = found.beside["conservative"]
        assert low < made.low < made.high < high


def test_losses_that_no_cluster_shows_are_allowed_for() -> None:
    a, b = units(), units(wrong=(0, 1, 2))
    made = spread_unseen(Limits(0.01, 0.1), accuracy(), a, b, difference=0.05, level=0.95)
    assert made == (pytest.approx(0.05 - math.hypot(0.04, upper(60))), 0.1)
    turned = spread_unseen(Limits(-0.1, -0.01), accuracy(), b, a, difference=-0.05, level=0.95)
    assert turned == (-0.1, pytest.approx(-made.low))


@pytest.mark.parametrize("metric", [macro_accuracy(labels=LABELS), balanced_accuracy(label="yes")])
def test_a_mean_over_labels_allows_for_its_rarest(metric) -> None:
    a, b = units(yes=15), units(yes=15, wrong=(0, 1, 2))
    made = spread_unseen(Limits(0.0, 0.1), metric, a, b, difference=0.1, level=0.95)
    assert made.low == pytest.approx(0.1 - math.hypot(0.1, upper(15)))


def test_seen_losses_and_other_metrics_leave_the_limits_alone() -> None:
    limits = Limits(-0.01, 0.1)
    for metric, a, b in (
        (accuracy(), units(wrong=(58, 59)), units(wrong=(0, 1, 2))),
        (macro_f1(labels=LABELS), units(), units(wrong=(0, 1, 2))),
        (accuracy(), units(), units()),
    ):
        assert spread_unseen(limits, metric, a, b, difference=0.02, level=0.95) == limits


def test_comparisons_that_lean_to_one_side_keep_their_interval() -> None:
    a, b = units(), units(wrong=(0, 1))
    made = compare({"x": accuracy()}, a, b, draws=300, permutations=9, seed=1)["x"].interval
    assert made.low is not None
    assert made.low >= 0
    assert made.warning is None
    low, high = made.beside["conservative"]
    assert low == pytest.approx(2 / 60 - math.hypot(2 / 60 - made.low, upper(60)))
    assert high == made.high


def test_an_exact_interval_has_nothing_beside() -> None:
    made = compare({"x": accuracy()}, units(), units(), draws=50, permutations=9, seed=1)["x"]
    assert made.interval.method == "clopper-pearson"
    assert "conservative" not in made.interval.beside
