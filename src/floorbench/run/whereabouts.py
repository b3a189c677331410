"""Where the files of a run are: a path that was given relative is kept relative to the run folder.

So a run can be scored from any folder, it can move together with its data, and a run that is
shared holds no path of the machine that its maker did not write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from floorbench.audio.addresses import is_url
from floorbench.core.sample import JsonValue

PLACES = ("path", "splits", "audio")
"""Keys of a locator that name a file or folder."""


def to_keep(
    locator: Mapping[str, JsonValue], folder: Path, *, names: Sequence[str] = PLACES
) -> dict[str, JsonValue]:
    """Return a locator, or parameters, as the run in ``folder`` keeps it.

    Parameters
    ----------
    locator : mapping
        Of an open dataset; its relative paths start at the current folder.
    folder : Path
        The run folder.
    names : sequence of str
        Entries that name a file or folder; a task says its own in ``files``.

    Returns
    -------
    dict
        Relative paths now start at the run folder; one that has only the root of the file system in
        common with it becomes absolute. Absolute paths, addresses and ``starter:`` names stay.
    """
    base = Path(folder).resolve()

    def keep(path: str) -> str:
        full = os.path.normpath(_without_parents(Path(path).absolute()))
        shared = Path(os.path.commonpath([full, base]))
        return full if shared == shared.parent else os.path.relpath(full, base)

    return _mapped(locator, keep, names)


def to_open(
    locator: Mapping[str, JsonValue], folder: Path, *, names: Sequence[str] = PLACES
) -> dict[str, JsonValue]:
    """Return a kept locator with whole paths, as ``open_dataset`` takes it from any folder.

    Parameters
    ----------
    locator : mapping
        From :func:`to_keep`.
    folder : Path
        Where the run folder is now.
    names : sequence of str
        As for :func:`to_keep`.
    """
    base = Path(folder).resolve()
    return _mapped(locator, lambda path: os.path.normpath(base / path), names)


def _mapped(
    locator: Mapping[str, JsonValue], change: Callable[[str], str], names: Sequence[str]
) -> dict[str, JsonValue]:
    return {
        key: change(value) if key in names and _relative(value) else value
        for key, value in locator.items()
    }


def _without_parents(path: Path) -> Path:
    """Return a path without ``..``, each of which is the parent of where a link really leads."""
    last = max((i for i, part in enumerate(path.parts, 1) if part == ".."), default=0)
    return Path(os.path.realpath(Path(*path.parts[:last])), *path.parts[last:]) if last else path


def _relative(value: JsonValue) -> bool:
    """Tell whether a value is a relative path; ``none`` is the word for no list of splits."""
    return (
        isinstance(value, str)
        and value not in ("", "none")
        and not value.startswith("starter:")
        and not is_url(value)
        and not Path(value).is_absolute()
    )
