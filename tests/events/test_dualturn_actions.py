import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.dualturn import EventRow
from floorbench.events.dualturn_actions import (
    ACTIONS,
    RULES,
    ActionRules,
    agent_actions,
)
from oracles.events_dualturn import actions

ANY_LENGTH = ActionRules(min_gap=0, min_session=0)
USUAL = ActionRules(min_gap=0)
LENGTHS = st.sampled_from([1, 2, 3, 4, 5, 10, 11, 12, 13, 24, 25, 26, 49, 50, 51])


@st.composite
def sessions(draw):
    frames = draw(st.sampled_from([0, 1, 6, 60, 200, 330]))
    out = {}
    for role in (Role.USER, Role.SYSTEM):
        on, line = draw(st.booleans()), []
        for n in draw(st.lists(LENGTHS, max_size=16)):
            line += [on] * n
            on = not on
        out[role] = (line + [False] * frames)[:frames]
    return out


def events(rules=USUAL, *, frames=600, user=(), system=(), rng=None):
    tracks = {Role.USER: np.zeros(frames, dtype=bool), Role.SYSTEM: np.zeros(frames, dtype=bool)}
    for role, spans in ((Role.USER, user), (Role.SYSTEM, system)):
        for start, end in spans:
            tracks[role][start:end] = True
    return agent_actions(tracks, rules, agent=Role.SYSTEM, rng=rng)


def told(found):
    return [(row.frame, row.label, row.rule) for row in found.rows("s")]


@given(sessions())
def test_events_agree_with_the_frame_by_frame_oracle(session):
    found = agent_actions(session, ANY_LENGTH, agent=Role.SYSTEM)
    fast = sorted(
        (int(f), ACTIONS[a], RULES[r], bool(b))
        for f, a, r, b in zip(found.frame, found.label, found.rule, found.by_agent, strict=True)
    )
    expected, both = actions(session[Role.SYSTEM], session[Role.USER])
    assert fast == expected
    assert found.simultaneous == both


@given(sessions())
def test_each_overlap_onset_is_sl_or_ct_once_over_the_two_agents(session):
    both = np.array(session[Role.USER], dtype=bool) & np.array(session[Role.SYSTEM], dtype=bool)
    onsets = int((np.diff(both.astype(int), prepend=0) == 1).sum())
    rules = ActionRules(min_gap=0, min_session=0, min_overlap=0)
    total = simultaneous = 0
    for agent in session:
        found = agent_actions(session, rules, agent=agent)
        simultaneous = found.simultaneous
        total += found.count("SL") + found.count("CT")
    assert total + simultaneous == onsets


def test_the_agent_within_four_seconds_is_st():
    assert told(events(user=[(100, 140)], system=[(190, 220)])) == [(140, "ST", "ST_started")]
    assert told(events(user=[(100, 140)], system=[(191, 220)])) == []


def test_the_frame_at_the_end_itself_is_not_read():
    assert told(events(user=[(100, 140)], system=[(140, 141)])) == []


def test_an_agent_that_was_already_speaking_is_st_overlapping():
    found = told(events(user=[(100, 140)], system=[(130, 180)]))
    assert (140, "ST", "ST_overlapping") in found


def test_the_user_within_two_seconds_is_cl():
    assert told(events(user=[(100, 140), (165, 180)]))[0] == (140, "CL", "CL_resumed")
    assert told(events(user=[(100, 140), (166, 180)])) == []


def test_a_return_after_two_seconds_is_passed_over():
    found = told(events(user=[(100, 140), (166, 168)], system=[(185, 230)]))
    assert found[0] == (140, "ST", "ST_started")


def test_the_agent_goes_before_the_user_at_equal_times():
    found = told(events(user=[(100, 140), (150, 200)], system=[(150, 200)]))
    assert found[0] == (140, "ST", "ST_started")


def test_short_user_segments_and_late_offsets_are_no_events():
    assert told(events(user=[(100, 103)], system=[(110, 130)])) == []
    assert told(events(user=[(100, 104)], system=[(110, 130)])) == [(104, "ST", "ST_started")]
    assert told(events(user=[(500, 595)], system=[(597, 600)])) == []
    assert told(events(user=[(500, 594)], system=[(597, 600)])) == [(594, "ST", "ST_started")]


def test_incoming_speech_of_a_second_is_sl_and_less_is_ct():
    for length, label in ((1, None), (2, "CT"), (11, "CT"), (12, "SL")):
        found = told(events(system=[(100, 300)], user=[(150, 150 + length)]))
        assert [x[1] for x in found if x[0] == 150] == ([label] if label else [])


def test_the_incoming_run_counts_whatever_the_other_does():
    found = events(system=[(100, 152)], user=[(150, 170)])
    assert (150, "SL", "incoming_long") in told(found)
    assert found.run[list(found.frame).index(150)] == 20


def test_incoming_runs_are_counted_up_to_the_cap():
    found = events(system=[(100, 200)], user=[(150, 400)])
    assert found.run[list(found.frame).index(150)] == 60


