"""Reading and checking the columns that metrics share, once and in one place.

Columns of *label units* (samples, events, words, slots)
    ``gold`` and ``predicted`` (int codes into ``vocab[gold]``; ``predicted`` is -1 for no usable
    label) and ``outcome`` (codes of ``base.OUTCOMES``). A task with two label levels gives the
    second pair other names, for example ``gold_intent`` and ``predicted_intent``.

Missing predictions
    Missing are abstained, invalid, failed, timeout and absent ones. Under ``wrong`` they stay in
    the denominator and earn nothing; under ``drop`` they leave it. An ``unsupported`` answer is
    never dropped: cells that a system does not declare are taken out by the task beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from floorbench.core.vocab import MissingPolicy
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError, did_you_mean
from floorbench.metrics.base import (
    ABSENT,
    ABSTAINED,
    FAILED,
    INVALID,
    OK,
    OUTCOMES,
    TIMEOUT,
    Bools,
    Column,
    Floats,
    Ints,
    Scored,
)

_MISSING = np.isin(np.arange(len(OUTCOMES)), (ABSTAINED, INVALID, FAILED, TIMEOUT, ABSENT))


class Answers(NamedTuple):
    """Who answered, and whose unit counts under the missing policy."""

    answered: Bools
    kept: Bools


class Labels(NamedTuple):
    """Checked labels; ``predicted`` is -1 wherever there is no answer."""

    gold: Ints
    predicted: Ints
    answered: Bools
    kept: Bools


def check_missing(missing: str) -> str:
    """Return the missing policy or raise ``FB103``."""
    return check_choice("missing", missing, tuple(MissingPolicy))


def check_choice(name: str, value: str, allowed: Sequence[str]) -> str:
    """Return ``value`` if it is one of ``allowed``, else raise ``FB103``."""
    if value not in allowed:
        raise UsageError("FB103", f"{name}='{value}' is not one of {', '.join(allowed)}")
    return str(value)


def check_labels(labels: Sequence[str]) -> tuple[str, ...]:
    """Return a declared label set as a tuple; empty or repeated labels raise ``FB103``."""
    if isinstance(labels, str):
        raise UsageError("FB103", f"labels='{labels}' is one string, a list of labels is needed")
    if not labels:
        raise UsageError("FB103", "the label set is empty")
    if len(set(labels)) != len(labels):
        raise UsageError("FB103", f"a label stands twice in {', '.join(labels)}")
    return tuple(labels)


def fail_at(scored: Scored, bad: Bools, code: str, what: str) -> None:
    """Raise ``code`` for the first row where ``bad`` holds; ``{row}`` in ``what`` is filled in.

    Parameters
    ----------
    scored : Scored
        Names the unit, if its units have names.
    bad : bool array (n,)
    code, what : str
        Code of the error and its sentence.

    Raises
    ------
    DataError
        With ``code``, if any row is bad.
    """
    if not bad.any():
        return
    row = int(np.argmax(bad))
    unit = scored.units[row] if scored.units is not None else None
    raise DataError(code, what.replace("{row}", str(row)), where=Place(item=unit))


def code_of(scored: Scored, column: str, label: str) -> int:
    """Return the code of a label in a column's label set or raise ``FB627``."""
    labels = vocabulary(scored, column)
    if label not in labels:
        near = did_you_mean(label, labels)
        raise DataError(
            "FB627",
            f"label '{label}' is not in the label set of '{column}'",
            hint=f"did you mean '{near}'?" if near else f"the labels are {', '.join(labels)}",
        )
    return labels.index(label)


def codes_of(scored: Scored, column: str, labels: Sequence[str]) -> Ints:
    """Return the codes of several labels, in their order."""
    return np.array([code_of(scored, column, label) for label in labels], dtype=np.int64)


def vocabulary(scored: Scored, column: str) -> tuple[str, ...]:
    """Return the label set behind a coded column or raise ``FB601``."""
    if column not in scored.vocab:
        raise DataError("FB601", f"column '{column}' has no label set")
    return scored.vocab[column]


def numbers(scored: Scored, column: str, *, wide: bool = False) -> Column:
    """Return a column of numbers, one per unit (or a row of them if ``wide``).

    Raises
    ------
    DataError
        ``FB601`` for a column that is absent or of another form.
    """
    values = np.asarray(scored.column(column))
    if values.dtype.kind not in "biuf" or not 1 <= values.ndim <= 1 + wide:
        raise DataError(
            "FB601", f"column '{column}' holds {values.dtype} in the shape {values.shape}"
        )
    return values


def coded(scored: Scored, column: str, *, low: int = 0, vocab: str | None = None) -> Ints:
    """Return a coded column, with every code inside ``[low, number of labels)``.

    Parameters
    ----------
    scored : Scored
    column : str
    low : int
        Smallest code allowed: -1 where "no label" is.
    vocab : str or None
        Column whose label set the codes index; the column itself by default.

    Raises
    ------
    DataError
        ``FB620`` for a code outside the label set or of another type.
    """
    values = numbers(scored, column)
    labels = vocabulary(scored, vocab if vocab is not None else column)
    if not np.issubdtype(values.dtype, np.integer):
        raise DataError("FB620", f"column '{column}' holds {values.dtype}, codes are integers")
    bad = (values < low) | (values >= len(labels))
    fail_at(scored, bad, "FB620", f"column '{column}' row {{row}} has a code outside its label set")
    return values.astype(np.int64, copy=False)


