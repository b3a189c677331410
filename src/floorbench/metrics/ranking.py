"""Rank metrics over scores: AUC with mid-ranks and EER, binary and one-vs-rest.

Columns of *score units*
    ``gold`` (codes), ``outcome`` and a score column: ``(n,)`` for a binary score, or ``(n, K)``
    with one column per label of ``vocab["gold"]``, from which the positive label's is taken.

A score cannot be made up for a unit that has none. Under ``wrong`` both metrics are undefined
unless every unit is answered; under ``drop`` they are computed on the answered units and carry
another name (``auc_answered``), so that the two never compare. An unsupported unit is not
missing, cannot be dropped, and leaves them undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from floorbench.core.spec import MetricSpec
from floorbench.core.words import counted
from floorbench.metrics.base import Bools, Evaluator, Floats, Ints, Scored
from floorbench.metrics.concordance import Concordance
from floorbench.metrics.inputs import (
    answers,
    check_labels,
    check_missing,
    code_of,
    coded,
    finite,
    of_label,
)
from floorbench.metrics.jackknife import LeftOut, leave_one_out
from floorbench.metrics.kinds import Weighted, undefined
from floorbench.metrics.roc import EqualError


class Scores(NamedTuple):
    """The answered units of one binary question."""

    score: Floats
    positive: Bools
    weight: Floats
    cluster: Ints
    n_clusters: int
    unanswered: int


def auc(*, positive: str, score: str = "score", missing: str = "wrong") -> Weighted:
    """Area under the ROC: P(score of a positive > score of a negative) + half the ties.

    Parameters
    ----------
    positive : str
        Label of the positive class; all others are negative.
    score : str
        Score column, higher for the positive class.
    missing : {'wrong', 'drop'}

    Undefined
    ---------
    A class has no unit; or a unit has no score (see the module).

    Raises
    ------
    DataError
        ``FB622`` for a NaN or infinite score of an answered unit.

    Source
    ------
    DualTurn, word level: one class against the rest.
    """
    return _metric("auc", Concordance, (positive,), score, missing)


def eer(*, positive: str, score: str = "score", missing: str = "wrong") -> Weighted:
    """Equal error rate: where false positive rate = false negative rate on the ROC.

    The ROC is joined by straight lines, so that the value does not jump with the grid of scores.

    Parameters
    ----------
    positive : str
        Label of the positive class; all others are negative.
    score : str
        Score column, ``(n,)`` or with one column per label.
    missing : {'wrong', 'drop'}
        Undefined without full coverage, or on the answered units under another name.

    Undefined
    ---------
    A class has no unit; or a unit has no score (see the module).

    Raises
    ------
    DataError
        ``FB622`` for a NaN or infinite score of an answered unit.

    Source
    ------
    DualTurn, word level; linear interpolation on the ROC.
    """
    return _metric("eer", EqualError, (positive,), score, missing)


def auc_macro(*, labels: Sequence[str], score: str = "scores", missing: str = "wrong") -> Weighted:
    """Mean one-vs-rest AUC over a declared set of labels.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    score : str
        Score column, ``(n,)`` or with one column per label.
    missing : {'wrong', 'drop'}
        Undefined without full coverage, or on the answered units under another name.

    Undefined
    ---------
    Any of the labels has no unit or all units; the reason names it. Otherwise as :func:`auc`.

    Source
    ------
    DualTurn, average AUC over C, B and T.
    """
    return _metric("auc_macro", Concordance, check_labels(labels), score, missing)


def eer_macro(*, labels: Sequence[str], score: str = "scores", missing: str = "wrong") -> Weighted:
    """Mean one-vs-rest EER over a declared set of labels.

    Parameters
    ----------
    labels : sequence of str
        The declared label set: the task's, never read off the data.
    score : str
        Score column, ``(n,)`` or with one column per label.
    missing : {'wrong', 'drop'}
        Undefined without full coverage, or on the answered units under another name.

    Undefined
    ---------
    Any of the labels has no unit or all units; the reason names it. Otherwise as :func:`eer`.

    Source
    ------
    DualTurn, average EER over C, B and T.
    """
    return _metric("eer_macro", EqualError, check_labels(labels), score, missing)


def read_scores(scored: Scored, *, positive: str, score: str, missing: str) -> Scores:
    """Return the answered units of one binary question, checked.

    ``unanswered`` counts the units that the missing policy keeps and that have no score.

    Parameters
    ----------
    scored : Scored
    positive : str
        Label of the positive class.
    score : str
        Score column, ``(n,)`` or with one column per label.
    missing : {'wrong', 'drop'}

    Raises
    ------
    DataError
        ``FB601`` for a score column of the wrong width, ``FB622`` for a score that is not finite.
    """
    check_missing(missing)
    code = code_of(scored, "gold", positive)
    gold = coded(scored, "gold")
    who = answers(scored, missing)
    values = finite(scored, score, who.answered, wide=True)
    values = of_label(scored, score, values, code)
    use = who.answered
    return Scores(
        score=values[use],
        positive=gold[use] == code,
        weight=scored.weight[use],
        cluster=scored.cluster[use],
        n_clusters=len(scored.clusters),
        unanswered=int((who.kept & ~who.answered).sum()),
    )


class _Mean:
    """Mean of evaluators."""

    def __init__(self, parts: Sequence[Evaluator]) -> None:
        self._parts = parts

    def __call__(self, weights: Floats) -> Floats:
        mean: Floats = np.mean([part(weights) for part in self._parts], axis=0)
        return mean

    def leave_one_out(self, left: LeftOut) -> Floats:
        mean: Floats = np.mean([leave_one_out(part, left) for part in self._parts], axis=0)
        return mean


def _metric(
    name: str,
    build: Callable[[Floats, Bools, Floats, Ints, int], Evaluator],
    labels: tuple[str, ...],
    score: str,
    missing: str,
) -> Weighted:
    check_missing(missing)

    def prepared(scored: Scored) -> Evaluator:
        parts: list[Evaluator] = []
        for label in labels:
            s = read_scores(scored, positive=label, score=score, missing=missing)
            if s.unanswered:
                return undefined
            parts.append(build(s.score, s.positive, s.weight, s.cluster, s.n_clusters))
        return _Mean(parts)

    def why(scored: Scored) -> str:
        for label in labels:
            s = read_scores(scored, positive=label, score=score, missing=missing)
            if s.unanswered:
                whole = s.unanswered + len(s.score)
                return (
                    f"{s.unanswered} of {counted(whole, 'unit')} "
                    "have no score; coverage must be 100 %"
                )
            if not s.positive.any():
                return f"no unit has gold label '{label}'"
            if s.positive.all():
                return f"every unit has gold label '{label}'"
        return "the units of a class have no weight"

    return Weighted(
        spec=MetricSpec(
            name=name if missing == "wrong" else f"{name}_answered",
            version="1",
            unit="word" if len(labels) > 1 else "sample",
            columns=("gold", score, "outcome"),
            better="higher" if name.startswith("auc") else "lower",
            source="DualTurn",
            parameters={"labels": list(labels), "score": score, "missing": missing},
        ),
        prepared=prepared,
        why=why,
        enters=lambda scored: answers(scored, missing).kept,
        by_order=score,
    )
