"""UEM: which parts of which recording count, one region a line: recording, channel, start, end."""

from __future__ import annotations

from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, fields, in_time_order, read_rows
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry, parse_time, plain

NAME = "scored"


class Uem(Codec):
    """Reader and writer of UEM."""

    abilities: ClassVar[Abilities] = Abilities(
        names="fixed",
        fixed_name=NAME,
        name_text="token",
        text="none",
        recordings=True,
        channels=True,
        negative=True,
    )

    def read(self, source: Source) -> Document:
        """Read regions, a tier ``scored`` per recording and channel."""

        def parse(line: str, number: int) -> Row:
            columns = fields(line)
            if len(columns) != 4:
                raise DataError("FB703", f"{counted(len(columns), 'column')} instead of 4")
            entry = Entry(start=parse_time(columns[2]), end=parse_time(columns[3]), line=number)
            return Row(entry, NAME, None, columns[0], columns[1])

        return document_of(source, read_rows(source, parse), format="uem")

    def render(self, document: Document) -> str:
        """Write one region a line."""
        lines = []
        for tier, entry in in_time_order(document.tiers):
            start, end = entry.edges
            lines.append(f"{tier.recording} {tier.channel} {plain(start)} {plain(end)}\n")
        return "".join(lines)
