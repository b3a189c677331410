"""From a file to float samples: probe, decode, choose a channel, resample.

Any rate and channel count in WAV, FLAC, Ogg Vorbis, Opus, MP3 and NIST SPHERE through soundfile.
Every fault is one clear error; a part of a recording is never returned in place of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Literal

from floorbench.audio.containers import check_complete
from floorbench.audio.member import AudioFile, Member
from floorbench.audio.sphere import sphere_header
from floorbench.core.words import counted
from floorbench.errors import DataError, Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Channel = int | Literal["mix"]

RESAMPLER = "soxr-HQ"
RATES = (1_000, 768_000)
PEAK_LIMIT = 8.0
"""Largest sample magnitude taken for audio in [-1, 1]; lossy decoders overshoot 1 a little."""

_EXACT_SEEK = ("WAV", "WAVEX", "RF64", "FLAC", "NIST")
_CONTAINERS = (*_EXACT_SEEK, "OGG", "MP3")
_LENGTH_LIMIT = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInfo:
    """What a file's header says: rate in Hz, frames per channel, channels, container."""

    rate: int
    frames: int
    channels: int
    container: str


_PROBED: dict[tuple[str, int, int], FileInfo] = {}
_PROBED_LIMIT = 65_536


def probe(path: AudioFile) -> FileInfo:
    """Read and check a file's header; remembered until the file changes.

    Raises
    ------
    DataError
        ``FB301`` missing, ``FB302`` not audio, ``FB303`` empty, ``FB304`` truncated.
    """
    where = Place(str(path))
    key = stamp(path)
    known = _PROBED.get(key)
    if known is not None:
        return known
    if key[2] == 0:
        raise DataError("FB303", "the file holds 0 bytes", where=where)
    check_complete(path)
    import soundfile

    try:
        header = soundfile.info(_readable(path))
    except (soundfile.LibsndfileError, OSError) as error:
        raise DataError("FB302", f"not readable as audio ({_reason(error)})", where=where) from None
    if header.format not in _CONTAINERS:
        raise DataError(
            "FB302",
            f"{header.format} files are not read, since a shortened one could not be told",
            where=where,
            hint="convert it to WAV, FLAC, Ogg, Opus, MP3 or SPHERE",
        )
    if not RATES[0] <= header.samplerate <= RATES[1]:
        raise DataError("FB302", f"the header says {header.samplerate} Hz", where=where)
    sphere = sphere_header(path)
    if header.frames < 1 or (sphere is not None and sphere.promised < 1):
        raise DataError("FB303", "the file holds no audio frame", where=where)
    if header.frames > _LENGTH_LIMIT:
        raise DataError(
            "FB304",
            "the header leaves the length open, so nobody can tell whether the file is whole",
            where=where,
            hint="write the file again with its length, for example from a seekable output",
        )
    info = FileInfo(
        rate=int(header.samplerate),
        frames=int(header.frames) if sphere is None else sphere.promised,
        channels=int(header.channels),
        container=str(header.format),
    )
    if len(_PROBED) >= _PROBED_LIMIT:
        _PROBED.clear()
    _PROBED[key] = info
    return info


def stamp(path: AudioFile) -> tuple[str, int, int]:
    """Return (path, modification time in ns, size): equal stamps mean an unchanged file.

    Raises
    ------
    DataError
        ``FB301`` when the file is missing, a folder, or not permitted.
    """
    if type(path) is Member:
        return path.stamp()
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(
            "FB301", f"cannot be opened: {error.strerror or error}", where=Place(str(path))
        ) from None
    if not path.is_file():
        raise DataError("FB301", "is not a file", where=Place(str(path)))
    return (str(path), status.st_mtime_ns, status.st_size)


def check_channel(info: FileInfo, channel: Channel | None, path: AudioFile) -> None:
    """Refuse a channel that does not exist, and a silent choice among several.

    Raises
    ------
    DataError
        ``FB306``.
    """
    if channel == "mix":
        return
    if channel is None:
        if info.channels != 1:
            raise DataError(
                "FB306",
                f"the file has {counted(info.channels, 'channel')} and none was chosen",
                where=Place(str(path)),
            )
        return
    if not 0 <= channel < info.channels:
        raise DataError(
            "FB306",
            f"channel {channel} was asked for, the file has {info.channels} (counted from 0)",
            where=Place(str(path)),
        )


