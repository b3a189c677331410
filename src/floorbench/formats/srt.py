"""SubRip subtitles: numbered blocks of a timing line and text.

Numbers may be missing, hours and milliseconds too; the fraction may follow a point. Positions
behind the times are kept as ``settings``. Markup in the text is text.
"""

from __future__ import annotations

from typing import ClassVar

from floorbench.formats.abilities import Abilities
from floorbench.formats.cues import TIMING, blocks, clock_text, clock_time
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, in_time_order
from floorbench.formats.source import Source
from floorbench.formats.tiers import Document, Entry

NAME = "captions"


class Srt(Codec):
    """Reader and writer of SubRip files."""

    abilities: ClassVar[Abilities] = Abilities(
        names="fixed", fixed_name=NAME, text="cue", forbidden={"-->": "->"}, decimals=3,
        extra=frozenset({"settings"}),
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read cues into one tier ``captions``."""
        rows: list[Row] = []
        found = 0
        for block in blocks(source):
            found += 1
            if not TIMING.match(block[0][1]) and len(block) > 1:
                if not block[0][1].isdecimal():
                    source.fault(f"{block[0][1][:40]!r} where a cue number belongs", block[0][0])
                block = block[1:]
            line, timing = block[0]
            match = TIMING.match(timing)
            if not match:
                source.fault("a block without a timing line; skipped", line)
                continue
            with source.row(line):
                entry = Entry(
                    start=clock_time(match[1]),
                    end=clock_time(match[2]),
                    text="\n".join(text for _, text in block[1:]),
                    extra={"settings": match[3]} if match[3] else {},
                    line=line,
                )
                rows.append(Row(entry, NAME))
        if found and not rows:
            first = source.notices[0]
            source.fail("FB703", f"no cue can be read: {first.what}", first.line)
        if not rows:
            source.note("the file has no entries")
        return document_of(source, rows, format="srt", overlaps=False)

    def render(self, document: Document) -> str:
        """Write cues by start."""
        parts = []
        for number, (_, entry) in enumerate(in_time_order(document.tiers), start=1):
            start, end = entry.edges
            settings = " ".join(("", entry.extra["settings"])) if "settings" in entry.extra else ""
            text = f"{entry.text}\n" if entry.text else ""
            parts.append(
                f"{number}\n{clock_text(start, ',')} --> {clock_text(end, ',')}{settings}\n{text}\n"
            )
        return "".join(parts)
