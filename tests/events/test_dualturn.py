import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.dualturn import (
    RATE,
    SEGMENT_CLASSES,
    EventRow,
    SegmentClass,
    SignalRules,
    dualturn_signals,
    future_activity,
)
from oracles.events_dualturn import closed, future, labels
from oracles.events_ms98 import activity, read_call

GOLDEN = Path(__file__).parents[1] / "golden" / "dualturn_swb_ms98.csv"
RULES = SignalRules(min_gap=0)

# Alternating silences and runs whose lengths lie around every threshold of the rules.
LENGTHS = st.sampled_from([1, 2, 3, 5, 11, 12, 13, 20, 24, 37, 38, 39, 49, 50, 51, 60])
TRACKS = st.lists(LENGTHS, max_size=14)


def track(lengths, frames, *, first=False):
    out, on = [], first
    for n in lengths:
        out += [on] * n
        on = not on
    return (out + [False] * frames)[:frames]


@st.composite
def sessions(draw):
    frames = draw(st.sampled_from([0, 1, 2, 13, 60, 200, 330]))
    pair = [track(draw(TRACKS), frames, first=draw(st.booleans())) for _ in range(2)]
    return {Role.USER: pair[0], Role.SYSTEM: pair[1]}


def spoken(frames, **spans):
    """Two channels of ``frames`` frames with the given half-open runs."""
    out = {}
    for role in (Role.USER, Role.SYSTEM):
        on = np.zeros(frames, dtype=bool)
        for start, end in spans.get(role.value, []):
            on[start:end] = True
        out[role] = on
    return out


def signals(frames, rules=RULES, **spans):
    return dualturn_signals(spoken(frames, **spans), rules)


@given(sessions(), st.integers(0, 4))
def test_labels_agree_with_the_frame_by_frame_oracle(session, min_gap):
    result = dualturn_signals(session, SignalRules(min_gap=min_gap))
    own = {role: closed(on, min_gap) for role, on in session.items()}
    for role, other in ((Role.USER, Role.SYSTEM), (Role.SYSTEM, Role.USER)):
        expected = labels(own[role], own[other])
        fast = result.channels[role]
        for name in ("bc", "eot", "hold", "bot"):
            assert getattr(fast, name).tolist() == expected[name], name
        assert fast.hold_truncated.sum() == expected["truncated"]


@given(sessions())
def test_every_segment_has_one_class(session):
    for channel in dualturn_signals(session, RULES).channels.values():
        assert sum(channel.count(c) for c in SEGMENT_CLASSES) == len(channel.segments)
        touching = (channel.segments.end == len(channel.vad)).sum()
        assert channel.count(SegmentClass.OPEN) == touching
        assert (channel.eot | channel.hold).sum() == channel.count(
            SegmentClass.EOT
        ) + channel.count(SegmentClass.HOLD)


@given(sessions())
def test_swapping_the_channels_swaps_the_labels(session):
    swapped = {Role.USER: session[Role.SYSTEM], Role.SYSTEM: session[Role.USER]}
    a = dualturn_signals(session, RULES).channels
    b = dualturn_signals(swapped, RULES).channels
    for name in ("bc", "eot", "hold", "bot"):
        assert (getattr(a[Role.USER], name) == getattr(b[Role.SYSTEM], name)).all()


def test_an_overlap_that_dies_one_frame_after_the_end_can_be_eot():
    s = signals(300, user=[(100, 120)], system=[(105, 121)])
    assert s.channels[Role.USER].eot[119]


def test_an_overlap_that_dies_with_the_end_is_a_hold():
    s = signals(300, user=[(100, 120)], system=[(105, 120)])
    assert s.channels[Role.USER].hold[119]


def test_a_listeners_backchannel_of_exactly_12_frames_triggers_the_speakers_eot():
    s = signals(400, user=[(100, 140)], system=[(150, 162)])
    assert s.channels[Role.SYSTEM].count(SegmentClass.BC) == 1
    assert s.channels[Role.USER].eot[139]


def test_a_listeners_backchannel_of_11_frames_does_not():
    s = signals(400, user=[(100, 140)], system=[(150, 161)])
    assert s.channels[Role.SYSTEM].count(SegmentClass.BC) == 1
    assert s.channels[Role.USER].hold[139]


def test_a_one_word_answer_3_9_s_after_the_question_is_bc_without_overlap():
    s = signals(400, user=[(100, 140)], system=[(189, 193)])
    assert s.channels[Role.SYSTEM].bc[189:193].all()
    late = signals(400, user=[(100, 140)], system=[(190, 194)])
    assert not late.channels[Role.SYSTEM].bc.any()


