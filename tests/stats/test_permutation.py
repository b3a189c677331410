from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from floorbench.errors import DataError, UsageError
from floorbench.metrics import ranking
from floorbench.metrics.base import FAILED, OK, Scored, point
from floorbench.stats.permutation import permutation_test, swap_metrics
from oracles import stats_resampling as oracle
from oracles.stats_toys import METRICS, make, plain, units_of


def pair(clusters=8, skills=(0.7, 0.2), seed=0):
    a, b = (
        make(10 + i, clusters=clusters, skill=skill, gold_seed=seed)
        for i, skill in enumerate(skills)
    )
    return a, b


def swap_metric(metric, a, b):
    return swap_metrics({"x": (metric, a, b)})["x"]


def run(statistic, clusters, **how):
    return permutation_test({"x": statistic}, clusters, seed=1, **how)["x"]


def sums(name, scored):
    return METRICS[name].rows(scored).by_cluster()


@pytest.mark.parametrize("name", METRICS)
def test_exact_test_against_swapped_lists_of_units(name):
    a, b = pair()
    expected = oracle.swap_differences(lambda u: plain(name, u), units_of(a), units_of(b))
    found = run(swap_metric(METRICS[name], a, b), 8)
    assert found.difference == pytest.approx(expected[0], abs=1e-12)
    assert found.p == (np.abs(expected) >= abs(expected[0]) - 1e-12).sum() / 256
    assert (found.method, found.permutations, found.undefined) == ("exact", 256, 0)
    assert 0 < found.p < 1


@pytest.mark.parametrize("name", ["accuracy", "f1"])
def test_swapped_units_and_swapped_sums_give_the_same_differences(name):
    a, b = pair(clusters=20)
    swaps = np.random.default_rng(0).random((50, 20)) < 0.5
    units = swap_metric(METRICS[name], a, b)
    stored = oracle.swap_sums(METRICS[name].value, sums(name, a), sums(name, b))
    assert np.allclose(units(swaps), stored(swaps), rtol=0, atol=1e-12)


def test_cells_tested_together_have_the_values_of_each_alone():
    a, b = pair(clusters=20)
    part = [x.where(x.cluster % 3 > 0) for x in (a, b)]
    cells = {name: (metric, a, b) for name, metric in METRICS.items()}
    cells["part"] = (METRICS["accuracy"], *part)
    together = swap_metrics(cells)
    rng = np.random.default_rng(0)
    for swaps in (rng.random((50, 20)) < 0.5, rng.random((7, 20)) < 0.5):
        for name, cell in cells.items():
            alone = swap_metric(*cell)(swaps)
            assert together[name](swaps) == pytest.approx(alone, abs=1e-12, nan_ok=True)


@given(st.lists(st.integers(-9, 9), min_size=6, max_size=10).filter(sum))
@settings(max_examples=25)
def test_exact_mean_difference_against_scipy(differences):
    a = np.array(differences, dtype=float)
    b = np.zeros_like(a)
    # permutation_type "samples" swaps paired observations; all of them, as there are few.
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis=-1: x.mean(axis=axis) - y.mean(axis=axis),
        permutation_type="samples", n_resamples=np.inf,
    )  # fmt: skip
    ours = run(oracle.swap_sums(lambda t: t[..., 0] / len(a), a[:, None], b[:, None]), len(a))
    assert ours.difference == pytest.approx(theirs.statistic, abs=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, abs=1e-12)


def test_random_swaps_approach_the_exact_p():
    a, b = pair(clusters=14, skills=(0.5, 0.3))
    exact = run(swap_metric(METRICS["f1"], a, b), 14)
    assert exact.permutations == 2**14
    # A fifteenth cluster without any unit changes no difference, but asks for random swaps.
    wider = [replace(x, clusters=(*x.clusters, "z"), strata=np.r_[x.strata, 0]) for x in (a, b)]
    random = run(swap_metric(METRICS["f1"], *wider), 15)
    assert (random.method, random.permutations) == ("monte-carlo", 9999)
    assert random.p == pytest.approx(exact.p, abs=0.02)
    assert random.p == round(random.p * 10_000) / 10_000


def test_smallest_random_p():
    found = run(lambda swaps: 1.0 * (~swaps).all(axis=1), 40, permutations=99)
    assert found.p == 1 / 100


def test_all_swaps_exactly_once():
    seen = []
    run(lambda s: (seen.append(s), s[:, 0] * 1.0)[1], 6)
    rows = np.concatenate(seen[1:])
    assert len(np.unique(rows, axis=0)) == len(rows) == 64
    assert not rows[0].any()


def test_equal_systems_have_p_1():
    a, _ = pair()
    for metric in METRICS.values():
        found = run(swap_metric(metric, a, a), 8)
        assert (found.p, found.difference) == (1, 0)


def test_exchanging_the_systems_changes_the_sign_only():
    a, b = pair(clusters=20)
    for metric in METRICS.values():
        ab = run(swap_metric(metric, a, b), 20, permutations=500)
        ba = run(swap_metric(metric, b, a), 20, permutations=500)
        assert ab.difference == pytest.approx(-ba.difference, abs=1e-12)
        assert ab.p == ba.p


def test_another_statistic_and_other_portions_move_no_p():
    a, b = pair(clusters=20, skills=(0.35, 0.3))
    one = swap_metric(METRICS["f1"], a, b)
    alone = run(one, 20, permutations=500)
    together = permutation_test(
        {"x": one, "y": swap_metric(METRICS["auc"], a, b)}, 20, permutations=500, seed=1
    )
    assert together["x"] == alone
    assert run(one, 20, permutations=500, memory=1) == alone
    assert run(one, 20, permutations=500, stream="other").p != alone.p


