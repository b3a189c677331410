"""Files that survive a power cut: appended line by line and flushed, or replaced whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.errors import EnvironmentProblem, Place


def now() -> str:
    """Return the time of day for a journal, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def write_safely(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole or not at all, and on the disk.

    Raises
    ------
    EnvironmentProblem
        ``FB402`` when it cannot be written; nothing of it stays.
    """
    temporary = path.with_name(f".{path.name}.new")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise unwritable(path, error) from None


def plain_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number and the JSON value of every whole line; a torn last line is left out."""
    found = codec.read_bytes(path).split(b"\n")
    for number, line in enumerate(found[:-1], start=1):
        yield number, codec.parse(line, where=Place(str(path), number))


def append_bytes(path: Path, data: bytes) -> None:
    """Append all of it or, when the disk is full, nothing; on the disk when this returns.

    The file is made, with its folder, if need be.

    Raises
    ------
    EnvironmentProblem
        ``FB402`` when it cannot be written.
    """
    try:
        fresh = not path.parent.is_dir()
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        with path.open("ab", buffering=0) as file:
            before = os.fstat(file.fileno()).st_size
            try:
                rest = memoryview(data)
                while rest:
                    rest = rest[file.write(rest) :]
                os.fsync(file.fileno())
            except OSError:
                file.truncate(before)
                raise
        if new:
            sync_folder(path.parent)
        if fresh:
            sync_folder(path.parent.parent)
    except OSError as error:
        raise unwritable(path, error) from None


def mend(path: Path) -> None:
    """Cut off an unfinished last line, which nobody was told had been kept."""
    data = path.read_bytes()
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        with path.open("r+b") as file:
            file.truncate(whole)
            os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Bring to the disk which files a folder holds."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def unwritable(path: Path, error: OSError) -> EnvironmentProblem:
    """Return the error for a file that the operating system does not let us write."""
    return EnvironmentProblem(
        "FB402", f"cannot be written: {error.strerror or error}", where=Place(str(path))
    )
