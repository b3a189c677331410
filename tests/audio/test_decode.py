"""Any rate, channel count and container; every fault is one clear error."""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.audio import decode as d
from floorbench.errors import DataError
from sounds import silence, voice

LOSSLESS = [("wav", "WAV", "PCM_16"), ("flac", "FLAC", "PCM_24"), ("f.wav", "WAV", "FLOAT")]
LOSSY = [("ogg", "OGG", "VORBIS"), ("opus", "OGG", "OPUS"), ("mp3", "MP3", "MPEG_LAYER_III")]


def code_of(call):
    with pytest.raises(DataError) as caught:
        call()
    return caught.value.code


@pytest.mark.parametrize(("ending", "kind", "subtype"), LOSSLESS + LOSSY)
@pytest.mark.parametrize("rate", [8_000, 16_000, 24_000, 48_000])
def test_every_container_and_rate(tmp_path, ending, kind, subtype, rate):
    path = tmp_path / f"a.{ending}"
    wave = voice(1.0, rate=rate)
    soundfile.write(path, wave, rate, subtype, format=kind)
    info = d.probe(path)
    assert (info.rate, info.channels, info.frames) == (rate, 1, len(wave))
    got = d.decode(path, start=0, stop=info.frames)
    assert got.dtype == np.float32
    assert got.shape == wave.shape
    bound = 1e-4 if subtype != "PCM_16" else 4e-5
    error = np.abs(got - wave)
    assert error.max() < (bound if ending in ("wav", "flac", "f.wav") else 0.3)
    assert np.corrcoef(got, wave)[0, 1] > 0.9


@pytest.mark.parametrize(("ending", "kind", "subtype"), LOSSLESS + LOSSY)
def test_a_part_equals_the_same_part_of_the_whole(tmp_path, ending, kind, subtype):
    path = tmp_path / f"a.{ending}"
    soundfile.write(path, voice(1.0, rate=24_000), 24_000, subtype, format=kind)
    whole = d.decode(path, start=0, stop=24_000)
    assert np.array_equal(d.decode(path, start=5_001, stop=17_003), whole[5_001:17_003])
    assert d.decode(path, start=700, stop=700).size == 0


def test_channels_are_chosen_aloud(tmp_path):
    path = tmp_path / "two.wav"
    left, right = voice(0.5), 0.5 * voice(0.5, pitch=200.0)
    soundfile.write(path, np.stack([left, right], axis=1), 16_000, "FLOAT")
    assert np.array_equal(d.decode(path, start=0, stop=8_000, channel=0), left)
    assert np.array_equal(d.decode(path, start=0, stop=8_000, channel=1), right)
    mixed = d.decode(path, start=0, stop=8_000, channel="mix")
    assert np.allclose(mixed, (left + right) / 2, atol=1e-7)
    assert code_of(lambda: d.decode(path, start=0, stop=8_000)) == "FB306"
    assert code_of(lambda: d.decode(path, start=0, stop=8_000, channel=2)) == "FB306"
    assert code_of(lambda: d.decode(path, start=0, stop=8_000, channel=-1)) == "FB306"


def test_missing_and_folder(tmp_path):
    assert code_of(lambda: d.probe(tmp_path / "none.wav")) == "FB301"
    assert code_of(lambda: d.probe(tmp_path)) == "FB301"


def test_not_audio_and_empty(tmp_path):
    text = tmp_path / "a.wav"
    text.write_text("this is not a sound")
    assert code_of(lambda: d.probe(text)) == "FB302"
    nothing = tmp_path / "b.wav"
    nothing.write_bytes(b"")
    assert code_of(lambda: d.probe(nothing)) == "FB303"
    no_frames = tmp_path / "c.wav"
    soundfile.write(no_frames, np.zeros(0, dtype=np.float32), 16_000)
    assert code_of(lambda: d.probe(no_frames)) == "FB303"


