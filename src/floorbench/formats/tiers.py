"""What an annotation file says, whatever its format: tiers of entries on one media clock.

Times are exact decimals of seconds, never floats: an annotation file holds decimal text, and
the text ``0.41156462585`` is neither a whole number of microseconds nor a binary fraction. Keeping
the decimal gives one representation that is exact, ordered and written back digit by digit;
:attr:`Entry.span` and :attr:`Entry.ticks` hand out floats and ticks to the code that counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from typing import Literal

from floorbench.core.time import Span, Ticks, to_ticks
from floorbench.errors import DataError

Kind = Literal["interval", "point"]
Estimate = Literal["", "start", "end", "both"]

ZERO = Decimal(0)
LATEST = Decimal(1_000_000_000)
FINEST = -30
"""Times lie within 1e9 s of zero and have at most 30 decimals, so sums stay exact and short."""

_EXACT = Context(prec=60)
_NUMBER = re.compile(r"[+-]?(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_UNWRITABLE = re.compile("[\ud800-\udfff]")


def parse_time(text: str) -> Decimal:
    """Read a time in seconds from text, exactly.

    Raises
    ------
    DataError
        ``FB704`` when the text is not a finite decimal number in range.
    """
    if len(text) > 64 or not _NUMBER.fullmatch(text):
        raise DataError("FB704", f"time {text[:40]!r} is not a finite decimal number")
    try:
        return checked_time(Decimal(text))
    except InvalidOperation:
        raise DataError("FB704", f"time {text[:40]!r} is not a finite decimal number") from None


def checked_time(value: Decimal) -> Decimal:
    """Return ``value`` if it is finite, within 1e9 s and has at most 30 decimals.

    Raises
    ------
    DataError
        ``FB704`` otherwise.
    """
    exponent = value.as_tuple().exponent
    if not isinstance(exponent, int):
        raise DataError("FB704", f"time {value} is not a finite number")
    if value.copy_abs() > LATEST or exponent < FINEST:
        raise DataError("FB704", f"time {value} is out of range")
    return value.copy_abs() if value.is_zero() else value


def add(one: Decimal, other: Decimal) -> Decimal:
    """Return the exact sum of two times."""
    return _EXACT.add(one, other)


def subtract(one: Decimal, other: Decimal) -> Decimal:
    """Return the exact difference of two times."""
    return _EXACT.subtract(one, other)


def plain(value: Decimal) -> str:
    """Return a number as plain decimal text, without exponent."""
    return format(value, "f")


def ticks_to_decimal(ticks: Ticks) -> Decimal:
    """Return ticks (microseconds) as exact seconds."""
    return Decimal(ticks).scaleb(-6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something a reader noticed.

    Parameters
    ----------
    what : str
        One sentence.
    line : int or None
        1-based line in the file.
    fault : bool
        True when the file is wrong there and reading had to skip or guess; strict reading
        refuses these. False for remarks about sound files (an offset applied, a part not used).
    """

    what: str
    line: int | None = None
    fault: bool = True

    def __str__(self) -> str:
        return self.what if self.line is None else f"line {self.line}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One annotation.

    Parameters
    ----------
    start, end : Decimal or None
        Seconds on the media clock; ``None`` where the file gives no time. A point has
        ``start == end``.
    text : str
        The label, verbatim. Empty where the format has no labels (RTTM) or none was given.
    confidence : Decimal or None
        The file's own confidence, unchanged.
    parent : int or None
        Index of the entry in the parent tier that this one belongs to.
    estimated : {"", "start", "end", "both"}
        Edges that the file does not state and that were derived from neighbours or parent.
    extra : mapping of str to str
        What only this format knows, by its own name (a cue's settings, a segment id).
    line : int or None
        Where it stood in the file; not part of equality.

    Raises
    ------
    DataError
        ``FB704`` for a bad time or an end before the start, ``FB702`` for text that cannot be
        written (NUL, lone surrogates).
    """

    start: Decimal | None
    end: Decimal | None
    text: str = ""
    confidence: Decimal | None = None
    parent: int | None = None
    estimated: Estimate = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    line: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for value in (self.start, self.end):
            if value is not None:
                checked_time(value)
        if self.start is not None and self.end is not None and self.end < self.start:
            raise DataError("FB704", f"end {self.end} lies before start {self.start}")
        _check_text(self.text, *self.extra.keys(), *self.extra.values())

    @property
    def timed(self) -> bool:
        """Whether both edges are known."""
        return self.start is not None and self.end is not None

    @property
    def span(self) -> Span:
        """The span in float seconds.

        Raises
        ------
        DataError
            ``FB704`` when the entry has no times.
        """
        start, end = self.edges
        return Span(float(start), float(end))

    @property
    def ticks(self) -> tuple[Ticks, Ticks]:
        """Start and end in ticks (microseconds), rounded half up."""
        start, end = self.edges
        return to_ticks(start), to_ticks(end)

    @property
    def edges(self) -> tuple[Decimal, Decimal]:
        """Start and end of a timed entry."""
        if self.start is None or self.end is None:
            raise DataError("FB704", f"entry {self.text[:40]!r} has no times")
        return self.start, self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """A named sequence of entries.

    A stretch without an entry is a gap: readers turn Praat's empty intervals into gaps and its
    writer fills gaps with empty intervals.

    Parameters
    ----------
    name : str
        The tier's name; where a format only names speakers or channels, that name.
    kind : {"interval", "point"}
    entries : tuple of Entry
        In order of start; untimed entries keep their place behind their predecessor.
    speaker : str or None
        Who speaks, where the file says so apart from the tier's name.
    recording, channel : str or None
        Which recording (session, file) and channel the tier belongs to.
    extent : tuple of Decimal or None
        Start and end of the tier where they differ from the document's.
    parent : str or None
        Name of the tier that this one depends on.
    constraint : str or None
        How it depends on it, in ELAN's words: ``Time_Subdivision``, ``Included_In``,
        ``Symbolic_Subdivision`` or ``Symbolic_Association``.
    """

    name: str
    kind: Kind = "interval"
    entries: tuple[Entry, ...] = ()
    speaker: str | None = None
    recording: str | None = None
    channel: str | None = None
    extent: tuple[Decimal, Decimal] | None = None
    parent: str | None = None
    constraint: str | None = None

    def __post_init__(self) -> None:
        _check_text(
            self.name, self.speaker, self.recording, self.channel, self.parent, self.constraint
        )
        if self.kind == "point":
            for entry in self.entries:
                if entry.start != entry.end:
                    raise DataError("FB704", f"a point from {entry.start} to {entry.end}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """All that was read from one annotation file.

    Parameters
    ----------
    tiers : tuple of Tier
    origin : Decimal
        First time of the file's clock in seconds; 0 except for cut-out TextGrids.
    duration : Decimal or None
        Last time of the file's clock in seconds (the media's duration when origin is 0), where
        the file states it.
    format : str or None
        Format it was read from.
    metadata : mapping of str to str
        Header facts by the format's own names.
    warnings : tuple of Notice
        What the reader noticed; not part of equality.
    """

    tiers: tuple[Tier, ...] = ()
    origin: Decimal = ZERO
    duration: Decimal | None = None
    format: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[Notice, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        _check_text(*self.metadata.keys(), *self.metadata.values())

    def tier(self, name: str) -> Tier:
        """Return the first tier of that name.

        Raises
        ------
        KeyError
            When there is none.
        """
        for tier in self.tiers:
            if tier.name == name:
                return tier
        raise KeyError(name)


def _check_text(*texts: str | None) -> None:
    for text in texts:
        if text is not None and not text.isascii() and _UNWRITABLE.search(text):
            raise DataError("FB702", "a text holds half a surrogate pair")
        if text is not None and "\0" in text:
            raise DataError("FB702", "a text holds a NUL character")


def ordered(entries: Iterable[Entry]) -> list[Entry]:
    """Sort entries by start, stably; an untimed entry stays behind the one before it."""
    keyed = list(sort_keys(entries))
    keyed.sort(key=lambda pair: pair[0])
    return [entry for _, entry in keyed]


def sort_keys(entries: Iterable[Entry]) -> Iterable[tuple[Decimal, Entry]]:
    """Yield each entry with the time that places it: its start, or its predecessor's."""
    key = -LATEST
    for entry in entries:
        if entry.start is not None:
            key = entry.start
        yield key, entry


def latest(tiers: Iterable[Tier]) -> Decimal | None:
    """Return the last end (or lone start) of any entry, or ``None`` without timed entries."""
    times = [t for tier in tiers for e in tier.entries for t in (e.start, e.end) if t is not None]
    return max(times, default=None)