def test_the_others_turn_must_begin_within_4_s_after_a_bc():
    for start, expected in ((153, True), (154, False)):
        s = signals(400, user=[(start, 200)], system=[(100, 104)])
        assert s.channels[Role.SYSTEM].bc[100] == expected


def test_bc_needs_a_turn_of_the_other_channel():
    s = signals(400, user=[(100, 111)], system=[(120, 124)])
    assert not s.channels[Role.SYSTEM].bc.any()


def test_bc_needs_12_frames_of_own_silence_on_both_sides():
    for own, expected in (
        ([(80, 88), (100, 104), (116, 130)], True),
        ([(80, 89), (100, 104), (116, 130)], False),
        ([(80, 88), (100, 104), (115, 130)], False),
    ):
        s = signals(400, user=[(60, 140)], system=own)
        assert s.channels[Role.SYSTEM].bc[100] == expected, own


def test_bc_length_is_at_most_12_frames():
    for end, expected in ((112, True), (113, False)):
        s = signals(400, user=[(60, 140)], system=[(100, end)])
        assert s.channels[Role.SYSTEM].bc[100] == expected


def test_silence_before_is_the_start_index_and_zero_at_frame_0():
    for start, expected in ((12, True), (11, False), (0, False)):
        s = signals(400, user=[(5, 60)], system=[(start, start + 4)])
        assert s.channels[Role.SYSTEM].bc[start] == expected


def test_a_segment_that_touches_the_end_has_no_label():
    s = signals(200, user=[(100, 200)])
    assert s.channels[Role.USER].count(SegmentClass.OPEN) == 1
    assert not (s.channels[Role.USER].eot | s.channels[Role.USER].hold).any()


def test_equal_first_frames_give_hold():
    s = signals(300, user=[(100, 120), (130, 150)], system=[(130, 150)])
    assert s.channels[Role.USER].hold[119]
    earlier = signals(300, user=[(100, 120), (130, 150)], system=[(129, 150)])
    assert earlier.channels[Role.USER].eot[119]


def test_the_run_that_takes_over_is_whole_even_beyond_the_look_ahead():
    s = signals(400, user=[(100, 120)], system=[(169, 181)])
    assert s.channels[Role.USER].eot[119]
    assert signals(400, user=[(100, 120)], system=[(170, 190)]).channels[Role.USER].hold[119]


def test_four_seconds_of_silence_are_a_hold_and_no_truncation():
    s = signals(170, user=[(100, 120)])
    assert s.channels[Role.USER].hold[119]
    assert s.hold_truncated == 0


def test_an_offset_near_the_end_without_activity_is_a_truncated_hold():
    s = signals(169, user=[(100, 120)])
    assert s.channels[Role.USER].hold[119]
    assert s.hold_truncated == 1
    assert s.rows("a")[-1].rule == "truncated"


def test_bot_needs_the_other_channel_strictly_later_and_12_frames_of_it():
    base = {"system": [(60, 90)]}
    assert signals(300, user=[(100, 120)], **base).channels[Role.USER].bot[100]
    assert not signals(300, user=[(100, 111)], **base).channels[Role.USER].bot.any()
    assert not signals(300, user=[(80, 90), (100, 120)], **base).channels[Role.USER].bot[100]
    assert not signals(300, user=[(140, 160)], **base).channels[Role.USER].bot.any()
    assert signals(300, user=[(139, 160)], **base).channels[Role.USER].bot[139]
    short = signals(300, user=[(100, 120)], system=[(60, 71)])
    assert not short.channels[Role.USER].bot.any()


def test_bot_counts_the_other_run_only_up_to_the_onset():
    for start, expected in ((88, True), (89, False)):
        s = signals(300, user=[(100, 130)], system=[(start, 140)])
        assert s.channels[Role.USER].bot[100] == expected


def test_min_gap_has_no_default():
    with pytest.raises(TypeError, match="min_gap"):
        SignalRules()


@pytest.mark.parametrize("bad", [{"min_gap": -1}, {"min_gap": 0, "max_gap": -5}])
def test_negative_thresholds_are_refused(bad):
    with pytest.raises(UsageError, match="FB612"):
        SignalRules(**bad)


def test_an_unknown_window_layout_is_refused():
    with pytest.raises(UsageError, match="disjoint or cumulative"):
        SignalRules(min_gap=0, fvad="both")


@given(st.lists(st.booleans(), max_size=60))
def test_future_activity_agrees_with_the_oracle(on):
    value, known = future_activity(np.array(on, dtype=bool))
    for t, row in enumerate(future(on)):
        for k, expected in enumerate(row):
            assert known[t, k] == (expected is not None)
            assert np.isnan(value[t, k]) if expected is None else value[t, k] == expected


