"""Voice activity detection for labels and gates: Silero and WebRTC behind one small interface.

A VAD gives one activity value per frame; :func:`spans` turns the values into speech spans. The two
differ usefully: Silero rejects coughs and clatter that WebRTC calls speech.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from floorbench.audio.decode import resample
from floorbench.core.time import Span
from floorbench.errors import DataError, UsageError, did_you_mean, missing_extra

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class VadParameters:
    """How frame activity becomes speech.

    The defaults are the ones that Silero's publisher uses.

    Parameters
    ----------
    threshold : float
        Speech starts in a frame with activity >= threshold, in (0, 1].
    release : float
        Speech goes on while activity >= release, in [0, threshold].
    min_speech : float
        Seconds; shorter speech is dropped.
    min_silence : float
        Seconds; a shorter silence inside speech is filled.
    pad : float
        Seconds added on both sides; never into a neighbouring span or beyond the audio.

    Raises
    ------
    DataError
        ``FB309`` for a value outside its range.
    """

    threshold: float = 0.5
    release: float = 0.35
    min_speech: float = 0.25
    min_silence: float = 0.1
    pad: float = 0.03

    def __post_init__(self) -> None:
        if not 0.0 < self.threshold <= 1.0:
            raise DataError("FB309", f"VAD threshold {self.threshold} is not in (0, 1]")
        if not 0.0 <= self.release <= self.threshold:
            raise DataError(
                "FB309", f"VAD release {self.release} is not in [0, threshold {self.threshold}]"
            )
        for name in ("min_speech", "min_silence", "pad"):
            value = getattr(self, name)
            if not 0.0 <= value < 3600.0:
                raise DataError("FB309", f"VAD {name} {value} is not a length in seconds")

    def __str__(self) -> str:
        return (
            f"threshold={self.threshold:g}, release={self.release:g}, "
            f"min_speech={self.min_speech:g}, min_silence={self.min_silence:g}, pad={self.pad:g}"
        )


class Vad(Protocol):
    """A frame-wise voice activity detector at 16 kHz."""

    @property
    def name(self) -> str:
        """Name, version and settings, for a signature."""
        ...

    @property
    def hop(self) -> int:
        """Samples per frame at 16 kHz."""
        ...

    def weights(self) -> dict[str, str]:
        """Return the SHA-256 of each weights file by name; empty for a rule without weights."""
        ...

    def load(self) -> None:
        """Load weights; idempotent."""
        ...

    def activity(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return one value in [0, 1] per frame of 16 kHz audio; the last frame may be padded."""
        ...


RATE = 16_000


