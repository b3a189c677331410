"""CTM: one word a line with recording, channel, start, duration, word (NIST sclite).

Further columns are confidence, type and speaker. Words are kept as written; a line whose times
are ``*`` (alternatives) is noted and left out.
"""

from __future__ import annotations

from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, fields, in_time_order, read_rows
from floorbench.formats.rttm import NOTHING, confidence
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry, add, parse_time, plain, subtract


class Ctm(Codec):
    """Reader and writer of CTM."""

    abilities: ClassVar[Abilities] = Abilities(
        names="channel", name_text="token", text="token", placeholder="<unk>",
        recordings=True, channels=True, confidence=True, extra=frozenset({"type", "speaker"}),
        negative=True, extra_text="token",
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read words, a tier per recording and channel."""

        def parse(line: str, number: int) -> Row:
            columns = fields(line)
            if not 5 <= len(columns) <= 8:
                raise DataError("FB703", f"{counted(len(columns), 'column')} instead of 5 to 8")
            start = parse_time(columns[2])
            entry = Entry(
                start=start,
                end=add(start, parse_time(columns[3])),
                text=columns[4],
                confidence=confidence(columns[5]) if len(columns) > 5 else None,
                extra={
                    key: value
                    for key, value in zip(("type", "speaker"), columns[6:], strict=False)
                    if value != NOTHING
                },
                line=number,
            )
            return Row(entry, columns[1], None, columns[0], columns[1])

        return document_of(source, read_rows(source, parse), format="ctm")

    def render(self, document: Document) -> str:
        """Write one word a line, by recording, channel and start."""
        lines = []
        for tier, entry in in_time_order(document.tiers):
            start, end = entry.edges
            columns = [
                NOTHING if entry.confidence is None else plain(entry.confidence),
                entry.extra.get("type") or NOTHING,
                entry.extra.get("speaker") or NOTHING,
            ]
            while columns and columns[-1] == NOTHING:
                columns.pop()
            word = [tier.recording or "", tier.channel or "", plain(start)]
            word += [plain(subtract(end, start)), entry.text, *columns]
            lines.append(" ".join(word) + "\n")
        return "".join(lines)
