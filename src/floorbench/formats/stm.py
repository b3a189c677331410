"""STM: one reference segment a line (NIST sclite).

Columns: recording, channel, speaker, start, end, an optional label in angle brackets, text. A
first word in angle brackets without blanks is the label; the writer puts the empty label ``<>``
before a text that begins with such a word.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities, LossCounter
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, fields, in_time_order, read_rows
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry, parse_time, plain

_LABEL = re.compile(r"<([^<>\s]*)>(?:[ \t]+|$)")


class Stm(Codec):
    """Reader and writer of STM."""

    abilities: ClassVar[Abilities] = Abilities(
        names="speaker", name_text="token", text="line", recordings=True, channels=True,
        extra=frozenset({"label"}), negative=True, extra_text="token",
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read segments, a tier per recording, channel and speaker."""

        def parse(line: str, number: int) -> Row:
            columns = fields(line, 6)
            if len(columns) < 5:
                raise DataError("FB703", f"{counted(len(columns), 'column')} instead of at least 5")
            text = columns[5] if len(columns) > 5 else ""
            label = _LABEL.match(text)
            entry = Entry(
                start=parse_time(columns[3]),
                end=parse_time(columns[4]),
                text=text[label.end() :] if label else text,
                extra={"label": label[1]} if label and label[1] else {},
                line=number,
            )
            return Row(entry, columns[2], columns[2], columns[0], columns[1])

        return document_of(source, read_rows(source, parse), format="stm")

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Take angle brackets out of labels."""
        tiers = []
        for tier in document.tiers:
            entries = []
            for entry in tier.entries:
                label = entry.extra.get("label", "")
                if clean := re.sub(r"[<>\s]", "_", label):
                    entry = replace(entry, extra={"label": clean})
                if clean != label:
                    lost.add("'label' of entries changed", tier.name)
                entries.append(entry)
            tiers.append(replace(tier, entries=tuple(entries)))
        return replace(document, tiers=tuple(tiers))

    def render(self, document: Document) -> str:
        """Write one segment a line, by recording, channel and start."""
        lines = []
        for tier, entry in in_time_order(document.tiers):
            start, end = entry.edges
            label = entry.extra.get("label", "")
            shown = f"<{label}> " if label or _LABEL.match(entry.text) else ""
            lines.append(
                f"{tier.recording} {tier.channel} {tier.name} {plain(start)} {plain(end)}"
                f" {shown}{entry.text}".rstrip(" \t")
                + "\n"
            )
        return "".join(lines)
