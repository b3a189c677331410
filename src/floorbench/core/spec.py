"""Descriptions that enter a signature: of a system, of a task, of a metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Level


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontEnd:
    """What the model was fed is part of the model: everything between the audio and the weights.

    Parameters
    ----------
    rate : int or None
        Sampling rate in Hz that the model takes.
    resampler : str or None
        Library and quality, for example ``soxr-HQ``.
    window : float or None
        Seconds of audio kept.
    keep : str or None
        ``last`` or ``first`` when the audio is longer than the window.
    pad : str or None
        ``left`` or ``right`` when it is shorter.
    normalise : str or None
        Waveform normalisation.
    gate : str or None
        VAD in front of the model, with its parameters; ``off`` when there is none.
    tail : float
        Seconds of silence appended to the audio.
    text : str or None
        Text preparation (punctuation stripped, truncation).
    """

    rate: int | None = None
    resampler: str | None = None
    window: float | None = None
    keep: str | None = None
    pad: str | None = None
    normalise: str | None = None
    gate: str | None = None
    tail: float = 0.0
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSpec:
    """What a system declares about itself.

    ``states``, ``labels`` and ``languages`` are its capability: cells outside are N/A, and
    ``None`` means that it claims all of them. ``context`` says what of the past it uses: ``none``
    or ``current user turn`` when nothing before the turn to decide on, else in its own words.
    ``label_map`` names the versioned table that turns
    native labels into task labels.
    """

    name: str
    version: str
    level: Level = Level.CONTRACT
    labels: tuple[str, ...] | None = None
    states: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    modalities: tuple[str, ...] = ("audio",)
    context: str = "none"
    streaming_step: float | None = None
    front_end: FrontEnd = field(default_factory=FrontEnd)
    score: str | None = None
    threshold: float | None = None
    label_map: str | None = None
    weights: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    licence: str = "unknown"
    deterministic: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSpec:
    """A benchmark protocol: name, version, label set and every parameter that changes a number."""

    name: str
    version: str
    labels: tuple[str, ...]
    conditions: tuple[str, ...] = ("",)
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """A metric's identity.

    Parameters
    ----------
    name, version : str
        The version changes whenever a value could change.
    unit : str
        What one row is: ``sample``, ``pair``, ``slot``, ``event``, ``word``.
    columns : tuple of str
        Columns of ``Scored`` that it reads.
    better : str or None
        ``higher``, ``lower``, or ``None`` when neither is better by itself.
    low, high : float or None
        Bounds of the value.
    source : str
        Paper and equation, or ``ours``.
    parameters : mapping
        Parameters that change the value (missing policy, beta, window ...).
    """

    name: str
    version: str
    unit: str
    columns: tuple[str, ...]
    better: str | None = "higher"
    low: float | None = 0.0
    high: float | None = 1.0
    source: str = ""
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
