"""Causal systems pass, cheaters of every kind are found out, and chance is not called cheating."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Decision, Event
from floorbench.core.sample import Observation, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.errors import UsageError
from floorbench.run.causality import FUTURES, altered, check_causality
from floorbench.systems import build_system
from floorbench.systems.frames import answer, hear
from floorbench.systems.stream import StreamDriver
from support.stream_toys import LoudCheater, Toy, WordCheater, at

RATE = 16_000


def seen(onset: float = 1.0) -> Observation:
    sound = np.zeros(3 * RATE, dtype=np.float32)
    sound[round(onset * RATE) : round((onset + 1) * RATE)] = 0.2
    return Observation(
        language="en",
        channels={Role.USER: ArrayAudio(sound, rate=RATE)},
        words=(Word(text="stop", span=Span(onset, onset + 0.5)),),
        cutoff=2.9,
    )


def check(system: Any, *observations: Observation) -> Any:
    shown = observations or (seen(), seen(0.6))
    return check_causality(system, [(f"s{i}", o) for i, o in enumerate(shown)])


@pytest.mark.parametrize("name", ["barge-in-energy", "barge-in-silero", "backchannel-words"])
def test_systems_that_stream_are_causal(name: str) -> None:
    system = build_system(name)
    system.load()
    found = check(system)
    assert found.causal is True
    assert found.comparisons >= 2 * 3 * len(FUTURES)
    assert found.nondeterministic == 0


def test_listening_to_the_whole_recording_is_found_out() -> None:
    found = check(LoudCheater())
    assert found.causal is False
    assert {v.future for v in found.violations} == {"silence", "ended"}
    assert "s0: with silence after" in str(found.violations[0])
    assert "from yield at 0.200 s to nothing" in str(found.violations[0])


def test_looking_at_words_to_come_is_found_out() -> None:
    found = check(WordCheater())
    assert found.causal is False


def test_a_cheater_by_length_is_found_out() -> None:
    class Length(LoudCheater):
        def decide(self, observation: Observation) -> Decision:
            frames = observation.channels[Role.USER].frames
            return Decision(events=(Event(kind="action", label=str(frames), time=0.1, commit=0.1),))

    found = check(Length())
    assert {v.future for v in found.violations} == {"ended"}


def test_a_claimed_commit_time_does_not_get_past_the_driver() -> None:
    def push(step: Any, toy: Toy) -> list[Event]:
        loud = step.samples[Role.USER].max() > 0.1 and step.end > 1.5
        return [Event(kind="action", label="yield", time=0.1, commit=0.1)] if loud else []

    assert check(StreamDriver(Toy(push))).causal is True


def test_a_random_system_is_called_nondeterministic_and_its_labels_are_compared() -> None:
    count = itertools.count()

    class Dice(LoudCheater):
        def decide(self, observation: Observation) -> Decision:
            score = float(next(count))
            event = Event(kind="action", label="yield", time=0.1, commit=0.1, score=score)
            return Decision(events=(event,))

    found = check(Dice())
    assert found.nondeterministic == 2
    assert found.causal is True


def test_a_system_without_commit_times_cannot_be_checked() -> None:
    with pytest.raises(UsageError, match="FB541"):
        check(build_system("always-keep"))


def test_a_stream_that_fails_proves_nothing() -> None:
    def push(step: Any, toy: Toy) -> Any:
        raise ConnectionError

    found = check(StreamDriver(Toy(push)))
    assert found.causal is None
    assert found.outcomes == {"failed": 2}


def test_silence_as_an_answer_is_compared_too() -> None:
    found = check(StreamDriver(Toy(at(99.0))))
    assert found.decisions == 0
    assert found.causal is True


@pytest.mark.parametrize("future", FUTURES)
def test_a_changed_future_keeps_the_past(future: str) -> None:
    before = seen()
    after = altered(before, after=1.2, future=future)
    old, new = (o.channels[Role.USER].read() for o in (before, after))
    first = round(1.2 * RATE)
    assert np.array_equal(old[:first], new[:first])
    assert not np.array_equal(old[first:], new[first:])
    assert [w.text for w in after.words] == (
        [] if future in ("silence", "ended") else ["something"]
    )
    assert altered(before, after=1.5, future=future).words == before.words
    with pytest.raises(UsageError, match="FB103"):
        altered(before, after=1.0, future="other")


TALK = Observation(
    language="en",
    activity={
        Role.USER: (Span(0.4, 2.0), Span(3.1, 3.4), Span(6.0, 8.5)),
        Role.SYSTEM: (Span(2.2, 5.5), Span(9.0, 9.6)),
    },
    words=(Word(text="so", span=Span(1.5, 2.0)), Word(text="yes", span=Span(9.0, 9.6))),
    cutoff=10.0,
)


@pytest.mark.parametrize("name", ["silence-frames", "persistence"])
def test_systems_that_score_frames_are_checked_frame_by_frame(name: str) -> None:
    found = check(build_system(name), TALK)
    assert found.causal is True
    assert found.decisions == 125


@pytest.mark.parametrize("seconds", [0.08, 2.4])
def test_a_frame_system_that_looks_ahead_more_than_it_declares_is_found_out(
    seconds: float,
) -> None:
    class Ahead(LoudCheater):
        declared = 0.0

        def decide(self, observation: Observation) -> Decision:
            heard = hear(observation)
            assert heard is not None
            shift = round(seconds * 12.5)
            user = np.append(heard.vad[Role.USER][shift:], np.zeros(shift)).astype(float)
            return answer({"vad:user": user[: heard.frames]}, look_ahead=self.declared)

    found = check(Ahead(), TALK)
    assert found.causal is False
    assert str(found.violations[0]).count("vad:user") == 2  # the first score that moved, not all
    Ahead.declared = seconds
    assert check(Ahead(), TALK).causal is True


class Scorer(LoudCheater):
    """Scores every frame by some rule of the activity and the count of calls."""

    def __init__(self, rule: Any) -> None:
        self._rule, self._calls = rule, itertools.count()

    def decide(self, observation: Observation) -> Decision:
        heard = hear(observation)
        assert heard is not None
        user = heard.vad[Role.USER].astype(float)
        return self._rule(user, next(self._calls))


def test_the_length_of_a_session_is_found_out_and_the_noise_of_arithmetic_is_not() -> None:
    length = Scorer(lambda user, _: answer({"vad:user": user + len(user)}))
    assert {v.future for v in check(length, TALK).violations} == {"ended"}
    share = Scorer(lambda user, _: answer({"vad:user": user - user.mean()}))
    assert {v.future for v in check(share, TALK).violations} >= {"silence", "ended"}
    noise = Scorer(lambda user, n: answer({"vad:user": user + 1e-6 * n}))
    assert check(noise, TALK).causal is True


def test_scores_that_do_not_repeat_prove_nothing() -> None:
    found = check(Scorer(lambda user, n: answer({"vad:user": user + n})), TALK)
    assert (found.causal, found.nondeterministic, found.comparisons) == (None, 1, 0)


def test_scores_that_stop_early_or_change_their_kind_are_found_out() -> None:
    for rule, word in (
        (lambda user, n: answer({"vad:user": user[: 40 if n > 1 else 125]}), "40 frames"),
        (lambda user, n: answer({"bc:user" if n > 1 else "vad:user": user}), "no such scores"),
        (lambda user, n: answer({"vad:user": user}, look_ahead=float(n > 1)), "look-ahead 1 s"),
    ):
        found = check(Scorer(rule), TALK)
        assert found.causal is False
        assert word in found.violations[-1].after


def test_a_stream_that_is_told_of_future_speech_is_found_out() -> None:
    class Told(LoudCheater):
        def decide(self, observation: Observation) -> Decision:
            speech = observation.activity[Role.USER]
            label = "yield" if speech and speech[-1].end > 8 else "keep"
            return Decision(events=(Event(kind="action", label=label, time=0.1, commit=0.1),))

    found = check(Told(), TALK)
    assert {v.future for v in found.violations} >= {"silence", "ended"}


@pytest.mark.parametrize("future", FUTURES)
def test_changed_activity_is_the_same_before_and_another_one_after(future: str) -> None:
    changed = altered(TALK, after=3.2, future=future)
    assert changed.activity[Role.USER][:2] == (Span(0.4, 2.0), Span(3.1, 3.2))
    for role in TALK.activity:
        spans = changed.activity[role]
        assert spans != TALK.activity[role]
        assert all(a.end <= b.start for a, b in itertools.pairwise(spans))
        assert spans[-1].end <= 10.0
    later = changed.activity[Role.USER][2:]
    assert later == {
        "reversed": (Span(4.7, 7.2), Span(9.8, 10.0)),
        "noise": (Span(3.4, 6.0), Span(8.5, 10.0)),
    }.get(future, ())
    assert (changed.cutoff == 3.2) == (future == "ended")


def test_answering_when_the_recording_ends_is_no_cheating() -> None:
    """At the end of what is heard the end itself is known, to streams and to classifiers."""

    class AtTheClose(Toy):
        def close(self) -> Any:
            return [Event(kind="action", time=self.seen[-1].end, label="keep")]

    class Whole(LoudCheater):
        def decide(self, observation: Observation) -> Decision:
            return Decision(label="complete", commit=observation.cutoff)

    for system in (StreamDriver(AtTheClose(at(0.6))), Whole()):
        found = check(system)
        assert found.decisions
        assert found.causal is True
