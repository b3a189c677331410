import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from floorbench.errors import DataError
from floorbench.metrics.conventions import (
    MAX_DISTANCE_NATS,
    js_distance_bits,
    js_distance_nats,
    js_distance_nats_silence_is_one,
    js_divergence_bits,
    js_divergence_nats,
    mean_distance,
)

HISTOGRAM = st.lists(st.integers(0, 5), min_size=4, max_size=4).filter(any)


@given(p=HISTOGRAM, q=HISTOGRAM)
def test_distances_agree_with_scipy(p: list[int], q: list[int]) -> None:
    # scipy takes the root of a rounded zero and may give 1e-8 for equal histograms
    want = np.nan_to_num(jensenshannon(p, q))
    assert js_distance_nats(p, q) == pytest.approx(want, abs=2e-8)
    assert js_distance_bits(p, q) == pytest.approx(
        np.nan_to_num(jensenshannon(p, q, base=2)), abs=2e-8
    )
    assert js_divergence_nats(p, q) == pytest.approx(want**2, abs=1e-12)
    assert js_divergence_bits(p, q) == pytest.approx(want**2 / np.log(2), abs=1e-12)


def test_each_convention_has_its_own_maximum() -> None:
    apart = ([3, 0], [0, 2])
    assert js_distance_nats(*apart) == pytest.approx(0.8326, abs=5e-5)
    assert js_distance_nats(*apart) == pytest.approx(MAX_DISTANCE_NATS)
    assert js_divergence_nats(*apart) == pytest.approx(np.log(2))
    assert js_divergence_bits(*apart) == js_distance_bits(*apart) == pytest.approx(1.0)


def test_silence_is_one_lies_above_every_real_distance() -> None:
    assert js_distance_nats_silence_is_one([0, 0], [1, 2]) == 1.0
    assert js_distance_nats_silence_is_one([0, 3], [3, 0]) == pytest.approx(MAX_DISTANCE_NATS)
    assert js_distance_nats([0, 0], [1, 2]) is None
    assert js_distance_nats_silence_is_one([1, 0], [0, 0]) is None
    assert js_distance_nats_silence_is_one([0, 0], [0, 0]) is None


def test_means_of_the_two_rules_say_different_things() -> None:
    samples = [([1, 1], [1, 1]), ([0, 0], [1, 1]), ([0, 0], [2, 0])]
    assert mean_distance(samples, silence_is_one=True) == (pytest.approx(2 / 3), 3, 2)
    assert mean_distance(samples, silence_is_one=False) == (0.0, 3, 2)
    assert mean_distance([], silence_is_one=True) == (None, 0, 0)


@pytest.mark.parametrize(
    ("p", "q"), [([1, 2], [1]), ([-1, 2], [1, 1]), ([np.nan, 1], [1, 1]), ([], []), ([1], [[1]])]
)
def test_bad_histograms_are_refused(p: list, q: list) -> None:
    with pytest.raises(DataError, match="FB630"):
        js_divergence_nats(p, q)