def test_an_agent_onset_that_meets_the_bc_rule_is_bc_only():
    found = events(user=[(100, 300)], system=[(150, 156)])
    assert told(found)[0] == (150, "BC", "vocalisation")
    assert found.anchor[0] == 148
    assert found.count("CT") == 0


def test_an_agent_onset_that_is_no_bc_is_the_users_event():
    row = events(user=[(100, 300)], system=[(150, 180)]).rows("s")[0]
    assert row == EventRow("s", Role.USER, 150, "SL", "incoming_long")


def test_a_bc_event_needs_the_user_for_more_than_half_of_its_surroundings():
    # 4 frames and 3 on either side: 10 frames, of which 6 and 5 are the user's.
    assert events(user=[(100, 153)], system=[(150, 154)]).count("BC") == 1
    assert events(user=[(100, 152)], system=[(150, 154)]).count("BC") == 0


def test_bc_events_near_the_edges_are_skipped():
    assert events(user=[(0, 300)], system=[(2, 6)]).count("BC") == 0
    assert events(user=[(0, 300)], system=[(3, 7)]).count("BC") == 1
    assert events(user=[(300, 600)], system=[(593, 598)]).count("BC") == 0
    assert events(user=[(300, 600)], system=[(592, 597)]).count("BC") == 1


def test_simultaneous_onsets_are_counted_and_give_no_event():
    found = events(user=[(100, 150)], system=[(100, 170)])
    assert found.simultaneous == 1
    assert [x[1] for x in told(found)] == ["ST"]


def test_sessions_under_500_frames_are_dropped():
    short = events(frames=499, user=[(100, 140)], system=[(150, 160)])
    assert short.dropped
    assert len(short) == 0
    assert not events(frames=500).dropped


def test_a_session_without_events_is_empty_and_not_dropped():
    found = events()
    assert (len(found), found.dropped, found.rows("s")) == (0, False, [])


def test_gaps_are_closed_first():
    rules = ActionRules(min_gap=4)
    assert told(events(rules, user=[(100, 140), (144, 180)])) == []
    assert len(told(events(USUAL, user=[(100, 140), (144, 180)]))) == 1


def compat(seed=0, **spans):
    rules = ActionRules(min_gap=0, port_compat=True)
    return events(rules, rng=np.random.default_rng(seed), **spans)


def test_port_compat_counts_every_overlap_under_both_roles():
    found = compat(system=[(100, 160)], user=[(150, 155)])
    assert sorted(x[1] for x in told(found) if x[0] == 150) == ["CT", "CT"]


def test_port_compat_doubles_bc_as_ct_and_draws_one_negative_per_bc():
    found = compat(user=[(100, 300)], system=[(150, 156)])
    assert sorted(x[1] for x in told(found) if x[0] == 150) == ["BC", "CT", "SL"]
    (frame,) = [x[0] for x in told(found) if x[2] == "CL_negative"]
    assert 100 <= frame < 300
    assert frame <= 150 - 15 or frame >= 155 + 15
    assert found.negatives_short == 0


def test_port_compat_negatives_keep_their_distances():
    seen = set()
    for seed in range(300):
        found = compat(seed, user=[(120, 180)], system=[(150, 156)])
        seen |= {x[0] for x in told(found) if x[2] == "CL_negative"}
    assert seen == {*range(120, 136), *range(170, 180)}


def test_port_compat_negatives_keep_away_from_the_edges():
    seen = set()
    for seed in range(300):
        found = compat(seed, user=[(40, 60), (540, 560), (300, 330)], system=[(310, 316)])
        seen |= {x[0] for x in told(found) if x[2] == "CL_negative"}
    assert seen == {*range(50, 60), *range(540, 550)}


def test_port_compat_reports_negatives_that_found_no_place():
    found = compat(user=[(140, 166)], system=[(150, 156)])
    assert found.negatives_short == 1
    assert "CL_negative" not in [x[2] for x in told(found)]


def test_the_same_seed_gives_the_same_negatives():
    spans = {"user": [(100, 500)], "system": [(150, 156), (250, 256)]}
    assert told(compat(3, **spans)) == told(compat(3, **spans))


def test_a_generator_is_needed_exactly_with_port_compat():
    with pytest.raises(UsageError, match="needs a random generator"):
        events(ActionRules(min_gap=0, port_compat=True))
    with pytest.raises(UsageError, match="must be set"):
        events(USUAL, rng=np.random.default_rng(0))


def test_an_absent_agent_is_an_error():
    tracks = {Role.USER: [0, 1], Role.SYSTEM: [0, 0]}
    with pytest.raises(DataError, match="role 'third_party' is absent"):
        agent_actions(tracks, USUAL, agent=Role.THIRD_PARTY)
    with pytest.raises(DataError, match="FB611"):
        agent_actions({Role.USER: [0, 1]}, USUAL, agent=Role.USER)


def test_min_gap_has_no_default_and_negative_values_are_refused():
    with pytest.raises(TypeError, match="min_gap"):
        ActionRules()
    with pytest.raises(UsageError, match="tail is -1"):
        ActionRules(min_gap=0, tail=-1)
