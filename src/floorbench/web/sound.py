"""Audio for the page: any byte range of a WAV that is made while it is read, and waveforms.

A track is the audio of one turn, or of both channels of an item on one media clock. Only audio
that the dataset itself names can be asked for; no path ever comes from a request.
"""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from starlette.responses import Response, StreamingResponse

from floorbench import codec
from floorbench.core.sample import AudioRef
from floorbench.core.time import from_samples
from floorbench.errors import FloorbenchError, UsageError

HEADER = 44
BUCKETS = 1200
_BLOCK_SECONDS = 20
_RANGE = re.compile(r"^bytes=(\d*)-(\d*)$")


class Track(NamedTuple):
    """Channels that are heard together, in the order of ``roles``; the first one's rate rules."""

    roles: tuple[str, ...]
    refs: tuple[AudioRef, ...]

    @property
    def rate(self) -> int:
        """Sampling rate in Hz."""
        return self.refs[0].rate

    @property
    def frames(self) -> int:
        """Length of the longest channel at ``rate``."""
        return max(_frames(ref, self.rate) for ref in self.refs)

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.frames / self.rate

    @property
    def size(self) -> int:
        """Size of the WAV file in bytes."""
        return HEADER + self.frames * 2 * len(self.refs)


def wav_header(*, rate: int, channels: int, frames: int) -> bytes:
    """Return the 44 bytes in front of 16-bit PCM."""
    block = 2 * channels
    data = frames * block
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        b"RIFF", min(36 + data, 0xFFFFFFFF), b"WAVE", b"fmt ", 16, 1, channels,
        rate, rate * block, block, 16, b"data", min(data, 0xFFFFFFFF),
    )  # fmt: skip


