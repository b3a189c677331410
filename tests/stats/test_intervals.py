from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from floorbench.errors import UsageError
from floorbench.metrics.base import ABSENT, ABSTAINED, FAILED, INVALID, TIMEOUT, evaluator
from floorbench.metrics.classification import class_accuracy, macro_accuracy
from floorbench.metrics.fscore import f_score, precision
from floorbench.metrics.kinds import Additive
from floorbench.metrics.ranking import auc
from floorbench.metrics.trp import slot_precision
from floorbench.stats.bootstrap import Draws, bootstrap
from floorbench.stats.intervals import (
    bca,
    counting,
    entering,
    interval,
    intervals,
    own_clusters,
    percentile,
    share_bounds,
)
from floorbench.stats.quick import estimate, units
from oracles.metrics_cases import CASES
from oracles.metrics_instances import INSTANCES
from oracles.stats_toys import METRICS, make


def drawn(point, values, *, clusters=40, jackknife=None, **more):
    jackknife = np.linspace(0, 1, clusters) ** 2 if jackknife is None else np.asarray(jackknife)
    return Draws(
        point=point,
        values=np.asarray(values, dtype=float),
        clusters=clusters,
        strata=more.pop("strata", 1),
        singletons=more.pop("singletons", 0),
        jackknife=jackknife,
        jackknife_strata=np.zeros(len(jackknife), np.int64),
        **more,
    )


SPREAD = np.linspace(0.2, 0.6, 2000)


# ---- against scipy on the same resamples ---------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("method", ["BCa", "percentile"])
def test_mean_of_one_stratum_against_scipy(level, method):
    values = np.random.default_rng(0).gamma(0.7, size=35)
    strata = np.zeros(35, np.int64)
    ours = bootstrap({"mean": lambda w: w @ values / 35}, strata, draws=2000, seed=3)["mean"]
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=0, method=method, confidence_level=level,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=ours.values),
    ).confidence_interval  # fmt: skip
    limits = bca(ours, level=level).limits if method == "BCa" else percentile(ours, level=level)
    assert limits == pytest.approx(tuple(theirs), abs=1e-12)


def test_two_strata_against_scipy():
    rng = np.random.default_rng(1)
    first, second = rng.gamma(0.5, size=12), rng.gamma(0.9, size=30) * 2
    strata = np.repeat([0, 1], [12, 30])
    values = np.concatenate([first, second])
    ours = bootstrap({"mean": lambda w: w @ values / 42}, strata, draws=2000, seed=3)["mean"]
    theirs = stats.bootstrap(
        (first, second),
        lambda x, y, axis=-1: 12 / 42 * x.mean(axis=axis) + 30 / 42 * y.mean(axis=axis),
        n_resamples=0, method="BCa",
        bootstrap_result=SimpleNamespace(bootstrap_distribution=ours.values),
    ).confidence_interval  # fmt: skip
    assert bca(ours).limits == pytest.approx(tuple(theirs), abs=1e-12)


def test_acceleration_by_hand():
    # One stratum, leave-one-out values 0, 0, 3: u = 2/3 (1, 1, -2), sum u^3 = -6 (2/3)^3,
    # sum u^2 = 6 (2/3)^2, a = -6 / (6 * 6 ** 1.5) = -6 ** -1.5. Half of the draws lie below.
    found = drawn(0.4, SPREAD, clusters=3, jackknife=[0.0, 0.0, 3.0])
    a = -(6**-1.5)
    z = stats.norm.ppf([0.025, 0.975])
    expected = np.quantile(SPREAD, stats.norm.cdf(z / (1 - a * z)))
    assert bca(found).limits == pytest.approx(tuple(expected), abs=1e-12)


def test_draws_equal_to_the_value_count_half():
    values = np.array([1.0, 1, 1, 2, 2, 2, 2, 3, 3, 3])
    symmetric = [-1.0, 0.0, 1.0]  # no acceleration
    found = bca(drawn(2.0, values, jackknife=symmetric))
    assert found.limits == pytest.approx(tuple(percentile(drawn(2.0, values))), abs=1e-9)


# ---- the rules -----------------------------------------------------------------------------


def test_headline_is_bca_with_the_percentile_interval_beside():
    found = interval(drawn(0.38, SPREAD))
    assert found.method == "bca"
    assert (found.clusters, found.draws, found.undefined_draws, found.level) == (40, 2000, 0, 0.95)
    assert found.reason is None
    assert found.warning is None
    low, high = found.beside["percentile"]
    assert (low, high) == pytest.approx(tuple(np.quantile(SPREAD, [0.025, 0.975])), abs=1e-12)
    assert found.low != low