class SileroVad:
    """Silero VAD 6 on onnxruntime, one thread.

    Frames of 512 samples, each with the 64 samples before it; the recurrent state starts at zero
    with each recording. The published export that takes all frames of a recording in one call is
    used: its probabilities equal those of the frame-by-frame export.

    Parameters
    ----------
    model_path : Path or None
        The ONNX file; ``None`` takes the asset ``silero-vad``.
    """

    hop = 512
    _context = 64

    def __init__(self, *, model_path: Path | None = None) -> None:
        self._given = model_path
        self._session: Any = None

    @property
    def name(self) -> str:
        """Name and version."""
        return "silero-vad-6.2.3" if self._given is None else "silero-vad(own file)"

    def weights(self) -> dict[str, str]:
        """Return the hash of the ONNX file; reads the file only when it is the user's own."""
        from floorbench.audio import assets

        if self._given is None:
            return {"silero-vad": assets.asset("silero-vad").sha256}
        return {"silero-vad": assets.sha256_of(self._given)}

    def load(self) -> None:
        """Open the ONNX session."""
        if self._session is None:
            from floorbench.audio import assets
            from floorbench.audio.onnx import open_session

            path = self._given or assets.locate("silero-vad")
            self._session = open_session(
                path, inputs=("input", "h", "c"), outputs=("speech_probs", "hn", "cn")
            )

    def activity(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the speech probability of each 32 ms frame."""
        import numpy as np

        self.load()
        count = -(-samples.size // self.hop)
        if not count:
            return np.zeros(0, dtype=np.float32)
        padded = np.zeros(self._context + count * self.hop, dtype=np.float32)
        padded[self._context : self._context + samples.size] = samples
        width = self._context + self.hop
        frames = np.lib.stride_tricks.sliding_window_view(padded, width)[:: self.hop]
        zero = np.zeros((1, 1, 128), dtype=np.float32)
        feed = {"input": np.ascontiguousarray(frames), "h": zero, "c": zero}
        found: NDArray[np.float32] = self._session.run(["speech_probs"], feed)[0]
        return found

    def stream(self) -> SileroStream:
        """Return a detector that takes one frame after the other."""
        self.load()
        return SileroStream(self._session, hop=self.hop, context=self._context)


class SileroStream:
    """Silero VAD frame by frame, with the recurrent state carried along.

    The probabilities are those of :meth:`SileroVad.activity` over the whole recording.
    """

    def __init__(self, session: Any, *, hop: int, context: int) -> None:
        import numpy as np

        self._session = session
        self._hop = hop
        self._kept = context
        self._frame = np.zeros((1, context + hop), dtype=np.float32)
        self._h = np.zeros((1, 1, 128), dtype=np.float32)
        self._c = self._h

    def push(self, samples: NDArray[np.float32]) -> float:
        """Return the speech probability of one frame of 512 samples at 16 kHz."""
        self._frame[0, : self._kept] = self._frame[0, self._hop :]
        self._frame[0, self._kept :] = samples
        feed = {"input": self._frame, "h": self._h, "c": self._c}
        found, self._h, self._c = self._session.run(["speech_probs", "hn", "cn"], feed)
        return float(found[0])


class WebRtcVad:
    """The Gaussian-mixture VAD of WebRTC; no weights file.

    Parameters
    ----------
    mode : int
        Aggressiveness 0 (calls most sound speech) to 3.
    frame : int
        Milliseconds per frame: 10, 20 or 30.
    """

    def __init__(self, *, mode: int = 3, frame: int = 20) -> None:
        if mode not in (0, 1, 2, 3):
            raise DataError("FB309", f"WebRTC VAD mode {mode!r} is not 0, 1, 2 or 3")
        if frame not in (10, 20, 30):
            raise DataError("FB309", f"WebRTC VAD frame {frame!r} ms is not 10, 20 or 30")
        self.mode = mode
        self.frame = frame

    @property
    def name(self) -> str:
        """Name and settings."""
        return f"webrtc-vad(mode={self.mode}, frame={self.frame} ms)"

    @property
    def hop(self) -> int:
        """Samples per frame."""
        return self.frame * RATE // 1000

    def weights(self) -> dict[str, str]:
        """Return nothing: the model is inside the library."""
        return {}

    def load(self) -> None:
        """Check that the library is there."""
        self._detector()

    def _detector(self) -> Any:
        try:
            import webrtcvad
        except ModuleNotFoundError:
            raise missing_extra("webrtcvad-wheels", "webrtc") from None
        return webrtcvad.Vad(self.mode)

    def activity(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return 0 or 1 per frame; the detector adapts, so each call starts a fresh one."""
        import numpy as np

        detector = self._detector()
        count = -(-samples.size // self.hop)
        whole = np.zeros(count * self.hop, dtype="<i2")
        whole[: samples.size] = np.clip(np.round(samples * 32767.0), -32768, 32767)
        step = self.hop * 2
        packed = whole.tobytes()
        marks = [
            detector.is_speech(packed[i : i + step], RATE) for i in range(0, len(packed), step)
        ]
        return np.array(marks, dtype=np.float32)


_VADS: dict[str, Callable[[], Vad]] = {"silero": SileroVad, "webrtc": WebRtcVad}


def vad(name: str) -> Vad:
    """Return a VAD by its short name, ``silero`` or ``webrtc``.

    Raises
    ------
    UsageError
        ``FB101`` for another name.
    """
    if name not in _VADS:
        near = did_you_mean(name, _VADS)
        raise UsageError(
            "FB101",
            f"there is no VAD '{name}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(_VADS)}",
        )
    return _VADS[name]()


def speech_spans(
    detector: Vad, samples: NDArray[np.float32], *, rate: int, parameters: VadParameters
) -> list[Span]:
    """Return where speech is.

    Parameters
    ----------
    detector : Vad
    samples : ndarray of float32, shape (n,)
        Mono audio at ``rate`` Hz; resampled to 16 kHz if needed.
    rate : int
    parameters : VadParameters

    Returns
    -------
    list of Span
        In order, disjoint, inside the audio; empty when there is no speech.
    """
    at_16k = resample(samples, source=rate, target=RATE)
    activity = detector.activity(at_16k)
    return spans(
        activity, hop=detector.hop / RATE, duration=samples.size / rate, parameters=parameters
    )


def spans(
    activity: NDArray[np.float32], *, hop: float, duration: float, parameters: VadParameters
) -> list[Span]:
    """Turn frame activity into speech spans.

    Hysteresis first, then short silences are filled, then short speech is dropped, then padding.

    Parameters
    ----------
    activity : ndarray, shape (frames,)
        Values in [0, 1]; frame ``i`` covers ``[i * hop, (i + 1) * hop)`` seconds.
    hop : float
        Seconds per frame.
    duration : float
        Seconds of audio; the last frame is cut there.
    parameters : VadParameters
    """
    import numpy as np

    if not activity.size:
        return []
    # A frame that is neither clearly on nor clearly off keeps the state of the last clear one.
    clear = np.where(activity >= parameters.threshold, 1, 0)
    known = (activity >= parameters.threshold) | (activity < parameters.release)
    last = np.maximum.accumulate(np.where(known, np.arange(activity.size), -1))
    on = np.where(last >= 0, clear[last], 0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], on, [0]))))
    runs = [
        [float(a) * hop, min(float(b) * hop, duration)]
        for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]
    slack = 1e-9  # lengths are whole frames; float noise must not decide
    filled: list[list[float]] = []
    for run in runs:
        if filled and run[0] - filled[-1][1] < parameters.min_silence - slack:
            filled[-1][1] = run[1]
        else:
            filled.append(run)
    kept = [run for run in filled if run[1] - run[0] >= parameters.min_speech - slack]
    return _padded(kept, pad=parameters.pad, duration=duration)


def _padded(runs: list[list[float]], *, pad: float, duration: float) -> list[Span]:
    """Widen runs; two that would meet share the silence between them."""
    found = []
    for i, (start, end) in enumerate(runs):
        before = runs[i - 1][1] if i else 0.0
        after = runs[i + 1][0] if i + 1 < len(runs) else duration
        left = min(pad, (start - before) / 2 if i else start)
        right = min(pad, (after - end) / 2 if i + 1 < len(runs) else after - end)
        found.append(Span(start - left, end + max(right, 0.0)))
    return found
