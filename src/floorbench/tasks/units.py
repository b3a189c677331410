"""Gathering scoring units row by row, and the ledger of a cell."""

from __future__ import annotations

import hashlib
import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from floorbench import codec
from floorbench.core.prediction import Prediction
from floorbench.core.sample import Sample
from floorbench.core.score import Coverage
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, Place, UsageError
from floorbench.metrics.base import ABSENT, INVALID, OK, OUTCOMES, Scored

OUTCOME_CODE = {outcome: OUTCOMES.index(outcome.value) for outcome in Outcome}


class ScoreReading(NamedTuple):
    """How a task reads a score that needs no label map: what :mod:`floorbench.run.tune` asks it.

    Parameters
    ----------
    unit : str
        Kind of unit that the score belongs to.
    positive : str
        Task label that a high score stands for.
    inclusive : bool
        Whether a score equal to the threshold is positive.
    """

    unit: str
    positive: str
    inclusive: bool


class Units:
    """Rows of scoring units on their way to a :class:`Scored`.

    Parameters
    ----------
    vocab : mapping of str to tuple of str
        Label sets of coded columns; their values are given by name, ``None`` for no label.
    numbers : sequence of str
        Columns of floats.

    Notes
    -----
    The weight of a unit is 1 / number of its sample's units in the same condition, so that trials
    are averaged within a sample before anything else. Strata are coded by a hash of their name,
    so that shards of a run agree without knowing each other.
    """

    def __init__(
        self, *, vocab: Mapping[str, tuple[str, ...]], numbers: Sequence[str] = ()
    ) -> None:
        self._vocab = dict(vocab)
        self._codes = {
            name: {label: i for i, label in enumerate(labels)} for name, labels in vocab.items()
        }
        self._columns: dict[str, array[Any]] = {
            **{name: array("q") for name in vocab},
            **{name: array("d") for name in numbers},
        }
        self._outcome = array("q")
        self._clusters: dict[str, int] = {}
        self._strata = array("q")
        self._cluster = array("q")
        self._samples: dict[str, int] = {}
        self._sample = array("q")
        self._names: list[str] = []
        self._conditions: dict[str, int] = {}
        self._condition = array("q")

    def add(
        self,
        sample: Sample,
        condition: str,
        *,
        outcome: int,
        labels: Mapping[str, str | None],
        numbers: Mapping[str, float],
    ) -> None:
        """Append one unit."""
        if sample.cluster not in self._clusters:
            self._clusters[sample.cluster] = len(self._clusters)
            self._strata.append(stratum_code(sample.stratum))
        self._cluster.append(self._clusters[sample.cluster])
        self._sample.append(self._samples.setdefault(sample.id, len(self._samples)))
        self._condition.append(self._conditions.setdefault(condition, len(self._conditions)))
        self._outcome.append(outcome)
        self._names.append(sample.id)
        for name, label in labels.items():
            self._columns[name].append(-1 if label is None else self._codes[name][label])
        for name, value in numbers.items():
            self._columns[name].append(value)

    def scored(self) -> Scored:
        """Return the units as columns, in the memory where they were gathered: the last call."""
        sample = np.frombuffer(self._sample, dtype=np.int64)
        group = sample * len(self._conditions) + np.frombuffer(self._condition, dtype=np.int64)
        columns = {
            name: np.frombuffer(values, dtype=np.int64 if name in self._vocab else np.float64)
            for name, values in self._columns.items()
        }
        return Scored(
            cluster=np.frombuffer(self._cluster, dtype=np.int64),
            clusters=tuple(self._clusters),
            strata=np.frombuffer(self._strata, dtype=np.int64),
            weight=1.0 / np.bincount(group)[group],
            columns={**columns, "outcome": np.frombuffer(self._outcome, dtype=np.int64)},
            vocab=self._vocab,
            units=tuple(self._names),
        )


def outcome_code(prediction: Prediction | None) -> int:
    """Return the outcome of a prediction as a code; ``absent`` without one."""
    return ABSENT if prediction is None else OUTCOME_CODE[prediction.decision.outcome]


def stratum_code(stratum: str) -> int:
    """Return a code that depends on the stratum's name alone."""
    return int.from_bytes(hashlib.blake2b(stratum.encode(), digest_size=7).digest())


def coverage(scored: Scored) -> Coverage:
    """Return the ledger of the predictions behind some units."""
    counts = np.bincount(scored.column("outcome"), minlength=len(OUTCOMES))
    return Coverage(
        expected=len(scored),
        **{name: int(n) for name, n in zip(OUTCOMES, counts.tolist(), strict=True)},
    )


def no_cover() -> Coverage:
    """Return the ledger of a cell that was not asked for."""
    return Coverage(expected=0)


def without_unscored(units: Scored) -> Scored:
    """Return units in which an answer without a score is an invalid answer (for rankings)."""
    bare = np.isnan(units.column("score")) & (units.column("outcome") == OK)
    return units.with_columns(outcome=np.where(bare, INVALID, units.column("outcome")))


def number_or_none(name: str, value: float | None) -> float | None:
    """Return a parameter that is a finite number or left out, or raise ``FB103``."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise UsageError("FB103", f"{name}={value!r} is not a number")
    return value


def language_of(sample: Sample, known: Sequence[str]) -> str:
    """Return a sample's language.

    Raises
    ------
    DataError
        ``FB215`` for a language that the task was not told about, with the way to tell it.
    """
    language = sample.observation.language
    if language not in known:
        more = codec.encode([*known, language]).decode()
        raise DataError(
            "FB215",
            f"language '{language}' is not one of {', '.join(known)}",
            where=Place(item=sample.id),
            hint=f"Tell the task about it: --task-set 'languages={more}'.",
        )
    return language


def names(name: str, value: Sequence[str]) -> tuple[str, ...]:
    """Return a parameter that is a list of one or more texts, or raise ``FB103``."""
    fine = isinstance(value, Sequence) and not isinstance(value, str) and len(value) > 0
    if not fine or not all(isinstance(item, str) for item in value):
        raise UsageError("FB103", f"{name}={value!r} is not a list of {name}")
    return tuple(value)
