"""What a voice, a recogniser and an aligner are, whoever makes them.

A stage asks the capability flags, never the class. Audio is mono float32 in [-1, 1]; times are
seconds from the first sample of the audio they come with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from floorbench.core.sample import JsonValue

Audio = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word and its media times in seconds; the score is the aligner's own, where it has one."""

    text: str
    start: float
    end: float
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Can:
    """What a provider can do.

    Parameters
    ----------
    clones : bool
        Speaks like a reference recording.
    emotion : bool
        Takes an emotion.
    returns_words : bool
        Gives word times with its audio or its text.
    speed : bool
        Has a native speed; otherwise only 1 is allowed.
    deterministic : bool
        Equal arguments give equal samples (text) every time.
    """

    clones: bool = False
    emotion: bool = False
    returns_words: bool = False
    speed: bool = False
    deterministic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A recording to speak like, and what is said in it (``None`` when unknown)."""

    path: Path
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A synthesised utterance.

    Attributes
    ----------
    audio : ndarray of float32, shape (n,)
    rate : int
        Samples per second.
    words : tuple of Word or None
        Word times by the voice itself; ``None`` when it gives none.
    phonemes : int or None
        Phonemes spoken, marks and spaces aside, where the voice tells them.
    provenance : mapping
        Model, digest, voice, settings: what the lineage keeps.
    """

    audio: Audio
    rate: int
    words: tuple[Word, ...] | None = None
    phonemes: int | None = None
    provenance: Mapping[str, JsonValue] = field(default_factory=dict)


def sounds(audio: NDArray[np.floating]) -> bool:
    """Tell whether samples are a sound: there are some, all are finite, and not all are 0."""
    return bool(np.any(audio) and np.all(np.isfinite(audio)))


def facts_of(provenance: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return what a provider says of itself, without the names that a note of the lineage has."""
    return {k: v for k, v in provenance.items() if k not in ("kind", "track")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A transcript, with word times where the recogniser gives them."""

    text: str
    words: tuple[Word, ...] | None = None


@runtime_checkable
class TTS(Protocol):
    """A voice."""

    can: Can

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Everything beside the arguments that decides the audio; no secrets."""
        ...

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
        """Speak a text.

        Parameters
        ----------
        text : str
        language : str
            ``en`` or ``zh``.
        voice : str or Reference
            Name of a voice, or a recording where the provider clones.
        speed : float
            Native speed; 1 is the voice's own.
        emotion : str or None
            Only for providers that take one.
        seed : int
            Ignored by deterministic providers.
        prefix : str or None
            A beginning of the text that the caller wants to cut off: a hint that its end must be
            a word boundary. The whole text is spoken all the same.

        Raises
        ------
        DataError
            ``FB871`` when the provider cannot do what is asked, ``FB872`` when it failed.
        EnvironmentProblem
            ``FB401`` a missing package, ``FB873`` a refused or missing key.
        """
        ...


@runtime_checkable
class ASR(Protocol):
    """A recogniser."""

    can: Can

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Everything beside the arguments that decides the text; no secrets."""
        ...

    def transcribe(self, audio: Audio, rate: int, *, language: str, careful: bool = False) -> Heard:
        """Write down what is said; ``careful`` asks for a wider search, where there is one."""
        ...


@runtime_checkable
class Aligner(Protocol):
    """Finds the words of a known text in a recording.

    Attributes
    ----------
    languages : frozenset of str
    """

    can: Can
    languages: frozenset[str]

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name and version."""
        ...

    def align(self, audio: Audio, rate: int, *, text: str, language: str) -> tuple[Word, ...]:
        """Return the words in order, with scores.

        Raises
        ------
        DataError
            ``FB874`` when the text cannot be found in the audio.
        """
        ...