@pytest.mark.parametrize(
    ("point", "jackknife", "why"),
    [
        (0.1, None, "all draws lie on one side"),
        (0.9, None, "all draws lie on one side"),
        (0.4, np.ones(40), "the leave-one-out values are undefined or all equal"),
        (0.4, np.r_[np.nan, np.arange(39)], "the leave-one-out values are undefined or all equal"),
        (0.4, np.empty(0), "the leave-one-out values are undefined or all equal"),
        (0.5999, np.r_[-1.0, np.zeros(39)], "the acceleration is too large"),
    ],
)
def test_bca_undefined_gives_the_percentile_interval_and_says_so(point, jackknife, why):
    found = interval(drawn(point, SPREAD, jackknife=jackknife), level=0.9999)
    assert found.method == "percentile"
    assert f"BCa undefined: {why}" in found.warning
    assert found.low == pytest.approx(np.quantile(SPREAD, 0.00005), abs=1e-12)
    assert found.beside == {}


@pytest.mark.parametrize("clusters", [0, 1, 5, 9])
def test_fewer_than_ten_clusters_give_no_interval(clusters):
    found = interval(drawn(0.4, SPREAD, clusters=clusters), proportion=(0, 1))
    assert (found.low, found.high, found.method) == (None, None, "none")
    said = "1 cluster" if clusters == 1 else f"{clusters} clusters"
    assert found.reason == f"{said}; an interval needs 10"


def test_few_clusters_give_a_warning():
    for clusters, warned in ((10, True), (29, True), (30, False)):
        found = interval(drawn(0.4, SPREAD, clusters=clusters))
        assert found.low is not None
        assert (found.warning is not None) == warned


def test_undefined_draws_are_counted_and_more_than_one_percent_is_too_many():
    some = SPREAD.copy()
    some[:20] = np.nan
    found = interval(drawn(0.4, some))
    assert found.undefined_draws == 20
    assert found.low is not None
    some[20] = np.nan
    found = interval(drawn(0.4, some))
    assert (found.low, found.undefined_draws) == (None, 21)
    assert found.reason == "undefined in 21 of 2000 draws (more than 1 %)"


def test_an_undefined_value_has_no_interval():
    found = interval(drawn(np.nan, np.full(100, np.nan)))
    assert (found.low, found.reason) == (None, "the value itself is undefined")


def test_no_pair_of_a_hundred_has_an_upper_limit_of_3_6_percent():
    none = interval(drawn(0.0, np.zeros(2000), clusters=100), proportion=(0, 1))
    assert none.method == "clopper-pearson"
    assert (none.low, round(none.high, 3)) == (0, 0.036)
    every = interval(drawn(1.0, np.ones(2000), clusters=100), proportion=(0, 1))
    assert every.low == pytest.approx(1 - none.high, abs=1e-12)
    assert every.high == 1
    kappa = interval(drawn(-1.0, -np.ones(2000), clusters=100), proportion=(-1, 1))
    assert (kappa.low, kappa.high) == pytest.approx((-1, 2 * none.high - 1), abs=1e-12)


def test_rounding_noise_is_not_variation():
    values = 1 - 1e-16 * np.arange(2000)
    found = interval(drawn(1.0, values, clusters=50), proportion=(0, 1))
    assert (found.method, found.high) == ("clopper-pearson", 1)


def test_constant_draws_away_from_a_bound_have_no_interval():
    assert interval(drawn(0.0, np.zeros(50))).reason == "no draw varies"
    inside = interval(drawn(0.5, np.full(50, 0.5)), proportion=(0, 1))
    assert inside.reason == "no draw varies and the value is not at a bound"


# ---- clusters that enter the value -----------------------------------------------------------


def said_in(dialogues, *, of=40, right=True):
    """Two units a dialogue; 'yield' is answered in the first ``dialogues`` of them only."""
    said = ["yield" if d < dialogues else "keep" for d in range(of)]
    return units(
        labels=("keep", "yield"),
        gold=["yield" if right else "keep", "keep"] * of,
        predicted=[label for one in said for label in (one, "keep")],
        clusters=[d for d in range(of) for _ in range(2)],
    )


@pytest.mark.parametrize("dialogues", [12, 35])
@pytest.mark.parametrize("right", [True, False])
def test_the_exact_interval_is_on_the_clusters_that_enter_the_value(dialogues, right):
    found = estimate(precision(label="yield"), said_in(dialogues, right=right)).interval
    tail = 0.025 ** (1 / dialogues)
    assert (found.method, found.clusters) == ("clopper-pearson", dialogues)
    assert (found.low, found.high) == pytest.approx((tail, 1) if right else (0, 1 - tail))
    few = "only 12 clusters enter the value; the interval is too narrow"
    assert found.warning == (few if dialogues == 12 else None)


