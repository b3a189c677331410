from dataclasses import replace

import numpy as np
import pytest

from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import evaluator
from floorbench.stats.bootstrap import bootstrap, collapsed, compact, draw_weights
from oracles import stats_resampling as oracle
from oracles.stats_toys import METRICS, make, plain, units_of


def evaluators(scored, names=tuple(METRICS)):
    return {name: evaluator(METRICS[name], scored) for name in names}


def stack(portions):
    return np.concatenate(list(portions))


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("absent", [(), (0, 3, 5), range(0, 24, 3)])
def test_every_draw_against_loops_over_units(name, absent):
    scored = make(1)
    present = ~np.isin(np.arange(24), list(absent))
    scored = scored.where(present[scored.cluster])
    found = bootstrap(evaluators(scored, [name]), scored.strata, present=present, draws=60, seed=9)
    clusters = oracle.drawn_clusters(scored.strata, present, 60, 9, "bootstrap")
    units = units_of(scored)
    expected = oracle.replicates(lambda u: plain(name, u), units, clusters)
    assert np.allclose(found[name].values, expected, rtol=0, atol=1e-12, equal_nan=True)
    everything = [u for group in units for u in group]
    assert found[name].point == pytest.approx(plain(name, everything), abs=1e-12)
    assert found[name].clusters == present.sum()


def test_leave_one_out_reweights_the_stratum():
    scored = make(2, clusters=9, strata=2)
    strata = np.array([0, 0, 0, 1, 1, 2, 2, 2, 7])
    found = bootstrap(evaluators(scored), strata, draws=1, seed=0)
    kept = [i for i in range(9) if i != 8]  # cluster 8 is alone in its stratum
    assert found["f1"].jackknife_strata.tolist() == strata[kept].tolist()
    assert (found["f1"].strata, found["f1"].singletons) == (4, 1)
    for name, metric in METRICS.items():
        evaluate = evaluator(metric, scored)
        for value, out in zip(found[name].jackknife, kept, strict=True):
            weights = np.ones(9)
            mates = [i for i in range(9) if strata[i] == strata[out]]
            for i in mates:
                weights[i] = 0 if i == out else len(mates) / (len(mates) - 1)
            assert value == pytest.approx(float(evaluate(weights[None])[0]), abs=1e-12)


def test_every_draw_keeps_the_size_of_every_stratum():
    strata = np.array([3, 3, 1, 1, 1, 8, 3, 1, 1])
    present = np.array([1, 1, 1, 0, 1, 1, 1, 1, 0], dtype=bool)
    weights = stack(draw_weights(strata, present=present, draws=200, seed=0, stream="s"))
    for code in (1, 3, 8):
        assert (weights[:, strata == code].sum(axis=1) == (present & (strata == code)).sum()).all()
    assert not weights[:, ~present].any()
    assert (weights[:, 5] == 1).all()  # alone in its stratum


def test_counts_are_multinomial():
    weights = stack(draw_weights(np.zeros(5, np.int64), draws=20_000, seed=2, stream="s"))
    assert np.allclose(weights.mean(axis=0), 1, atol=0.03)
    assert np.allclose(np.cov(weights.T), np.eye(5) - 0.2, atol=0.04)


def test_another_metric_moves_no_figure():
    scored = make(3)
    alone = bootstrap(evaluators(scored, ["f1"]), scored.strata, draws=50, seed=4)["f1"]
    together = bootstrap(evaluators(scored), scored.strata, draws=50, seed=4)["f1"]
    assert np.array_equal(alone.values, together.values)
    assert np.array_equal(alone.jackknife, together.jackknife)


def test_slices_share_the_draws_of_strata_they_hold_whole():
    strata = np.repeat([0, 1, 2], 8)
    whole = stack(draw_weights(strata, draws=40, seed=1, stream="s"))
    present = strata != 1
    present[-1] = False
    part = stack(draw_weights(strata, present=present, draws=40, seed=1, stream="s"))
    assert np.array_equal(whole[:, strata == 0], part[:, strata == 0])
    assert not np.array_equal(whole[:, strata == 2], part[:, strata == 2])


def test_compact_and_mask_are_the_same_bootstrap():
    scored = make(5)
    scored = scored.where(scored.cluster % 4 != 1)
    narrow = compact(scored)
    assert len(narrow.clusters) == 18
    masked = bootstrap(
        evaluators(scored), scored.strata, present=scored.present(), draws=50, seed=4
    )
    direct = bootstrap(evaluators(narrow), narrow.strata, draws=50, seed=4)
    for name in METRICS:
        assert np.allclose(masked[name].values, direct[name].values, rtol=0, atol=1e-12)
        assert np.allclose(masked[name].jackknife, direct[name].jackknife, rtol=0, atol=1e-12)
    assert compact(narrow) is narrow


@pytest.mark.parametrize(
    ("strata", "expected"),
    [
        ([4, 4, 9, 9], [4, 4, 9, 9]),
        ([4, 4, 9, 7, 8], [4, 4, 7, 7, 7]),
        ([4, 4, 4, 6, 6, 9], [4, 4, 4, 6, 6, 6]),
        ([6, 6, 4, 4, 9], [6, 6, 4, 4, 4]),
        ([3], [3]),
        ([3, 1], [1, 1]),
        ([], []),
    ],
)
def test_no_stratum_of_one_is_left(strata, expected):
    assert collapsed(np.array(strata, dtype=np.int64)).tolist() == expected


