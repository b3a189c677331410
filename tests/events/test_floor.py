import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.floor import STRETCH_KINDS, FloorRules, StretchKind, floor
from oracles.events_floor import analyse
from oracles.events_ms98 import read_call

SPANS = st.lists(
    st.tuples(st.integers(0, 50), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1])),
    max_size=7,
).map(sorted)


def rules(**changes):
    usual = {
        "min_gap": 3,
        "max_backchannel": 4,
        "backchannel_silence": 5,
        "interruption_overlap": 3,
        "backchannels": "keep",
    }
    return FloorRules(**usual | changes)


def run(user, system, **changes):
    return floor({Role.USER: user, Role.SYSTEM: system}, rules(**changes))


def listed(stretches):
    return [
        (s, e, STRETCH_KINDS[k].value)
        for s, e, k in zip(
            stretches.start.tolist(), stretches.end.tolist(), stretches.kind.tolist(), strict=True
        )
    ]


@given(
    SPANS, SPANS, st.integers(0, 4), st.integers(0, 8), st.integers(0, 8), st.integers(1, 4),
    st.booleans(),
)  # fmt: skip
def test_the_floor_agrees_with_the_tick_by_tick_oracle(
    user, system, min_gap, longest, silence, least, exclude
):
    found = run(
        user,
        system,
        min_gap=min_gap,
        max_backchannel=longest,
        backchannel_silence=silence,
        interruption_overlap=least,
        backchannels="exclude" if exclude else "keep",
    )
    expected = analyse(
        [user, system], min_gap=min_gap, longest=longest, silence=silence, least=least,
        exclude=exclude, horizon=70,
    )  # fmt: skip
    for side in range(2):
        mine = found.ipus.role == side
        assert found.ipus.backchannel[mine].tolist() == expected["bc"][side]
    cut = found.ipus.interruption
    assert (
        sorted(zip(found.ipus.start[cut].tolist(), found.ipus.role[cut].tolist(), strict=True))
        == expected["cut"]
    )
    assert listed(found.silences) == expected["silences"]
    assert listed(found.overlaps) == expected["overlaps"]
    moves = found.transitions
    assert list(
        zip(
            moves.offset.tolist(), moves.onset.tolist(), moves.before.tolist(),
            moves.after.tolist(), strict=True,
        )
    ) == expected["moves"]  # fmt: skip


@given(SPANS, SPANS, st.integers(0, 10**12))
def test_adding_a_constant_moves_everything_and_changes_nothing(user, system, shift):
    def moved(spans):
        return [(s + shift, e + shift) for s, e in spans]

    a, b = run(user, system), run(moved(user), moved(system))
    assert (a.ipus.start + shift).tolist() == b.ipus.start.tolist()
    assert a.silences.kind.tolist() == b.silences.kind.tolist()
    assert a.transitions.fto.tolist() == b.transitions.fto.tolist()


def test_a_gap_is_between_speakers_and_a_pause_within_one():
    found = run([(0, 10), (20, 30)], [(40, 50)])
    assert listed(found.silences) == [(10, 20, "pause"), (30, 40, "gap")]
    assert found.transitions.shift.tolist() == [False, True]
    assert found.transitions.fto.tolist() == [10, 10]


def test_own_silences_shorter_than_min_gap_are_inside_an_ipu():
    assert len(run([(0, 10), (12, 20)], []).ipus) == 1
    assert len(run([(0, 10), (13, 20)], []).ipus) == 2


def test_an_overlap_at_a_speaker_change_has_a_negative_fto():
    found = run([(0, 20)], [(15, 40)])
    assert listed(found.overlaps) == [(15, 20, "overlap_between")]
    assert found.transitions.fto.tolist() == [-5]


def test_an_overlap_inside_one_speakers_turn_moves_nothing():
    found = run([(0, 40)], [(15, 20)])
    assert listed(found.overlaps) == [(15, 20, "overlap_within")]
    assert len(found.transitions) == 0


def test_a_change_without_gap_or_overlap_has_fto_zero():
    found = run([(0, 20)], [(20, 40)])
    assert found.transitions.fto.tolist() == [0]
    assert len(found.silences) == len(found.overlaps) == 0


