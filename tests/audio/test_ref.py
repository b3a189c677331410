"""Opaque audio: nothing past the cutoff, no path, one content hash."""

import json

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from floorbench.audio.ref import ArrayAudio, FileAudio, by_role
from floorbench.core.sample import AudioRef, Observation
from floorbench.core.vocab import Role
from floorbench.errors import DataError
from sounds import voice

WAVE = voice(1.0)


@pytest.fixture
def clip(tmp_path):
    path = tmp_path / "SystemIdle_Takeover_label.wav"
    soundfile.write(path, WAVE, 16_000, "FLOAT")
    return path


def both(clip, **kw):
    return [FileAudio(clip, **kw), ArrayAudio(WAVE, rate=16_000, **kw)]


def code_of(call):
    with pytest.raises(DataError) as caught:
        call()
    return caught.value.code


def test_both_kinds_read_the_same(clip):
    refs: list[AudioRef] = both(clip)
    for ref in refs:
        assert (ref.rate, ref.frames, ref.cutoff) == (16_000, 16_000, None)
        assert np.array_equal(ref.read(), WAVE)
        assert np.array_equal(ref.read(start=0.25, end=0.5), WAVE[4_000:8_000])
        assert ref.read(start=0.3, end=0.3).size == 0
        assert ref.read(rate=8_000).size == 8_000


def test_nothing_is_read_past_the_cutoff(clip):
    for ref in both(clip, cutoff=0.5):
        assert ref.frames == 8_000
        assert np.array_equal(ref.read(), WAVE[:8_000])
        assert code_of(lambda r=ref: r.read(end=0.6)) == "FB307"
        assert code_of(lambda r=ref: r.read(start=0.6)) == "FB307"


def test_what_follows_the_cutoff_does_not_colour_a_resampled_read(clip):
    other = WAVE.copy()
    other[8_000:] = -other[8_000:]
    one = ArrayAudio(WAVE, rate=16_000, cutoff=0.5).read(rate=8_000)
    two = ArrayAudio(other, rate=16_000, cutoff=0.5).read(rate=8_000)
    assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("start", "end"), [(-0.1, None), (0.5, 0.4), (0.0, 1.1), (1.2, None), (float("nan"), None)]
)
def test_reads_outside_are_refused(clip, start, end):
    for ref in both(clip):
        assert code_of(lambda r=ref: r.read(start=start, end=end)) == "FB307"


def test_narrowing_never_widens(clip):
    for ref in both(clip, cutoff=0.5):
        assert ref.narrow(cutoff=0.25).frames == 4_000
        assert ref.narrow(cutoff=0.75).cutoff == 0.5
        assert ref.narrow(cutoff=0.25).narrow(cutoff=0.4).cutoff == 0.25
        assert ref.frames == 8_000
        assert code_of(lambda r=ref: r.narrow(cutoff=-1.0)) == "FB309"
        assert code_of(lambda r=ref: r.narrow(cutoff=float("inf"))) == "FB309"
    for ref in both(clip):
        assert ref.narrow(cutoff=9.0).frames == 16_000
        assert ref.narrow(cutoff=0.0).read().size == 0


def test_no_text_of_it_shows_the_path(clip):
    ref = FileAudio(clip, cutoff=0.5)
    observation = Observation(language="en", channels={Role.USER: ref})
    for text in (repr(ref), str(ref), f"{ref}", repr(observation)):
        assert "label" not in text
        assert "Takeover" not in text
    assert not [n for n in dir(ref) if "path" in n and not n.startswith("_")]


def test_digest_is_of_the_content(clip, tmp_path):
    array, wav = ArrayAudio(WAVE, rate=16_000), FileAudio(clip)
    assert wav.digest() == array.digest()
    copy = tmp_path / "other name.wav"
    soundfile.write(copy, WAVE.astype("float64"), 16_000, "DOUBLE", format="WAVEX")
    assert FileAudio(copy).digest() == wav.digest()
    assert len(wav.digest()) == 64
    assert FileAudio(clip, cutoff=0.5).digest() == ArrayAudio(WAVE[:8_000], rate=16_000).digest()
    assert ArrayAudio(WAVE, rate=8_000).digest() != array.digest()
    assert ArrayAudio(-WAVE, rate=16_000).digest() != array.digest()


