"""Barge-in rules yield in the step that completes their condition, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import UsageError
from floorbench.systems import build_system
from sounds import RATE, silence, utterance

NAMES = ("barge-in-energy", "barge-in-silero")


def yields(name: str, samples: np.ndarray, **parameters: float) -> list[float]:
    system = build_system(name, **parameters)
    system.load()
    heard = ArrayAudio(samples, rate=RATE)
    quiet = ArrayAudio(np.full(samples.size, 0.3, dtype=np.float32), rate=RATE)
    decision = system.decide(
        Observation(language="en", channels={Role.USER: heard, Role.SYSTEM: quiet})
    )
    assert decision.outcome is Outcome.OK
    return [e.commit for e in decision.events if e.label == "yield" and e.commit is not None]


def energy(spans: list[tuple[float, float]], **parameters: float) -> list[float]:
    time = np.arange(3 * RATE) / RATE
    inside = np.zeros(time.size)
    for start, end in spans:
        inside[(time >= start) & (time < end)] = 0.2
    return yields("barge-in-energy", inside.astype(np.float32), **parameters)


def test_it_yields_when_the_least_duration_has_been_heard() -> None:
    assert energy([(1.0, 2.0)], min_duration=0.1) == [pytest.approx(1.1)]
    assert energy([(1.0, 2.0)], min_duration=0.0) == [pytest.approx(1.02)]
    assert energy([(1.0, 1.08)], min_duration=0.1) == []


def test_the_hold_off_lets_short_speech_pass() -> None:
    assert energy([(1.0, 2.0)], hold_off=0.6) == [pytest.approx(1.6)]
    assert energy([(1.0, 1.5)], hold_off=0.6) == []


def test_a_short_silence_does_not_end_the_speech_and_a_long_one_does() -> None:
    assert energy([(1.0, 1.1), (1.2, 1.4)], min_duration=0.2) == [pytest.approx(1.3)]
    assert energy([(1.0, 1.1), (1.4, 1.5)], min_duration=0.2) == []


def test_it_yields_once_per_stretch_of_speech() -> None:
    assert energy([(0.5, 1.0), (2.0, 2.5)]) == [pytest.approx(0.6), pytest.approx(2.1)]


def test_quiet_sound_is_below_the_level() -> None:
    assert energy([(1.0, 2.0)], level=-10.0) == []


def test_the_system_channel_is_not_listened_to() -> None:
    assert yields("barge-in-energy", silence(1.0)) == []


def test_silero_hears_speech_and_obeys_the_sweep() -> None:
    sound = np.concatenate([silence(1.0), utterance()])
    early = yields("barge-in-silero", sound)
    late = yields("barge-in-silero", sound, hold_off=0.5)
    assert 1.0 < early[0] < late[0]
    assert late[0] - early[0] == pytest.approx(0.4, abs=0.05)
    assert yields("barge-in-silero", silence(1.0)) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("parameter", ["hold_off", "min_duration"])
def test_parameters_stand_in_the_spec_and_have_a_range(name: str, parameter: str) -> None:
    assert build_system(name, **{parameter: 0.7}).spec.parameters[parameter] == 0.7
    with pytest.raises(UsageError, match=parameter):
        build_system(name, **{parameter: -1.0})
