"""What a reader works on: one file's bytes and text, and where its findings go."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn

from floorbench.core.words import counted
from floorbench.errors import DataError, Place
from floorbench.formats.tiers import Notice, Tier

MAX_BYTES = 128 * 1024 * 1024
MAX_LINE = 1024 * 1024
MAX_NOTICES = 1000

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(kw_only=True)
class Source:
    """One annotation file while it is being read.

    Parameters
    ----------
    name : str
        Its path as shown in messages.
    data : bytes
        Its content.
    strict : bool
        Refuse the file at the first fault instead of noting it.
    partial : bool
        The data are only the head of the file; a character cut off at the end is let go.
    """

    name: str
    data: bytes
    strict: bool = False
    partial: bool = False
    notices: list[Notice] = field(default_factory=list)
    unsaid: int = 0
    _text: str | None = None

    def fail(self, code: str, what: str, line: int | None = None) -> NoReturn:
        """Give up on the file."""
        raise DataError(code, what, where=Place(self.name, line))

    def fault(self, what: str, line: int | None = None) -> None:
        """Note something wrong that reading can get over; refuse it when strict."""
        if self.strict:
            self.fail("FB707", what, line)
        self._keep(Notice(what=what, line=line, fault=True))

    def note(self, what: str, line: int | None = None) -> None:
        """Note something that is not wrong, but that a reader of the result should know."""
        self._keep(Notice(what=what, line=line, fault=False))

    def _keep(self, notice: Notice) -> None:
        if len(self.notices) < MAX_NOTICES:
            self.notices.append(notice)
        else:
            self.unsaid += 1

    @contextmanager
    def row(self, line: int | None, item: str = "") -> Iterator[None]:
        """Turn a ``DataError`` about one entry into a fault: the entry is left out.

        When strict, the error is raised with its own code and the place added.
        """
        try:
            yield
        except DataError as error:
            what = f"{item}: {error.what}" if item else error.what
            if self.strict:
                self.fail(error.code, what, line)
            self.fault(f"{what}; entry skipped", line)

    def all_notices(self) -> tuple[Notice, ...]:
        """Return what was noted, with the number of further ones that were not kept."""
        if not self.unsaid:
            return tuple(self.notices)
        return (*self.notices, Notice(what=f"and {self.unsaid} more", fault=True))

    @property
    def text(self) -> str:
        """The file as text, line ends unified to ``\\n``."""
        if self._text is None:
            self._text = self._decode().replace("\r\n", "\n").replace("\r", "\n")
        return self._text

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield line number and line; only ``\\n``, ``\\r\\n`` and ``\\r`` end a line."""
        for number, line in enumerate(self.text.split("\n"), start=1):
            if len(line) > MAX_LINE:
                self.fail("FB705", f"a line of {counted(len(line), 'character')}", number)
            yield number, line

    def _decode(self) -> str:
        encoding = next((name for bom, name in _BOMS if self.data.startswith(bom)), None)
        if encoding is None:
            encoding = _utf16_without_mark(self.data[:4096]) or "utf-8"
        try:
            decoder = codecs.getincrementaldecoder(encoding)()
            text = decoder.decode(self.data, final=not self.partial)
        except UnicodeDecodeError as error:
            if encoding != "utf-8" or b"\0" in self.data:
                self.fail("FB702", f"the bytes at offset {error.start} are not {encoding}")
            line = self.data.count(b"\n", 0, error.start) + 1
            self.fault("not UTF-8; read as Windows-1252, so letters may be wrong", line)
            text = self.data.decode("cp1252", errors="replace")
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            self.fail("FB702", "a NUL character: this is a binary or damaged file", line)
        return text


def check_overlaps(source: Source, tiers: Iterable[Tier]) -> None:
    """Note, once a tier, entries of one interval tier that overlap (they are kept)."""
    for tier in tiers:
        if tier.kind == "point":
            continue
        last = None
        first_line = None
        count = 0
        for entry in tier.entries:
            if entry.start is None or entry.end is None:
                continue
            if last is not None and entry.start < last and entry.start < entry.end:
                count += 1
                first_line = first_line or entry.line
            last = entry.end if last is None else max(last, entry.end)
        if count:
            source.fault(
                f"{count} overlapping {'entry' if count == 1 else 'entries'} in tier {tier.name!r}",
                first_line,
            )


def check_names(source: Source, tiers: Iterable[Tier]) -> None:
    """Note tiers that share one name (they are kept apart)."""
    seen: set[str] = set()
    for tier in tiers:
        if tier.name in seen:
            source.fault(f"two tiers are named {tier.name!r}")
        seen.add(tier.name)


def _utf16_without_mark(head: bytes) -> str | None:
    if len(head) < 4 or head.count(0) * 4 < len(head):
        return None
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if even * 4 > odd and odd * 4 > even:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"