def test_digest_forgets_a_rewritten_file(clip):
    before = FileAudio(clip).digest()
    soundfile.write(clip, voice(1.1), 16_000, "FLOAT")
    assert FileAudio(clip).digest() != before


def test_digest_of_long_audio_does_not_depend_on_blocks(monkeypatch):
    whole = ArrayAudio(WAVE, rate=16_000).digest()
    monkeypatch.setattr("floorbench.audio.ref._BLOCK", 777)
    assert ArrayAudio(WAVE, rate=16_000).digest() == whole


def test_wire_round_trip(clip):
    for ref in both(clip, cutoff=0.5):
        wire = json.loads(json.dumps(ref.to_wire()))
        back = type(ref).from_wire(wire)
        assert back.cutoff == 0.5
        assert np.array_equal(back.read(), ref.read())
        assert back.digest() == ref.digest()
    assert ArrayAudio.from_wire(ArrayAudio(WAVE, rate=16_000, cutoff=0.0).to_wire()).frames == 0


def test_samples_past_the_cutoff_do_not_travel():
    wire = ArrayAudio(WAVE, rate=16_000, cutoff=0.5).to_wire()
    whole = ArrayAudio(WAVE, rate=16_000).to_wire()
    assert len(wire["f32"]) * 2 == pytest.approx(len(whole["f32"]), abs=8)


@pytest.mark.parametrize("wire", [{}, {"path": 3, "channel": None, "cutoff": None}, {"f32": "!"}])
def test_a_broken_wire_is_refused(wire):
    assert code_of(lambda: FileAudio.from_wire(wire)) == "FB309"
    assert code_of(lambda: ArrayAudio.from_wire(wire)) == "FB309"


@pytest.mark.parametrize(
    ("samples", "rate", "code"),
    [
        ([], 16_000, "FB303"),
        ([[0.0, 0.1], [0.0, 0.1]], 16_000, "FB306"),
        ([0.0, float("nan")], 16_000, "FB305"),
        ([0.0, 20_000.0], 16_000, "FB305"),
        ([0.0], 0, "FB309"),
    ],
)
def test_bad_arrays(samples, rate, code):
    assert code_of(lambda: ArrayAudio(samples, rate=rate)) == code


def test_an_array_cannot_be_changed_through_its_source_or_its_reads():
    source = WAVE.copy()
    ref = ArrayAudio(source, rate=16_000)
    source[:] = 0
    ref.read()[:] = 0
    assert np.array_equal(ref.read(), WAVE)


@pytest.mark.parametrize("channel", ["left", 1.0, True, "0"])
def test_channel_must_be_an_index_or_mix(clip, channel):
    assert code_of(lambda: FileAudio(clip, channel=channel)) == "FB306"


def test_roles_share_a_file(tmp_path):
    path = tmp_path / "call.flac"
    soundfile.write(path, np.stack([WAVE, -WAVE], axis=1), 16_000, "PCM_24")
    roles = by_role(path, {Role.USER: 1, Role.SYSTEM: 0})
    assert np.allclose(roles[Role.USER].read(), -WAVE, atol=1e-6)
    assert np.allclose(roles[Role.SYSTEM].read(), WAVE, atol=1e-6)
    assert code_of(lambda: FileAudio(path).frames) == "FB306"


def test_a_file_is_opened_only_when_it_is_read(tmp_path):
    ref = FileAudio(tmp_path / "not there yet.wav")
    assert code_of(lambda: ref.frames) == "FB301"


@given(cutoff=st.floats(0, 1.5), start=st.floats(0, 1.5), length=st.floats(0, 1.5))
def test_law_a_read_is_inside_or_refused(cutoff, start, length):
    ref = ArrayAudio(WAVE, rate=16_000, cutoff=cutoff)
    first, stop = (int(np.floor(16_000 * x + 0.5)) for x in (start, start + length))
    if stop <= ref.frames:
        assert np.array_equal(ref.read(start=start, end=start + length), WAVE[first:stop])
    else:
        assert code_of(lambda: ref.read(start=start, end=start + length)) == "FB307"
