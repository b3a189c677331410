from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import stats
from scipy.stats import norm

from floorbench.errors import DataError, UsageError
from floorbench.metrics.classification import accuracy
from floorbench.metrics.fscore import precision
from floorbench.stats.bootstrap import Draws, bootstrap
from floorbench.stats.paired import align, compare, effect_size, unlike, wording
from floorbench.stats.permutation import SwapTest, permutation_test
from floorbench.stats.power import minimal_detectable_difference
from floorbench.stats.quick import units
from oracles import stats_resampling as oracle
from oracles.stats_toys import METRICS, make, plain, units_of


def pair(clusters=40, skills=(0.7, 0.3)):
    return tuple(
        make(10 + i, clusters=clusters, skill=skill, gold_seed=3) for i, skill in enumerate(skills)
    )


def test_every_metric_on_the_same_draws_against_loops():
    a, b = pair()
    found = compare(METRICS, a, b, draws=200, permutations=50, seed=5)
    clusters = oracle.drawn_clusters(a.strata, np.ones(40, bool), 200, 5, "paired")
    for name in METRICS:
        left, right = (
            oracle.replicates(partial(plain, name), units_of(x), clusters) for x in (a, b)
        )
        low, high = np.quantile(left - right, [0.025, 0.975])
        assert found[name].interval.beside["percentile"] == pytest.approx((low, high), abs=1e-12)
        assert found[name].interval.method == "bca"
        assert found[name].difference == pytest.approx(found[name].a - found[name].b, abs=1e-12)
        assert found[name].detectable == pytest.approx(
            (norm.ppf(0.975) + norm.ppf(0.8)) * np.std(left - right, ddof=1), abs=1e-9
        )
        assert found[name].test.method == "monte-carlo"
        assert found[name].clusters == 40


def test_clear_and_absent_differences():
    a, b = pair(skills=(0.9, 0.0))
    clear = compare(METRICS, a, b, draws=300, permutations=999, seed=1)
    for one in clear.values():
        assert one.interval.low > 0
        assert one.test.p == 1 / 1000
        assert wording(one, one.test.p) == "A above B (p = 0.001)"
    for one in compare(METRICS, b, a, draws=300, permutations=999, seed=1).values():
        assert wording(one, 0.0005) == "A below B (p < .001)"
    same = compare(METRICS, a, a, draws=100, permutations=99, seed=1)["f1"]
    assert (same.difference, same.test.p, same.detectable) == (0, 1, None)
    assert same.interval.reason == "no draw varies"
    assert same.effect.reason == "the difference does not vary"
    assert wording(same, 1.0) == "no difference shown (p = 1.000)"


def test_no_difference_shown_names_what_could_have_been_seen():
    a, b = pair(skills=(0.31, 0.3))
    one = compare({"f1": METRICS["f1"]}, a, b, draws=100, permutations=99, seed=1)["f1"]
    assert wording(one, 0.4) == (
        f"no difference shown (p = 0.400; detectable from {one.detectable:.3g})"
    )


def test_effect_size_of_a_rate_is_standardised_over_clusters():
    a, b = pair()
    found = compare(METRICS, a, b, rates=["accuracy"], draws=300, permutations=9, seed=1)
    gaps = np.array(
        [
            plain("accuracy", u) - plain("accuracy", v)
            for u, v in zip(units_of(a), units_of(b), strict=True)
        ]
    )
    assert found["accuracy"].effect.name == "d_z"
    assert found["accuracy"].effect.value == pytest.approx(
        gaps.mean() / gaps.std(ddof=1), abs=1e-12
    )
    assert found["auc"].effect.name == "difference / standard error"
    spread = found["auc"].detectable / (norm.ppf(0.975) + norm.ppf(0.8))
    assert found["auc"].effect.value == pytest.approx(found["auc"].difference / spread, abs=1e-9)


def test_effect_size_undefined():
    drawn = bootstrap({"x": lambda w: w[:, 0]}, np.zeros(12, np.int64), draws=50, seed=0)["x"]
    assert effect_size(drawn, np.array([0.5, np.nan])).reason == "too few values for a spread"
    assert effect_size(drawn, np.array([0.5, 0.5])).reason == "the difference does not vary"
    gone = replace(drawn, point=np.nan)
    assert effect_size(gone).reason == "the difference is undefined"


