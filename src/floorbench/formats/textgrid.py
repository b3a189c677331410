"""Praat TextGrid: long and short text files, in any layout that Praat itself would read.

Praat reads a text file as a sequence of free-standing numbers, quoted strings (a quote inside is
doubled) and flags such as ``<exists>``; all other words are decoration and ``!`` begins a
comment. Long, short and one-line files are the same sequence, so one reader serves them all.

An interval with an empty label is a gap and gives no entry; where two such intervals meet, the
boundary between them is not kept (with a remark). The writer fills gaps with empty intervals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from typing import ClassVar, NamedTuple

from floorbench.errors import DataError
from floorbench.formats.abilities import Abilities, LossCounter
from floorbench.formats.registry import Codec
from floorbench.formats.source import Source, check_names, check_overlaps
from floorbench.formats.tiers import ZERO, Document, Entry, Tier, latest, ordered, parse_time, plain

_TOKEN = re.compile(
    r'\s*(?:"(?P<string>[^"]*(?:""[^"]*)*)"|(?P<comment>!.*)|(?P<word>[^\s"]+)|(?P<open>"))'
)
_HEAD = 4096
_NUMBER = re.compile(r"[+-]?(?:\d|\.\d)\S*|[+-]?(?:nan|inf\w*)|--undefined--", re.I | re.ASCII)


class _Token(NamedTuple):
    kind: str
    text: str
    line: int


class TextGrid(Codec):
    """Reader and writer of TextGrids."""

    abilities: ClassVar[Abilities] = Abilities(
        name_text="lines", text="lines", unique_names=False, empty_tiers=True, point_tiers=True,
        sorted_tiers=False, overlap=False, zero_length=False, negative=True, extents=True,
        duration=True, placeholder="speech",
    )  # fmt: skip

    def read(self, source: Source) -> Document:
        """Read a TextGrid."""
        if source.data.startswith(b"ooBinaryFile"):
            source.fail("FB702", "a binary TextGrid; save it as a text file in Praat")
        if "ooTextFile" not in source.text[:_HEAD]:
            source.fail("FB703", "the header is not that of a TextGrid", 1)
        tokens = _Reader(source)
        if tokens.string("file type") != "ooTextFile" or tokens.string("class") != "TextGrid":
            source.fail("FB703", "the header is not that of a TextGrid", 1)
        origin, duration = tokens.time(), tokens.time()
        exists = tokens.next("flag")
        count = 0 if exists.text == "<absent>" else tokens.count()
        tiers = [_tier(tokens, source, (origin, duration)) for _ in range(count)]
        tokens.end()
        check_names(source, tiers)
        return Document(
            tiers=tuple(tiers),
            origin=origin,
            duration=duration,
            format="textgrid",
            warnings=source.all_notices(),
        )

    def prepare(self, document: Document, stem: str, lost: LossCounter) -> Document:
        """Stretch the clock so that it holds all entries."""
        starts = [e.edges[0] for tier in document.tiers for e in tier.entries]
        limits = [tier.extent for tier in document.tiers if tier.extent is not None]
        origin = min([document.origin, *starts, *(limit[0] for limit in limits)])
        ends = [latest(document.tiers), document.duration, *(limit[1] for limit in limits)]
        duration = max((end for end in ends if end is not None), default=ZERO)
        if document.duration is not None and (document.origin, document.duration) != (
            origin,
            max(duration, origin),
        ):
            lost.add("the clock stretched to hold all entries")
        tiers = tuple(_extent_kept(tier, origin, duration, lost) for tier in document.tiers)
        return replace(document, tiers=tiers, origin=origin, duration=max(duration, origin))

    def render(self, document: Document) -> str:
        """Write the long form."""
        whole = (document.origin, document.duration or ZERO)
        out = [
            'File type = "ooTextFile"\nObject class = "TextGrid"\n\n',
            f"xmin = {plain(whole[0])}\nxmax = {plain(whole[1])}\ntiers? <exists>\n",
            f"size = {len(document.tiers)}\nitem []:\n",
        ]
        for number, tier in enumerate(document.tiers, start=1):
            first, last = tier.extent or whole
            out.append(
                f"    item [{number}]:\n"
                f'        class = "{"TextTier" if tier.kind == "point" else "IntervalTier"}"\n'
                f"        name = {_quoted(tier.name)}\n"
                f"        xmin = {plain(first)}\n        xmax = {plain(last)}\n"
            )
            out.extend(_points(tier) if tier.kind == "point" else _intervals(tier, first, last))
        return "".join(out)


class _Reader:
    """Takes tokens off the file in order, failing with the line when the next one is wrong."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._tokens = _tokens(source)
        self._line = 1

    def next(self, kind: str, what: str = "") -> _Token:
        token = next(self._tokens, None)
        if token is None:
            self._source.fail(
                "FB703", f"the file ends where a {what or kind} should follow", self._line
            )
        self._line = token.line
        if token.kind != kind:
            self._source.fail(
                "FB703", f"{token.text[:40]!r} where a {what or kind} should be", token.line
            )
        return token

    def string(self, what: str) -> str:
        return self.next("string", what).text.replace('""', '"')

    def time(self) -> Decimal:
        token = self.next("number", "time")
        try:
            return parse_time(token.text)
        except DataError as error:
            self._source.fail(error.code, error.what, token.line)

    def count(self) -> int:
        token = self.next("number", "count")
        if not token.text.isdecimal() or len(token.text) > 9:
            self._source.fail("FB703", f"{token.text[:40]!r} where a count should be", token.line)
        return int(token.text)

    def end(self) -> None:
        token = next(self._tokens, None)
        if token is not None:
            self._source.fault("more follows after the last tier", token.line)

    @property
    def line(self) -> int:
        return self._line


