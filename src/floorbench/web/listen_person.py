"""The journal of one participant of a listening session: its lines, and what they tell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, Place
from floorbench.web.journal import plain_lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """The first line of a journal: consent given, list assigned."""

    id: str
    list: str
    reversed: bool
    mode: str
    consent: str
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """The participant opened the page again, after an interruption."""

    number: int
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """Facts about browser and sound settings; nothing that names a person or a device."""

    facts: Mapping[str, JsonValue]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A test of latency; times in seconds on the page's sound clock.

    Parameters
    ----------
    kind : {"tap", "voice"}
    beats, responses : tuple of float
    latency, spread : float or None
        Median of response minus beat, and its interquartile range; ``None`` without enough.
    used : int
    steady : bool
        Whether it is good enough to be relied on.
    """

    kind: str
    beats: tuple[float, ...]
    responses: tuple[float, ...]
    latency: float | None
    spread: float | None
    used: int
    steady: bool
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPress:
    """One press, in seconds on the turn's clock as heard, not corrected."""

    item: int
    visit: int
    time: float
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemDone:
    """A turn was heard to its end.

    Parameters
    ----------
    item : int
        Place in the list as heard, from 0.
    stimulus : str
    visit : int
        1, or more when the participant came back after an interruption.
    started : float
        Sound-clock time of the turn's time 0.
    latency : float or None
        The latency that its times are to be corrected by.
    rate, frames : int or None
        Of the microphone's channel, whose frame 0 is the turn's time 0.
    facts : mapping
        Whether the page was hidden, and the like.
    """

    item: int
    stimulus: str
    visit: int
    started: float
    latency: float | None
    rate: int | None
    frames: int | None
    facts: Mapping[str, JsonValue]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The participant heard the whole list."""

    at: str


Event = Joined | Visit | Device | Calibration | KeyPress | ItemDone | Finished
_KINDS: dict[str, type] = {
    "joined": Joined,
    "visit": Visit,
    "device": Device,
    "calibration": Calibration,
    "key": KeyPress,
    "item": ItemDone,
    "finished": Finished,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(slots=True, kw_only=True)
class Person:
    """A participant as the journal tells it."""

    joined: Joined
    visits: int = 1
    calibration: Calibration | None = None
    presses: list[KeyPress] = field(default_factory=list)
    items: dict[int, ItemDone] = field(default_factory=dict)
    finished: bool = False

    def take(self, event: Event) -> None:
        """Take one more line of the journal into account."""
        match event:
            case Visit():
                self.visits = event.number
            case Calibration():
                self.calibration = event
            case KeyPress():
                again = (event.item, event.visit, event.time)
                if all((p.item, p.visit, p.time) != again for p in self.presses):
                    self.presses.append(event)
            case ItemDone():
                self.items.setdefault(event.item, event)
            case Finished():
                self.finished = True
            case _:
                pass


def line_of(event: Event) -> bytes:
    """Return an event as a line of a journal."""
    return codec.encode({"event": _NAMES[type(event)], **codec.to_builtins(event)}) + b"\n"


def read_person(path: Path) -> Person | None:
    """Read a journal; an unfinished last line is left out, ``None`` without a first line.

    Raises
    ------
    DataError
        ``FB846`` for a line that is not an event, and unless the first one joins, and only it.
    """
    person: Person | None = None
    for number, event in _events(path):
        where = Place(str(path), number)
        if isinstance(event, Joined):
            if person is not None:
                raise DataError("FB846", "the participant joins a second time", where=where)
            person = Person(joined=event)
        elif person is None:
            raise DataError("FB846", "the journal does not begin with consent", where=where)
        else:
            person.take(event)
    return person


def _events(path: Path) -> Iterator[tuple[int, Any]]:
    for number, plain in plain_lines(path):
        where = Place(str(path), number)
        event = plain.pop("event", None) if isinstance(plain, dict) else None
        kind = _KINDS.get(event) if isinstance(event, str) else None
        if kind is None:
            raise DataError("FB846", "the line is no event of a session", where=where)
        yield number, codec.convert(plain, kind, where=where)