def test_undefined_for_one_system():
    a, b = pair()
    silent = replace(b, columns={"gold": 0 * b.columns["gold"], "score": 0 * b.columns["score"]})
    found = compare({"f1": METRICS["f1"]}, a, silent, draws=50, permutations=9, seed=1)["f1"]
    assert (found.b, found.difference) == (None, None)
    assert found.reason == "B: neither gold nor predicted positives"
    assert found.interval.reason == "the value itself is undefined"
    assert found.test.p is None
    assert wording(found, None) == f"not tested: {found.reason}"


def test_few_clusters():
    a, b = pair(clusters=5)
    found = compare({"f1": METRICS["f1"]}, a, b, draws=50, seed=1)["f1"]
    assert found.interval.reason == "5 clusters; an interval needs 10"
    assert wording(found, None) == "not tested: 5 clusters; a test needs 6"


def shuffled(scored):
    order = np.random.default_rng(0).permutation(len(scored.clusters))
    place = np.argsort(order)
    return replace(
        scored,
        cluster=place[scored.cluster],
        clusters=tuple(scored.clusters[i] for i in order),
        strata=scored.strata[order],
    )


def test_a_difference_of_ratios_counts_the_clusters_that_enter_one_of_them():
    def says(first, last):
        said = ["yield" if first <= d < last else "keep" for d in range(40)]
        gold = ["yield", "keep"] * 20
        return units(labels=("keep", "yield"), gold=gold, predicted=said)

    metrics = {"precision": precision(label="yield")}
    few = compare(metrics, says(0, 6), says(3, 9), draws=100, seed=1)["precision"]
    assert few.interval.reason == "9 clusters enter the value; an interval needs 10"
    assert few.clusters == 40
    more = compare(metrics, says(0, 20), says(10, 36), draws=100, seed=1)["precision"]
    assert (more.interval.clusters, more.interval.method) == (36, "bca")


def test_clusters_in_another_order_are_aligned():
    a, b = pair()
    back = align(b, shuffled(b))
    assert back.clusters == b.clusters
    assert np.array_equal(back.cluster, b.cluster)
    assert np.array_equal(back.strata, b.strata)
    usual = compare(METRICS, a, b, draws=50, permutations=20, seed=1)
    assert compare(METRICS, a, shuffled(b), draws=50, permutations=20, seed=1) == usual


def test_systems_on_different_clusters_are_refused():
    a, b = pair()
    with pytest.raises(DataError, match=r"FB651 1 cluster .* one system only.*'c7' \(A\)"):
        compare(METRICS, a, b.where(b.cluster != 7), seed=1)
    moved = replace(b, strata=np.r_[b.strata[:-2], 9, 9])
    with pytest.raises(DataError, match=r"FB651 cluster 'c3[89]' stands in two strata"):
        compare(METRICS, a, moved, seed=1)


@pytest.mark.parametrize("how", [{"level": 1}, {"draws": 0}, {"permutations": 0}, {"seed": -1}])
def test_numbers_out_of_range(how):
    a, b = pair()
    with pytest.raises(UsageError, match="FB650"):
        compare(METRICS, a, b, **({"seed": 1} | how))


def test_detectable_difference():
    n = 400
    values = np.random.default_rng(0).normal(size=n)
    drawn = bootstrap({"m": lambda w: w @ values / n}, np.zeros(n, np.int64), seed=1)["m"]
    found = minimal_detectable_difference(drawn)
    assert found == pytest.approx(2.8016 * values.std() / np.sqrt(n), rel=0.06)
    assert minimal_detectable_difference(drawn, power=0.9) > found
    assert minimal_detectable_difference(drawn, alpha=0.01) > found
    for bad in ({"alpha": 0}, {"alpha": 1}, {"power": 1.2}, {"power": float("nan")}):
        with pytest.raises(UsageError, match="FB650"):
            minimal_detectable_difference(drawn, **bad)


