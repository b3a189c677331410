"""Whisper through faster-whisper: the packaged base model, or any size or folder."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from floorbench.build.speech.providers import Audio, Can, Heard, Word
from floorbench.core.sample import JsonValue
from floorbench.errors import EnvironmentProblem, missing_extra

RATE = 16_000
BEAM, CAREFUL_BEAM = 1, 5


class Whisper:
    """A CTranslate2 Whisper model on the CPU or a GPU.

    No prompt is ever given: on clips under a second the model returns the prompt as what it
    heard. Chinese comes in either script and is brought to one afterwards.

    Parameters
    ----------
    model : str or Path
        Size or hub name, or the folder of a converted model.
    sha256 : str or None
        Digest of ``model.bin``, for the lineage.
    device, compute_type : str
        As CTranslate2 names them.
    threads : int
    words : bool
        Whether to ask for word times. They are off by about a quarter of a second: good for
        search, never for placing an overlap.
    """

    def __init__(
        self,
        model: str | Path,
        *,
        sha256: str | None = None,
        device: str = "cpu",
        compute_type: str = "int8",
        threads: int = 1,
        words: bool = False,
    ) -> None:
        self._model = model
        self._sha256 = sha256
        self._device = device
        self._compute = compute_type
        self._threads = threads
        self._loaded: Any = None
        self.can = Can(returns_words=words, deterministic=True)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Model name, digest and settings."""
        name = self._model.name if isinstance(self._model, Path) else self._model
        try:
            version = importlib.metadata.version("faster-whisper")
        except importlib.metadata.PackageNotFoundError:
            version = "absent"
        return {
            "name": f"whisper {name}",
            "sha256": self._sha256,
            "compute_type": self._compute,
            "words": self.can.returns_words,
            "faster_whisper": version,
        }

    def transcribe(self, audio: Audio, rate: int, *, language: str, careful: bool = False) -> Heard:
        """Write down what is said: beam 1, or 5 when careful (see :class:`ASR`)."""
        model = self._load()
        import soxr

        samples = soxr.resample(audio.astype(np.float64), rate, RATE).astype(np.float32)
        segments, _ = model.transcribe(
            samples,
            language=language,
            beam_size=CAREFUL_BEAM if careful else BEAM,
            temperature=0.0,
            condition_on_previous_text=False,
            without_timestamps=not self.can.returns_words,
            word_timestamps=self.can.returns_words,
        )
        found = list(segments)
        words = None
        if self.can.returns_words:
            words = tuple(
                Word(
                    text=w.word.strip(),
                    start=round(float(w.start), 4),
                    end=round(float(w.end), 4),
                    score=round(float(w.probability), 4),
                )
                for s in found
                for w in s.words or ()
            )
        return Heard(text=" ".join(s.text.strip() for s in found).strip(), words=words)

    def _load(self) -> Any:
        if self._loaded is None:
            try:
                import faster_whisper
            except ImportError:
                raise missing_extra("faster-whisper", "build") from None
            if isinstance(self._model, Path) and not (self._model / "model.bin").is_file():
                raise EnvironmentProblem(
                    "FB901",
                    f"there is no recogniser in {self._model.name}",
                    hint="`floorbench assets get speech` prepares it",
                )
            self._loaded = faster_whisper.WhisperModel(
                str(self._model),
                device=self._device,
                compute_type=self._compute,
                cpu_threads=self._threads,
                num_workers=1,
            )
        return self._loaded
