import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_curve

from floorbench.metrics import roc
from floorbench.metrics.roc import EqualError


def value(score: list[float], positive: list[int]) -> float:
    n = len(score)
    build = EqualError(
        np.array(score, dtype=float),
        np.array(positive, dtype=bool),
        np.ones(n),
        np.zeros(n, dtype=np.int64),
        1,
    )
    return float(build(np.ones((1, 1)))[0])


def test_worked_values() -> None:
    assert value([0.9, 0.8, 0.2, 0.1], [1, 1, 0, 0]) == 0.0
    assert value([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0]) == 1.0
    assert value([0.5, 0.5], [1, 0]) == 0.5
    # ROC (0,0) (0,.5) (.5,.5) (.5,1) (1,1) meets y = 1 - x at (.5, .5)
    assert value([4, 3, 2, 1], [1, 0, 1, 0]) == 0.5
    # ROC (0,0) (0,1/3) (1/2,1) by a tie of two positives and one negative: x = 2/7
    assert value([4, 3, 3, 3, 1], [1, 1, 1, 0, 0]) == pytest.approx(2 / 7)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32), n=st.integers(4, 60))
def test_lies_where_the_roc_of_scikit_learn_meets_the_diagonal(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    score = np.round(rng.random(n), 1)
    positive = np.arange(n) % 3 == 0
    fpr, tpr, _ = roc_curve(positive, score, drop_intermediate=False)
    got = value(score.tolist(), positive.tolist())
    assert np.interp(got, fpr, tpr) == pytest.approx(1 - got, abs=1e-9) or got in fpr


@pytest.mark.parametrize("blocks", [1, 2, 7, 2048])
def test_blocks_change_nothing(blocks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    n, clusters = 300, 6
    data = (
        np.round(rng.random(n), 2),
        rng.random(n) < 0.3,
        rng.choice([1.0, 0.5], n),
        rng.integers(0, clusters, n),
        clusters,
    )
    weights = rng.integers(0, 3, (20, clusters)).astype(float)
    monkeypatch.setattr(roc, "BLOCKS", 64)
    want = EqualError(*data)(weights)
    monkeypatch.setattr(roc, "BLOCKS", blocks)
    monkeypatch.setattr(roc, "CHUNK", 3)
    assert EqualError(*data)(weights) == pytest.approx(want, abs=1e-12)


def test_no_unit_gives_nothing() -> None:
    assert np.isnan(value([], []))
    assert np.isnan(value([0.3], [1]))
