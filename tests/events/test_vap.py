from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.vap import (
    KINDS,
    VapEvent,
    VapKind,
    VapRules,
    equal_counts,
    region_frames,
    region_scores,
    vap_events,
)
from oracles.events_vap import events as oracle

USUAL = VapRules()
# The same protocol at 10 Hz with a short context, so that random sessions hold many events.
SLOW = VapRules(rate=Fraction(10), min_context=Fraction(1))
FRAMES = {
    "context": 10, "silence": 2, "pad": 0, "region": 2, "pre": 10, "post": 10, "ahead": 5,
    "bc": 10, "quiet": 10, "left": 10, "right": 20,
}  # fmt: skip
LENGTHS = st.sampled_from([1, 2, 3, 4, 5, 6, 9, 10, 11, 12, 15, 20, 30, 31, 35])


@st.composite
def sessions(draw):
    """Turns that mostly alternate, with overlaps and silences around every threshold."""
    frames = draw(st.sampled_from([0, 1, 40, 120, 300]))
    states, at = [], draw(st.integers(0, 3))
    for n in draw(st.lists(LENGTHS, max_size=30)):
        states += [at] * n
        at = draw(st.sampled_from([0, 0, 1, 2, 3]))
    states = (states + [0] * frames)[:frames]
    return {Role.USER: [s in (1, 3) for s in states], Role.SYSTEM: [s in (2, 3) for s in states]}


def run(rules=USUAL, *, frames=600, user=(), system=()):
    tracks = {Role.USER: np.zeros(frames, dtype=bool), Role.SYSTEM: np.zeros(frames, dtype=bool)}
    for role, spans in ((Role.USER, user), (Role.SYSTEM, system)):
        for start, end in spans:
            tracks[role][start:end] = True
    return vap_events(tracks, rules)


def told(found, *kinds):
    return [(r.role.value, r.start, r.end) for r in found.of(*kinds).rows()]


@given(sessions())
def test_events_agree_with_the_frame_by_frame_oracle(session):
    found = vap_events(session, SLOW)
    fast = {
        (row.kind.value, found.roles.index(row.role), row.start, row.end) for row in found.rows()
    }
    assert len(fast) == len(found)
    assert fast == oracle(session[Role.USER], session[Role.SYSTEM], FRAMES)


def test_a_shift_is_scored_50_ms_after_the_offset_for_200_ms():
    found = run(user=[(100, 250)], system=[(262, 400)])
    assert told(found, VapKind.SHIFT) == [("system", 252, 262)]
    assert told(found, VapKind.SHIFT_PREDICTION) == [("system", 225, 250)]


def test_a_hold_asks_for_the_other_speaker():
    found = run(user=[(100, 250), (262, 400)])
    assert told(found, VapKind.HOLD) == [("system", 252, 262)]
    assert told(found, VapKind.SHIFT_PREDICTION_NEGATIVE) == [("system", 225, 250)]


def test_a_silence_of_less_than_a_quarter_second_is_no_event():
    # 0.25 s are 12.5 frames, truncated to 12.
    assert len(run(user=[(100, 250)], system=[(261, 400)]).of(VapKind.SHIFT)) == 0


def test_three_seconds_of_context_are_needed():
    assert len(run(user=[(50, 150)], system=[(170, 300)]).of(VapKind.SHIFT)) == 1
    assert len(run(user=[(50, 149)], system=[(170, 300)]).of(VapKind.SHIFT)) == 0


def test_one_speaker_for_a_second_on_both_sides():
    assert len(run(user=[(200, 250)], system=[(270, 320)]).of(VapKind.SHIFT)) == 1
    assert len(run(user=[(201, 250)], system=[(270, 320)]).of(VapKind.SHIFT)) == 0
    assert len(run(user=[(200, 250)], system=[(270, 319)]).of(VapKind.SHIFT)) == 0
    crossed = run(user=[(200, 250)], system=[(205, 210), (270, 320)])
    assert len(crossed.of(VapKind.SHIFT)) == 0


def test_own_pauses_are_filled_before_the_conditions_are_read():
    found = run(user=[(200, 220), (230, 250)], system=[(270, 320)])
    assert len(found.of(VapKind.SHIFT)) == 1


def test_the_last_stretch_must_hold_the_prediction_region():
    found = run(user=[(180, 220), (226, 250)], system=[(270, 320)])
    assert len(found.of(VapKind.SHIFT)) == 1
    assert len(found.of(VapKind.SHIFT_PREDICTION)) == 0


def test_the_last_stretch_may_be_exactly_the_prediction_region():
    found = run(user=[(180, 219), (225, 250)], system=[(270, 320)])
    assert told(found, VapKind.SHIFT_PREDICTION) == [("system", 225, 250)]


def test_the_second_after_a_silence_may_end_with_the_session():
    assert len(run(frames=320, user=[(150, 250)], system=[(270, 320)]).of(VapKind.SHIFT)) == 1
    assert len(run(frames=319, user=[(150, 250)], system=[(270, 319)]).of(VapKind.SHIFT)) == 0