def answers(scored: Scored, missing: str, outcome: str = "outcome") -> Answers:
    """Return which units are answered and which count under the missing policy.

    Raises
    ------
    DataError
        ``FB629`` for an unknown outcome code.
    """
    codes = numbers(scored, outcome)
    if not np.issubdtype(codes.dtype, np.integer):
        raise DataError("FB629", f"column '{outcome}' holds {codes.dtype}, codes are integers")
    bad = (codes < 0) | (codes >= len(OUTCOMES))
    fail_at(scored, bad, "FB629", f"column '{outcome}' row {{row}} has an unknown outcome code")
    kept = ~_MISSING[codes] if missing == "drop" else np.ones(len(codes), dtype=np.bool_)
    return Answers(codes == OK, kept)


def labels(
    scored: Scored,
    *,
    missing: str,
    gold: str = "gold",
    predicted: str = "predicted",
    outcome: str = "outcome",
) -> Labels:
    """Return checked gold and predicted labels.

    Parameters
    ----------
    scored : Scored
    missing : {'wrong', 'drop'}
    gold, predicted, outcome : str
        Names of the columns.

    Raises
    ------
    DataError
        ``FB620`` for a code outside the label set, ``FB621`` for an answer without a label,
        ``FB627`` when gold and predicted have different label sets.
    """
    if predicted in scored.vocab and scored.vocab[predicted] != vocabulary(scored, gold):
        raise DataError("FB627", f"'{gold}' and '{predicted}' have different label sets")
    truth = coded(scored, gold)
    said = coded(scored, predicted, low=-1, vocab=gold)
    answered, kept = answers(scored, missing, outcome)
    fail_at(
        scored,
        answered & (said < 0),
        "FB621",
        f"row {{row}} has outcome 'ok' and no label in '{predicted}'",
    )
    return Labels(truth, np.where(answered, said, -1), answered, kept)


def finite(
    scored: Scored, column: str, where: Bools, *, code: str = "FB622", wide: bool = False
) -> Floats:
    """Return a real column, finite wherever ``where`` holds (any axis after the first).

    Parameters
    ----------
    scored : Scored
    column : str
    where : bool array (n,)
        Units that claim a value.
    code : str
        Code of the error.
    wide : bool
        Whether a unit may have a row of values.

    Raises
    ------
    DataError
        With ``code``, for a NaN or infinite value of such a unit.
    """
    values = numbers(scored, column, wide=wide).astype(np.float64, copy=False)
    fail_at(
        scored,
        any_of_unit(~np.isfinite(values)) & where,
        code,
        f"column '{column}' row {{row}} is not a finite number although a value is claimed",
    )
    return values


def of_label(scored: Scored, column: str, values: Floats, code: int) -> Floats:
    """Return one label's scores of values ``(n,)`` or ``(n, labels)``.

    Parameters
    ----------
    scored : Scored
    column : str
        Where the values come from.
    values : float64 array
    code : int
        Code of the label.

    Raises
    ------
    DataError
        ``FB601`` when there are not as many scores as labels.
    """
    if values.ndim == 1:
        return values
    labels = len(vocabulary(scored, "gold"))
    if values.shape[1] != labels:
        raise DataError(
            "FB601",
            f"column '{column}' has {counted(values.shape[1], 'score')} "
            f"per unit, there are {counted(labels, 'label')}",
        )
    return values[:, code]


def any_of_unit(flags: Bools) -> Bools:
    """Reduce flags ``(n,)`` or ``(n, k)`` to one per unit."""
    return flags if flags.ndim == 1 else np.asarray(flags.any(axis=1), dtype=np.bool_)


def integers(scored: Scored, column: str, default: int | None = None) -> Ints:
    """Return an integer column; with a ``default`` it may be absent.

    Raises
    ------
    DataError
        ``FB620`` for a column of another type.
    """
    if default is not None and column not in scored.columns:
        return np.full(len(scored), default, dtype=np.int64)
    values: Column = numbers(scored, column)
    if not np.issubdtype(values.dtype, np.integer):
        raise DataError("FB620", f"column '{column}' holds {values.dtype}, integers are needed")
    return values.astype(np.int64, copy=False)


def as_rows(*columns: Bools | Floats) -> Floats:
    """Stack columns of length n into float64 rows ``(n, k)``."""
    out = np.empty((len(columns[0]), len(columns)), dtype=np.float64)
    for j, column in enumerate(columns):
        out[:, j] = column
    return out


def summed(codes: Ints, weights: Floats, length: int) -> Floats:
    """Return the sum of weights per code, shape ``(length,)``."""
    out: Floats = np.bincount(codes, weights=weights, minlength=length).astype(np.float64)
    return out
