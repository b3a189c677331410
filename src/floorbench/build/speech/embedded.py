"""The embedded voice: Kokoro with its own word times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from floorbench.build import kokoro
from floorbench.build.g2p_process import PhonemeClient
from floorbench.build.kokoro_voices import voice_language
from floorbench.build.speech.providers import Can, Reference, Spoken, Word
from floorbench.build.speech.words import join_words, words_of
from floorbench.build.speech_assets import MODEL_SHA256
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError

_SILENT = frozenset(' ˈˌː.,!?;:—…"“”()/→↗↘↓0123456789')


def sounds(phonemes: str) -> int:
    """Return the number of phonemes: stress, length, tone and punctuation marks are not counted.

    Examples
    --------
    >>> sounds("hˈɛloʊ, ju")
    7
    """
    return sum(c not in _SILENT for c in phonemes)


class KokoroTTS:
    """Kokoro voices and their blends; equal arguments give equal samples.

    Parameters
    ----------
    assets : Path
        Folder made by :func:`floorbench.build.speech_assets.assemble`.
    """

    can = Can(returns_words=True, speed=True, deterministic=True)

    def __init__(self, assets: Path) -> None:
        self._assets = assets
        self._voice: kokoro.Kokoro | None = None
        self._client: PhonemeClient | None = None

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name and digest of the model."""
        return {"name": "kokoro-82m-int8", "sha256": MODEL_SHA256, "version": 1}

    def synthesize(
        self,
        text: str,
        *,
        language: str,
        voice: str | Reference,
        speed: float = 1.0,
        emotion: str | None = None,
        seed: int = 0,
        prefix: str | None = None,
    ) -> Spoken:
        """Speak a text (see :class:`floorbench.build.speech.providers.TTS`)."""
        if isinstance(voice, Reference):
            raise DataError("FB871", "this voice does not clone: name a voice")
        if emotion is not None:
            raise DataError("FB871", f"this voice takes no emotion ({emotion!r})")
        if (voice[:1] == "z") != (language == "zh"):
            raise DataError("FB871", f"voice {voice!r} does not speak {language!r}")
        phonemes, _ = self._ask(text, voice, prefix)
        if self._voice is None:
            self._voice = kokoro.Kokoro(self._assets)
        said = self._voice.say(phonemes=phonemes, voice=voice, speed=speed)
        return Spoken(
            audio=said.samples,
            rate=kokoro.RATE,
            words=self._words(said, text=text, voice=voice, language=language, prefix=prefix),
            phonemes=sounds(said.phonemes),
            provenance={**self.identity, "voice": voice, "speed": speed, "phonemes": said.phonemes},
        )

    def _ask(self, text: str, voice: str, prefix: str | None) -> tuple[str, int | None]:
        if self._client is None:
            self._client = PhonemeClient()
        return self._client.ask(lang=voice_language(voice), text=text, prefix=prefix)

    def _words(
        self, said: kokoro.Speech, *, text: str, voice: str, language: str, prefix: str | None
    ) -> tuple[Word, ...]:
        """Time every piece whose phonemes begin at a space of what was said."""
        whole, kept = self._ask(text, voice, prefix)
        pieces = words_of(text, language)
        times: list[float | None] = []
        for index in range(1, len(pieces)):
            head = "".join(pieces[:index]).rstrip()
            spoken, groups = self._ask(text, voice, head)
            if prefix is not None and head.rstrip() == prefix.rstrip():
                groups = kept
            elif spoken != whole:
                groups = None
            times.append(self._boundary(said, groups))
        edges = said.frames[0], said.frames[-1]
        onset = max(0.0, float(edges[0]) * kokoro.FRAME_S + kokoro.WORD_SHIFT_S)
        length = len(said.samples) / kokoro.RATE
        end = length - float(edges[1]) * kokoro.FRAME_S
        return join_words(pieces, times, onset=round(onset, 4), end=round(end, 4))

    @staticmethod
    def _boundary(said: kokoro.Speech, groups: int | None) -> float | None:
        if groups is None or not 0 < groups <= said.phonemes.count(" "):
            return None
        return kokoro.cut_time(phonemes=said.phonemes, frames=said.frames, groups=groups)


def master(spoken: Spoken, rate: int) -> Spoken:
    """Return the utterance at another sampling rate; times stay."""
    if spoken.rate == rate:
        return spoken
    import soxr

    audio = soxr.resample(spoken.audio.astype(np.float64), spoken.rate, rate)
    return replace(spoken, audio=audio.astype(np.float32), rate=rate)