def test_a_second_of_own_silence_is_enough_around_a_backchannel():
    for before, after, expected in ((200, 350, 1), (201, 350, 0), (200, 349, 0)):
        found = run(user=[(100, 500)], system=[(150, before), (250, 300), (after, 420)])
        mine = [row for row in found.of(VapKind.BACKCHANNEL).rows() if row.start == 250]
        assert len(mine) == expected


def test_a_backchannel_lasts_a_second_and_stands_alone():
    found = run(user=[(100, 400)], system=[(250, 300)])
    assert told(found, VapKind.BACKCHANNEL) == [("system", 250, 300)]
    assert told(found, VapKind.BACKCHANNEL_PREDICTION) == [("system", 225, 250)]
    assert not run(user=[(100, 400)], system=[(250, 301)]).of(VapKind.BACKCHANNEL).rows()
    near = run(user=[(100, 400)], system=[(190, 201), (250, 300)])
    assert told(near, VapKind.BACKCHANNEL) == []


def test_silence_before_a_first_backchannel_is_measured_from_the_start():
    found = run(user=[(0, 600)], system=[(150, 160)])
    assert told(found, VapKind.BACKCHANNEL) == [("system", 150, 160)]
    assert told(found, VapKind.BACKCHANNEL_PREDICTION) == []


def test_negatives_lie_well_inside_a_long_stretch_of_one_speaker():
    found = run(user=[(140, 400)])
    assert told(found, VapKind.BACKCHANNEL_PREDICTION_NEGATIVE) == [("system", 190, 300)]


def test_other_rates_truncate():
    rules = VapRules(rate=Fraction(25, 2))
    assert [rules.frames(x) for x in (rules.min_context, rules.pad, rules.region)] == [37, 0, 2]
    assert rules.frames(rules.pad + rules.region) == 3


def test_regions_are_scored_by_their_mean_or_frame_by_frame():
    found = run(user=[(100, 250)], system=[(262, 400)]).of(VapKind.SHIFT)
    values = np.stack([np.zeros(600), np.arange(600.0)], axis=1)
    assert region_scores(values, found).tolist() == [np.arange(252, 262).mean()]
    assert region_frames(values, found)[0].tolist() == list(range(252, 262))
    values[255] = np.nan
    assert np.isnan(region_scores(values, found)).all()


def test_scores_shorter_than_the_regions_are_an_error():
    found = run(user=[(100, 250)], system=[(262, 400)])
    with pytest.raises(DataError, match="FB615"):
        region_scores(np.zeros((200, 2)), found)
    with pytest.raises(DataError, match="not \\(T, 2\\)"):
        region_scores(np.zeros(600), found)


def test_balancing_is_seeded_and_never_adds():
    turns = [(start, start + 60) for start in range(160, 1000, 80)]
    found = run(frames=1400, user=turns, system=[(1060, 1200)])
    holds = len(found.of(VapKind.HOLD))
    assert holds > len(found.of(VapKind.SHIFT)) == 1

    def balanced(seed):
        return equal_counts(
            found, keep=VapKind.SHIFT, reduce=VapKind.HOLD, rng=np.random.default_rng(seed)
        )

    assert len(balanced(1).of(VapKind.HOLD)) == 1
    assert balanced(1).rows() == balanced(1).rows()
    assert len({tuple(balanced(s).of(VapKind.HOLD).rows()) for s in range(30)}) > 1
    other = equal_counts(
        found, keep=VapKind.HOLD, reduce=VapKind.SHIFT, rng=np.random.default_rng(0)
    )
    assert other.rows() == found.rows()


@pytest.mark.parametrize("frames", [0, 1, 600])
def test_sessions_without_events_are_empty(frames):
    found = run(frames=frames)
    assert (len(found), found.rows()) == (0, [])
    assert region_scores(np.zeros((frames, 2)), found).tolist() == []


def test_all_speech_has_no_events():
    assert len(run(user=[(0, 600)], system=[(0, 600)])) == 0


def test_rows_are_named_and_ordered_by_kind():
    found = run(user=[(100, 250)], system=[(262, 400)])
    assert found.rows()[0] == VapEvent(VapKind.SHIFT, Role.SYSTEM, 252, 262)
    assert found.kind.tolist() == sorted(found.kind.tolist())
    assert KINDS[found.kind[-1]] is VapKind.SHIFT_PREDICTION


@pytest.mark.parametrize(
    "bad",
    [{"min_context": Fraction(-1)}, {"pad": 0.05}, {"rate": Fraction(1)}],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(UsageError, match="FB612"):
        VapRules(**bad)


def test_bad_tracks_are_errors():
    with pytest.raises(DataError, match="FB611"):
        vap_events({Role.USER: [0]}, USUAL)
    with pytest.raises(DataError, match="FB611"):
        vap_events({Role.USER: [0], Role.SYSTEM: [0, 1]}, USUAL)
    with pytest.raises(DataError, match="FB202"):
        vap_events({Role.USER: [0.0], Role.SYSTEM: [float("nan")]}, USUAL)
