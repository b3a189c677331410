"""Tables of words: CSV or TSV with a line of column names, as aligners and notebooks write them.

Needed are a word, a start and an end (or a duration); a speaker or channel and a confidence are
read where there are any. Case, blanks and hyphens of the names do not matter, and each column has
several names. The separator is the comma, tab or semicolon that the first line has most of. A word
without a speaker belongs to the tier ``words``; an empty time stays unknown.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, document_of, in_time_order
from floorbench.formats.source import MAX_LINE, Source
from floorbench.formats.tiers import Document, Entry, add, parse_time, plain

NAME = "words"
COLUMNS = ("speaker", "word", "start", "end", "confidence")
_MEANING = {
    "word": ("word", "text", "token"),
    "start": ("start", "start_time", "start_s", "begin", "onset"),
    "end": ("end", "end_time", "end_s", "stop", "offset"),
    "duration": ("duration", "dur", "duration_s"),
    "speaker": ("speaker", "channel", "side", "role"),
    "confidence": ("confidence", "probability", "score"),
}
_FOLD = re.compile(r"[\s\-]+")


class Table(Codec):
    """Reader and writer of tables of words."""

    abilities: ClassVar[Abilities] = Abilities(
        names="speaker", fixed_name=NAME, name_text="line", text="lines", untimed="partial",
        negative=True, confidence=True,
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read words, a tier per speaker."""
        head = source.text.partition("\n")[0]
        reader = csv.reader(
            io.StringIO(source.text, newline=""),
            delimiter=max(",\t;", key=head.count),
            strict=True,
        )
        rows: list[Row] = []
        faulty = 0
        try:
            names = next(reader, [])
            places = _places(names, source)
            line = reader.line_num + 1
            for cells in reader:
                if any(cells):
                    faulty += 1
                    with source.row(line):
                        rows.append(_row(cells, places, len(names), line))
                        faulty -= 1
                line = reader.line_num + 1
        except csv.Error as error:
            source.fail("FB703", f"not a table: {error}", reader.line_num)
        if any(len(row.entry.text) > MAX_LINE for row in rows):
            source.fail("FB705", "a word longer than any line should be")
        if faulty and not rows:
            first = next(notice for notice in source.notices if notice.fault)
            source.fail("FB703", f"no line can be read: {first.what}", first.line)
        if not rows:
            source.note("the file has no entries")
        untimed = sum(not row.entry.timed for row in rows)
        if untimed:
            source.note(f"{counted(untimed, 'word')} without start or end left untimed")
        unread = [n for n in names if n.strip() and n not in {names[i] for i in places.values()}]
        if unread:
            source.note(f"columns not read: {', '.join(unread)[:200]}")
        return document_of(source, rows, format="table", overlaps=False)

    def render(self, document: Document) -> str:
        """Write one word a line, by start."""
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
        writer.writerow(COLUMNS)
        for tier, entry in in_time_order(document.tiers):
            times = [_text(entry.start), _text(entry.end), _text(entry.confidence)]
            writer.writerow([tier.speaker or "", entry.text, *times])
        return out.getvalue()


def _places(names: Sequence[str], source: Source) -> dict[str, int]:
    """Return where each known column stands; of two for one thing the first named is taken."""
    folded = [_FOLD.sub("_", name.strip()).lower() for name in names]
    twice = next((n for n in folded if n and folded.count(n) > 1), None)
    if twice is not None:
        source.fail("FB703", f"column {twice!r} stands twice", 1)
    places = {}
    for meaning, known in _MEANING.items():
        at = next((folded.index(name) for name in known if name in folded), None)
        if at is not None:
            places[meaning] = at
    missing = [m for m in ("word", "start") if m not in places]
    if "end" not in places and "duration" not in places:
        missing.append("end")
    if missing:
        there = ", ".join(repr(n) for n in names[:12]) or "none"
        source.fail("FB703", f"no column for {', '.join(missing)}; columns: {there}", 1)
    return places


def _row(cells: Sequence[str], places: dict[str, int], width: int, line: int) -> Row:
    if len(cells) != width:
        raise DataError("FB703", f"{counted(len(cells), 'cell')}, {counted(width, 'column')}")
    start = _time(cells, places, "start")
    end = _time(cells, places, "end")
    length = _time(cells, places, "duration")
    if "end" not in places and start is not None and length is not None:
        end = add(start, length)
    entry = Entry(
        start=start,
        end=end,
        text=cells[places["word"]],
        confidence=_time(cells, places, "confidence"),
        line=line,
    )
    speaker = cells[places["speaker"]].strip(" \t") if "speaker" in places else ""
    return Row(entry, speaker, speaker) if speaker else Row(entry, NAME)


def _time(cells: Sequence[str], places: dict[str, int], name: str) -> Decimal | None:
    cell = cells[places[name]].strip() if name in places else ""
    return parse_time(cell) if cell else None


def _text(value: Decimal | None) -> str:
    return "" if value is None else plain(value)
