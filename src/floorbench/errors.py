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
    "FB402": Code(
        "file cannot be read or written",
        "The operating system refused a file: missing, no permission, disk full.",
        "Check the path and the permissions named in the message.",
    ),
    # ---- FB5xx: systems and runs ---------------------------------------------------------------
    # ---- FB6xx: events, metrics, statistics ----------------------------------------------------
    "FB601": Code(
        "bad metric input",
        "Columns of unequal length, unknown labels, or values outside their range.",
        "The message names the column and the row.",
    ),
    "FB620": Code(
        "code outside its label set",
        "A coded column holds a number that stands for no label, or is not made of integers.",
        "Encode labels by their place in the task's label set; -1 only for a missing prediction.",
    ),
    "FB621": Code(
        "answer without a label",
        "A unit has the outcome ok but no usable label, so it is neither an answer nor missing.",
        "Set the outcome to invalid (or abstained), or give the label.",
    ),
    "FB622": Code(
        "answer without a finite score",
        "A unit has the outcome ok but its score, time or probability is NaN or infinite.",
        "Leave the score out and set the outcome to what happened; scores are finite numbers.",
    ),
    "FB623": Code(
        "probability outside [0, 1]",
        "A calibration metric was given a score that is not a probability.",
        "Give probabilities; a logit or a margin has to be converted before.",
    ),
    "FB624": Code(
        "broken pair",
        "A pair lacks a member, or its members do not follow their contrast's order of roles.",
        "Give both members of every pair, in the same order for the whole contrast.",
    ),
    "FB625": Code(
        "broken stimulus",
        "A slot index stands twice in one stimulus and trial, or a slot's values contradict.",
        "Give every slot of a stimulus once per trial, all in one cluster and one list.",
    ),
    "FB626": Code(
        "bad rater counts",
        "The counts of raters per category are negative, fractional or of the wrong width.",
        "Give one row per case with one whole count per category.",
    ),
    "FB627": Code(
        "unknown label",
        "A metric asks for a label that the units' label set does not have.",
        "Use a label of the task; `floorbench show TASK` lists them.",
    ),
    "FB628": Code(
        "bad latency status",
        "An event is neither answered, missed nor censored.",
        "Give each event one of the three; a censored one carries the time it was watched for.",
    ),
    "FB629": Code(
        "unknown outcome",
        "An outcome code is not one of the known outcomes.",
        "Use ok, abstained, unsupported, invalid, failed, timeout or absent.",
    ),
    "FB630": Code(
        "not a distribution",
        "A histogram holds negative or non-finite numbers, or two have different lengths.",
        "Give two histograms over the same bins.",
    ),
    "FB631": Code(
        "no operating point",
        "No threshold meets the objective, or the split has no scored unit of a needed class.",
        "Choose on a split that has both classes, or relax the objective.",
    ),
    # ---- FB7xx: annotation formats -------------------------------------------------------------
    # ---- FB8xx: reports, published tables, viewer ------------------------------------------------
    # ---- FB9xx: construction -------------------------------------------------------------------
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
