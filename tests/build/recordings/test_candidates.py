import pytest

from floorbench.build.recordings.candidates import (
    BACKCHANNEL,
    COMPLETION,
    INCOMPLETE,
    INTERRUPTION,
    MiningRules,
    candidates,
)
from floorbench.core.time import to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_session import TwoChannelSession
from floorbench.errors import UsageError
from floorbench.events.dualturn_words import TimedWord

RULES = MiningRules()


def session(user, system):
    speech, words = {}, {}
    for role, spans in ((Role.USER, user), (Role.SYSTEM, system)):
        speech[role] = [[to_ticks(a), to_ticks(b)] for a, b, _ in spans]
        words[role] = tuple(TimedWord(t, to_ticks(a), to_ticks(b)) for a, b, t in spans)
    end = max(e for spans in speech.values() for _, e in spans)
    return TwoChannelSession(id="s", speech=speech, end=end, source="words", words=words)


def short(found):
    return [(c.intent, c.role, c.start / 1e6, c.end / 1e6, c.text) for c in found]


def test_a_turn_that_is_answered_after_a_gap_is_a_completion():
    found = candidates(session([(1, 3, "where?")], [(3.5, 5, "here")]), RULES)
    assert short(found) == [(COMPLETION, Role.USER, 1, 3, "where?")]
    assert found[0].rule == "gap of 0.50 s"
    assert found[0].history == ()


def test_a_pause_inside_a_turn_is_incomplete_from_the_turns_start():
    made = session([(1, 2, "i"), (3, 4, "mean"), (5, 6, "this")], [(6.2, 8, "ok")])
    assert short(candidates(made, RULES)) == [
        (INCOMPLETE, Role.USER, 1, 2, "i"),
        (INCOMPLETE, Role.USER, 1, 4, "i mean"),
        (COMPLETION, Role.USER, 1, 6, "i mean this"),
    ]


def test_units_of_the_floor_become_backchannels_and_interruptions():
    made = session([(3, 3.4, "yeah"), (8, 10, "stop")], [(1, 5, "long"), (6, 9, "story")])
    labels = {(c.intent, c.start / 1e6) for c in candidates(made, RULES) if c.role == Role.USER}
    assert (BACKCHANNEL, 3.0) in labels
    assert (INTERRUPTION, 8.0) in labels


def test_both_sides_are_mined():
    found = candidates(session([(1, 3, "a"), (6, 7, "c")], [(3.5, 5, "b")]), RULES)
    assert {c.role for c in found} == {Role.USER, Role.SYSTEM}


@pytest.mark.parametrize(("gap", "count"), [(1.9, 1), (2.0, 1), (2.1, 0)])
def test_a_long_gap_is_no_completion(gap, count):
    found = candidates(session([(1, 3, "a")], [(3 + gap, 9, "b")]), RULES)
    assert len(found) == count


def test_an_overlapped_answer_is_no_completion():
    found = candidates(session([(1, 3, "a")], [(2.9, 5, "b")]), RULES)
    assert [c for c in found if c.intent == COMPLETION] == []


def test_targets_outside_the_lengths_are_left_out():
    made = session([(1, 1.2, "a")], [(1.5, 40, "b")])
    assert candidates(made, RULES) == []


def test_history_is_at_most_five_rounds_that_are_over():
    user = [(5 * k, 5 * k + 1.5, f"u{k}") for k in range(8)]
    system = [(5 * k + 2, 5 * k + 3.5, f"s{k}") for k in range(8)]
    last = [c for c in candidates(session(user, system), RULES) if c.role == Role.USER][-1]
    assert last.text == "u7"
    assert [(a.text, b.text) for a, b in last.history] == [(f"u{k}", f"s{k}") for k in range(2, 7)]
    assert all(b.end <= last.start for _, b in last.history)


@pytest.mark.parametrize(
    "wrong", [{"shortest": 0}, {"shortest": 20}, {"max_gap": -1}, {"min_pause": 0}]
)
def test_rules_are_checked(wrong):
    with pytest.raises(UsageError, match="FB885"):
        MiningRules(**wrong)
