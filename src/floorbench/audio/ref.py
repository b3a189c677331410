"""Audio that a system may read but not identify: from a file or a part of one, or from memory.

Both kinds implement ``floorbench.core.sample.AudioRef``. Neither shows a path, a name or anything
past its cutoff; ``to_wire`` exists for floorbench's own worker processes, not for systems.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from floorbench.audio.decode import (
    Channel,
    check_channel,
    check_rate,
    check_values,
    decode,
    probe,
    resample,
    stamp,
)
from floorbench.audio.member import AudioFile, Member
from floorbench.core.time import Seconds, from_samples, to_samples
from floorbench.core.vocab import Role
from floorbench.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_BLOCK = 1 << 20
_DIGESTS: dict[tuple[Any, ...], str] = {}
_DIGESTS_LIMIT = 65_536


class _Audio:
    """What both kinds share: the visible length, the guarded read, the content hash."""

    __slots__ = ("_cutoff",)
    _cutoff: Seconds | None

    @property
    def rate(self) -> int:
        """Sampling rate in Hz."""
        raise NotImplementedError

    def _total(self) -> int:
        raise NotImplementedError

    def _slice(self, start: int, stop: int) -> NDArray[np.float32]:
        raise NotImplementedError

    def _identity(self) -> tuple[Any, ...] | None:
        """Return a key under which the digest may be remembered, or ``None``."""
        raise NotImplementedError

    @property
    def cutoff(self) -> Seconds | None:
        """Media time after which nothing may be read; ``None`` when all may be."""
        return self._cutoff

    @property
    def frames(self) -> int:
        """Samples that may be read, at ``rate``."""
        total = self._total()
        return total if self._cutoff is None else min(total, to_samples(self._cutoff, self.rate))

    def read(
        self, *, start: Seconds = 0.0, end: Seconds | None = None, rate: int | None = None
    ) -> NDArray[np.float32]:
        """Return mono samples of ``[start, end)``.

        Parameters
        ----------
        start, end : float
            Seconds on the media clock; ``end`` defaults to all that is visible.
        rate : int or None
            Wanted rate in Hz. Only the samples of the span itself enter the resampling, so
            nothing outside it, before or after, colours the result.

        Returns
        -------
        ndarray of float32, shape (n,)

        Raises
        ------
        DataError
            ``FB307`` for a span outside the visible audio, ``FB301`` to ``FB306`` for a fault of
            the file, ``FB309`` for an impossible rate.
        """
        visible = self.frames
        first = self._edge(start)
        stop = visible if end is None else self._edge(end)
        if stop < first:
            raise DataError("FB307", f"the read ends at {end} s before it starts at {start} s")
        if stop > visible:
            seconds = from_samples(visible, self.rate)
            what = "the recording ends" if self._cutoff is None else "the visible audio ends"
            raise DataError("FB307", f"a read up to {end} s was asked for, {what} at {seconds} s")
        samples = self._slice(first, stop)
        return samples if rate is None else resample(samples, source=self.rate, target=rate)

    def _edge(self, seconds: Seconds) -> int:
        if not math.isfinite(seconds) or seconds < 0:
            raise DataError("FB307", f"{seconds} s is not a time at or after 0")
        return to_samples(seconds, self.rate)

    def digest(self) -> str:
        """Return the SHA-256 of what may be heard: rate, length and float32 samples."""
        key = self._identity()
        if key is not None and key in _DIGESTS:
            return _DIGESTS[key]
        hasher = hashlib.sha256(f"pcm-f32le {self.rate} {self.frames}\n".encode())
        for start in range(0, self.frames, _BLOCK):
            block = self._slice(start, min(start + _BLOCK, self.frames))
            hasher.update(block.astype("<f4", copy=False).tobytes())
        found = hasher.hexdigest()
        if key is not None:
            if len(_DIGESTS) >= _DIGESTS_LIMIT:
                _DIGESTS.clear()
            _DIGESTS[key] = found
        return found

    def _narrower(self, cutoff: Seconds) -> Seconds:
        if not math.isfinite(cutoff) or cutoff < 0:
            raise DataError("FB309", f"cutoff {cutoff} s is not a time at or after 0")
        return cutoff if self._cutoff is None else min(cutoff, self._cutoff)

    def __repr__(self) -> str:
        until = "" if self._cutoff is None else f" cutoff={self._cutoff} s"
        return f"<{type(self).__name__}{until}>"


class FileAudio(_Audio):
    """One channel of an audio file; opened when it is first read.

    Parameters
    ----------
    path : Path or Member
        The file, or the part of a file that holds it; kept to itself and never shown.
    channel : int, "mix" or None
        Channel index from 0, the mean of all, or ``None`` for a file with one channel.
    cutoff : float or None
        Media time in seconds after which nothing may be read.

    Examples
    --------
    >>> from pathlib import Path
    >>> FileAudio(Path("secret-label.wav"), cutoff=2.5)
    <FileAudio cutoff=2.5 s>
    """

    __slots__ = ("_channel", "_path")

    def __init__(
        self, path: AudioFile, *, channel: Channel | None = None, cutoff: Seconds | None = None
    ) -> None:
        _check_choice(channel)
        self._path: AudioFile = path if type(path) is Member else Path(path)
        self._channel: Channel | None = channel
        self._cutoff = None
        if cutoff is not None:
            self._cutoff = self._narrower(cutoff)

    @property
    def rate(self) -> int:
        """Sampling rate in Hz of the file."""
        return probe(self._path).rate

    def _total(self) -> int:
        info = probe(self._path)
        check_channel(info, self._channel, self._path)
        return info.frames

    def _slice(self, start: int, stop: int) -> NDArray[np.float32]:
        return decode(self._path, start=start, stop=stop, channel=self._channel)

    def _identity(self) -> tuple[Any, ...]:
        return (*stamp(self._path), self._channel, self.frames)

    def narrow(self, *, cutoff: Seconds) -> Self:
        """Return the same audio that ends at ``cutoff`` or at its own cutoff, the earlier one."""
        return type(self)(self._path, channel=self._channel, cutoff=self._narrower(cutoff))

    def to_wire(self) -> dict[str, Any]:
        """Return a JSON-ready form for a worker process that reaches the same file."""
        at: dict[str, Any] = (
            {"member": self._path.to_wire()}
            if isinstance(self._path, Member)
            else {"path": str(self._path.absolute())}
        )
        return {**at, "channel": self._channel, "cutoff": self._cutoff}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Rebuild the reference from :meth:`to_wire` (``FB309`` when the mapping is another)."""
        try:
            member = wire.get("member")
            path = Path(wire["path"]) if member is None else Member.from_wire(member)
            return cls(path, channel=wire["channel"], cutoff=wire["cutoff"])
        except (KeyError, TypeError) as error:
            raise DataError("FB309", f"not a file reference ({error!r})") from None


