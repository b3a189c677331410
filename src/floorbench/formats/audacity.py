"""Audacity label tracks: start, end and label a line, separated by tabs.

A label at a point has equal start and end. A following line that begins with a backslash gives
the frequency range of a spectral label. Names of label tracks are not in the file.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities, LossCounter
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, in_time_order, read_rows
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry, parse_time, plain

NAME = "labels"
_RANGE = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})? -?[0-9]{1,15}(\.[0-9]{1,15})?")


class Audacity(Codec):
    """Reader and writer of Audacity labels."""

    abilities: ClassVar[Abilities] = Abilities(
        names="fixed", fixed_name=NAME, text="line", extra=frozenset({"frequencies"}),
        negative=True,
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read labels into one tier ``labels``."""
        ranges: dict[int, dict[str, str]] = {}
        last = 0

        def parse(line: str, number: int) -> Row | None:
            nonlocal last
            columns = line.split("\t", 2)
            if columns[0].strip() == "\\":
                if len(columns) < 3 or not last:
                    raise DataError("FB703", "a frequency line without a label or its numbers")
                low, high = (plain(parse_time(text.strip())) for text in columns[1:])
                ranges[last] = {"frequencies": f"{low} {high}"}
                return None
            if len(columns) < 2:
                raise DataError("FB703", "fewer than 2 columns separated by tabs")
            entry = Entry(
                start=parse_time(columns[0].strip()),
                end=parse_time(columns[1].strip()),
                text=columns[2].strip(" \t") if len(columns) > 2 else "",
                line=number,
            )
            last = number
            return Row(entry, NAME)

        rows = [
            row._replace(entry=replace(row.entry, extra=ranges.get(row.entry.line or 0, {})))
            for row in read_rows(source, parse)
        ]
        return document_of(source, rows, format="audacity", overlaps=False)

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Leave out frequency ranges that are not two numbers."""
        tiers = []
        for tier in document.tiers:
            entries = list(tier.entries)
            for n, entry in enumerate(entries):
                if entry.extra and not _RANGE.fullmatch(entry.extra["frequencies"]):
                    lost.add("'frequencies' of entries not written", tier.name)
                    entries[n] = replace(entry, extra={})
            tiers.append(replace(tier, entries=tuple(entries)))
        return replace(document, tiers=tuple(tiers))

    def render(self, document: Document) -> str:
        """Write one label a line."""
        lines = []
        for _, entry in in_time_order(document.tiers):
            start, end = entry.edges
            lines.append(f"{plain(start)}\t{plain(end)}\t{entry.text}\n")
            if "frequencies" in entry.extra:
                lines.append("\\\t" + entry.extra["frequencies"].replace(" ", "\t") + "\n")
        return "".join(lines)
