"""Speaking rate: phonemes or syllables per voiced second, bands, and bounded stretching.

English is counted in phonemes, Mandarin in syllables (one per Han character). Voiced seconds are
the 10 ms windows within 40 dB of the loudest one, so that pauses do not slow anybody down.

Source
------
CoDeTT, stage B: references filtered by speaking rate. ECHO: bounded normalisation of the rate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from floorbench.build import mixing
from floorbench.build.speech.providers import Audio, Reference
from floorbench.errors import DataError, UsageError, missing_extra

STRETCH = (0.9, 1.1)
"""Least and greatest factor of duration that a time-stretcher may apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """The rates that pass, in units per voiced second, both ends included."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low < self.high:
            raise UsageError("FB875", f"a rate band from {self.low} to {self.high} holds nothing")

    def __contains__(self, rate: float) -> bool:
        return self.low <= rate <= self.high


BANDS: Mapping[str, Band] = {"en": Band(low=8.0, high=19.0), "zh": Band(low=3.0, high=8.0)}
UNIT = {"en": "phonemes/s", "zh": "syllables/s"}


def han(text: str) -> int:
    """Return the number of Han characters of the basic block and extension A.

    Examples
    --------
    >>> han("好的, OK")
    2
    """
    return sum("㐀" <= c <= "䶿" or "一" <= c <= "鿿" for c in text)


def units(text: str, language: str, phonemes: int | None = None) -> int:
    """Return the spoken units of a text: phonemes (English) or syllables (Mandarin).

    Parameters
    ----------
    phonemes : int or None
        Number of phonemes where the voice told it; otherwise English letters stand for them,
        which counts about a sixth too many.
    """
    if language == "zh":
        return han(text) + sum(c.isascii() and c.isalnum() for c in text)
    return phonemes if phonemes is not None else sum(c.isalnum() for c in text)


def voiced_seconds(audio: Audio, rate: int) -> float:
    """Return the length of the active 10 ms windows together."""
    active = mixing.active_windows(audio.astype(np.float64), rate)
    return round(float(np.count_nonzero(active)) * mixing.WINDOW_S, 3)


def filter_references(
    references: Sequence[tuple[Reference, Audio, int]], *, language: str, band: Band
) -> tuple[tuple[Reference, ...], tuple[tuple[Reference, float], ...]]:
    """Return the recordings whose rate lies in the band, and the others with their rates.

    Raises
    ------
    DataError
        ``FB871`` for a recording without a transcript: its rate is unknown.
    """
    kept, left = [], []
    for reference, audio, rate in references:
        if not reference.text:
            raise DataError("FB871", f"{reference.path.name} has no transcript to count")
        speed = units(reference.text, language) / voiced_seconds(audio, rate)
        if speed in band:
            kept.append(reference)
        else:
            left.append((reference, round(speed, 2)))
    return tuple(kept), tuple(left)


def into(rate: float, band: Band) -> float:
    """Return the factor of duration that brings a rate to the band, bounded by ``STRETCH``.

    Examples
    --------
    >>> [round(into(r, Band(low=3, high=6)), 3) for r in (4.0, 6.3, 12.0, 2.8)]
    [1.0, 1.05, 1.1, 0.933]
    """
    factor = 1.0 if rate in band else rate / (band.high if rate > band.high else band.low)
    return min(max(factor, STRETCH[0]), STRETCH[1])


def stretched(audio: Audio, rate: int, factor: float) -> Audio:
    """Return the audio with its duration multiplied, pitch kept; word times scale alike.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without python-stretch.
    """
    try:
        import python_stretch
    except ImportError:
        raise missing_extra("python-stretch", "build") from None
    stretch: Any = python_stretch.Signalsmith.Stretch()
    stretch.preset(1, rate)
    stretch.timeFactor = 1.0 / factor
    result = np.asarray(stretch.process(audio[None, :].astype(np.float32)), dtype=np.float32)
    mono: Audio = result[0]
    return mono
