"""What is evaluated: a sample, the observation a system may see, and opaque audio.

A system receives an :class:`Observation` and nothing else: no sample id, no target, no path.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from floorbench.core.time import Seconds, Span
from floorbench.core.vocab import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

JsonValue = Any  # str | int | float | bool | None | list | dict, checked by the codec


class AudioRef(Protocol):
    """Audio that can be read but not identified.

    The file behind it is hidden (names leak labels). Reads past ``cutoff`` are refused.
    """

    @property
    def rate(self) -> int:
        """Sampling rate in Hz of the stored audio."""
        ...

    @property
    def frames(self) -> int:
        """Length in samples at ``rate`` that may be read."""
        ...

    @property
    def cutoff(self) -> Seconds | None:
        """Media time after which nothing may be read; ``None`` when all may be."""
        ...

    def read(
        self, *, start: Seconds = 0.0, end: Seconds | None = None, rate: int | None = None
    ) -> NDArray[np.float32]:
        """Return mono float32 samples in [-1, 1] of ``[start, end)``, at ``rate`` if given.

        Raises
        ------
        DataError
            ``FB3xx`` when the file is missing, broken, empty or non-finite, or when the read
            passes the cutoff.
        """
        ...

    def narrow(self, *, cutoff: Seconds) -> AudioRef:
        """Return the same audio that ends at ``cutoff`` or at its own cutoff, the earlier one."""
        ...

    def digest(self) -> str:
        """Return the SHA-256 of the decoded content (never of the container's bytes)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A spoken token; ``span`` is ``None`` when its time is unknown (never invented)."""

    text: str
    span: Span | None = None
    role: Role = Role.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of the history: who, what was said, and its audio if there is any."""

    role: Role
    text: str | None = None
    audio: AudioRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The prompt rendered by the task and the answers it allows, in order."""

    text: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """All that a system may know when it decides.

    Parameters
    ----------
    language : str
        BCP-47 primary subtag: ``en``, ``zh``.
    state : str or None
        The system's own state where the task gives it (CoDeTT: ``SystemSpeaking``/``SystemIdle``).
    turns : tuple of Turn
        History, oldest first, without the target turn.
    channels : mapping of Role to AudioRef
        Audio of the turn to decide on, by role, on one media clock.
    text : str or None
        Transcript of the target turn for systems that read text; may be empty.
    words : tuple of Word
        Words with times, where the task reveals them.
    activity : mapping of Role to tuple of Span
        Who speaks when, where the task reveals it: disjoint spans in seconds, in order, an empty
        tuple for a silent channel.
    spoken_prefix : str or None
        What the system has already said of its current turn.
    question : Question or None
        Rendered prompt for prompted systems.
    cutoff : float or None
        Media time in seconds after which nothing is visible.
    repeat : int
        How often the same question was asked before in this run; set by the engine. A system
        that samples draws from a stream of its own for each repeat.
    """

    language: str
    state: str | None = None
    turns: tuple[Turn, ...] = ()
    channels: Mapping[Role, AudioRef] = field(default_factory=dict)
    text: str | None = None
    words: tuple[Word, ...] = ()
    activity: Mapping[Role, tuple[Span, ...]] = field(default_factory=dict)
    spoken_prefix: str | None = None
    question: Question | None = None
    cutoff: Seconds | None = None
    repeat: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One item of a benchmark.

    Parameters
    ----------
    id : str
        Unique in the dataset.
    cluster : str
        The resampling unit it belongs to (conversation, group, stimulus, session).
    stratum : str
        Stratum of the protocol's stratified bootstrap; ``""`` when there is none.
    observation : Observation
        Everything any condition of the task may show; the task narrows it per condition.
    target : mapping
        The gold answer in the dataset's own terms; never shown to a system.
    tags : mapping of str to str
        Slicing keys (language, scenario, source ...).
    """

    id: str
    cluster: str
    observation: Observation
    target: Mapping[str, JsonValue]
    stratum: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