def decode(
    path: AudioFile, *, start: int, stop: int, channel: Channel | None = None
) -> NDArray[np.float32]:
    """Decode frames ``[start, stop)`` of one channel.

    Parameters
    ----------
    path : Path
        Audio file.
    start, stop : int
        Frame indices at the file's own rate, ``0 <= start <= stop <= frames``.
    channel : int, "mix" or None
        Channel index, the mean of all channels, or the only channel.

    Returns
    -------
    ndarray of float32, shape (stop - start,)
        In [-1, 1]; lossy codecs may overshoot a little and are not clipped.

    Raises
    ------
    DataError
        ``FB301`` to ``FB306``.

    Notes
    -----
    Lossy files are decoded from their beginning, so that the values do not depend on where a
    read starts. A lossy codec spreads a frame over a few milliseconds; audio right before a
    cutoff was encoded with what followed it. Use PCM or FLAC where that matters.
    """
    import numpy as np
    import soundfile

    where = Place(str(path))
    info = probe(path)
    check_channel(info, channel, path)
    first = start if info.container in _EXACT_SEEK else 0
    try:
        with soundfile.SoundFile(_readable(path)) as handle:
            if first:
                handle.seek(first)
            block = handle.read(stop - first, dtype="float32", always_2d=True)
    except (soundfile.LibsndfileError, OSError) as error:
        raise DataError(
            "FB304", f"decoding stops inside the file ({_reason(error)})", where=where
        ) from None
    if len(block) != stop - first:
        raise DataError(
            "FB304",
            f"the header promises {counted(info.frames, 'frame')}, "
            f"decoding ends at {first + len(block)}",
            where=where,
        )
    block = block[start - first :]
    one = block.mean(axis=1) if channel == "mix" else block[:, channel or 0]
    mono: NDArray[np.float32] = np.ascontiguousarray(one)
    check_values(mono, where=where)
    return mono


def check_values(samples: NDArray[np.float32], *, where: Place | None = None) -> None:
    """Refuse NaN, infinity and samples far outside [-1, 1].

    Raises
    ------
    DataError
        ``FB305`` with the index of the first bad sample.
    """
    import numpy as np

    if not samples.size:
        return
    peak = float(np.max(np.abs(samples)))
    if peak <= PEAK_LIMIT:
        return
    if np.isfinite(peak):
        raise DataError(
            "FB305", f"the largest sample is {peak:g}, audio lies in [-1, 1]", where=where
        )
    index = int(np.argmin(np.isfinite(samples)))
    raise DataError("FB305", f"sample {index} is {samples[index]}", where=where)


def resample(samples: NDArray[np.float32], *, source: int, target: int) -> NDArray[np.float32]:
    """Change the sampling rate with soxr at high quality.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
    source, target : int
        Rates in Hz.

    Returns
    -------
    ndarray of float32, shape (m,)
        ``m`` is ``n * target / source`` to the nearest integer.

    Raises
    ------
    DataError
        ``FB309`` for a rate outside 1,000 to 768,000 Hz.
    """
    import numpy as np

    check_rate(source)
    check_rate(target)
    if source == target or not samples.size:
        return samples
    import soxr

    return np.asarray(soxr.resample(samples, source, target, quality="HQ"), dtype=np.float32)


def check_rate(rate: int) -> None:
    """Raise ``FB309`` unless a rate is an integer between 1,000 and 768,000 Hz."""
    if isinstance(rate, bool) or not isinstance(rate, int) or not RATES[0] <= rate <= RATES[1]:
        raise DataError(
            "FB309", f"sampling rate {rate!r} is not a whole number from {RATES[0]} to {RATES[1]}"
        )


def _readable(path: AudioFile) -> str | BinaryIO:
    return path.open("rb") if type(path) is Member else str(path)


def _reason(error: Exception) -> str:
    text = str(getattr(error, "error_string", "") or error)
    return text.strip().rstrip(".")
