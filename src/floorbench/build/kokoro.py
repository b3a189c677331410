"""The build voice: Kokoro-82M (int8) driven directly through ONNX Runtime.

One thread per session. The graph has no random node, so the same phonemes, voice and speed give
the same samples. Audio is mono float32 at 24 kHz; one duration frame is 600 samples (25 ms).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.core.words import counted
from floorbench.errors import DataError, missing_extra

RATE = 24_000
FRAME_S = 0.025
WORD_SHIFT_S = -0.075
MAX_TOKENS = 510


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """A synthesised utterance.

    Attributes
    ----------
    samples : ndarray of float32
        Mono audio at 24 kHz.
    phonemes : str
        The symbols the model knows, one per entry of ``frames`` after the start mark.
    frames : ndarray of int64, shape (len(phonemes) + 2,)
        Frames of 25 ms of the start mark, each phoneme and the end mark.
    """

    samples: NDArray[np.float32]
    phonemes: str
    frames: NDArray[np.int64]


class Kokoro:
    """Load the assembled model once; ``say`` turns phonemes into audio with durations.

    Parameters
    ----------
    assets : Path
        Folder made by :func:`floorbench.build.speech_assets.assemble`.
    """

    def __init__(self, assets: Path) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise missing_extra("onnxruntime", "onnx") from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session: Any = onnxruntime.InferenceSession(
            str(assets / "kokoro.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._vocab: dict[str, int] = json.loads((assets / "vocab.json").read_text("utf-8"))
        self._voices = assets / "voices"

    def style(self, voice: str) -> NDArray[np.float32]:
        """Return the (510, 256) style table of a voice; ``a+b`` is the mean of two voices."""
        tables = []
        for name in voice.split("+"):
            path = self._voices / f"{name}.bin"
            if not path.exists():
                raise DataError("FB903", f"there is no voice {name!r}")
            tables.append(np.fromfile(path, dtype=np.float32).reshape(-1, 256))
        mean: NDArray[np.float32] = np.mean(tables, axis=0, dtype=np.float32)
        return mean

    def say(self, *, phonemes: str, voice: str, speed: float) -> Speech:
        """Synthesise one utterance.

        Parameters
        ----------
        phonemes : str
            Kokoro's symbols; unknown ones are left out.
        voice : str
            Voice name, or ``a+b`` for the mean of two.
        speed : float
            Native speed, 0.5 to 2; not exactly linear in duration.

        Raises
        ------
        DataError
            FB903 when nothing can be spoken or the utterance is longer than 510 symbols.
        """
        known = "".join(p for p in phonemes if p in self._vocab)
        if not 0 < len(known) <= MAX_TOKENS:
            raise DataError("FB903", f"{counted(len(known), 'speakable symbol')} in {phonemes!r}")
        tokens = [0, *(self._vocab[p] for p in known), 0]
        audio, frames = self._session.run(
            ["audio", "duration"],
            {
                "tokens": np.array([tokens], dtype=np.int64),
                "style": self.style(voice)[len(known) - 1][None, :],
                "speed": np.array([speed], dtype=np.float32),
            },
        )
        return Speech(
            samples=np.asarray(audio, dtype=np.float32).reshape(-1),
            phonemes=known,
            frames=np.asarray(frames, dtype=np.int64).reshape(-1),
        )


def cut_time(*, phonemes: str, frames: NDArray[np.int64], groups: int) -> float:
    """Return the time in seconds at which the first ``groups`` words have been said.

    The cut lies in the middle of the space between the last word kept and the next one, by the
    model's own durations moved by -75 ms, which removes their known lateness.

    Parameters
    ----------
    phonemes : str
        Spoken symbols; words are separated by single spaces.
    frames : ndarray, shape (len(phonemes) + 2,)
        Durations in frames of 25 ms, start and end marks included.
    groups : int
        Words kept, at least 1 and fewer than there are.

    Examples
    --------
    >>> cut_time(phonemes="ab cd", frames=np.array([4, 2, 2, 2, 3, 3, 1]), groups=1)
    0.15
    """
    spaces = [i for i, symbol in enumerate(phonemes) if symbol == " "]
    if not 1 <= groups <= len(spaces):
        raise DataError("FB903", f"cannot keep {groups} of {counted(len(spaces) + 1, 'word')}")
    if len(frames) != len(phonemes) + 2:
        raise DataError(
            "FB903", f"{counted(len(frames), 'duration')} for {counted(len(phonemes), 'symbol')}"
        )
    index = spaces[groups - 1] + 1
    until = float(np.sum(frames[:index])) + float(frames[index]) / 2
    return round(until * FRAME_S + WORD_SHIFT_S, 4)
