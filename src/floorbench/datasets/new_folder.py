"""Folders that come into being whole: written under another name, held by one process, renamed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from floorbench.errors import UsageError


def taken(out: Path) -> bool:
    """Say whether something is there already; an empty folder is nothing."""
    return out.exists() and not (out.is_dir() and next(out.iterdir(), None) is None)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder itself, so that two processes never write into it at once.

    Raises
    ------
    UsageError
        ``FB503`` when another process holds it, or has just made the new folder of it.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            same = os.path.samestat(os.fstat(descriptor), folder.stat())
        except (BlockingIOError, FileNotFoundError):
            same = False
        if not same:
            raise UsageError("FB503", f"'{folder}' is being written by another process")
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def new_folder(out: Path, *, suffix: str) -> Iterator[Path]:
    """Give an empty folder beside ``out`` that becomes ``out`` when all has gone well.

    Parameters
    ----------
    out : Path
        Not there, or an empty folder; whoever calls has looked.
    suffix : str
        Of the name until then. What a killed process has left under it is removed.

    Raises
    ------
    UsageError
        ``FB503`` as :func:`locked`, and when ``out`` has come up meanwhile.
    OSError
    """
    out = out.resolve()
    partial = out.parent / f".{out.name}{suffix}"
    partial.mkdir(parents=True, exist_ok=True)
    with locked(partial):
        for left in partial.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        try:
            yield partial
            if taken(out):
                raise UsageError("FB503", f"'{out}' has come up meanwhile")
            partial.rename(out)
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise
