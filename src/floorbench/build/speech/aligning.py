"""Forced alignment by pocketsphinx: the second opinion on English word times."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from floorbench.build.speech.providers import Audio, Can, Word
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.errors import DataError, missing_extra

RATE = 16_000
FRAME_S = 0.01


class PocketsphinxAligner:
    """English words of pocketsphinx's own dictionary; its model lies in its package."""

    can = Can(returns_words=True, deterministic=True)
    languages = frozenset({"en"})

    def __init__(self) -> None:
        self._decoder: Any = None

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name and version."""
        try:
            version = importlib.metadata.version("pocketsphinx")
        except importlib.metadata.PackageNotFoundError:
            version = "absent"
        return {"name": "pocketsphinx", "version": version}

    def align(self, audio: Audio, rate: int, *, text: str, language: str) -> tuple[Word, ...]:
        """Return the words of an English text (see :class:`Aligner`); scores lie in [0, 1]."""
        if language not in self.languages:
            raise DataError("FB874", f"pocketsphinx does not align {language!r}")
        decoder = self._load()
        pieces = text.split()
        spoken = [re.sub(r"[^a-z']", "", p.casefold().replace("’", "'")) for p in pieces]
        kept = [(p, w) for p, w in zip(pieces, spoken, strict=True) if w]
        unknown = sorted({w for _, w in kept if decoder.lookup_word(w) is None})
        if unknown or not kept:
            raise DataError("FB874", f"words that no dictionary holds: {', '.join(unknown)}")
        import soxr

        samples = soxr.resample(audio.astype(np.float64), rate, RATE)
        pcm = np.round(np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
        try:
            decoder.set_align_text(" ".join(w for _, w in kept))
            decoder.start_utt()
            decoder.process_raw(pcm, full_utt=True)
            decoder.end_utt()
            found = [s for s in decoder.seg() or () if not s.word.startswith(("<", "["))]
        except RuntimeError as error:
            raise DataError("FB874", f"no alignment: {error}") from None
        if [s.word.partition("(")[0] for s in found] != [w for _, w in kept]:
            raise DataError("FB874", f"{len(found)} of {counted(len(kept), 'word')} were found")
        return tuple(
            Word(
                text=piece,
                start=round(s.start_frame * FRAME_S, 4),
                end=round((s.end_frame + 1) * FRAME_S, 4),
                score=round(float(s.prob), 4),
            )
            for (piece, _), s in zip(kept, found, strict=True)
        )

    def _load(self) -> Any:
        if self._decoder is None:
            try:
                import pocketsphinx
            except ImportError:
                raise missing_extra("pocketsphinx", "build") from None
            self._decoder = pocketsphinx.Decoder(samprate=RATE, bestpath=False, loglevel="FATAL")
        return self._decoder