def wav_bytes(track: Track, start: int, stop: int) -> Iterator[bytes]:
    """Yield the bytes ``[start, stop)`` of a track's WAV file, a block at a time."""
    channels = len(track.refs)
    if start < HEADER:
        header = wav_header(rate=track.rate, channels=channels, frames=track.frames)
        yield header[start : min(stop, HEADER)]
    width = 2 * channels
    at = max(start, HEADER)
    while at < stop:
        first = (at - HEADER) // width
        last = min(-(-(stop - HEADER) // width), first + _BLOCK_SECONDS * track.rate, track.frames)
        block = _pcm(track, first, last).tobytes()
        begin = at - HEADER - first * width
        end = min(len(block), stop - HEADER - first * width)
        yield block[begin:end]
        at += end - begin


class ByteRange(NamedTuple):
    """What of a file is asked for: ``[start, stop)``, and whether it is only a part."""

    start: int
    stop: int
    partial: bool


def byte_range(header: str | None, size: int) -> ByteRange | None:
    """Read a ``Range`` header; ``None`` when nothing of the file fits it.

    A header with several ranges or in another unit is answered with the whole file.
    """
    found = _RANGE.match(header.replace(" ", "")) if header else None
    if found is None or found.group(0) == "bytes=-":
        return ByteRange(0, size, False)
    first, last = found.groups()
    if first == "":
        start, stop = max(0, size - int(last)), size
    else:
        start, stop = int(first), min(size, int(last) + 1) if last else size
    return ByteRange(start, stop, True) if start < stop else None


def wav_response(track: Track, header: str | None) -> Response:
    """Return the answer to a request for a track's WAV file, or for what ``Range`` asks of it."""
    size = track.size
    wanted = byte_range(header, size)
    if wanted is None:
        return Response(status_code=416, headers={"Content-Range": f"bytes */{size}"})
    headers = {"Accept-Ranges": "bytes", "Content-Length": str(wanted.stop - wanted.start)}
    if wanted.partial:
        headers["Content-Range"] = f"bytes {wanted.start}-{wanted.stop - 1}/{size}"
    return StreamingResponse(
        wav_bytes(track, wanted.start, wanted.stop),
        status_code=206 if wanted.partial else 200,
        headers=headers,
        media_type="audio/wav",
    )


def peaks(
    track: Track, *, start: float = 0.0, end: float | None = None, buckets: int = BUCKETS
) -> dict[str, Any]:
    """Return the waveform: lowest and highest sample per bucket and channel, as signed bytes.

    Only what lies between ``start`` and ``end`` and inside the track; ``seconds`` and ``start``
    of the answer say what that is.

    Returns
    -------
    dict
        ``start``, ``seconds``, ``rate``, ``buckets`` and ``channels``: role -> base64 of
        ``2 * buckets`` int8 (low, high, low, high ...), scaled so that full amplitude is 127.
    """
    rate, whole = track.rate, track.frames
    first = min(whole, max(0, int(start * rate)))
    last = whole if end is None else min(whole, max(first, int(np.ceil(end * rate))))
    frames = last - first
    buckets = min(buckets, frames)
    edges = first + (np.arange(buckets + 1) * frames) // max(1, buckets)
    lows = np.zeros((len(track.refs), buckets))
    highs = np.zeros((len(track.refs), buckets))
    step = max(1, buckets * _BLOCK_SECONDS * rate // max(1, frames))
    for at in range(0, buckets, step):
        to = min(buckets, at + step)
        block = _pcm(track, int(edges[at]), int(edges[to])).astype(np.float64) / 32767.0
        inner = edges[at:to] - edges[at]
        lows[:, at:to] = np.minimum.reduceat(block, inner, axis=0).T
        highs[:, at:to] = np.maximum.reduceat(block, inner, axis=0).T
    return {
        "start": first / rate,
        "seconds": frames / rate,
        "rate": rate,
        "buckets": buckets,
        "channels": {role: _packed(lows[i], highs[i]) for i, role in enumerate(track.roles)},
    }


_PICTURE = {"start", "seconds", "rate", "buckets", "channels"}


class WaveCache:
    """Waveforms on disk, by what they are a picture of.

    Parameters
    ----------
    folder : Path
        Made when the first waveform is kept; a folder that cannot be written is done without.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, track: Track, key: Sequence[str]) -> dict[str, Any]:
        """Return the waveform of a track; ``key`` names its content (data digest, item, part)."""
        name = hashlib.sha256("\0".join(["wave-2", *key]).encode()).hexdigest()
        file = self._folder / f"{name}.json"
        try:
            kept: Any = codec.parse(file.read_bytes())
        except (OSError, FloorbenchError):
            kept = None
        if not isinstance(kept, dict) or kept.keys() != _PICTURE:
            kept = peaks(track)
            self._keep(file, kept)
        return dict(kept)

    def _keep(self, file: Path, made: dict[str, Any]) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            temporary = file.with_suffix(f".{id(made)}.tmp")
            temporary.write_bytes(codec.encode(made))
            temporary.replace(file)
        except OSError:
            return


def track_of(refs: Sequence[tuple[str, AudioRef]]) -> Track:
    """Return a track of channels by role.

    Raises
    ------
    UsageError
        ``FB805`` when there is no channel.
    """
    if not refs:
        raise UsageError("FB805", "this part of the item has no audio")
    return Track(tuple(role for role, _ in refs), tuple(ref for _, ref in refs))


def _frames(ref: AudioRef, rate: int) -> int:
    return ref.frames if ref.rate == rate else int(ref.frames / ref.rate * rate)


def _pcm(track: Track, first: int, last: int) -> NDArray[np.int16]:
    """Return frames ``[first, last)`` as 16-bit PCM, shape (frames, channels)."""
    out = np.zeros((last - first, len(track.refs)), dtype=np.int16)
    for i, ref in enumerate(track.refs):
        stop = min(last, _frames(ref, track.rate))
        if stop <= first:
            continue
        start_s, stop_s = from_samples(first, track.rate), from_samples(stop, track.rate)
        samples = ref.read(
            start=start_s, end=stop_s, rate=None if ref.rate == track.rate else track.rate
        )[: stop - first]
        out[: len(samples), i] = np.clip(np.rint(samples * 32767.0), -32768, 32767)
    return out


def _packed(low: NDArray[np.float64], high: NDArray[np.float64]) -> str:
    pairs = np.stack([low, high], axis=1) * 127.0
    return base64.b64encode(np.clip(np.rint(pairs), -127, 127).astype(np.int8).tobytes()).decode()
