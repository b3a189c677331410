"""The driver owns the clock: what is pushed when, what is stamped, what becomes of faults."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Event
from floorbench.core.sample import Observation, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import DataError, SystemProblem
from floorbench.systems.stream import OBSERVED, StreamDriver, driven, stamped, steps
from support.stream_toys import Toy, at, spec

RATE = 16_000


def ramp(seconds: float, rate: int = RATE) -> np.ndarray:
    return np.linspace(-0.5, 0.5, round(seconds * rate), dtype=np.float32)


def seen(seconds: float = 1.0, *, rate: int = RATE, **kw: Any) -> Observation:
    channels = {
        Role.USER: ArrayAudio(ramp(seconds, rate), rate=rate),
        Role.SYSTEM: ArrayAudio(-ramp(seconds, rate), rate=rate),
    }
    return Observation(**{"language": "en", "channels": channels, **kw})


def test_both_channels_are_pushed_together_in_order_and_complete() -> None:
    toy = Toy(lambda step, toy: ())
    StreamDriver(toy).decide(seen(1.0))
    assert [(s.start, s.end) for s in toy.seen] == [
        (pytest.approx(i / 10), pytest.approx((i + 1) / 10)) for i in range(10)
    ]
    for role, sign in ((Role.USER, 1), (Role.SYSTEM, -1)):
        heard = np.concatenate([s.samples[role] for s in toy.seen])
        assert np.array_equal(heard, sign * ramp(1.0))
    assert toy.closed == 1


def test_the_last_step_is_filled_with_silence_and_nothing_passes_the_cutoff() -> None:
    toy = Toy(lambda step, toy: ())
    decision = StreamDriver(toy).decide(seen(1.0, cutoff=0.25))
    assert len(toy.seen) == 3
    last = toy.seen[-1].samples[Role.USER]
    assert np.array_equal(last[:800], ramp(1.0)[3200:4000])
    assert not np.any(last[800:])
    assert decision.events == (Event(kind=OBSERVED, time=0.3, commit=0.3),)


def test_a_missing_channel_is_silence() -> None:
    toy = Toy(lambda step, toy: ())
    user = {Role.USER: ArrayAudio(ramp(0.3), rate=RATE)}
    StreamDriver(toy).decide(seen(channels=user))
    assert not np.any(np.concatenate([s.samples[Role.SYSTEM] for s in toy.seen]))


def test_the_start_tells_neither_audio_nor_words_nor_the_end() -> None:
    toy = Toy(lambda step, toy: (), modalities=("audio", "words"))
    turns = (Turn(role=Role.USER, text="hello"),)
    StreamDriver(toy).decide(
        seen(
            turns=turns,
            text="stop",
            words=(Word(text="stop", span=Span(0.1, 0.2)),),
            activity={Role.USER: (Span(0.5, 0.8),), Role.SYSTEM: ()},
            spoken_prefix="it began",
            cutoff=0.9,
            state="SystemSpeaking",
        )
    )
    assert toy.setups == [Observation(language="en", turns=turns, state="SystemSpeaking")]


@pytest.mark.parametrize("delay", [0.0, 0.15])
def test_words_come_when_they_have_ended_plus_the_declared_delay(delay: float) -> None:
    toy = Toy(lambda step, toy: (), modalities=("audio", "words"), parameters={"word_delay": delay})
    words = (Word(text="a", span=Span(0.05, 0.2)), Word(text="b", span=Span(0.2, 0.41)))
    StreamDriver(toy).decide(seen(words=words))
    told = {w.text: s.end for s in toy.seen for w in s.words}
    assert told["a"] == pytest.approx(0.2 if delay == 0 else 0.4)
    assert told["b"] == pytest.approx(0.5 if delay == 0 else 0.6)


def test_words_are_kept_from_systems_that_do_not_declare_them() -> None:
    toy = Toy(lambda step, toy: ())
    StreamDriver(toy).decide(seen(words=(Word(text="a", span=Span(0.0, 0.1)),)))
    assert not any(s.words for s in toy.seen)


def test_the_commit_time_is_the_end_of_the_step_whatever_the_system_claims() -> None:
    def push(step: Any, toy: Toy) -> list[Event]:
        return [Event(kind="action", label="yield", time=0.05, commit=0.01)] * (step.end > 0.45)

    decision = StreamDriver(Toy(push)).decide(seen(0.5))
    assert decision.events[0] == Event(kind="action", label="yield", time=0.05, commit=0.5)


def test_events_at_the_close_carry_the_time_of_the_last_step() -> None:
    toy = Toy(lambda step, toy: (), close=lambda: [Event(kind="action", time=0.5, label="yield")])
    assert StreamDriver(toy).decide(seen(0.5)).events[0].commit == 0.5


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ([Event(kind="action", time=0.2, label="yield")], "0.2 s when 0.1 s were heard"),
        ([Event(kind="action", time=float("nan"))], "nan"),
        (["yield"], "a str"),
        ("yield", "str, not a list"),
        (None, "NoneType"),
    ],
)
def test_what_is_no_event_fails_the_sample(bad: Any, words: str) -> None:
    decision = StreamDriver(Toy(lambda step, toy: bad)).decide(seen(0.5))
    assert decision.outcome is Outcome.FAILED
    assert words in str(decision.reason)
    assert decision.events[-1] == Event(kind=OBSERVED, time=0.0, commit=0.0)
    with pytest.raises(SystemProblem, match="FB543"):
        stamped(bad, 0.1)


def test_a_stream_that_dies_keeps_what_it_had_said_and_the_next_one_is_fresh() -> None:
    def push(step: Any, toy: Toy) -> list[Event]:
        if step.end > 0.35 and len(toy.setups) == 1:
            raise ConnectionError("gone\nfor good")
        return [Event(kind="action", time=step.end, label="yield")] if step.end < 0.15 else []

    toy = Toy(push)
    driver = StreamDriver(toy)
    died = driver.decide(seen())
    assert died.outcome is Outcome.FAILED
    assert died.reason == "ConnectionError: gone"
    assert [e.kind for e in died.events] == ["action", OBSERVED]
    assert died.events[-1].time == pytest.approx(0.3)
    assert driver.decide(seen()).outcome is Outcome.OK


def test_no_answer_in_time_is_a_timeout() -> None:
    def push(step: Any, toy: Toy) -> list[Event]:
        raise TimeoutError("no answer within 5 s")

    decision = StreamDriver(Toy(push)).decide(seen())
    assert decision.outcome is Outcome.TIMEOUT
    assert decision.reason == "no answer within 5 s"


def test_a_fault_of_the_data_is_not_the_systems() -> None:
    audio = {Role.USER: ArrayAudio(ramp(1.0), rate=RATE, cutoff=0.5)}

    class Broken:
        rate, frames, cutoff = RATE, RATE, None

        def read(self, **kw: Any) -> Any:
            raise DataError("FB302", "not audio")

    with pytest.raises(DataError, match="FB302"):
        StreamDriver(Toy(lambda s, t: ())).decide(seen(channels={**audio, Role.SYSTEM: Broken()}))


def test_what_it_does_not_declare_it_is_not_asked() -> None:
    toy = Toy(lambda step, toy: (), languages=("zh",))
    assert StreamDriver(toy).decide(seen()).outcome is Outcome.UNSUPPORTED
    assert toy.setups == []


@pytest.mark.parametrize("rate", [8_000, 48_000])
def test_resampling_hears_no_future(rate: int) -> None:
    one = ramp(1.0, rate)
    two = one.copy()
    cut = round(0.5 * rate)
    two[cut:] = 0.5
    declared = spec(step=0.1)
    heard = [
        list(steps(seen(channels={Role.USER: ArrayAudio(s, rate=rate)}), declared))
        for s in (one, two)
    ]
    for a, b in zip(*heard, strict=True):
        same = np.array_equal(a.samples[Role.USER], b.samples[Role.USER])
        assert same == (a.end <= 0.5 + 1e-9)
        assert a.samples[Role.USER].size == 1600


def test_resampled_steps_follow_the_sound() -> None:
    tone = np.sin(2 * np.pi * 200 * np.arange(48_000) / 48_000).astype(np.float32)
    observation = seen(channels={Role.USER: ArrayAudio(tone, rate=48_000)})
    got = np.concatenate([s.samples[Role.USER] for s in steps(observation, spec(step=0.1))])
    want = np.sin(2 * np.pi * 200 * np.arange(16_000) / 16_000)
    inside = np.abs(np.arange(16_000) % 1600 - 800) < 700  # resampling is one-sided at step ends
    assert np.max(np.abs(got - want)[inside]) < 0.02


@pytest.mark.parametrize(
    ("step", "rate"),
    [
        (None, 16_000),
        (0.0, 16_000),
        (0.1, 0),
        (0.0001, 16_000),
        (61.0, 16_000),
        (1.0, 999),
        (1.0, 10**9),
        (float("inf"), 16_000),
    ],
)
def test_a_step_that_cannot_be_kept_is_refused(step: float | None, rate: int) -> None:
    with pytest.raises(SystemProblem, match="FB542"):
        StreamDriver(Toy(lambda s, t: (), step=step, rate=rate))


@pytest.mark.parametrize("delay", [-0.1, float("nan"), float("inf"), "0.1", None])
def test_words_cannot_be_asked_for_before_they_are_spoken(delay: Any) -> None:
    with pytest.raises(SystemProblem, match=r"FB542.*word delay"):
        StreamDriver(Toy(lambda s, t: (), parameters={"word_delay": delay}))


@pytest.mark.parametrize("source", [RATE, 8_000, 44_100])
@pytest.mark.parametrize("step", [0.1, 1.0, 7.0])
def test_a_recording_that_ends_before_the_cutoff_goes_on_in_silence(
    step: float, source: int
) -> None:
    toy = Toy(lambda step, toy: (), step=step)
    decision = StreamDriver(toy).decide(seen(1.0, rate=source, cutoff=2.5))
    assert decision.events[-1].time >= 2.5
    heard = np.concatenate([s.samples[Role.USER] for s in toy.seen])
    assert heard[15_000] != 0.0
    assert not np.any(heard[16_000:])


def test_only_streams_get_a_driver() -> None:
    toy = Toy(at(0.3))
    assert isinstance(driven(toy), StreamDriver)
    assert driven(driven(toy)).system is toy
    assert driven("something else") == "something else"


def test_real_time_waits_for_the_clock_and_counts_what_takes_too_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(time, "sleep", lambda s: clock.__setitem__(0, clock[0] + s))

    def push(step: Any, toy: Toy) -> tuple[()]:
        clock[0] += 0.25 if 0.25 < step.end < 0.35 else 0.01
        return ()

    driver = StreamDriver(Toy(push), realtime=True)
    driver.decide(seen(1.0))
    assert clock[0] == pytest.approx(1.01)
    assert driver.totals.overruns == 1
    assert driver.totals.late == pytest.approx(0.15)
    assert driver.spec.parameters["realtime"] is True
    assert "1 overrun; at most 150 ms behind" in driver.report()


def test_compute_time_is_apart_from_the_decision() -> None:
    driver = StreamDriver(Toy(at(0.3)))
    assert driver.report() == "nothing was streamed"
    found = driver.drive(seen(0.5))
    assert len(found.clocks.steps) == 5
    assert all(e.commit is not None and e.commit <= 0.5 for e in found.decision.events)
    assert "5 steps" in driver.report()
