import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.metrics import concordance
from floorbench.metrics.concordance import Concordance


def random(seed: int, n: int, clusters: int, share: float = 0.4) -> tuple:
    rng = np.random.default_rng(seed)
    return (
        np.round(rng.random(n), 1),
        rng.random(n) < share,
        rng.choice([1.0, 0.5], n),
        rng.integers(0, clusters, n),
        clusters,
    )


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 40),
    clusters=st.integers(1, 6),
    share=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_matrix_and_scan_give_the_same_values(
    seed: int, n: int, clusters: int, share: float
) -> None:
    data = random(seed, n, clusters, share)
    weights = np.random.default_rng(seed).integers(0, 3, (7, clusters)).astype(float)
    by_matrix = Concordance(*data)(weights)
    repeated = np.concatenate([_expanded(data, w) for w in weights])
    assert by_matrix == pytest.approx(repeated, abs=1e-12, nan_ok=True)
    if clusters > 2:  # one draw at a time takes the running sum
        scanned = np.concatenate([Concordance(*data)(w[np.newaxis]) for w in weights])
        assert by_matrix == pytest.approx(scanned, abs=1e-12, nan_ok=True)


def _expanded(data: tuple, weights: np.ndarray) -> np.ndarray:
    """Weights written out as repeated units, one cluster for all."""
    score, positive, weight, cluster, _ = data
    times = weights[cluster].astype(int)
    n = int(times.sum())
    return Concordance(
        np.repeat(score, times),
        np.repeat(positive, times),
        np.repeat(weight, times),
        np.zeros(n, dtype=np.int64),
        1,
    )(np.ones((1, 1)))


def test_the_scan_in_chunks_is_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    data = random(3, 200, 40)
    weights = np.random.default_rng(0).integers(0, 3, (10, 40)).astype(float)
    whole = Concordance(*data)(weights)
    monkeypatch.setattr(concordance, "CHUNK", 450)
    assert Concordance(*data)(weights).tolist() == whole.tolist()
    monkeypatch.setattr(concordance, "MATRIX_CLUSTERS", 1000)
    many = np.vstack([weights, weights, weights])
    assert Concordance(*data)(many)[:10] == pytest.approx(whole, abs=1e-12)


def test_the_matrix_is_built_once() -> None:
    data = random(3, 60, 4)
    auc = Concordance(*data)
    weights = np.ones((8, 4))
    first = auc(weights)
    built = auc._matrix
    assert built is not None
    assert auc(weights).tolist() == first.tolist()
    assert auc._matrix is built
