"""What a listening session keeps, written so that a closed tab or a power cut loses nothing.

One folder per participant: ``log.jsonl``, an append-only journal that is flushed to the disk line
by line, and ``audio/``, the microphone's channel of each turn. Nothing about one participant is
written anywhere else, so one can be forgotten without touching the others.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.datasets.trp_files import STIMULI, Stimulus, read_stimuli
from floorbench.errors import DataError, Place, UsageError
from floorbench.web.journal import (
    append_bytes,
    mend,
    now,
    plain_lines,
    sync_folder,
    unwritable,
    write_safely,
)

SESSION, PEOPLE, LOG, SOUND = "session.json", "participants", "log.jsonl", "audio"
SCHEMA = 1
MODES = ("voice", "key")
WAV_HEADER = 44
_ID = re.compile(r"(?=.*[0-9])[a-z0-9][a-z0-9_-]{0,31}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """``session.json``: what the session belongs to."""

    schema: int
    stimuli: str
    data: str
    lists: str
    seed: int


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


class Session:
    """A session folder.

    Parameters
    ----------
    folder : Path

    Raises
    ------
    DataError
        ``FB841`` when the folder holds no session.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / SESSION).is_file():
            raise DataError("FB841", f"no {SESSION} here", where=Place(str(folder)))
        self.record = codec.read_json(folder / SESSION, SessionRecord)
        self._lock = threading.RLock()
        self._people: dict[str, Person] = {}
        for path in sorted((folder / PEOPLE).glob(f"*/{LOG}")):
            person = read_person(path)
            if person is not None:
                self._people[path.parent.name] = person

    @classmethod
    def open(cls, folder: Path, *, stimuli: str, data: str, lists: str, seed: int) -> Session:
        """Open a session, or start one in an empty folder.

        Raises
        ------
        UsageError
            ``FB842`` when it belongs to other stimuli or lists.
        EnvironmentProblem
            ``FB402`` when the folder cannot be written.
        """
        path = folder / SESSION
        if not path.is_file():
            record = SessionRecord(
                schema=SCHEMA, stimuli=stimuli, data=data, lists=lists, seed=seed
            )
            try:
                (folder / PEOPLE).mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise unwritable(path, error) from None
            write_safely(path, codec.encode_pretty(record).encode())
        for journal in (folder / PEOPLE).glob(f"*/{LOG}"):
            mend(journal)
        session = cls(folder)
        if (session.record.data, session.record.lists) != (data, lists):
            raise UsageError(
                "FB842",
                f"the session was begun with other turns or lists of '{session.record.stimuli}'",
                where=Place(str(folder)),
            )
        return session

    def stimuli(self, root: Path) -> tuple[Stimulus, ...]:
        """Read the stimuli that were heard, ``FB842`` when these are others."""
        found = read_stimuli(root / STIMULI)
        if codec.digest(list(found)) != self.record.data:
            raise UsageError(
                "FB842",
                f"'{self.record.stimuli}' was heard; these turns differ from it",
                where=Place(str(root)),
            )
        return found

    def people(self) -> dict[str, Person]:
        """Return everybody who gave consent, by id."""
        with self._lock:
            return dict(self._people)

    def person(self, name: str) -> Person:
        """Return one participant, ``FB843`` when nobody of that id takes part."""
        with self._lock:
            if name not in self._people:
                raise DataError("FB843", f"nobody takes part under the id '{name[:40]}'")
            return self._people[name]

    def join(self, name: str, *, lists: list[tuple[str, bool]], mode: str, consent: str) -> Person:
        """Return the participant: a new one, or one who goes on after an interruption.

        A new one is assigned the list (original or reversed) that fewest have had, by lot among
        equals.

        Raises
        ------
        UsageError
            ``FB844`` for an id that could be a name or that has finished; ``FB103`` for a mode.
        """
        import numpy as np

        if mode not in MODES:
            raise UsageError("FB103", f"mode '{mode[:20]}' is not one of {', '.join(MODES)}")
        checked_id(name)
        with self._lock:
            known = self._people.get(name)
            if known is not None:
                if known.finished:
                    raise UsageError("FB844", f"'{name}' has already heard the whole list")
                self.add(name, Visit(number=known.visits + 1, at=now()))
                return known
            had = Counter((p.joined.list, p.joined.reversed) for p in self._people.values())
            least = min(had[one] for one in lists)
            open_ones = [one for one in lists if had[one] == least]
            lot = np.random.default_rng([self.record.seed, len(self._people)])
            listed, backwards = open_ones[int(lot.integers(len(open_ones)))]
            joined = Joined(
                id=name, list=listed, reversed=backwards, mode=mode, consent=consent, at=now()
            )
            self._append(name, joined)
            self._people[name] = Person(joined=joined)
            return self._people[name]

    def add(self, name: str, event: Event) -> None:
        """Write one line to a participant's journal; it is on the disk when this returns."""
        with self._lock:
            person = self.person(name)
            self._append(name, event)
            person.take(event)

    def append_sound(self, name: str, part: str, *, first: int, pcm: bytes) -> int:
        """Append 16-bit mono samples to a part's recording; a block sent twice is kept once.

        Returns
        -------
        int
            Frames that are kept now.

        Raises
        ------
        DataError
            ``FB845`` when frames between the kept ones and ``first`` are missing.
        """
        with self._lock:
            self.person(name)
            path = self._raw(name, part)
            closed = not path.is_file() and self.wav(name, part).is_file()
            kept = len(self.sound(name, part)) // 2 if closed else _frames(path)
            if first > kept:
                raise DataError("FB845", f"frames {kept} to {first} of '{part}' never arrived")
            fresh = pcm[2 * (kept - first) :]
            if fresh and closed:
                raise DataError("FB845", f"'{part}' was ended at {counted(kept, 'frame')}")
            if fresh:
                append_bytes(path, fresh)
            return kept + len(fresh) // 2

    def sound(self, name: str, part: str) -> bytes:
        """Return the samples of a part, open or closed; none if there is no such part."""
        path = self._raw(name, part)
        if path.is_file():
            return path.read_bytes()
        wav = self.wav(name, part)
        return wav.read_bytes()[WAV_HEADER:] if wav.is_file() else b""

    def close_sound(self, name: str, part: str, *, rate: int) -> int:
        """Turn a part's recording into a WAV file, once; returns its frames."""
        from floorbench.web.sound import wav_header

        with self._lock:
            raw = self._raw(name, part)
            pcm = self.sound(name, part)
            frames = len(pcm) // 2
            if pcm and not raw.is_file():
                return frames  # asked again: the answer to the first time was lost
            header = wav_header(rate=rate, channels=1, frames=frames)
            raw.parent.mkdir(parents=True, exist_ok=True)
            write_safely(self.wav(name, part), header + pcm[: 2 * frames])
            raw.unlink(missing_ok=True)
            return frames

    def wav(self, name: str, part: str) -> Path:
        """Return where a closed part's recording is."""
        return self._raw(name, part).with_suffix(".wav")

    def home(self, name: str) -> Path:
        """Return a participant's folder."""
        return self.folder / PEOPLE / checked_id(name)

    def forget(self, name: str) -> bool:
        """Delete everything of one participant; tells whether there was anything."""
        with self._lock:
            self._people.pop(name, None)
            home = self.home(name)
            if not home.is_dir():
                return False
            shutil.rmtree(home)
            sync_folder(home.parent)
            return True

    def _raw(self, name: str, part: str) -> Path:
        if re.fullmatch(r"[A-Za-z0-9._-]{1,120}", part) is None or part.startswith("."):
            raise UsageError("FB805", "there is no such part")
        return self.home(name) / SOUND / f"{part}.pcm"

    def _append(self, name: str, event: Event) -> None:
        line = {"event": _NAMES[type(event)], **codec.to_builtins(event)}
        append_bytes(self.home(name) / LOG, codec.encode(line) + b"\n")


def checked_id(name: str) -> str:
    """Return an id, ``FB844`` unless it looks like one and not like a name."""
    if _ID.fullmatch(name) is None:
        raise UsageError(
            "FB844",
            f"'{name[:40]}' is not an id",
            hint="Ids are small letters, digits, - and _, with at least one digit: p01.",
        )
    return name


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


def _frames(path: Path) -> int:
    return path.stat().st_size // 2 if path.is_file() else 0
