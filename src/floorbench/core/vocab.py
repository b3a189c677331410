"""Closed vocabularies of the field, spelled once."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """What became of one (sample, condition, trial); every one has exactly one.

    ``unsupported`` inside a cell that the system declared is wrong; in an undeclared cell it is
    N/A. Missing, as the policies use the word, is abstained, invalid, failed or timeout, or a
    prediction that is not there.
    """

    OK = "ok"
    ABSTAINED = "abstained"
    UNSUPPORTED = "unsupported"
    INVALID = "invalid"
    FAILED = "failed"
    TIMEOUT = "timeout"


class Role(StrEnum):
    """Who a channel or a turn belongs to; channels are roles, never indices."""

    USER = "user"
    SYSTEM = "system"
    THIRD_PARTY = "third_party"


class MissingPolicy(StrEnum):
    """How a missing prediction enters a score: it counts as wrong, or its unit leaves."""

    WRONG = "wrong"
    DROP = "drop"


class ParserMode(StrEnum):
    """How a model's text answer is read into a label."""

    STRICT = "strict"
    LENIENT = "lenient"


class Level(StrEnum):
    """How far a catalogued system has been run."""

    MEASURED = "measured"
    REAL_CODE_PATH = "real code path"
    CONTRACT = "contract"
    REFERENCE = "reference"
