from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.frames import (
    Runs,
    check_frames,
    close_gaps,
    frame_activity,
    frame_count,
    paint,
    runs,
    session_activity,
)
from oracles.events_dualturn import closed, framed, segments

SLOW = Fraction(25, 2)
TRACKS = st.lists(st.booleans(), max_size=60).map(lambda x: np.array(x, dtype=bool))


def test_half_a_frame_is_enough_and_less_is_not():
    spans = [(0, 40_000), (80_000, 119_999), (160_000, 240_000)]
    active = frame_activity(spans, frames=3, rate=SLOW)
    assert active.tolist() == [True, False, True]


def test_the_union_counts_not_the_sum():
    spans = [(0, 30_000), (10_000, 35_000)]
    assert not frame_activity(spans, frames=1, rate=SLOW).any()


def test_two_words_of_one_frame_add_up():
    spans = [(0, 20_000), (60_000, 80_000)]
    assert frame_activity(spans, frames=1, rate=SLOW).all()


def test_frames_that_are_no_whole_ticks_are_exact():
    # A third of a second: frame 1 of 3 Hz is [333333.3, 666666.6] ticks, half of it 166666.7.
    assert not frame_activity([(333_334, 500_000)], frames=3, rate=Fraction(3)).any()
    assert frame_activity([(333_333, 500_000)], frames=3, rate=Fraction(3)).tolist() == [
        False, True, False,
    ]  # fmt: skip


@given(
    st.lists(st.tuples(st.integers(0, 900_000), st.integers(0, 200_000)), max_size=12),
    st.sampled_from([SLOW, Fraction(50), Fraction(3), Fraction(100, 3)]),
)
def test_framing_agrees_with_the_slow_oracle(pairs, rate):
    spans = sorted((s, s + d) for s, d in pairs)
    frames = frame_count(max((e for _, e in spans), default=0), rate=rate)
    fast = frame_activity(spans, frames=frames, rate=rate)
    assert fast.tolist() == framed(spans, frames, rate)


def test_frame_count_rounds_up():
    assert [frame_count(t, rate=SLOW) for t in (0, 1, 80_000, 80_001)] == [0, 1, 1, 2]
    with pytest.raises(DataError, match="before 0"):
        frame_count(-1, rate=SLOW)


def test_two_channels_share_the_later_end():
    tracks = session_activity({Role.SYSTEM: [], Role.USER: [(0, 80_000)]}, end=170_000, rate=SLOW)
    assert {r: t.tolist() for r, t in tracks.items()} == {
        Role.USER: [True, False, False],
        Role.SYSTEM: [False, False, False],
    }
    with pytest.raises(DataError, match="FB611"):
        session_activity({Role.USER: []}, end=0, rate=SLOW)


def test_speech_after_the_last_frame_is_an_error():
    with pytest.raises(DataError, match="goes on after"):
        frame_activity([(0, 80_001)], frames=1, rate=SLOW)


@given(TRACKS)
def test_runs_agree_with_the_slow_oracle(track):
    found = runs(track)
    assert list(zip(found.start.tolist(), found.end.tolist(), strict=True)) == segments(track)
    assert paint(found, len(track)).tolist() == track.tolist()
    assert found.length.sum() == track.sum()


@given(TRACKS, st.integers(0, 5))
def test_closing_gaps_agrees_with_the_slow_oracle(track, min_gap):
    assert close_gaps(track, min_gap=min_gap).tolist() == closed(track.tolist(), min_gap)


def test_a_gap_of_exactly_min_gap_is_closed():
    track = np.array([0, 1, 0, 0, 1, 0, 0, 0, 1, 0], dtype=bool)
    assert close_gaps(track, min_gap=2).tolist() == [0, 1, 1, 1, 1, 0, 0, 0, 1, 0]


def test_a_negative_gap_is_refused():
    with pytest.raises(UsageError, match="min_gap is -1"):
        close_gaps(np.array([True]), min_gap=-1)


@pytest.mark.parametrize(
    ("tracks", "code", "words"),
    [
        (([1, 0], [1]), "FB611", "'user' has 2 frames, 'system' has 1"),
        (([1, float("nan")], [1, 0]), "FB202", "frame 1 of 'user' is nan"),
        (([1, float("inf")], [1, 0]), "FB202", "inf"),
        (([1, 2], [1, 0]), "FB610", "other than 0 and 1"),
        (([0.5, 0], [1, 0]), "FB610", "other than 0 and 1"),
        ((["1", "0"], [1, 0]), "FB610", "other than 0 and 1"),
        (([[1], [0]], [1, 0]), "FB610", "not (T,)"),
    ],
)
def test_bad_tracks_are_named(tracks, code, words):
    with pytest.raises(DataError) as raised:
        check_frames(dict(zip((Role.USER, Role.SYSTEM), tracks, strict=True)))
    assert raised.value.code == code
    assert words in str(raised.value)


def test_one_channel_is_not_enough():
    with pytest.raises(DataError, match="FB611"):
        check_frames({Role.USER: [1, 0]})


def test_an_empty_session_has_no_runs():
    empty = check_frames({Role.USER: [], Role.SYSTEM: []})[Role.USER]
    assert len(runs(empty)) == 0
    none = np.zeros(0, dtype=np.int64)
    assert paint(Runs(start=none, end=none), 0).tolist() == []
