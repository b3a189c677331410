import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.metrics.bundle import evaluators
from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.stats import bootstrap as room
from floorbench.stats.bootstrap import bootstrap, draw_weights
from floorbench.stats.streams import generator
from floorbench.stats.whole import whole_sums
from oracles.metrics_cases import ACTIONS, label_case


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    clusters=st.integers(1, 300),
    columns=st.integers(1, 4),
    strata=st.integers(1, 5),
    draws=st.integers(1, 400),
)
def test_totals_are_those_of_the_product_to_the_last_bit(
    seed: int, clusters: int, columns: int, strata: int, draws: int
) -> None:
    rng = np.random.default_rng(seed)
    sums = rng.integers(0, 9, (clusters, columns)).astype(np.float64)
    codes = rng.integers(0, strata, clusters)
    present = rng.random(clusters) < 0.8
    groups = {int(c): np.flatnonzero(present & (codes == c)) for c in np.unique(codes[present])}
    sources = {c: generator(7, "s", "stratum", str(c)) for c in groups}
    held = whole_sums(sums)
    assert held is not None
    weights = draw_weights(codes, present=present, draws=draws, seed=7, stream="s", memory=1 << 16)
    want = np.concatenate([part @ sums for part in weights])
    assert np.array_equal(held.drawn(groups, sources, draws), want)


@pytest.mark.parametrize(
    ("sums", "fits"),
    [
        ([[0.0, 0.0]], True),
        ([[1.0, 3.0], [2.0, 0.0]], True),
        ([[0.5, 1.0]], False),
        ([[-1.0, 1.0]], False),
        ([[np.nan, 1.0]], False),
        ([[np.inf, 1.0]], False),
        ([[2.0**62, 1.0]], False),
        ([[2.0**31 - 1, 1.0]], True),
        ([[2.0**31, 1.0]], False),
        ([[1.0] * 62], True),
        ([[1.0] * 63], False),
        (np.empty((0, 2)), False),
        (np.empty((2, 0)), False),
    ],
)
def test_only_small_whole_numbers_are_put_side_by_side(sums: list[list[float]], fits: bool) -> None:
    assert (whole_sums(np.array(sums)) is not None) == fits


@pytest.mark.parametrize("trials", [1, 3])
def test_the_short_way_and_the_long_way_give_equal_draws(
    trials: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = label_case(np.random.default_rng(3))
    weighted = type(case)(
        **{name: getattr(case, name) for name in case.__slots__}
        | {"weight": np.full(len(case), 1 / trials)}
    )
    cells = [("a", accuracy(), weighted), ("m", macro_accuracy(labels=ACTIONS), weighted)]
    taken = []
    monkeypatch.setattr(
        room, "whole_sums", lambda sums: taken.append(whole_sums(sums)) or taken[-1]
    )
    short = bootstrap(evaluators(cells[:1]), case.strata, draws=99, seed=1)
    together = bootstrap(evaluators(cells), case.strata, draws=99, seed=1)
    assert (taken[0] is not None) == (trials == 1)
    monkeypatch.setattr(room, "whole_sums", lambda sums: None)
    long = bootstrap(evaluators(cells), case.strata, draws=99, seed=1)
    assert np.array_equal(short["a"].values, long["a"].values)
    for name in ("a", "m"):
        assert np.array_equal(together[name].values, long[name].values, equal_nan=True)
        assert np.array_equal(together[name].jackknife, long[name].jackknife, equal_nan=True)