def _tokens(source: Source) -> Iterator[_Token]:
    text = source.text
    line, seen, place = 1, 0, 0
    while match := _TOKEN.match(text, place):
        place = match.end()
        start = match.start(match.lastgroup or 0)
        line += text.count("\n", seen, start)
        seen = start
        word = match["word"]
        if match["string"] is not None:
            yield _Token("string", match["string"], line)
        elif match["open"] is not None:
            source.fail("FB703", "a quoted text does not end", line)
        elif word is not None:
            if _NUMBER.fullmatch(word):
                yield _Token("number", word, line)
            elif word in ("<exists>", "<absent>"):
                yield _Token("flag", word, line)


def _tier(tokens: _Reader, source: Source, whole: tuple[Decimal, Decimal]) -> Tier:
    kind = tokens.string("tier class")
    if kind not in ("IntervalTier", "TextTier"):
        source.fail("FB703", f"{kind[:40]!r} is no tier class", tokens.line)
    name = tokens.string("tier name")
    extent = (tokens.time(), tokens.time())
    count = tokens.count()
    entries: list[Entry] = []
    empty_before = False
    merged = 0
    before = extent[0]
    for _ in range(count):
        start = tokens.time()
        line = tokens.line
        end = tokens.time() if kind == "IntervalTier" else start
        text = tokens.string("label")
        if kind == "IntervalTier":
            if start > before:
                source.fault(f"nothing between {before} and {start} in tier {name!r}", line)
            before = max(before, end)
            if not text and start <= end:
                merged += empty_before
                empty_before = True
                continue
            empty_before = False
        with source.row(line):
            entries.append(Entry(start=start, end=end, text=text, line=line))
    if merged:
        source.note(f"{merged} boundaries between empty intervals of tier {name!r} not kept")
    tier = Tier(
        name=name,
        kind="interval" if kind == "IntervalTier" else "point",
        entries=tuple(ordered(entries)),
        extent=None if extent == whole else extent,
    )
    check_overlaps(source, [tier])
    return tier


def _extent_kept(tier: Tier, origin: Decimal, duration: Decimal, lost: LossCounter) -> Tier:
    if tier.extent is None:
        return tier
    starts = [e.edges[0] for e in tier.entries]
    ends = [e.edges[1] for e in tier.entries]
    extent = (min([tier.extent[0], *starts]), max([tier.extent[1], *ends]))
    if extent != tier.extent:
        lost.add("its own start and end stretched to hold all entries", tier.name)
    return replace(tier, extent=None if extent == (origin, duration) else extent)


def _points(tier: Tier) -> Iterator[str]:
    yield f"        points: size = {len(tier.entries)}\n"
    for number, entry in enumerate(tier.entries, start=1):
        yield (
            f"        points [{number}]:\n            number = {plain(entry.edges[0])}\n"
            f"            mark = {_quoted(entry.text)}\n"
        )


def _intervals(tier: Tier, first: Decimal, last: Decimal) -> Iterator[str]:
    filled: list[tuple[Decimal, Decimal, str]] = []
    before = first
    for entry in tier.entries:
        start, end = entry.edges
        if start > before:
            filled.append((before, start, ""))
        filled.append((start, end, entry.text))
        before = end
    if before < last:
        filled.append((before, last, ""))
    yield f"        intervals: size = {len(filled)}\n"
    for number, (start, end, text) in enumerate(filled, start=1):
        yield (
            f"        intervals [{number}]:\n            xmin = {plain(start)}\n"
            f"            xmax = {plain(end)}\n            text = {_quoted(text)}\n"
        )


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
