"""What SubRip and WebVTT share: blocks of lines with a timing line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from floorbench.errors import DataError
from floorbench.formats.source import Source
from floorbench.formats.tiers import add, parse_time

TIMING = re.compile(r"[ \t]*(\S+)[ \t]*-->[ \t]*(\S+)[ \t]*(.*)")
_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2}(?:[.,]\d{0,9})?)", re.ASCII)


def blocks(source: Source) -> Iterator[list[tuple[int, str]]]:
    """Yield the runs of non-blank lines, each line with its number and trimmed of blanks."""
    block: list[tuple[int, str]] = []
    for number, line in source.lines():
        stripped = line.strip(" \t")
        if stripped:
            block.append((number, stripped))
        elif block:
            yield block
            block = []
    if block:
        yield block


def clock_time(text: str) -> Decimal:
    """Read ``[hours:]minutes:seconds`` with an optional fraction after a point or comma."""
    match = _CLOCK.fullmatch(text)
    if not match:
        raise DataError("FB704", f"time {text[:40]!r} is not of the form hours:minutes:seconds")
    hours, minutes, seconds = match[1] or "0", match[2], match[3].replace(",", ".")
    if int(minutes) > 59 or Decimal(seconds) >= 60:
        raise DataError("FB704", f"time {text[:40]!r} has more than 59 minutes or seconds")
    return add(Decimal(int(hours) * 3600 + int(minutes) * 60), parse_time(seconds))


def clock_text(time: Decimal, point: str) -> str:
    """Write a time of whole milliseconds as ``HH:MM:SS`` and three decimals."""
    thousandths = int(time * 1000)
    seconds, thousandths = divmod(thousandths, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{seconds:02}{point}{thousandths:03}"
