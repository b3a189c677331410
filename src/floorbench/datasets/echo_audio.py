"""Audio of which nothing is given from a moment on, and the listening version of a sample."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from floorbench.audio.decode import resample
from floorbench.audio.ref import FileAudio
from floorbench.core.time import Seconds, to_samples
from floorbench.datasets.echo_tables import ListeningRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class SilencedAudio:
    """An audio file that is digital silence from ``silent_from`` seconds on.

    It has the length of the file, so that nothing can be told from where it ends.
    """

    __slots__ = ("_audio", "_from")

    def __init__(self, audio: FileAudio, *, silent_from: Seconds) -> None:
        self._audio = audio
        self._from = silent_from

    @property
    def rate(self) -> int:
        """Sampling rate in Hz of the file."""
        return self._audio.rate

    @property
    def frames(self) -> int:
        """Samples that may be read."""
        return self._audio.frames

    @property
    def cutoff(self) -> Seconds | None:
        """Media time after which nothing may be read."""
        return self._audio.cutoff

    def read(
        self, *, start: Seconds = 0.0, end: Seconds | None = None, rate: int | None = None
    ) -> NDArray[np.float32]:
        """Return samples of ``[start, end)``, zero from the moment on (errors as the file's)."""
        samples = self._audio.read(start=start, end=end)
        first = to_samples(self._from, self.rate) - to_samples(start, self.rate)
        samples[max(first, 0) :] = 0.0
        return samples if rate is None else resample(samples, source=self.rate, target=rate)

    def digest(self) -> str:
        """Return the SHA-256 of what may be heard."""
        text = f"silent from {to_samples(self._from, self.rate)} {self._audio.digest()}"
        return hashlib.sha256(text.encode()).hexdigest()

    def narrow(self, *, cutoff: Seconds) -> Self:
        """Return the same audio that ends at ``cutoff`` at the latest."""
        return type(self)(self._audio.narrow(cutoff=cutoff), silent_from=self._from)

    def to_wire(self) -> dict[str, Any]:
        """Return a JSON-ready form for a worker process on the same machine."""
        return {"audio": self._audio.to_wire(), "from": self._from}

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Self:
        """Rebuild the reference from :meth:`to_wire`."""
        return cls(FileAudio.from_wire(wire["audio"]), silent_from=wire["from"])


def parts_of(audio: SilencedAudio) -> tuple[FileAudio, Seconds]:
    """Return the file behind the audio and the moment of silence; for packing a dataset."""
    return audio._audio, audio._from


def listening(
    samples: NDArray[np.float32], *, rate: int, onset: Seconds, role: str, how: ListeningRow | None
) -> NDArray[np.float32]:
    """Return a channel as a listener hears it, from the channel that systems get.

    Everything before the onset is the same, sample by sample. ``how=None`` changes nothing.

    Parameters
    ----------
    samples : ndarray of float32, shape (n,)
        The whole channel.
    rate : int
    onset : float
        Onset of the insertion in seconds.
    role : {'user', 'system'}
        Whose channel it is.
    how : ListeningRow or None
        Emphasis and fade; ``None`` for roles that keep the floor.

    Source
    ------
    ECHO: an interruption is rendered with onset emphasis, and the assistant fades to silence after
    a short reaction interval; backchannels and off-talk change nothing.
    """
    import numpy as np

    out = samples.copy()
    if how is None:
        return out
    if role == "user":
        first, last = (to_samples(t, rate) for t in (onset, onset + how.emphasis_s))
        out[first:last] *= np.float32(10 ** (how.emphasis_db / 20))
        return np.clip(out, -1.0, 1.0)
    first = to_samples(onset + how.reaction_s, rate)
    count = min(to_samples(how.fade_s, rate), len(out) - first)
    out[first : first + count] *= np.cos(np.linspace(0, np.pi / 2, count), dtype=np.float32) ** 2
    out[first + count :] = 0.0
    return out
