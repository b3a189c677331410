"""Time on one media clock: half-open spans in seconds, exact ticks, and the one rounding rule.

All conversions between seconds, ticks, samples and frames are made here. A tick is one
microsecond. Rounding is half up (ties toward plus infinity) on exact decimals: a float is read
through its shortest decimal form, so ``0.1 + 0.2`` read from text as ``0.3`` stays ``0.3``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction

from floorbench.core.numbers import DECIMAL
from floorbench.errors import DataError

TICKS_PER_SECOND = 1_000_000
_EXACT = Context(prec=60)
_FAR = Decimal("1e15")
_FINEST = -400  # the decimals of the smallest float

Seconds = float
Ticks = int


def exact(seconds: str | int | float | Decimal | Fraction) -> Fraction:
    """Return a time as an exact fraction of seconds.

    Parameters
    ----------
    seconds : str, int, float, Decimal or Fraction
        Seconds. Text and floats are read as decimals (a float by its shortest form).

    Raises
    ------
    DataError
        ``FB202`` for NaN or infinity, ``FB601`` for text that is not a number, and beyond 1e15 s.
    """
    if isinstance(seconds, Fraction):
        return seconds
    if isinstance(seconds, int):
        return Fraction(seconds)
    if isinstance(seconds, float):
        if not math.isfinite(seconds):
            raise DataError("FB202", f"time {seconds!r} is not a finite number")
        seconds = repr(seconds)
    try:
        value = Decimal(seconds)
    except InvalidOperation:
        value = None
    if value is None or (isinstance(seconds, str) and DECIMAL.fullmatch(seconds) is None):
        raise DataError("FB601", f"time {str(seconds)[:40]!r} is not a number")
    if not value.is_finite():
        raise DataError("FB202", f"time {seconds!r} is not a finite number")
    if value.copy_abs() > _FAR or int(value.as_tuple().exponent) < _FINEST:
        raise DataError("FB601", f"time {str(seconds)[:40]} is out of range")
    return Fraction(value)


def round_half_up(value: Fraction) -> int:
    """Round an exact value to the nearest integer, ties toward plus infinity."""
    return math.floor(value + Fraction(1, 2))


def to_ticks(seconds: str | int | float | Decimal | Fraction) -> Ticks:
    """Return seconds as integer ticks (1 microsecond), half up."""
    if isinstance(seconds, Decimal | float) and math.isfinite(seconds):
        # Whole microseconds, which nearly all times are, need no fractions.
        value = seconds if isinstance(seconds, Decimal) else Decimal(repr(seconds))
        exponent = value.as_tuple().exponent
        if isinstance(exponent, int) and exponent >= -6 and value.copy_abs() < _FAR:
            return int(_EXACT.scaleb(value, 6))
    return round_half_up(exact(seconds) * TICKS_PER_SECOND)


def from_ticks(ticks: Ticks) -> Seconds:
    """Return integer ticks as float seconds (correctly rounded)."""
    return ticks / TICKS_PER_SECOND


def to_samples(seconds: str | int | float | Decimal | Fraction, rate: int) -> int:
    """Return the sample index nearest to a time at ``rate`` Hz, half up."""
    return round_half_up(exact(seconds) * rate)


def from_samples(samples: int, rate: int) -> Seconds:
    """Return the time in seconds of a sample index at ``rate`` Hz."""
    return samples / rate


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open interval ``[start, end)`` in seconds on the media clock.

    Raises
    ------
    DataError
        ``FB202`` if an edge is not finite, ``FB601`` if ``end < start``. A span of length 0 is
        allowed and overlaps nothing.
    """

    start: Seconds
    end: Seconds

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise DataError("FB202", f"span [{self.start}, {self.end}) has a non-finite edge")
        if self.end < self.start:
            raise DataError("FB601", f"span [{self.start}, {self.end}) ends before it starts")

    @property
    def duration(self) -> Seconds:
        """Length in seconds."""
        return self.end - self.start

    def overlaps(self, other: Span) -> bool:
        """Tell whether the two spans share more than an edge."""
        return max(self.start, other.start) < min(self.end, other.end)