@given(st.lists(st.booleans(), max_size=60))
def test_cumulative_windows_all_begin_at_the_next_frame(on):
    value, _ = future_activity(np.array(on, dtype=bool), cumulative=True)
    windows = ((1, 3), (1, 6), (1, 12), (1, 25))
    for t, row in enumerate(future(on, windows)):
        for k, expected in enumerate(row):
            assert np.isnan(value[t, k]) if expected is None else value[t, k] == expected


def test_rows_are_in_order_of_time_and_name_their_rule():
    s = signals(400, user=[(100, 140)], system=[(150, 180)])
    assert s.rows("c1") == [
        EventRow("c1", Role.USER, 139, "EOT", "dualturn-4s"),
        EventRow("c1", Role.SYSTEM, 150, "BOT", "dualturn-4s"),
        EventRow("c1", Role.SYSTEM, 179, "HOLD", "dualturn-4s"),
    ]


def test_a_backchannel_stands_on_its_first_frame():
    s = signals(400, user=[(60, 140)], system=[(100, 104)])
    assert s.rows("c")[0] == EventRow("c", Role.SYSTEM, 100, "BC", "dualturn-4s")


@pytest.mark.parametrize("frames", [0, 1, 50])
def test_a_session_without_events_has_no_rows(frames):
    s = signals(frames)
    assert s.rows("silent") == []
    assert s.channels[Role.USER].fvad.shape == (frames, 4)


def test_all_speech_has_one_open_segment_each():
    s = signals(100, user=[(0, 100)], system=[(0, 100)])
    assert s.rows("loud") == []
    assert [c.count(SegmentClass.OPEN) for c in s.channels.values()] == [1, 1]


def test_unequal_lengths_and_one_channel_are_errors():
    with pytest.raises(DataError, match="FB611"):
        dualturn_signals({Role.USER: [0, 1], Role.SYSTEM: [0]}, RULES)
    with pytest.raises(DataError, match="FB611"):
        dualturn_signals({Role.USER: [0, 1]}, RULES)


def golden():
    lines = [x for x in GOLDEN.read_text(encoding="utf-8").splitlines() if not x.startswith("#")]
    return list(csv.DictReader(lines))


@pytest.mark.parametrize("row", golden(), ids=lambda r: f"{r['call']}-{r['role']}")
def test_real_calls_have_the_known_counts(row, real_data):
    call = read_call(real_data / "swb_ms98", row["call"])
    channel = dualturn_signals(activity(call, RATE), RULES).channels[Role(row["role"])]
    assert len(channel.segments) == int(row["segments"])
    for kind in (SegmentClass.BC, SegmentClass.EOT, SegmentClass.HOLD):
        assert channel.count(kind) == int(row[kind.value.lower()])


@pytest.mark.parametrize(("min_gap", "holds"), [(0, 6703), (4, 3705)])
def test_min_gap_decides_how_many_holds_the_41_calls_have(min_gap, holds, real_data):
    folder = real_data / "swb_ms98"
    calls = sorted({p.name[:6] for p in folder.glob("*A-ms98-a-word.text")})
    assert len(calls) == 41
    total = 0
    for name in calls:
        found = dualturn_signals(
            activity(read_call(folder, name), RATE), SignalRules(min_gap=min_gap)
        )
        total += sum(c.count(SegmentClass.HOLD) for c in found.channels.values())
    assert total == holds


def test_a_small_file_in_the_same_format_gives_the_same_labels(tmp_path):
    side = "sw9-a-0001 {} {} {}\n".format
    (tmp_path / "sw9001A-ms98-a-word.text").write_text(
        side("0.000000", "8.000000", "[silence]")
        + side("8.000000", "9.600000", "hello")
        + side("9.600000", "11.200000", "[laughter-there]")
        + side("11.200000", "40.000000", "[silence]"),
        encoding="utf-8",
    )
    (tmp_path / "sw9001B-ms98-a-word.text").write_text(
        side("0.000000", "12.000000", "[noise]")
        + side("12.000000", "12.960000", "h[i]-")
        + side("12.960000", "13.500000", "[laughter]")
        + side("13.500000", "40.000000", "[silence]"),
        encoding="utf-8",
    )
    call = read_call(tmp_path, "sw9001")
    assert dualturn_signals(activity(call, RATE), RULES).rows("sw9001") == [
        EventRow("sw9001", Role.USER, 139, "EOT", "dualturn-4s"),
        EventRow("sw9001", Role.SYSTEM, 150, "BC", "dualturn-4s"),
    ]