def test_power_is_what_it_says():
    # At a true difference of the detectable size the test finds about 80 % of the worlds.
    n, hits = 40, 0
    for seed in range(150):
        noise = np.random.default_rng(seed).normal(size=n)
        gaps = noise + 2.8016 / np.sqrt(n)
        statistic = oracle.swap_sums(lambda t: t[..., 0] / n, gaps[:, None], np.zeros((n, 1)))
        hits += permutation_test({"x": statistic}, n, permutations=199, seed=seed)["x"].p <= 0.05
    assert 0.68 <= hits / 150 <= 0.9


def test_swaps_that_see_more_than_the_standard_error_are_told():
    swap = SwapTest(
        p=0.004, difference=0.2, method="monte-carlo", permutations=999, undefined=0, clusters=40,
        reason=None,
    )  # fmt: skip
    values = np.linspace(0.0, 0.4, 501)
    drawn = Draws(point=0.2, values=values, clusters=40, strata=1, singletons=0, effective=20.0)
    p = 2 * stats.t.sf(0.2 / values.std(ddof=1), 19)
    assert unlike(swap, drawn) == (
        f"swaps see a difference (p = 0.004) that its standard error does not (p = {p:.3f}): "
        "the systems may scatter differently"
    )
    for quiet in (
        unlike(replace(swap, p=0.06), drawn),
        unlike(replace(swap, p=None, reason="few"), drawn),
        unlike(swap, replace(drawn, values=np.full(50, 0.2))),
        unlike(swap, replace(drawn, values=0.2 + (values - 0.2) / 2)),
    ):
        assert quiet is None


def test_equal_medians_of_unlike_spread_are_told_apart_with_a_note():
    """Swaps make p < .05 in two worlds of three; hardly one of these has no note."""
    from benchmarks.simulated.levels import levels

    found = levels("other spread", 24, worlds=120, draws=200, permutations=199)
    cell = found["latency_percentile"]
    assert cell.rejected > 60
    assert cell.unnoted <= 120 * 0.05 + 4 * np.sqrt(120 * 0.05 * 0.95)


def test_the_order_of_units_changes_nothing():
    from benchmarks.simulated.worlds import FAMILIES, SHAPES

    make_units, metrics = FAMILIES["labels"]
    a, b = (make_units(np.random.default_rng(5), 25, SHAPES["unequal"], s) for s in (0.0, 0.4))
    order = np.random.default_rng(1).permutation(len(a))
    shuffled = [
        replace(
            x, cluster=x.cluster[order], weight=x.weight[order],
            columns={name: column[order] for name, column in x.columns.items()},
        )
        for x in (a, b)
    ]  # fmt: skip
    one = compare(metrics, a, b, draws=100, permutations=99, seed=3)
    two = compare(metrics, *shuffled, draws=100, permutations=99, seed=3)
    for name in metrics:
        assert two[name].test.p == pytest.approx(one[name].test.p, abs=1e-9)
        assert two[name].interval.low == pytest.approx(one[name].interval.low, abs=1e-9)
        assert two[name].interval.high == pytest.approx(one[name].interval.high, abs=1e-9)


def test_what_speaks_against_a_small_p_is_told():
    a, b = (
        units(labels=("no", "yes"), gold=["yes"] * 60, predicted=said, clusters=list(range(60)))
        for said in (["yes"] * 60, ["no"] * 7 + ["yes"] * 53)
    )
    one = compare({"x": accuracy()}, a, b, draws=300, permutations=999, seed=1)["x"]
    assert one.interval.low > 0
    assert wording(one, 0.01) == "A above B (p = 0.010)"
    wider = replace(one, interval=replace(one.interval, low=-0.01))
    assert wording(wider, 0.01) == "A above B (p = 0.010, though the interval reaches 0)"
    noted = replace(one, note="swaps see ...")
    assert (
        wording(noted, 0.01) == "A above B (p = 0.010, though the systems may scatter differently)"
    )
    assert wording(replace(noted, interval=wider.interval), 0.01) == (
        "A above B (p = 0.010, though the interval reaches 0 and the systems may scatter "
        "differently)"
    )
    assert wording(noted, 0.2).startswith("no difference shown")
