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