def test_few_clusters_that_enter_the_value_have_no_interval():
    found = estimate(precision(label="yield"), said_in(6)).interval
    assert (found.low, found.high) == (None, None)
    assert found.reason == "6 clusters enter the value; an interval needs 10"
    none = estimate(precision(label="yield"), said_in(0))
    assert (none.value, none.interval.low) == (None, None)


def test_what_enters_is_a_question_of_the_metric():
    data = said_in(6)
    assert own_clusters(precision(label="yield"), data).sum() == 6
    assert own_clusters(f_score(label="yield"), data).sum() == 40  # misses enter F
    assert own_clusters(macro_accuracy(labels=("keep", "yield")), data).sum() == 40
    assert own_clusters(METRICS["f1"], data) is None  # does not say
    draws = drawn(0.4, SPREAD)
    assert counting(draws, None) is draws
    assert counting(draws, np.ones(40, dtype=bool)) is draws
    one, other = np.zeros(40, dtype=bool), np.zeros(40, dtype=bool)
    one[:3], other[2:9] = True, True
    assert counting(draws, one, other).clusters == 9
    assert counting(draws, one, None) is draws


@pytest.mark.parametrize("instance", INSTANCES, ids=str)
def test_units_that_do_not_enter_could_as_well_not_be_there(instance):
    for policy in instance.policies:
        data = CASES[instance.kind](np.random.default_rng(4))
        metric = instance.build(**policy)
        units = entering(metric, data)
        weights = np.stack([np.ones(len(data.clusters)), own_clusters(metric, data)])
        whole, part = evaluator(metric, data)(weights)
        assert part == pytest.approx(whole, nan_ok=True)
        if isinstance(metric, Additive):
            totals = np.array([(n != "unanswered") * (9.0 + j) for j, n in enumerate(metric.names)])
            more = metric.value(totals + np.eye(len(totals)))
            unread = np.array(metric.names)[more == metric.value(totals)]
            assert set(unread) == set(metric.unread)
        if policy == {"missing": "drop"} and "outcome" in data.columns:
            lacking = np.isin(data.column("outcome"), (ABSTAINED, INVALID, FAILED, TIMEOUT, ABSENT))
            assert not (units & lacking).any()


@pytest.mark.parametrize("instance", INSTANCES, ids=str)
def test_without_a_cluster_that_enters_a_value_can_be_another(instance):
    for policy in instance.policies:
        metric, moved, defined = instance.build(**policy), False, False
        for seed in range(4):
            data = CASES[instance.kind](np.random.default_rng(seed))
            own = own_clusters(metric, data)
            weights = np.vstack([np.ones(len(own)), 1 - np.eye(len(own))])
            whole, *without = evaluator(metric, data)(weights)
            same = np.isclose(without, whole, rtol=0, atol=1e-9, equal_nan=True)
            assert same[~own].all()
            moved |= not same[own].all()
            defined |= not np.isnan(whole)
        assert moved or not defined


