"""Frames to spans by hand, by law, and on sounds; two detectors behind one interface."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.audio.decode import resample
from floorbench.audio.vad import SileroVad, VadParameters, WebRtcVad, spans, speech_spans, vad
from floorbench.errors import DataError, EnvironmentProblem, UsageError
from sounds import RATE, noise, silence, utterance, voice

BARE = VadParameters(min_speech=0.0, min_silence=0.0, pad=0.0)


def found(values, *, hop=0.1, duration=None, **parameters):
    activity = np.array(values, dtype=np.float32)
    settings = VadParameters(**{"min_speech": 0, "min_silence": 0, "pad": 0, **parameters})
    length = len(values) * hop if duration is None else duration
    got = spans(activity, hop=hop, duration=length, parameters=settings)
    return [(round(s.start, 6), round(s.end, 6)) for s in got]


def test_hysteresis():
    assert found([0.4, 0.5, 0.4, 0.35, 0.34, 0.4, 0.49]) == [(0.1, 0.4)]
    assert found([0.9, 0.0, 0.9]) == [(0.0, 0.1), (0.2, 0.3)]
    assert found([0.4, 0.4]) == []
    assert found([]) == []


def test_short_silence_is_filled_before_short_speech_is_dropped():
    values = [1, 0, 1, 1, 0, 0, 1, 0, 0]
    assert found(values, min_silence=0.2) == [(0.0, 0.4), (0.6, 0.7)]
    assert found(values, min_silence=0.2, min_speech=0.2) == [(0.0, 0.4)]
    assert found(values, min_silence=0.1) == [(0.0, 0.1), (0.2, 0.4), (0.6, 0.7)]
    assert found(values, min_speech=0.2) == [(0.2, 0.4)]


def test_padding_stays_inside_and_apart():
    assert found([0, 1, 0, 0, 1], pad=0.05) == [(0.05, 0.25), (0.35, 0.5)]
    assert found([1, 0, 1], pad=0.3) == [(0.0, 0.15), (0.15, 0.3)]


def test_last_frame_ends_with_the_audio():
    assert found([0, 1], duration=0.17) == [(0.1, 0.17)]


@given(
    st.lists(st.floats(0, 1, width=32), max_size=60),
    st.floats(0, 0.5),
    st.floats(0, 0.5),
    st.floats(0, 0.5),
)
def test_law_spans_are_ordered_disjoint_and_inside(values, speech, quiet, pad):
    got = found(values, min_speech=speech, min_silence=quiet, pad=pad)
    edges = [edge for span in got for edge in span]
    assert edges == sorted(edges)
    assert all(0 <= edge <= len(values) * 0.1 + 1e-6 for edge in edges)
    for start, end in got:
        assert end - start >= speech - 1e-5


@given(st.lists(st.sampled_from([0.0, 0.4, 1.0]), max_size=40))
def test_law_bare_spans_equal_a_slow_walk(values):
    state, walk = False, []
    for value in values:
        state = value >= 0.5 or (state and value >= 0.35)
        walk.append(state)
    marks = np.zeros(len(values), dtype=bool)
    for start, end in found(values):
        marks[round(start * 10) : round(end * 10)] = True
    assert marks.tolist() == walk


@pytest.mark.parametrize(
    "bad",
    [
        {"threshold": 0.0},
        {"threshold": 1.1},
        {"release": 0.6},
        {"release": -0.1},
        {"min_speech": -1.0},
        {"min_silence": float("nan")},
        {"pad": float("inf")},
    ],
)
def test_parameters_outside_their_range(bad):
    with pytest.raises(DataError, match=next(iter(bad))) as caught:
        VadParameters(**bad)
    assert caught.value.code == "FB309"


@pytest.mark.parametrize("detector", [SileroVad(), WebRtcVad()], ids=["silero", "webrtc"])
class TestDetectors:
    def test_voice_between_silences(self, detector):
        got = speech_spans(detector, utterance(), rate=RATE, parameters=VadParameters())
        assert len(got) == 1
        assert got[0].start == pytest.approx(0.5, abs=0.15)
        assert got[0].end == pytest.approx(2.5, abs=0.2)

    def test_silence_has_none(self, detector):
        assert speech_spans(detector, silence(2.0), rate=RATE, parameters=BARE) == []

    def test_one_value_per_frame(self, detector):
        for length in (0, 1, detector.hop, detector.hop + 1, 5 * detector.hop):
            values = detector.activity(voice(0.5)[:length])
            assert values.shape == (-(-length // detector.hop),)
            assert ((values >= 0) & (values <= 1)).all()

    def test_twice_the_same_and_no_memory_between_calls(self, detector):
        first = detector.activity(utterance())
        detector.activity(noise(1.0))
        assert np.array_equal(detector.activity(utterance()), first)

    def test_other_rates_are_resampled_not_misread(self, detector):
        slow = resample(utterance(), source=RATE, target=8_000)
        got = speech_spans(detector, slow, rate=8_000, parameters=VadParameters())
        assert len(got) == 1
        assert got[0].end == pytest.approx(2.5, abs=0.2)


def test_names_are_settings():
    assert SileroVad().name == "silero-vad-6.2.3"
    assert WebRtcVad(mode=1, frame=30).name == "webrtc-vad(mode=1, frame=30 ms)"
    assert list(SileroVad().weights()) == ["silero-vad"]
    assert WebRtcVad().weights() == {}
    assert str(VadParameters()).startswith("threshold=0.5, release=0.35")


@pytest.mark.parametrize("bad", [{"mode": 4}, {"mode": -1}, {"frame": 25}, {"mode": "3"}])
def test_webrtc_settings(bad):
    with pytest.raises(DataError) as caught:
        WebRtcVad(**bad)
    assert caught.value.code == "FB309"


def test_by_name():
    assert isinstance(vad("silero"), SileroVad)
    assert isinstance(vad("webrtc"), WebRtcVad)
    with pytest.raises(UsageError, match="did you mean 'silero'"):
        vad("silerro")


def test_without_webrtcvad_the_install_line_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "webrtcvad", None)
    with pytest.raises(EnvironmentProblem, match=r"floorbench\[webrtc\]"):
        WebRtcVad().load()


def test_without_the_asset_the_command_is_given(tmp_path, monkeypatch):
    monkeypatch.setenv("FLOORBENCH_CACHE", str(tmp_path))
    monkeypatch.setattr("floorbench.audio.assets._installed", lambda wanted: None)
    with pytest.raises(EnvironmentProblem, match="floorbench assets get silero-vad"):
        SileroVad().load()


def test_silero_frame_by_frame_equals_the_whole_recording():
    sound = np.concatenate([silence(0.3), utterance(), noise(0.5)])
    detector = SileroVad()
    whole = detector.activity(sound)
    stream = detector.stream()
    frames = [sound[i : i + 512] for i in range(0, sound.size - 511, 512)]
    one_by_one = [stream.push(frame) for frame in frames]
    assert np.allclose(one_by_one, whole[: len(frames)], atol=1e-5)
    assert max(one_by_one) > 0.5 > min(one_by_one)
