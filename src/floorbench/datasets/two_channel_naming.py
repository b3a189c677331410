"""Which file is which side of which session, which tier is whose: every name once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from floorbench.errors import DataError, Place
from floorbench.formats.tiers import Document

T = TypeVar("T")


def by_session(files: Iterable[tuple[str, str, Path]]) -> dict[str, dict[str, Path]]:
    """Return files by session and side, from (session, side, file).

    Raises
    ------
    DataError
        ``FB258`` when two files are the same side of a session.
    """
    found: dict[str, dict[str, Path]] = {}
    for session, side, path in files:
        sides = found.setdefault(session, {})
        if side in sides:
            told = f"'{session}'" + (f" side {side}" if side else "")
            raise DataError("FB258", f"{told} is '{sides[side]}' too", where=Place(str(path)))
        sides[side] = path
    return found


def faults(documents: Iterable[Document]) -> int:
    """Return how many faults reading got over, entries that were skipped among them."""
    return sum(notice.fault for document in documents for notice in document.warnings)


def named_once(named: Iterable[tuple[str, T]], *, where: Place) -> dict[str, T]:
    """Return tiers by name.

    Raises
    ------
    DataError
        ``FB251`` when two have one name, as speakers of two recordings in one file may.
    """
    found: dict[str, T] = {}
    for name, tier in named:
        if name in found:
            raise DataError(
                "FB251",
                f"two tiers are named '{name}'",
                where=where,
                hint="give each tier its own name, and each recording its own file",
            )
        found[name] = tier
    return found
