"""What a system said, and the journal line the engine makes of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from floorbench.core.time import Seconds
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError

# Letters, digits and marks that mean nothing to a terminal, a page or a typesetter.
_NAME = re.compile(r"[\w .:/@+=,()#-]{1,120}")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)


def is_name(text: object) -> bool:
    """Tell whether a stranger's text may stand as a name: short, of letters, digits and few marks.

    Examples
    --------
    >>> [is_name(t) for t in ("gpt-4o-2024-08-06", "mistral:7b@1f2e", "", "x" * 121, "a\\nb", 4)]
    [True, True, False, False, False, False]
    >>> is_name("https://example.org/v1")
    False
    """
    return isinstance(text, str) and _NAME.fullmatch(text) is not None and "://" not in text


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What a service said about who gave one answer, behind the name that it was asked under.

    Parameters
    ----------
    snapshot : str or None
        The model's own name (``gpt-4o-2024-08-06``); ``None`` when the service did not say, or
        said something that is no name (see :func:`is_name`).
    build : str or None
        Its finer mark of the configuration, where it gives one (``system_fingerprint``).
    at : str or None
        When the service gave the answer, UTC: a recorded one keeps its time. It tells no two
        answers apart.

    Raises
    ------
    DataError
        ``FB201`` for a name or a time in another form.
    """

    snapshot: str | None = None
    build: str | None = None
    at: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        """Refuse what must not reach a journal or a table."""
        for name in ("snapshot", "build"):
            value = getattr(self, name)
            if value is not None and not is_name(value):
                raise DataError("FB201", f"{name} {_short(value)} is no name of a model")
        if self.at is not None and not _MOMENT.fullmatch(self.at):
            raise DataError("FB201", f"at {_short(self.at)} is no time like 2026-01-31T23:59:59Z")


def _short(value: object) -> str:
    return ascii(value)[:80]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something a system did or predicted at a media time.

    ``time`` is when it happens on the media clock; ``commit`` is when all audio that the decision
    used had been heard (same clock). ``end`` is set for events with a length.
    """

    kind: str
    time: Seconds
    commit: Seconds | None = None
    end: Seconds | None = None
    label: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Scores per frame over a whole recording, for systems that answer all the time.

    Frame ``t`` covers ``[t, t + 1) / rate`` seconds; its scores have used audio up to its end and
    ``look_ahead`` seconds beyond, so they are committed at ``(t + 1) / rate + look_ahead``.

    Parameters
    ----------
    columns : tuple of str
        Names of the scores: signal and role, for example ``eot:user``.
    rate : str
        Frames a second as an exact fraction: ``25/2``.
    frames : int
        Number of frames.
    look_ahead : float
        Seconds of audio after the end of a frame that its scores have used.
    data : bytes
        Little-endian float32, frame after frame; empty where the scores stand in a file.
    file, sha256 : str or None
        File beside the journal that holds them, and the SHA-256 of ``data``.
    """

    columns: tuple[str, ...]
    rate: str
    frames: int
    look_ahead: Seconds = 0.0
    data: bytes = b""
    file: str | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A system's answer in its own words.

    Parameters
    ----------
    outcome : Outcome
        ``ok`` when ``label``, ``scores``, ``events`` or ``trace`` can be used.
    label : str or None
        The native label (``complete``, ``<S-L>``, ``SystemIdle_Dismiss_Incomplete``); the task
        maps it when scoring.
    scores : mapping of str to float
        Native scores by name, finite. A missing probability is left out, never zero.
    events : tuple of Event
        Stream events in the order they were committed.
    trace : Trace or None
        Scores per frame, of systems that answer all the time.
    commit : float or None
        Media time in seconds at which all audio used had been heard.
    raw : str or None
        The unparsed answer, kept for re-parsing and for reading.
    reason : str or None
        Why the outcome is not ok.
    served : Served or None
        Who gave the answer, where the system asks a service.
    """

    outcome: Outcome = Outcome.OK
    label: str | None = None
    scores: Mapping[str, float] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    trace: Trace | None = None
    commit: Seconds | None = None
    raw: str | None = None
    reason: str | None = None
    served: Served | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Compute:
    """Cost of one decision.

    Parameters
    ----------
    wall : float or None
        Seconds on the wall clock, without loading.
    tokens_in, tokens_out : int or None
        Tokens that a model had to read and wrote. What it still knew is not in them, but for a
        service, which bills the whole prompt.
    cpu : float or None
        Seconds of this process's processors, all threads; not those of another program that the
        system asks. ``None`` where several systems share the process.
    batch : int
        Questions that were asked at once. Above 1 all the other figures are equal shares of the
        batch's: their sums are right, but no single one is the time or cost of its question.
    """

    wall: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cpu: float | None = None
    batch: int = 1


class PredictionKey(NamedTuple):
    """What makes a prediction unique inside a run."""

    sample_id: str
    condition: str
    trial: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """One line of a prediction journal.

    ``observed`` is the hash of the observation that was shown; ``None`` for predictions made
    elsewhere.
    """

    sample_id: str
    condition: str = ""
    trial: int = 0
    decision: Decision
    compute: Compute = field(default_factory=Compute)
    observed: str | None = None

    @property
    def key(self) -> PredictionKey:
        """Return the (sample, condition, trial) key."""
        return PredictionKey(self.sample_id, self.condition, self.trial)
