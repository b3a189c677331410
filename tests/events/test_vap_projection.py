from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.vap_projection import (
    CLASSES,
    ProjectionRules,
    next_speaker,
    projection_classes,
)
from oracles.events_vap import classes

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=60)


def one_hot(*numbers):
    out = np.zeros((len(numbers), CLASSES))
    out[np.arange(len(numbers)), numbers] = 1
    return out


@given(PAIRS, st.sampled_from([10, 12]))
def test_classes_agree_with_the_frame_by_frame_oracle(pairs, rate):
    rules = ProjectionRules(rate=Fraction(rate))
    x, y = [a for a, _ in pairs], [b for _, b in pairs]
    found = projection_classes({Role.USER: x, Role.SYSTEM: y}, rules)
    assert found.tolist() == classes(x, y, rules.bin_frames)


def test_two_seconds_at_50_hz_in_four_bins():
    assert ProjectionRules().bin_frames == (10, 20, 30, 40)
    assert ProjectionRules().horizon == 100


def test_a_bin_is_active_from_one_half_on():
    track = np.zeros(101)
    track[6:11] = 1
    silent = np.zeros(101)
    tracks = {Role.USER: track, Role.SYSTEM: silent}
    assert projection_classes(tracks, ProjectionRules()).tolist() == [1]
    track[6] = 0
    assert projection_classes(tracks, ProjectionRules()).tolist() == [0]


def test_the_second_channel_takes_the_upper_four_bits():
    tracks = {Role.USER: np.zeros(101), Role.SYSTEM: np.ones(101)}
    assert projection_classes(tracks, ProjectionRules()).tolist() == [0b11110000]


def test_a_session_no_longer_than_the_horizon_has_no_classes():
    tracks = {Role.USER: np.ones(100), Role.SYSTEM: np.ones(100)}
    assert len(projection_classes(tracks, ProjectionRules())) == 0


def test_now_reads_bins_1_and_2_and_future_bins_3_and_4():
    # user: bin 1; system: bins 2, 3 and 4.
    found = next_speaker(one_hot(0b1110_0001))
    assert found.now.tolist() == [[0.5, 0.5]]
    assert found.future.tolist() == [[0.0, 1.0]]


def test_probabilities_weigh_the_classes():
    p = 0.25 * one_hot(0b0000_0011) + 0.75 * one_hot(0b0001_0000)
    assert next_speaker(p).now[0].tolist() == [0.5 / 1.25, 0.75 / 1.25]


def test_a_frame_that_expects_silence_is_undefined():
    found = next_speaker(one_hot(0, 0b1000_1000))
    assert np.isnan(found.now).all()
    assert np.isnan(found.future[0]).all()
    assert found.future[1].tolist() == [0.5, 0.5]


@given(st.integers(0, 2**32 - 1))
def test_exchanging_the_channels_exchanges_the_shares(seed):
    p = np.random.default_rng(seed).dirichlet(np.ones(CLASSES), size=3)
    swapped = p[:, [(c >> 4) | ((c & 15) << 4) for c in range(CLASSES)]]
    a, b = next_speaker(p), next_speaker(swapped)
    np.testing.assert_allclose(a.now, b.now[:, ::-1], rtol=1e-12)
    np.testing.assert_allclose(a.future.sum(axis=1), 1, rtol=1e-12)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (lambda p: p[:, :255], "FB615", "not (T, 256)"),
        (lambda p: p[0], "FB615", "shape (256,)"),
        (lambda p: p * 0.9, "FB615", "frame 0 sum to 0.9"),
        (lambda p: p - 2 * one_hot(5, 5) + 2 * one_hot(6, 6), "FB615", "frame 0"),
        (lambda p: p * np.nan, "FB202", "frame 0"),
    ],
)
def test_bad_probabilities_are_named(change, code, words):
    with pytest.raises(DataError) as raised:
        next_speaker(change(one_hot(1, 2)))
    assert raised.value.code == code
    assert words in str(raised.value)


def test_no_frames_give_no_shares():
    assert next_speaker(np.zeros((0, CLASSES))).now.shape == (0, 2)


@pytest.mark.parametrize(
    "bad", [{"rate": Fraction(2)}, {"bins": (Fraction(1),)}, {"active": Fraction(0)}]
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(UsageError, match="FB612"):
        ProjectionRules(**bad)


def test_unequal_lengths_are_an_error():
    with pytest.raises(DataError, match="FB611"):
        projection_classes({Role.USER: [0], Role.SYSTEM: [0, 1]}, ProjectionRules())
