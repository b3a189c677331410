"""The append-only journal of a run: one prediction a line, never rewritten while it grows.

A line counts when its newline is on disk. What follows the last newline (a process was killed or
a disk filled up in the middle of a write) is a torn line: readers leave it out, resuming cuts it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from floorbench import codec
from floorbench.core.prediction import Prediction
from floorbench.errors import DataError, EnvironmentProblem, FloorbenchError, Place

FSYNC_SECONDS = 1.0
_BLOCK = 1 << 16


class Line(NamedTuple):
    """A prediction and the 1-based line it stands on."""

    number: int
    prediction: Prediction


class Journal:
    """Writer of a journal.

    Every line is handed to the operating system before ``append`` returns, so a killed process
    loses nothing that was appended; the disk is synced about once a second and on closing, so a
    power failure loses at most about the last second.

    Raises
    ------
    EnvironmentProblem
        ``FB504`` when a write is refused. The journal is then cut back to its last whole line.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise self._refused(error) from None
        self._end = os.lseek(self._file, 0, os.SEEK_END)
        self._synced = time.monotonic()
        self.written = 0

    def append(self, prediction: Prediction) -> None:
        """Write one line."""
        line = codec.encode(prediction) + b"\n"
        view = memoryview(line)
        try:
            while view:
                view = view[os.write(self._file, view) :]
            self._end += len(line)
            self.written += 1
            if time.monotonic() - self._synced >= FSYNC_SECONDS:
                self._sync()
        except OSError as error:
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, self._end, os.SEEK_SET)
            raise self._refused(error) from None

    def close(self) -> None:
        """Sync and close; safe to call twice."""
        if self._file < 0:
            return
        try:
            self._sync()
        except OSError as error:
            raise self._refused(error) from None
        finally:
            os.close(self._file)
            self._file = -1

    def _sync(self) -> None:
        os.fsync(self._file)
        self._synced = time.monotonic()

    def _refused(self, error: OSError) -> EnvironmentProblem:
        return EnvironmentProblem(
            "FB504", f"cannot be written: {error.strerror or error}", where=Place(str(self.path))
        )


def torn_bytes(path: Path) -> int:
    """Return how many bytes stand after the last newline of a file (0 for a whole journal)."""
    try:
        with path.open("rb") as file:
            end = position = file.seek(0, os.SEEK_END)
            while position > 0:
                start = max(0, position - _BLOCK)
                file.seek(start)
                newline = file.read(position - start).rfind(b"\n")
                if newline >= 0:
                    return end - (start + newline + 1)
                position = start
            return end
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise _unreadable(path, error) from None


def cut_torn_line(path: Path) -> int:
    """Cut what stands after the last newline; return how many bytes that were."""
    torn = torn_bytes(path)
    if torn:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - torn)
            os.fsync(file.fileno())
    return torn


def read_journal(path: Path) -> Iterator[Line]:
    """Yield the whole lines of a journal, one in memory at a time.

    Raises
    ------
    DataError
        ``FB505`` naming the line when one in the middle cannot be read.
    """
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise _unreadable(path, error) from None
    with file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            where = Place(str(path), number)
            try:
                yield Line(number, codec.decode(line, Prediction, where=where))
            except FloorbenchError as error:
                raise DataError(
                    "FB505", f"journal line is broken: {error.what}", where=where
                ) from None


def _unreadable(path: Path, error: OSError) -> DataError:
    what = f"the journal cannot be read: {error.strerror or error}"
    return DataError("FB505", what, where=Place(str(path)))
