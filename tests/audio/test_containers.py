"""A container that holds less than it says is refused before decoding."""

import struct

import numpy as np
import pytest
import soundfile

from floorbench.audio.containers import check_complete
from floorbench.errors import DataError
from sounds import voice

FORMATS = {
    "wav": ("WAV", "PCM_16"),
    "float.wav": ("WAV", "FLOAT"),
    "rf64": ("RF64", "PCM_16"),
    "flac": ("FLAC", "PCM_16"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
}


def written(tmp_path, ending, samples=None, rate=16_000):
    kind, subtype = FORMATS[ending]
    path = tmp_path / f"clip.{ending}"
    soundfile.write(path, voice(3.0) if samples is None else samples, rate, subtype, format=kind)
    return path


@pytest.mark.parametrize("ending", FORMATS)
def test_whole_files_pass(tmp_path, ending):
    check_complete(written(tmp_path, ending))


@pytest.mark.parametrize("ending", ["wav", "float.wav", "rf64", "ogg", "opus"])
@pytest.mark.parametrize("share", [0.999, 0.6, 0.2])
def test_cut_files_are_refused(tmp_path, ending, share):
    path = written(tmp_path, ending)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(DataError) as caught:
        check_complete(path)
    assert caught.value.code == "FB304"
    assert caught.value.where.file == str(path)


def test_ogg_cut_between_pages_is_refused(tmp_path):
    path = written(tmp_path, "ogg", samples=np.tile(voice(2.0), 20))
    whole = path.read_bytes()
    last = whole.rfind(b"OggS")
    assert last > 0
    path.write_bytes(whole[:last])
    with pytest.raises(DataError, match="no end mark"):
        check_complete(path)


def test_wav_with_open_length_is_refused(tmp_path):
    path = written(tmp_path, "wav")
    whole = bytearray(path.read_bytes())
    at = whole.index(b"data") + 4
    whole[at : at + 4] = struct.pack("<I", 0xFFFFFFFF)
    path.write_bytes(whole)
    with pytest.raises(DataError, match="leaves the length open"):
        check_complete(path)


def test_wav_without_data_chunk_is_refused(tmp_path):
    path = tmp_path / "head.wav"
    path.write_bytes(written(tmp_path, "wav").read_bytes()[:36])
    with pytest.raises(DataError, match="before its audio data begin"):
        check_complete(path)


def test_chunks_before_the_data_are_walked_with_odd_padding(tmp_path):
    path = written(tmp_path, "wav")
    whole = path.read_bytes()
    at = whole.index(b"data")
    path.write_bytes(whole[:at] + b"note\x03\x00\x00\x00abc\x00" + whole[at:])
    check_complete(path)
    assert soundfile.info(path).frames == 48_000


def test_a_file_that_ends_in_its_table_of_large_sizes_is_refused(tmp_path):
    path = tmp_path / "a.wav"
    path.write_bytes(b"RF64" + bytes(4) + b"WAVEds64" + (28).to_bytes(4, "little") + bytes(5))
    with pytest.raises(DataError, match="FB304"):
        check_complete(path)
