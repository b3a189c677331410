"""The silence rule: what a clip can say, where it commits, and what it never assumes."""

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.audio.vad import VadParameters
from floorbench.core.sample import Observation
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import DataError, UsageError
from floorbench.systems.endpointers import SilenceEndpointer, silence_silero, silence_webrtc
from sounds import RATE, noise, silence, utterance, voice

MAKERS = [silence_silero, silence_webrtc]


class Scripted:
    """A detector that answers from a list: frames of 0.1 s."""

    hop = 1_600
    name = "scripted"

    def __init__(self, values):
        self.values = np.array(values, dtype=np.float32)

    def weights(self):
        return {}

    def load(self):
        pass

    def activity(self, samples):
        assert samples.size == self.values.size * self.hop
        return self.values


def seen(samples, rate=RATE, **kw):
    return Observation(language="en", channels={Role.USER: ArrayAudio(samples, rate=rate)}, **kw)


def ruled(values, timeout):
    rule = SilenceEndpointer(
        detector=Scripted(values),
        name="scripted",
        timeout=timeout,
        parameters=VadParameters(min_speech=0.1, pad=0.0),
        licence="MIT",
    )
    return rule.decide(seen(noise(len(values) / 10)))


def test_the_edge_belongs_to_complete():
    spoken = [0, 1, 1, 0, 0, 0]
    exactly = ruled(spoken, 0.3)
    assert exactly.label == "complete"
    assert exactly.scores == {"silence": 0.3}
    assert exactly.commit == pytest.approx(0.6)
    assert ruled(spoken, 0.31).label == "incomplete"
    assert ruled(spoken, 0.2).commit == pytest.approx(0.5)
    assert ruled(spoken, 0.31).commit == pytest.approx(0.6)


def test_a_pause_inside_does_not_count():
    assert ruled([1, 0, 0, 0, 1, 0], 0.2).label == "incomplete"
    assert ruled([1, 0, 0, 0, 1, 0], 0.2).scores == {"silence": 0.1}


def test_timeout_zero_is_always_complete_after_speech():
    assert ruled([1, 1], 0.0).label == "complete"


def test_no_speech_is_incomplete_without_a_score():
    decision = ruled([0, 0, 0], 0.0)
    assert (decision.label, dict(decision.scores), decision.raw) == ("incomplete", {}, "no speech")
    assert decision.commit == pytest.approx(0.3)


@pytest.mark.parametrize("make", MAKERS)
def test_on_sound(make):
    rule = make()
    rule.load()
    waited = rule.decide(seen(utterance(after=1.2)))
    assert waited.label == "complete"
    assert waited.scores["silence"] == pytest.approx(1.2, abs=0.2)
    assert waited.commit == pytest.approx(3.7 - waited.scores["silence"] + 0.5, abs=1e-6)
    assert rule.decide(seen(utterance(after=0.2))).label == "incomplete"
    assert rule.decide(seen(silence(2.0))).scores == {}


@pytest.mark.parametrize("make", MAKERS)
def test_the_score_sweeps_the_timeout(make):
    observation = seen(utterance(after=0.8))
    score = make().decide(observation).scores["silence"]
    for timeout in (0.0, 0.2, 0.4, 0.6, 1.0, 2.0):
        label = make(timeout=timeout).decide(observation).label
        assert (label == "complete") == (score >= timeout)


@pytest.mark.parametrize("make", MAKERS)
def test_another_rate_gives_nearly_the_same_silence(make):
    slow = utterance(after=0.8)
    from floorbench.audio.decode import resample

    fast = resample(slow, source=RATE, target=48_000)
    one = make().decide(seen(slow)).scores["silence"]
    two = make().decide(seen(fast, rate=48_000)).scores["silence"]
    assert one == pytest.approx(two, abs=0.07)


@pytest.mark.parametrize("make", MAKERS)
def test_while_the_system_speaks_it_is_not_asked(make):
    assert make().decide(seen(voice(1.0), state="SystemSpeaking")).outcome is Outcome.UNSUPPORTED


def test_specs_tell_every_setting():
    spec = silence_silero(timeout=0.7, threshold=0.6).spec
    assert spec.threshold == 0.7
    assert spec.parameters == {"timeout": 0.7}
    assert "threshold=0.6, release=0.45" in spec.front_end.gate
    assert len(spec.weights["silero-vad"]) == 64
    assert "mode=1" in silence_webrtc(mode=1).spec.front_end.gate


@pytest.mark.parametrize("bad", [-0.1, 11, float("nan"), "soon"])
def test_bad_timeouts(bad):
    for make in MAKERS:
        with pytest.raises(UsageError, match="timeout"):
            make(timeout=bad)


def test_bad_vad_settings():
    with pytest.raises(UsageError, match="threshold"):
        silence_silero(threshold=1.0)
    with pytest.raises(DataError, match="mode"):
        silence_webrtc(mode=7)
