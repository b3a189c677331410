"""Every error floorbench raises on purpose: a stable code, the place, and the way out.

An error reads ``FB203 predictions.jsonl:17: sample 'echo-041-b' appears twice`` followed by a
``hint:`` line. The table ``CODES`` is the single list of codes, one module per block of a hundred
in ``floorbench.errors.codes``; ``docs/errors.md`` is generated from it and a test keeps code, table
and page equal.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from floorbench.errors.codes import CODES
from floorbench.errors.codes.row import Code

__all__ = [
    "CODES",
    "Code",
    "DataError",
    "EnvironmentProblem",
    "FloorbenchError",
    "Place",
    "SystemProblem",
    "UsageError",
    "did_you_mean",
    "missing_extra",
]


class Place(NamedTuple):
    """Where a fault is: a file (shown relative when possible), a 1-based line, an item."""

    file: str | None = None
    line: int | None = None
    item: str | None = None

    def __str__(self) -> str:
        text = self.file or ""
        if self.line is not None:
            text += f":{self.line}"
        if self.item is not None:
            text += f" [{self.item}]" if text else self.item
        return text


class FloorbenchError(Exception):
    """Base of all expected errors; the command line prints them without a traceback.

    Parameters
    ----------
    code : str
        A key of ``CODES``.
    what : str
        One sentence: what is wrong, with the offending value.
    where : Place or None
        File, line and item, as far as known.
    hint : str or None
        What to do next; defaults to the table's way out.
    """

    exit_code: ClassVar[int] = 2

    def __init__(
        self, code: str, what: str, *, where: Place | None = None, hint: str | None = None
    ) -> None:
        self.code = code
        self.what = what
        self.where = where
        self.hint = hint if hint is not None else CODES[code].way_out
        super().__init__(str(self))

    def __str__(self) -> str:
        place = f" {self.where}:" if self.where is not None and str(self.where) else ""
        return f"{self.code}{place} {self.what}\nhint: {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.code, self.what, self.where, self.hint))


def _rebuild(
    cls: type[FloorbenchError], code: str, what: str, where: Place | None, hint: str
) -> FloorbenchError:
    return cls(code, what, where=where, hint=hint)


class UsageError(FloorbenchError):
    """The call itself is wrong: a name, an option, a combination."""


class DataError(FloorbenchError):
    """A file or a value handed in is wrong."""


class EnvironmentProblem(FloorbenchError):
    """Something is missing on this machine: an extra, an asset, disk space, a permission."""

    exit_code: ClassVar[int] = 3


class SystemProblem(FloorbenchError):
    """A system under test cannot be built or keeps breaking its interface."""

    exit_code: ClassVar[int] = 3


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Return the closest known name, or ``None`` when nothing is near."""
    lowered = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[close[0]] if close else None


def missing_extra(module: str, extra: str) -> EnvironmentProblem:
    """Build the error for an optional library that is not installed."""
    return EnvironmentProblem(
        "FB401",
        f"the Python package '{module}' is needed here and is not installed",
        hint=f'pip install "floorbench[{extra}]"',
    )
