"""Switchboard word files of the ISIP release: segment id, start, end, token, in one call side.

The rows tile the whole call side: silences are tokens (``[silence]``), so every row is an entry.
The tier is named after the segment ids' call and side (``sw2005A``), which also give recording
and channel. What counts as speech is a question for the user of the tier: :func:`is_speech`.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import ClassVar

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities, LossCounter, clean_text
from floorbench.formats.registry import Codec
from floorbench.formats.rows import Row, fields, read_rows
from floorbench.formats.source import Source
from floorbench.formats.tiers import ZERO, Document, Entry, Tier, parse_time, plain

SILENCE = "[silence]"
_CALL = re.compile(r"(sw\d+)([A-Z])")
_LAUGHED_WORD = re.compile(r"\[laughter-.+\]")


def is_speech(token: str, *, laughed_words: bool = True) -> bool:
    """Tell whether a token is speech.

    ``[laughter-yes]`` is a word said laughing and counts when ``laughed_words``; other tokens
    wholly in square brackets (silence, noise, laughter, vocalized noise) do not, nor do
    ``<b_aside>`` and the like. Partial words (``h[ow]-``) and variants (``okay_1``) do.

    >>> [is_speech(t) for t in ("okay_1", "h[ow]-", "[laughter-yes]", "[noise]", "<b_aside>")]
    [True, True, True, False, False]
    """
    if _LAUGHED_WORD.fullmatch(token):
        return laughed_words
    return not re.fullmatch(r"\[[^\[\]]*\]|<[^<>]*>", token) and bool(token)


class Ms98(Codec):
    """Reader and writer of ISIP word files."""

    abilities: ClassVar[Abilities] = Abilities(
        text="line", placeholder="<unk>", several_tiers=False, overlap=False, zero_length=True,
        recordings=True, channels=True, speakers=True, name_text="line",
        extra=frozenset({"segment"}), extra_text="token",
        duration=True,
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read one call side; gaps and overlaps between rows are faults."""

        def parse(line: str, number: int) -> Row:
            columns = fields(line, 4)
            if len(columns) < 4:
                raise DataError("FB703", f"{counted(len(columns), 'column')} instead of 4")
            entry = Entry(
                start=parse_time(columns[1]),
                end=parse_time(columns[2]),
                text=columns[3],
                extra={"segment": columns[0]},
                line=number,
            )
            return Row(entry, columns[0])

        entries = [row.entry for row in read_rows(source, parse)]
        if not entries:
            source.fail("FB703", "no rows")
        before = ZERO
        for entry in entries:
            start, end = entry.edges
            if start != before:
                source.fault(f"starts at {start}, the row before ends at {before}", entry.line)
            before = end
        sides = {_side(entry.extra["segment"])[0] for entry in entries}
        if len(sides) > 1:
            source.fault(f"rows of {len(sides)} call sides in one file")
        entries.sort(key=lambda entry: entry.edges[0])
        tier = _tier(tuple(entries))
        return Document(
            tiers=(tier,),
            duration=max(entry.edges[1] for entry in entries),
            format="ms98",
            warnings=source.all_notices(),
        )

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Fill gaps with ``[silence]`` and give rows without a segment id one."""
        if not document.tiers:
            raise DataError("FB708", "nothing to write: the document has no timed entries")
        tier = document.tiers[0]
        segment = _uncommented(f"{clean_text(tier.name, 'token') or stem}-ms98-a-0001", lost, tier)
        rows: list[Entry] = []
        before = ZERO
        for entry in (*tier.entries, None):
            start = entry.edges[0] if entry else max(document.duration or before, before)
            if entry and "segment" in entry.extra:
                segment = _uncommented(entry.extra["segment"], lost, tier)
            if start > before:
                lost.add(f"gaps filled with {SILENCE}", tier.name)
                gap = Entry(start=before, end=start, text=SILENCE, extra={"segment": segment})
                rows.append(gap)
            if entry:
                if "segment" not in entry.extra:
                    lost.add("segment ids made up", tier.name)
                rows.append(replace(entry, extra={"segment": segment}))
                before = entry.edges[1]
        written = _tier(tuple(rows))
        if written != replace(tier, entries=written.entries):
            lost.add(f"name, speaker, recording and channel read back from {segment!r}", tier.name)
        if document.origin:
            lost.add("the start of the clock not written")
        return replace(document, tiers=(written,), origin=ZERO, duration=before)

    def render(self, document: Document) -> str:
        """Write one row an entry."""
        return "".join(
            f"{e.extra['segment']} {plain(e.edges[0])} {plain(e.edges[1])} {e.text}\n"
            for e in document.tiers[0].entries
        )


def _uncommented(segment: str, lost: LossCounter, tier: Tier) -> str:
    """Return a segment id that does not read as a comment or a byte-order mark."""
    if not segment.startswith((";;", "\ufeff")):
        return segment
    lost.add("segment ids that read as comments changed", tier.name)
    return segment.lstrip(";\ufeff") or "unnamed"


def _side(segment: str) -> tuple[str, str | None, str | None]:
    name = segment.partition("-ms98-")[0] or segment
    call = _CALL.fullmatch(name)
    return (name, call[1], call[2]) if call else (name, None, None)


def _tier(entries: tuple[Entry, ...]) -> Tier:
    name, recording, channel = _side(entries[0].extra["segment"])
    return Tier(name=name, speaker=channel, recording=recording, channel=channel, entries=entries)