def test_an_overlap_before_anybody_spoke_alone_is_an_edge():
    assert listed(run([(0, 10)], [(0, 20)]).overlaps) == [(0, 10, "edge")]


def test_a_backchannel_is_short_isolated_and_inside_the_others_floor():
    found = run([(0, 20), (30, 60)], [(23, 26)])
    assert found.ipus.backchannel.tolist() == [False, True, False]
    longer = run([(0, 20), (30, 60)], [(23, 28)])
    assert not longer.ipus.backchannel.any()
    answered = run([(0, 20), (32, 60)], [(23, 26), (30, 50)])
    assert not answered.ipus.backchannel.any()


def test_a_short_unit_is_no_backchannel_when_both_stop_or_start_together():
    assert run([(0, 20), (30, 60)], [(0, 18), (25, 28)]).ipus.backchannel[2]
    assert not run([(0, 20), (30, 60)], [(0, 20), (25, 28)]).ipus.backchannel.any()
    assert run([(0, 18), (31, 60)], [(23, 26), (32, 60)]).ipus.backchannel[1]
    assert not run([(0, 18), (31, 60)], [(23, 26), (31, 60)]).ipus.backchannel.any()


def test_excluded_backchannels_leave_a_hold_instead_of_two_shifts():
    user, system = [(0, 20), (30, 60)], [(23, 26)]
    kept = run(user, system)
    assert kept.transitions.shift.tolist() == [True, True]
    left_out = run(user, system, backchannels="exclude")
    assert left_out.transitions.shift.tolist() == [False]
    assert listed(left_out.silences) == [(20, 30, "pause")]
    assert left_out.ipus.backchannel.sum() == 1


def test_an_interruption_ends_the_others_turn_with_enough_overlap():
    assert run([(0, 20)], [(17, 40)]).ipus.interruption.tolist() == [False, True]
    assert not run([(0, 20)], [(18, 40)]).ipus.interruption.any()
    assert not run([(0, 60)], [(17, 40)]).ipus.interruption.any()
    assert not run([(0, 20)], [(0, 40)]).ipus.interruption.any()


def test_counts_by_kind():
    found = run([(0, 10), (20, 30)], [(40, 50)])
    assert found.silences.count(StretchKind.PAUSE) == 1
    assert found.silences.count(StretchKind.EDGE) == 0


@pytest.mark.parametrize(("user", "system"), [([], []), ([(5, 5)], []), ([(0, 9)], [])])
def test_sessions_without_events_are_empty(user, system):
    found = run(user, system)
    assert len(found.transitions) == len(found.silences) == len(found.overlaps) == 0
    assert len(found.ipus) == sum(e > s for s, e in user)


@pytest.mark.parametrize(
    ("user", "code"),
    [
        ([(-1, 4)], "FB610"),
        ([(9, 4)], "FB610"),
        ([(5, 9), (1, 3)], "FB610"),
        ([(0.0, float("nan"))], "FB202"),
    ],
)
def test_bad_speech_is_an_error(user, code):
    with pytest.raises(DataError, match=code):
        run(user, [])


def test_one_channel_is_an_error():
    with pytest.raises(DataError, match="FB611"):
        floor({Role.USER: []}, rules())


def test_no_threshold_has_a_default():
    with pytest.raises(TypeError, match="5 required keyword-only arguments"):
        FloorRules()


@pytest.mark.parametrize(
    "bad",
    [{"min_gap": -1}, {"interruption_overlap": 0}, {"backchannels": "maybe"}],
)
def test_bad_thresholds_are_refused(bad):
    with pytest.raises(UsageError, match="FB612"):
        rules(**bad)


def test_a_real_call_adds_up(real_data):
    call = read_call(real_data / "swb_ms98", "sw2001")
    found = floor(
        {role: side.spans() for role, side in call.items()},
        FloorRules(
            min_gap=200_000,
            max_backchannel=1_000_000,
            backchannel_silence=1_000_000,
            interruption_overlap=500_000,
            backchannels="exclude",
        ),
    )
    shifts = found.transitions.fto[found.transitions.shift]
    assert 20 < len(shifts) < 200
    assert -1_000_000 < sorted(shifts)[len(shifts) // 2] < 1_000_000
    assert found.ipus.backchannel.sum() > 5
