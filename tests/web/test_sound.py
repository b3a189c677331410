import base64
import io
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st

from floorbench.audio.ref import ArrayAudio
from floorbench.errors import UsageError
from floorbench.web.sound import HEADER, Track, WaveCache, byte_range, peaks, track_of, wav_bytes

RATE = 8000


def ramp(n: int, rate: int = RATE) -> ArrayAudio:
    return ArrayAudio(np.linspace(-1, 1, n), rate=rate)


def whole(track: Track) -> bytes:
    return b"".join(wav_bytes(track, 0, track.size))


def test_the_file_is_a_wav_of_the_audio() -> None:
    track = track_of([("user", ramp(1000))])
    samples, rate = soundfile.read(io.BytesIO(whole(track)), dtype="float32")
    assert rate == RATE
    assert np.abs(samples - np.linspace(-1, 1, 1000)).max() < 1e-4
    assert len(whole(track)) == track.size


def test_channels_are_side_by_side_and_the_shorter_one_ends_in_silence() -> None:
    track = track_of([("user", ramp(1000)), ("system", ramp(400))])
    samples, _ = soundfile.read(io.BytesIO(whole(track)), dtype="float32")
    assert samples.shape == (1000, 2)
    assert not samples[400:, 1].any()
    assert samples[399, 1] == pytest.approx(1, abs=1e-3)


def test_channels_of_other_rates_are_brought_to_the_first_ones() -> None:
    track = track_of([("user", ramp(800)), ("system", ramp(1600, 16_000))])
    assert track.frames == 800
    assert len(whole(track)) == HEADER + 800 * 4


@given(data=st.data(), frames=st.integers(1, 300), channels=st.integers(1, 2))
def test_any_part_is_a_part_of_the_whole(data: st.DataObject, frames: int, channels: int) -> None:
    track = track_of([(str(i), ramp(frames)) for i in range(channels)])
    start = data.draw(st.integers(0, track.size - 1))
    stop = data.draw(st.integers(start + 1, track.size))
    assert b"".join(wav_bytes(track, start, stop)) == whole(track)[start:stop]


def test_long_audio_comes_in_blocks() -> None:
    track = track_of([("user", ramp(45 * RATE))])
    blocks = list(wav_bytes(track, 0, track.size))
    assert len(blocks) == 4
    assert b"".join(blocks) == whole(track)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, (0, 100, False)),
        ("bytes=0-", (0, 100, True)),
        ("bytes=10-19", (10, 20, True)),
        ("bytes=90-500", (90, 100, True)),
        ("bytes=-30", (70, 100, True)),
        ("bytes=-500", (0, 100, True)),
        ("bytes=100-", None),
        ("bytes=20-10", None),
        ("bytes=-", (0, 100, False)),
        ("lines=1-2", (0, 100, False)),
        ("bytes=0-1,5-9", (0, 100, False)),
    ],
)
def test_ranges(header: str | None, expected: tuple[int, int, bool] | None) -> None:
    assert byte_range(header, 100) == expected


def test_a_waveform_holds_the_extremes_of_each_bucket() -> None:
    samples = np.zeros(2400)
    samples[1000], samples[1001] = 0.5, -1.0
    made = peaks(track_of([("user", ArrayAudio(samples, rate=RATE))]), buckets=24)
    pairs = np.frombuffer(base64.b64decode(made["channels"]["user"]), dtype=np.int8).reshape(24, 2)
    assert pairs[10].tolist() == [-127, 64]
    assert not np.delete(pairs, 10, axis=0).any()
    assert made["seconds"] == 0.3


@given(n=st.integers(1, 5000), buckets=st.integers(1, 1500))
def test_a_waveform_of_any_length_has_no_gap(n: int, buckets: int) -> None:
    made = peaks(track_of([("user", ArrayAudio(np.full(n, 0.5), rate=RATE))]), buckets=buckets)
    pairs = np.frombuffer(base64.b64decode(made["channels"]["user"]), dtype=np.int8)
    assert len(pairs) == 2 * made["buckets"] == 2 * min(n, buckets)
    assert (pairs == 64).all()


class Counting(ArrayAudio):
    __slots__ = ("reads",)

    def _slice(self, start: int, stop: int):
        self.reads = getattr(self, "reads", 0) + 1
        return super()._slice(start, stop)


def test_waveforms_are_computed_once(tmp_path: Path) -> None:
    audio = Counting(np.full(100, 0.5), rate=RATE)
    track, cache = track_of([("user", audio)]), WaveCache(tmp_path / "waves")
    first = cache.get(track, ["data", "item", "target"])
    assert audio.reads == 1
    assert WaveCache(tmp_path / "waves").get(track, ["data", "item", "target"]) == first
    assert audio.reads == 1
    cache.get(track, ["data", "item", "turn-0"])
    assert audio.reads == 2


def test_a_broken_or_unwritable_cache_is_done_without(tmp_path: Path) -> None:
    folder = tmp_path / "waves"
    track, cache = track_of([("user", ramp(100))]), WaveCache(folder)
    made = cache.get(track, ["a"])
    next(folder.iterdir()).write_text("{")
    assert cache.get(track, ["a"]) == made
    (tmp_path / "file").write_text("")
    assert WaveCache(tmp_path / "file" / "waves").get(track, ["a"]) == made


def test_a_part_without_audio_is_refused() -> None:
    with pytest.raises(UsageError, match="FB805"):
        track_of([])
