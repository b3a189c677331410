"""Ids of the people who listen or review: they must not tell who somebody is."""

from __future__ import annotations

import re

from floorbench.errors import UsageError

_ID = re.compile(r"(?=.*[0-9])[a-z0-9][a-z0-9_-]{0,31}")


def checked_id(name: str) -> str:
    """Return an id, ``FB844`` unless it looks like one and not like a name."""
    if _ID.fullmatch(name) is None:
        raise UsageError(
            "FB844",
            f"'{name[:40]}' is not an id",
            hint="Ids are small letters, digits, - and _, with at least one digit: p01.",
        )
    return name