def test_compact_collapses_strata_that_are_single_in_the_slice():
    scored = make(5)
    first = [int(np.flatnonzero(scored.strata == code)[0]) for code in np.unique(scored.strata)]
    narrow = compact(scored.where(np.isin(scored.cluster, first)))
    assert len(narrow.clusters) == len(first) > 1
    assert len(set(narrow.strata.tolist())) == 1


@pytest.mark.parametrize("memory", [1, 3000, 1 << 30])
def test_portions_do_not_change_the_values(memory):
    scored = make(6)
    usual = bootstrap(evaluators(scored), scored.strata, draws=37, seed=4)
    other = bootstrap(evaluators(scored), scored.strata, draws=37, seed=4, memory=memory)
    for name in METRICS:
        assert np.allclose(usual[name].values, other[name].values, rtol=0, atol=1e-12)
        assert np.allclose(usual[name].jackknife, other[name].jackknife, rtol=0, atol=1e-12)


def test_absent_clusters_weigh_nothing_and_the_total_stays():
    strata = np.arange(12) % 3
    present = np.arange(12) > 2
    found = bootstrap(
        {"total": lambda w: w.sum(axis=1)}, strata, present=present, draws=20, seed=0
    )["total"]
    assert found.point == 9
    assert np.allclose(found.values, 9, rtol=0, atol=1e-12)
    assert np.allclose(found.jackknife, 9, rtol=0, atol=1e-12)


def test_seed_and_stream_matter_and_repeat():
    scored = make(7)

    def run(**how):
        return bootstrap(evaluators(scored, ["f1"]), scored.strata, draws=30, **how)["f1"].values

    assert np.array_equal(run(seed=1), run(seed=1))
    assert not np.array_equal(run(seed=1), run(seed=2))
    assert not np.array_equal(run(seed=1), run(seed=1, stream="other"))


def test_weights_cannot_be_changed_by_an_evaluator():
    def vandal(weights):
        weights[:] = 0

    with pytest.raises(ValueError, match="read-only"):
        bootstrap({"v": vandal}, np.zeros(4, np.int64), draws=2, seed=0)


def test_undefined_and_infinite_values_become_nan():
    def wild(weights):
        return np.where(weights[:, 0] == 1, np.inf, np.where(weights[:, 0] == 0, np.nan, 2.0))

    found = bootstrap({"w": wild}, np.zeros(12, np.int64), draws=100, seed=0)["w"]
    assert np.isnan(found.point)
    assert set(found.defined) == {2.0}
    assert 0 < len(found.defined) < 100


def test_one_cluster_and_none():
    one = make(0, clusters=1, strata=1)
    found = bootstrap(evaluators(one, ["accuracy"]), one.strata, draws=5, seed=0)["accuracy"]
    assert (found.values == found.point).all()
    assert (found.clusters, found.singletons, len(found.jackknife)) == (1, 1, 0)
    nobody = np.zeros(1, dtype=bool)
    found = bootstrap(evaluators(one), one.strata, present=nobody, draws=5, seed=0)["auc"]
    assert np.isnan(found.point)
    assert np.isnan(found.values).all()
    assert found.standard_error is None


@pytest.mark.parametrize("draws", [0, -3])
def test_no_draws(draws):
    with pytest.raises(UsageError, match=f"FB650 {draws} draws"):
        bootstrap({}, np.zeros(3, np.int64), draws=draws, seed=0)


@pytest.mark.parametrize(
    "present", [np.ones(2, bool), np.ones(3), np.ones((3, 1), bool)], ids=["short", "float", "2d"]
)
def test_bad_mask(present):
    with pytest.raises(DataError, match="FB651"):
        bootstrap({}, np.zeros(3, np.int64), present=present, draws=2, seed=0)


def test_strata_of_two_dimensions():
    with pytest.raises(DataError, match="FB651"):
        bootstrap({}, np.zeros((3, 1), np.int64), draws=2, seed=0)


@pytest.mark.parametrize("bad", [lambda w: 1.0, lambda w: w, lambda w: w[:1, 0]])
def test_evaluator_of_the_wrong_shape(bad):
    with pytest.raises(DataError, match="FB652 the evaluator 'odd'"):
        bootstrap({"odd": bad}, np.zeros(3, np.int64), draws=4, seed=0)


def test_trials_are_averaged_within_the_cluster():
    # The same answers given three times change nothing: trials are no resampling units.
    once = make(8)
    thrice = replace(
        once,
        cluster=np.tile(once.cluster, 3),
        weight=np.tile(once.weight / 3, 3),
        columns={k: np.tile(v, 3) for k, v in once.columns.items()},
    )
    a = bootstrap(evaluators(once), once.strata, draws=30, seed=1)
    b = bootstrap(evaluators(thrice), thrice.strata, draws=30, seed=1)
    for name in METRICS:
        assert np.allclose(a[name].values, b[name].values, rtol=0, atol=1e-12)