class ArrayAudio(_Audio):
    """Mono samples in memory.

    Parameters
    ----------
    samples : array of shape (n,)
        In [-1, 1]; copied as float32, ``n >= 1``.
    rate : int
        Sampling rate in Hz.
    cutoff : float or None
        Media time in seconds after which nothing may be read.

    Raises
    ------
    DataError
        ``FB303`` empty, ``FB305`` impossible values, ``FB306`` more than one dimension, ``FB309``
        impossible rate.
    """

    __slots__ = ("_rate", "_samples")

    def __init__(self, samples: Any, *, rate: int, cutoff: Seconds | None = None) -> None:
        import numpy as np

        check_rate(rate)
        held = np.array(samples, dtype=np.float32)
        if held.ndim != 1:
            raise DataError("FB306", f"samples of shape {held.shape} are not one channel")
        if not held.size:
            raise DataError("FB303", "the array holds no sample")
        check_values(held)
        held.flags.writeable = False
        self._samples = held
        self._rate = rate
        self._cutoff = None
        if cutoff is not None:
            self._cutoff = self._narrower(cutoff)

    @property
    def rate(self) -> int:
        """Sampling rate in Hz."""
        return self._rate

    def _total(self) -> int:
        return int(self._samples.size)

    def _slice(self, start: int, stop: int) -> NDArray[np.float32]:
        return self._samples[start:stop].copy()

    def _identity(self) -> None:
        return None

    def narrow(self, *, cutoff: Seconds) -> Self:
        """Return the same audio that ends at ``cutoff`` or at its own cutoff, the earlier one."""
        return type(self)(self._samples, rate=self._rate, cutoff=self._narrower(cutoff))

    def to_wire(self) -> dict[str, Any]:
        """Return a JSON-ready form: little-endian float32 in base64, up to the cutoff."""
        held = max(self.frames, 1)  # an array is never empty, even when nothing is visible
        visible = self._samples[:held].astype("<f4", copy=False).tobytes()
        return {
            "rate": self._rate,
            "cutoff": self._cutoff,
            "f32": base64.b64encode(visible).decode("ascii"),
        }

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Rebuild the samples from :meth:`to_wire` (``FB309`` when the mapping is another)."""
        import numpy as np

        try:
            samples = np.frombuffer(base64.b64decode(wire["f32"], validate=True), dtype="<f4")
            return cls(samples, rate=wire["rate"], cutoff=wire["cutoff"])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError("FB309", f"not samples in memory ({error!r})") from None


def file_of(audio: FileAudio) -> AudioFile:
    """Return where audio is read from; for packing a dataset, never for a system."""
    return audio._path


def by_role(path: Path, channels: Mapping[Role, Channel]) -> dict[Role, FileAudio]:
    """Return one reference per role for a file whose channels belong to different speakers.

    Parameters
    ----------
    path : Path
        Audio file, all channels on one media clock.
    channels : mapping of Role to int or "mix"
        The dataset's declaration of which channel is whose.
    """
    return {role: FileAudio(path, channel=channel) for role, channel in channels.items()}


def _check_choice(channel: object) -> None:
    whole = isinstance(channel, int) and not isinstance(channel, bool)
    if not (channel is None or channel == "mix" or whole):
        raise DataError("FB306", f"channel {channel!r} is not an index from 0 or 'mix'")