@pytest.mark.parametrize("clusters", [1, 5])
def test_fewer_than_six_clusters_give_no_test(clusters):
    a, b = pair(clusters=clusters)
    found = run(swap_metric(METRICS["accuracy"], a, b), clusters)
    assert (found.p, found.method) == (None, "none")
    said = "1 cluster" if clusters == 1 else f"{clusters} clusters"
    assert found.reason == f"{said}; a test needs 6"
    assert found.difference is not None


def test_undefined_swaps_count_as_extreme_up_to_one_percent():
    def some(count):
        def statistic(swaps):
            number = swaps @ (2.0 ** np.arange(10))
            values = np.where(number == 0, 1.0, 0.0)
            return np.where((number > 0) & (number <= count), np.nan, values)

        return statistic

    found = run(some(10), 10)
    assert (found.undefined, found.p) == (10, 11 / 1024)
    found = run(some(11), 10)
    assert (found.undefined, found.p) == (11, None)
    assert found.reason == "undefined in 11 of 1024 permutations (more than 1 %)"


def test_an_undefined_difference_is_not_tested():
    found = run(lambda swaps: np.full(len(swaps), np.nan), 8)
    assert (found.p, found.difference) == (None, None)
    assert found.reason == "the difference itself is undefined"


def test_bad_input():
    a, b = pair()
    with pytest.raises(UsageError, match="FB650 0 permutations"):
        run(swap_metric(METRICS["f1"], a, b), 8, permutations=0)
    with pytest.raises(DataError, match="FB651"):
        swap_metric(METRICS["f1"], a, pair(clusters=9)[1])
    with pytest.raises(DataError, match="FB652 the statistic 'x'"):
        run(lambda swaps: swaps * 1.0, 8)


def test_size_under_the_null():
    # Two systems of equal skill: p <= .05 in about 5 % of the worlds, never far above.
    hits = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(0, 4, (2, 12, 1)).astype(float)
        hits += run(oracle.swap_sums(lambda t: t[..., 0], a, b), 12).p <= 0.05
    assert hits <= 25  # binomial(300, .05) exceeds 25 with probability .005


RANKED = {
    "auc": ranking.auc(positive="yes"),
    "eer": ranking.eer(positive="yes"),
    "auc_macro": ranking.auc_macro(labels=("no", "yes"), score="wide"),
    "eer_macro": ranking.eer_macro(labels=("no", "yes"), score="wide"),
    "auc_answered": ranking.auc(positive="yes", missing="drop"),
}


def scored_by(skill, seed, *, clusters=40, each=5):
    rng = np.random.default_rng(seed)
    gold = np.random.default_rng(0).integers(0, 2, clusters * each)
    score = rng.normal(skill * gold, 1.0)
    return Scored(
        cluster=np.repeat(np.arange(clusters), each),
        clusters=tuple(f"c{i}" for i in range(clusters)),
        strata=np.zeros(clusters, dtype=np.int64),
        weight=np.ones(len(gold)),
        columns={
            "gold": gold,
            "outcome": np.full(len(gold), OK),
            "score": score,
            "wide": np.stack([-score, score], axis=1),
        },
        vocab={"gold": ("no", "yes")},
    )


def on_another_scale(scored):
    return scored.with_columns(
        **{name: np.exp(scored.columns[name] / 3) * 1e-3 - 7 for name in ("score", "wide")}
    )


@pytest.mark.parametrize("name", RANKED)
def test_the_scale_of_a_score_changes_nothing(name):
    a, b = scored_by(1.2, 1), scored_by(0.4, 2)
    plainly = run(swap_metric(RANKED[name], a, b), 40, permutations=400)
    scaled = run(swap_metric(RANKED[name], a, on_another_scale(b)), 40, permutations=400)
    assert scaled == plainly
    assert plainly.p < 0.02


def test_scores_that_are_missing_stay_missing():
    a, b = scored_by(1.2, 1), scored_by(0.4, 2)
    gone = np.arange(len(a)) % 7 == 0
    a, b = (
        x.with_columns(
            score=np.where(gone, np.nan, x.columns["score"]), outcome=np.where(gone, FAILED, OK)
        )
        for x in (a, b)
    )
    assert run(swap_metric(RANKED["auc"], a, b), 40).reason == "the difference itself is undefined"
    dropped = RANKED["auc_answered"]
    found = run(swap_metric(dropped, a, on_another_scale_of_score(b)), 40, permutations=400)
    assert found == run(swap_metric(dropped, a, b), 40, permutations=400)
    assert found.difference == pytest.approx(
        point(dropped, a).value - point(dropped, b).value, abs=1e-12
    )


def on_another_scale_of_score(scored):
    return scored.with_columns(score=scored.columns["score"] * 1000 + 3)


def test_size_under_the_null_on_two_scales():
    """Two systems of one quality on two scales are told apart no more often than the level says."""
    found = [
        run(
            swap_metric(RANKED["auc"], scored_by(0.8, 2 * i + 1, clusters=20),
                        on_another_scale(scored_by(0.8, 2 * i + 2, clusters=20))),
            20,
            permutations=199,
        ).p
        for i in range(200)
    ]  # fmt: skip
    assert np.mean(np.array(found) <= 0.05) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert np.mean(np.array(found) <= 0.5) > 0.35
