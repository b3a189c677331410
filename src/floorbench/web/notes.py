"""Notes and tags that people give to items; kept as ``notes.json`` in the run folder."""

from __future__ import annotations

import fcntl
import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from floorbench import codec
from floorbench.errors import EnvironmentProblem, Place, UsageError
from floorbench.run.store import now, write_text

NOTES_FILE = "notes.json"
SCHEMA = 1
NOTE_LIMIT = 10_000
TAG_LIMIT = 40
_TAG = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What was written about one sample, and when it was last changed (UTC)."""

    text: str = ""
    tags: tuple[str, ...] = ()
    changed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    schema: int = SCHEMA
    notes: Mapping[str, Note] = field(default_factory=dict)


class Notes:
    """The notes of one run, by sample id.

    Parameters
    ----------
    folder : Path
        The run folder.

    Raises
    ------
    DataError
        ``FB201`` when ``notes.json`` is there but cannot be read; it is never overwritten then.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / NOTES_FILE
        self._lock = threading.Lock()
        self._notes = self._read()

    def _read(self) -> dict[str, Note]:
        return dict(codec.read_json(self._file, _File).notes) if self._file.is_file() else {}

    def get(self, sample_id: str) -> Note:
        """Return the note of a sample, an empty one where there is none."""
        return self._notes.get(sample_id, Note())

    def all(self) -> Mapping[str, Note]:
        """Return all notes."""
        return dict(self._notes)

    def put(self, sample_id: str, *, text: str, tags: str) -> Note:
        """Keep a note; an empty one without tags is removed.

        Parameters
        ----------
        text : str
            At most ``NOTE_LIMIT`` characters.
        tags : str
            Words between blanks or commas, each at most ``TAG_LIMIT`` characters.

        Raises
        ------
        UsageError
            ``FB805`` for a text or a tag that is too long.
        EnvironmentProblem
            ``FB504`` when the run folder cannot be written.
        """
        words = tuple(dict.fromkeys(_TAG.findall(tags)))
        if len(text) > NOTE_LIMIT or any(len(w) > TAG_LIMIT for w in words):
            raise UsageError(
                "FB805", f"a note has at most {NOTE_LIMIT} characters, a tag {TAG_LIMIT}"
            )
        note = Note(text=text.strip(), tags=words, changed=now())
        with self._lock, _alone(self._file.parent):
            kept = self._read()  # another viewer of the run may have written since
            if note.text or note.tags:
                kept[sample_id] = note
            else:
                kept.pop(sample_id, None)
            write_text(self._file, codec.encode_pretty(_File(notes=kept)))
            self._notes = kept
        return note


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Wait until no other process writes notes here."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        what = f"cannot be opened: {error.strerror or error}"
        raise EnvironmentProblem("FB504", what, where=Place(str(folder))) from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