def test_a_rank_metric_of_the_answered_counts_their_clusters():
    gold, score = ["yield", "keep"] * 40, list(np.random.default_rng(0).random(80))
    answered = [d // 2 < 9 for d in range(80)]
    data = units(
        labels=("keep", "yield"),
        gold=gold,
        scores=[s if there else None for s, there in zip(score, answered, strict=True)],
        clusters=[d // 2 for d in range(80)],
    )
    found = estimate(auc(positive="yield", missing="drop"), data).interval
    assert (found.low, found.reason) == (None, "9 clusters enter the value; an interval needs 10")


def test_without_an_interval_nothing_is_said_of_its_width():
    assert interval(drawn(0.0, np.zeros(50), clusters=20)).warning is None


def test_strata_of_one_cluster_are_counted():
    found = interval(drawn(0.4, SPREAD, strata=7, singletons=3))
    assert found.warning == "3 of 7 strata hold one cluster and add no variance"


def test_draws_without_a_jackknife_have_a_percentile_interval():
    found = interval(
        Draws(point=0.4, values=SPREAD, clusters=40, strata=1, singletons=0, unit="stimuli")
    )
    assert (found.method, found.warning) == ("percentile", None)


def test_unequal_clusters_are_told_and_move_no_limit():
    found = interval(drawn(0.4, SPREAD, effective=12.4))
    assert found.warning == "40 clusters, worth 12 of equal weight; the interval is too narrow"
    assert replace(found, warning=None, effective=None) == interval(drawn(0.4, SPREAD))
    few = interval(drawn(0.4, SPREAD, clusters=12, effective=5.0))
    assert few.warning == "only 12 clusters; the interval is too narrow"
    assert interval(drawn(0.4, SPREAD, effective=33.0)).warning is None


def test_draws_that_lie_off_the_value_are_told():
    leaning = interval(drawn(0.3, SPREAD))
    assert leaning.warning == (
        "the draws lie 0.9 standard errors above the value; "
        "the interval holds less often than it says"
    )
    assert interval(drawn(0.37, SPREAD)).warning is None


@pytest.mark.parametrize("level", [0, 1, -1, 95, float("nan")])
def test_bad_level(level):
    with pytest.raises(UsageError, match="FB650 the level is"):
        interval(drawn(0.4, SPREAD), level=level)
    with pytest.raises(UsageError, match="FB650 the level is"):
        intervals(METRICS, make(0), level=level, seed=1)


# ---- the one call --------------------------------------------------------------------------


def test_ratio_and_rank_metrics_go_through_the_same_door():
    scored = make(4, clusters=36)
    found = intervals(METRICS, scored, draws=300, seed=2)
    for name, metric in METRICS.items():
        direct = bootstrap({"x": evaluator(metric, scored)}, scored.strata, draws=300, seed=2)["x"]
        assert found[name].method == "bca"
        assert (found[name].low, found[name].high) == pytest.approx(
            tuple(bca(direct).limits), abs=1e-12
        )
        assert found[name].low < direct.point < found[name].high


def test_only_the_clusters_of_the_slice_count():
    scored = make(4, clusters=36)
    found = intervals(METRICS, scored.where(scored.cluster < 12), draws=100, seed=2)
    assert {x.clusters for x in found.values()} == {12}


def test_proportions_by_name():
    scored = make(4, clusters=36, skill=1.0)
    found = intervals(METRICS, scored, proportions={"accuracy": (0, 1)}, draws=100, seed=2)
    assert found["accuracy"].method == "clopper-pearson"
    assert found["f1"].reason == "no draw varies"


# ---- laws ----------------------------------------------------------------------------------

SAMPLES = st.lists(st.integers(-50, 50), min_size=10, max_size=30).filter(lambda v: len(set(v)) > 1)


def mean_draws(values, seed=0):
    values = np.asarray(values, dtype=float)
    n = len(values)
    return bootstrap({"m": lambda w: w @ values / n}, np.zeros(n, np.int64), draws=200, seed=seed)[
        "m"
    ]


@given(SAMPLES)
def test_limits_are_ordered_and_inside_the_range_of_the_draws(values):
    found = mean_draws(values)
    for limits in (percentile(found), bca(found).limits):
        assert found.values.min() <= limits.low <= limits.high <= found.values.max()


@given(SAMPLES, st.integers(-5, 5), st.sampled_from([0.5, 2.0, -1.0, -4.0]))
def test_both_follow_a_linear_change_of_the_metric(values, shift, scale):
    before = mean_draws(values)
    after = mean_draws([shift + scale * v for v in values])
    for method in (percentile, lambda d: bca(d).limits):
        expected = sorted(shift + scale * x for x in method(before))
        assert tuple(method(after)) == pytest.approx(tuple(expected), abs=1e-9)


@given(SAMPLES)
def test_a_higher_level_is_never_narrower(values):
    found = mean_draws(values)
    narrow, wide = percentile(found, level=0.8), percentile(found, level=0.99)
    assert wide.low <= narrow.low <= narrow.high <= wide.high


@given(st.lists(st.floats(0.01, 10), min_size=5, max_size=40), st.floats(-5, 5))
def test_percentile_contains_the_value_when_draws_are_symmetric_around_it(offsets, point):
    values = point + np.array([*offsets, *(-x for x in offsets)])
    limits = percentile(drawn(point, values))
    assert limits.low <= point + 1e-12
    assert point - 1e-12 <= limits.high


def test_only_shares_have_bounds():
    assert share_bounds(class_accuracy(label="Dismiss")) == (0.0, 1.0)
    assert share_bounds(METRICS["f1"]) is None
    assert share_bounds(slot_precision()) == (0.0, 1.0)
    means = slot_precision(aggregation="list_mean", lists=("one", "two"))
    assert share_bounds(means) is None  # a mean of shares is no share of its clusters
