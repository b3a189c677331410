"""Help for formats of one entry a line, which name recording, channel or speaker on each."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from floorbench.formats.fit import tier_order
from floorbench.formats.source import Source, check_overlaps
from floorbench.formats.tiers import Document, Entry, Tier, ordered, sort_keys

_BLANK = re.compile(r"[ \t]+")


class Row(NamedTuple):
    """One entry and where it belongs."""

    entry: Entry
    name: str
    speaker: str | None = None
    recording: str | None = None
    channel: str | None = None


def fields(line: str, most: int = 0) -> list[str]:
    """Split a line at runs of blanks and tabs, into at most ``most`` fields (0: any number)."""
    stripped = line.strip(" \t")
    return _BLANK.split(stripped, maxsplit=most - 1 if most else 0) if stripped else []


def read_rows(source: Source, parse: Callable[[str, int], Row | None]) -> list[Row]:
    """Parse each line that is neither blank nor a ``;;`` comment; faulty ones are noted."""
    rows: list[Row] = []
    faulty = 0
    for number, line in source.lines():
        if not line.strip() or line.startswith(";;"):
            continue
        faulty += 1
        with source.row(number):
            row = parse(line, number)
            faulty -= 1
            if row is not None:
                rows.append(row)
    if faulty and not rows:
        first = next((notice for notice in source.notices if notice.fault), None)
        reason = f": {first.what}" if first else ""
        source.fail("FB703", f"no line can be read{reason}", first.line if first else None)
    if not rows:
        source.note("the file has no entries")
    return rows


def tiers_of(rows: Iterable[Row]) -> tuple[Tier, ...]:
    """Group rows into tiers, sorted by recording, channel and name."""
    groups: dict[tuple[str | None, str | None, str | None, str], list[Entry]] = {}
    for row in rows:
        key = (row.recording, row.channel, row.speaker, row.name)
        groups.setdefault(key, []).append(row.entry)
    tiers = [
        Tier(
            name=name,
            speaker=speaker,
            recording=recording,
            channel=channel,
            entries=tuple(ordered(entries)),
        )
        for (recording, channel, speaker, name), entries in groups.items()
    ]
    return tuple(sorted(tiers, key=tier_order))


def document_of(
    source: Source, rows: Sequence[Row], *, format: str, overlaps: bool = True
) -> Document:
    """Build the document; note overlaps within a tier where they are unusual."""
    tiers = tiers_of(rows)
    if overlaps:
        check_overlaps(source, tiers)
    return Document(tiers=tiers, format=format, warnings=source.all_notices())


def in_time_order(tiers: Iterable[Tier]) -> list[tuple[Tier, Entry]]:
    """Return all entries by recording and channel, then by start."""
    keyed = [
        ((tier.recording or "", tier.channel or "", key), tier, entry)
        for tier in tiers
        for key, entry in sort_keys(tier.entries)
    ]
    keyed.sort(key=lambda item: item[0])
    return [(tier, entry) for _, tier, entry in keyed]
