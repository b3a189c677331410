"""RTTM: who speaks when, one segment a line (NIST Rich Transcription, 2009 evaluation plan).

Ten columns: type, recording, channel, start, duration, orthography, subtype, speaker,
confidence, look-ahead. ``SPEAKER`` lines are read; other types are counted and left. Start and
end are exact (the end is start plus duration in decimals). A segment has no text.
"""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, fields, in_time_order, read_rows
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry, add, parse_time, plain, subtract

NOTHING = "<NA>"


class Rttm(Codec):
    """Reader and writer of RTTM."""

    abilities: ClassVar[Abilities] = Abilities(
        names="speaker", name_text="token", text="none", recordings=True, channels=True,
        confidence=True, extra=frozenset({"subtype"}), negative=True, extra_text="token",
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read the SPEAKER lines, a tier per recording, channel and speaker."""
        others: Counter[str] = Counter()

        def parse(line: str, number: int) -> Row | None:
            columns = fields(line)
            if columns[0].upper() != "SPEAKER":
                others[columns[0]] += 1
                return None
            if len(columns) < 8:
                raise DataError("FB703", f"{counted(len(columns), 'column')} instead of 9 or 10")
            start = parse_time(columns[3])
            entry = Entry(
                start=start,
                end=add(start, parse_time(columns[4])),
                confidence=confidence(columns[8]) if len(columns) > 8 else None,
                extra={} if columns[6] == NOTHING else {"subtype": columns[6]},
                line=number,
            )
            return Row(entry, columns[7], columns[7], columns[1], columns[2])

        rows = read_rows(source, parse)
        if others and not rows and "SPEAKER" not in others:
            source.fail("FB703", f"no SPEAKER line; first type is {next(iter(others))[:40]!r}")
        for kind, count in others.items():
            source.note(f"{counted(count, 'line')} of type {kind[:40]!r} not read")
        return document_of(source, rows, format="rttm")

    def render(self, document: Document) -> str:
        """Write one SPEAKER line an entry, by recording and start."""
        lines = []
        for tier, entry in in_time_order(document.tiers):
            start, end = entry.edges
            shown = NOTHING if entry.confidence is None else plain(entry.confidence)
            subtype = entry.extra.get("subtype") or NOTHING
            lines.append(
                f"SPEAKER {tier.recording} {tier.channel} {plain(start)}"
                f" {plain(subtract(end, start))} {NOTHING} {subtype}"
                f" {tier.name} {shown} {NOTHING}\n"
            )
        return "".join(lines)


def confidence(text: str) -> Decimal | None:
    """Read a confidence column; ``<NA>`` means none."""
    return None if text.upper() in (NOTHING, "NA") else parse_time(text)
