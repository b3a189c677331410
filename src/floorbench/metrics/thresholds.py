"""Threshold sweeps and operating points: chosen on one split, read on another.

A unit is called positive when its score is >= the threshold. Candidates are the observed scores
and one value above them all (nothing is positive). Among candidates that are equally good the
*highest* threshold wins: fewest positives, and the same one whatever the order of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from floorbench.errors import DataError, UsageError
from floorbench.metrics import counts
from floorbench.metrics.base import Floats, Scored
from floorbench.metrics.inputs import answers, check_choice, code_of, coded
from floorbench.metrics.ranking import read_scores

OBJECTIVES = ("accuracy", "balanced_accuracy", "f_score", "recall_at_fpr", "fpr_at_recall")
TIE = 1e-12
"""Objective values this close are equal."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sweep:
    """Counts at every candidate threshold, thresholds falling.

    Parameters
    ----------
    positive : str
    thresholds, tp, fp, fn, tn : float64 arrays (m,)
        The first threshold lies above all scores.
    unanswered : int
        Units without a score; they take no part.
    """

    positive: str
    thresholds: Floats
    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats
    unanswered: int

    @property
    def recall(self) -> Floats:
        """TP / (TP + FN), NaN without positives."""
        return counts.recall(self.tp, self.fn)

    @property
    def fpr(self) -> Floats:
        """FP / (FP + TN), NaN without negatives."""
        return counts.recall(self.fp, self.tn)

    @property
    def precision(self) -> Floats:
        """TP / (TP + FP), NaN where nothing is positive."""
        return counts.precision(self.tp, self.fp)

    @property
    def accuracy(self) -> Floats:
        """(TP + TN) / all."""
        return counts.recall(self.tp + self.tn, self.fp + self.fn)

    def f_score(self, beta: float = 1.0) -> Floats:
        """F-beta, NaN only without positives on either side."""
        return counts.f_beta(self.tp, self.fp, self.fn, beta)


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """A threshold with the rule that chose it and what it reached on the choosing split.

    Parameters
    ----------
    positive : str
    threshold : float
        A unit is positive when its score is at least this.
    objective : str
    limit : float or None
    beta : float
    value : float
        The objective on the choosing split, over the answered units.
    unanswered : int
        Units without a score; they took no part.
    """

    positive: str
    threshold: float
    objective: str
    limit: float | None
    beta: float
    value: float
    unanswered: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A frozen operating point read on another split; undefined ratios are ``None``.

    ``missed`` and ``spared`` are the unanswered positives and negatives: a missing positive is a
    false negative (it is in ``fn``), a missing negative is in no count.

    Parameters
    ----------
    point : OperatingPoint
    tp, fp, fn, tn : float
        Weighted counts; unanswered positives are in ``fn``.
    missed, spared : float
        Unanswered positives and negatives.
    accuracy, precision, recall, fpr, f_score : float or None
        Unanswered units are wrong in ``accuracy``.
    value : float or None
        The objective on this split.
    """

    point: OperatingPoint
    tp: float
    fp: float
    fn: float
    tn: float
    missed: float
    spared: float
    accuracy: float | None
    precision: float | None
    recall: float | None
    fpr: float | None
    f_score: float | None
    value: float | None

    @property
    def gap(self) -> float | None:
        """Objective here minus objective on the choosing split."""
        return None if self.value is None else self.value - self.point.value


def sweep(scored: Scored, *, positive: str, score: str = "score") -> Sweep:
    """Return the counts at every candidate threshold, over the answered units.

    Parameters
    ----------
    scored : Scored
    positive : str
        Label that high scores stand for.
    score : str
        Score column.

    Raises
    ------
    DataError
        ``FB622`` for a NaN or infinite score of an answered unit.
    """
    s = read_scores(scored, positive=positive, score=score, missing="wrong")
    order = np.argsort(-s.score, kind="stable")
    ranked = s.score[order]
    last = np.ones(len(order), dtype=np.bool_)
    last[:-1] = ranked[1:] != ranked[:-1]
    tp = np.cumsum(np.where(s.positive, s.weight, 0.0)[order])[last]
    fp = np.cumsum(np.where(s.positive, 0.0, s.weight)[order])[last]
    tp, fp = np.concatenate([[0.0], tp]), np.concatenate([[0.0], fp])
    above = np.nextafter(ranked[0], np.inf) if len(ranked) else np.inf
    return Sweep(
        positive=positive,
        thresholds=np.concatenate([[above], ranked[last]]),
        tp=tp,
        fp=fp,
        fn=tp[-1] - tp,
        tn=fp[-1] - fp,
        unanswered=s.unanswered,
    )


def choose(
    scored: Scored,
    *,
    positive: str,
    objective: str,
    limit: float | None = None,
    beta: float = 1.0,
    score: str = "score",
) -> OperatingPoint:
    """Choose a threshold by a declared objective.

    Parameters
    ----------
    scored : Scored
    positive : str
        Label that high scores stand for.
    objective : {'accuracy', 'balanced_accuracy', 'f_score', 'recall_at_fpr', 'fpr_at_recall'}
        ``recall_at_fpr``: highest recall with FPR <= ``limit``. ``fpr_at_recall``: lowest FPR
        with recall >= ``limit``.
    limit : float or None
        In [0, 1]; needed by the last two objectives and refused by the others.
    beta : float
        For ``f_score``.
    score : str
        Score column.

    Raises
    ------
    UsageError
        ``FB103`` for an unknown objective, or a limit that is missing or out of place.
    DataError
        ``FB631`` when a class is absent, so that the objective is undefined everywhere.
    """
    check_choice("objective", objective, OBJECTIVES)
    limited = objective in ("recall_at_fpr", "fpr_at_recall")
    if limited != (limit is not None) or (limit is not None and not 0 <= limit <= 1):
        raise UsageError(
            "FB103",
            f"objective='{objective}' with limit={limit}",
            hint="it needs a limit from 0 to 1: for example 0.1" if limited else "it takes none",
        )
    s = sweep(scored, positive=positive, score=score)
    worth = _worth(s, objective, beta)
    if limit is not None:
        allowed = s.fpr <= limit + TIE if objective == "recall_at_fpr" else s.recall >= limit - TIE
        worth = np.where(allowed, worth, np.nan)
    if np.isnan(worth).all():
        raise DataError(
            "FB631", f"'{objective}' is undefined at every threshold: a class has no scored unit"
        )
    best = int(np.argmax(worth >= np.nanmax(worth) - TIE))
    value = float(worth[best])
    return OperatingPoint(
        positive=positive,
        threshold=float(s.thresholds[best]),
        objective=objective,
        limit=limit,
        beta=beta,
        value=-value if objective == "fpr_at_recall" else value,
        unanswered=s.unanswered,
    )


def read(scored: Scored, point: OperatingPoint, *, score: str = "score") -> Reading:
    """Read a chosen threshold on another split, missing predictions counted as wrong.

    Parameters
    ----------
    scored : Scored
        Units of the other split.
    point : OperatingPoint
    score : str
        Score column.

    Undefined
    ---------
    Ratios without a denominator are ``None``.
    """
    s = read_scores(scored, positive=point.positive, score=score, missing="wrong")
    said = s.score >= point.threshold
    tp, fp, fn, tn = (
        float(s.weight[mask].sum())
        for mask in (said & s.positive, said & ~s.positive, ~said & s.positive, ~said & ~s.positive)
    )
    away = ~answers(scored, "wrong").answered
    positive = coded(scored, "gold") == code_of(scored, "gold", point.positive)
    missed = float(scored.weight[away & positive].sum())
    spared = float(scored.weight[away & ~positive].sum())
    fn += missed
    one = Sweep(
        positive=point.positive,
        thresholds=np.array([point.threshold]),
        tp=np.array([tp]),
        fp=np.array([fp]),
        fn=np.array([fn]),
        tn=np.array([tn]),
        unanswered=s.unanswered,
    )
    wrong = np.array([fp + fn + spared])
    accuracy = _first(counts.recall(one.tp + one.tn, wrong))
    value = _first(_worth(one, point.objective, point.beta))
    if point.objective == "fpr_at_recall" and value is not None:
        value = -value
    return Reading(
        point=point,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        missed=missed,
        spared=spared,
        accuracy=accuracy,
        precision=_first(one.precision),
        recall=_first(one.recall),
        fpr=_first(one.fpr),
        f_score=_first(one.f_score(point.beta)),
        value=accuracy if point.objective == "accuracy" else value,
    )


def _worth(s: Sweep, objective: str, beta: float) -> Floats:
    """Return the objective at every threshold, higher being better."""
    if objective == "accuracy":
        return s.accuracy
    if objective == "balanced_accuracy":
        return (s.recall + 1.0 - s.fpr) / 2
    if objective == "f_score":
        return s.f_score(beta)
    return s.recall if objective == "recall_at_fpr" else -s.fpr


def _first(values: Floats) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])
