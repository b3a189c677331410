"""Sentences about which snapshots of a service's model answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from floorbench.core.words import counted
from floorbench.run.served import Snapshot, by_name, names

SHOWN = 5
"""Names that are written out."""
NOT_SAID = "a snapshot that the service did not name"


def answered_by(served: Sequence[Snapshot]) -> str:
    """Return who answered, with shares, builds and days.

    Parameters
    ----------
    served : sequence of Snapshot
        At least one.
    """
    counts = by_name(served)
    total = sum(counts.values())
    listed = [
        f"{name or NOT_SAID} ({_share(n, total)}{_builds(served, name)})"
        for name, n in list(counts.items())[:SHOWN]
    ]
    more = len(counts) - SHOWN
    if more > 0:
        listed.append(f"{more} more")
    days = sorted(t[:10] for s in served for t in (s.first, s.last) if t is not None)
    if not days:
        when = ""
    elif days[0] == days[-1]:
        when = f", on {days[0]}"
    else:
        when = f", {days[0]} to {days[-1]}"
    return f"answered by {', '.join(listed)}{when}"


def served_notes(served: Sequence[Snapshot], *, of: str = "") -> list[str]:
    """Return the lines under a table: who answered, and a warning when it was not one snapshot.

    Parameters
    ----------
    served : sequence of Snapshot
        Empty for a system without a service: no lines.
    of : str
        Name of the system, where the table has several.
    """
    if not served:
        return []
    about = f"{of}: " if of else ""
    out = [about + answered_by(served)]
    said = names(served)
    if len(said) > 1:
        out.append(
            f"WARNING: {about}{counted(len(said), 'snapshot')} "
            "of the model answered; the values mix theirs"
        )
    return out


def compared_notes(
    first: Sequence[Snapshot],
    second: Sequence[Snapshot],
    *,
    systems: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> list[str]:
    """Return the lines under a comparison: who answered, and whether one name stood for two models.

    Parameters
    ----------
    first, second : sequence of Snapshot
    systems : pair of mapping
        System parts of the signatures; their parameter ``model`` is the name that was asked for.
    """
    out = [*served_notes(first, of="A"), *served_notes(second, of="B")]
    alias, other = ((s.get("parameters") or {}).get("model") for s in systems)
    mine, theirs = names(first), names(second)
    if alias is not None and alias == other and mine and theirs and mine != theirs:
        out.append(
            f"WARNING: both runs asked for {alias}, but the snapshots that answered differ: so do "
            "the models that are compared"
        )
    return out


def _share(n: int, total: int) -> str:
    percent = 100 * n / total
    if n < total and percent > 99:
        return ">99 %"
    return "<1 %" if percent < 1 else f"{percent:.0f} %"


def _builds(served: Sequence[Snapshot], name: str | None) -> str:
    builds = {s.build for s in served if s.snapshot == name and s.build is not None}
    return f", {counted(len(builds), 'build')}" if len(builds) > 1 else ""
