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
from dataclasses import dataclass
from pathlib import Path

from floorbench import codec
from floorbench.core.words import counted
from floorbench.datasets.trp_files import STIMULI, Stimulus, read_stimuli
from floorbench.errors import DataError, Place, UsageError
from floorbench.web.ids import checked_id
from floorbench.web.journal import (
    append_bytes,
    mend,
    now,
    sync_folder,
    unwritable,
    write_safely,
)
from floorbench.web.listen_person import Event, Joined, Person, Visit, line_of, read_person

SESSION, PEOPLE, LOG, SOUND = "session.json", "participants", "log.jsonl", "audio"
SCHEMA = 1
MODES = ("voice", "key")
WAV_HEADER = 44


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """``session.json``: what the session belongs to."""

    schema: int
    stimuli: str
    data: str
    lists: str
    seed: int


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
        append_bytes(self.home(name) / LOG, line_of(event))


def _frames(path: Path) -> int:
    return path.stat().st_size // 2 if path.is_file() else 0