@pytest.mark.parametrize(("ending", "kind", "subtype"), LOSSLESS + LOSSY)
@pytest.mark.parametrize("share", [0.7, 0.1])
def test_a_cut_file_never_gives_a_part(tmp_path, ending, kind, subtype, share):
    path = tmp_path / f"a.{ending}"
    soundfile.write(path, voice(3.0), 16_000, subtype, format=kind)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    code = code_of(lambda: d.decode(path, start=0, stop=d.probe(path).frames))
    assert code in ("FB302", "FB304")


def test_other_containers_are_not_read(tmp_path):
    path = tmp_path / "a.aiff"
    soundfile.write(path, voice(0.1), 16_000)
    with pytest.raises(DataError, match="AIFF files are not read") as caught:
        d.probe(path)
    assert caught.value.code == "FB302"


def test_flac_with_open_length_is_refused(tmp_path):
    path = tmp_path / "a.flac"
    soundfile.write(path, voice(0.5), 16_000)
    whole = bytearray(path.read_bytes())
    whole[21] &= 0xF0  # the 36 bits of the sample count in the first block
    whole[22:26] = bytes(4)
    path.write_bytes(whole)
    with pytest.raises(DataError, match="leaves the length open") as caught:
        d.probe(path)
    assert caught.value.code == "FB304"


def test_impossible_rate_in_the_header(tmp_path):
    path = tmp_path / "a.wav"
    soundfile.write(path, voice(0.1), 7, "PCM_16")
    assert code_of(lambda: d.probe(path)) == "FB302"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_samples_are_named(tmp_path, bad):
    path = tmp_path / "a.wav"
    wave = voice(0.2)
    wave[1_234] = bad
    soundfile.write(path, wave, 16_000, "FLOAT")
    with pytest.raises(DataError, match="sample 1234 is") as caught:
        d.decode(path, start=0, stop=3_200)
    assert caught.value.code == "FB305"


def test_integer_scaled_floats_are_refused(tmp_path):
    path = tmp_path / "a.wav"
    soundfile.write(path, 32_768 * voice(0.2), 16_000, "FLOAT")
    with pytest.raises(DataError, match=r"audio lies in \[-1, 1\]"):
        d.decode(path, start=0, stop=3_200)


def test_a_rewritten_file_is_probed_again(tmp_path):
    path = tmp_path / "a.wav"
    soundfile.write(path, voice(0.2), 16_000)
    assert d.probe(path).frames == 3_200
    soundfile.write(path, voice(0.4), 16_000)
    assert d.probe(path).frames == 6_400


@pytest.mark.parametrize(("source", "target"), [(8_000, 16_000), (24_000, 16_000), (44_100, 8_000)])
def test_resample_keeps_length_and_tone(source, target):
    t = np.arange(source) / source
    tone = (0.5 * np.sin(2 * np.pi * 1_000 * t)).astype(np.float32)
    got = d.resample(tone, source=source, target=target)
    assert got.dtype == np.float32
    assert abs(len(got) - target) <= 1
    expected = 0.5 * np.sin(2 * np.pi * 1_000 * np.arange(len(got)) / target)
    inner = slice(target // 10, -target // 10)
    assert np.abs(got[inner] - expected[inner]).max() < 1e-3


def test_resample_removes_what_the_target_cannot_hold():
    t = np.arange(48_000) / 48_000
    tone = (0.5 * np.sin(2 * np.pi * 11_000 * t)).astype(np.float32)
    assert np.abs(d.resample(tone, source=48_000, target=16_000)[2_000:-2_000]).max() < 1e-3


@pytest.mark.parametrize("rate", [0, -16_000, 999, 10_000_000, 16_000.0, True, "16000"])
def test_bad_rates(rate):
    assert code_of(lambda: d.resample(voice(0.1), source=16_000, target=rate)) == "FB309"


def test_silence_is_allowed(tmp_path):
    path = tmp_path / "a.wav"
    soundfile.write(path, silence(0.5), 16_000)
    assert d.decode(path, start=0, stop=8_000).tolist() == [0.0] * 8_000


def test_errors_name_the_file():
    with pytest.raises(DataError, match=r"nowhere\.wav: cannot be opened"):
        d.probe(Path("nowhere.wav"))
