"""Calibration of probabilities: Brier score, expected calibration error, reliability curve.

Columns of *score units* (see :mod:`floorbench.metrics.ranking`); scores are probabilities in
[0, 1]. A probability cannot be made up: under ``wrong`` the metrics are undefined unless every
unit is answered, under ``drop`` they are computed on the answered units and carry another name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from floorbench.core.sample import JsonValue
from floorbench.core.spec import MetricSpec
from floorbench.errors import UsageError
from floorbench.metrics.base import Bools, Floats, Ints, Scored, ratio
from floorbench.metrics.inputs import (
    answers,
    any_of_unit,
    as_rows,
    check_choice,
    check_missing,
    code_of,
    coded,
    fail_at,
    finite,
    of_label,
    summed,
    vocabulary,
)
from floorbench.metrics.kinds import Additive

BINNINGS = ("equal-width", "equal-mass")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReliabilityBin:
    """One bin of a reliability curve; ``score`` and ``positive`` are ``None`` when it is empty.

    Parameters
    ----------
    low, high : float
        Edges; a score belongs to the bin with low < score <= high, and 0 to the first.
    units : float
        Weighted number of units.
    score, positive : float or None
        Mean probability and share of positives.
    """

    low: float
    high: float
    units: float
    score: float | None
    positive: float | None


def brier(*, positive: str, score: str = "score", missing: str = "wrong") -> Additive:
    """Mean squared difference between the probability of ``positive`` and the 0/1 truth.

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
    No unit; or a unit has no probability (see the module).

    Raises
    ------
    DataError
        ``FB622`` for a NaN, ``FB623`` for a score outside [0, 1].

    Source
    ------
    Brier (1950), binary form, in [0, 1].
    """

    def statistics(scored: Scored) -> Floats:
        p = _probabilities(scored, positive, score, missing)
        error = np.where(p.used, (p.score - p.positive) ** 2, 0.0)
        return as_rows(error, p.used, p.unanswered)

    return _metric(
        "brier",
        statistics,
        ("squared_error", "units", "unanswered"),
        lambda t: ratio(t[..., 0], t[..., 1]),
        {"positive": positive, "score": score, "missing": missing},
        unanswered=2,
    )


def brier_multiclass(*, score: str = "scores", missing: str = "wrong") -> Additive:
    """Mean over units of the summed squared differences over all labels, in [0, 2].

    Parameters
    ----------
    score : str
        Score column, ``(n,)`` or with one column per label.
    missing : {'wrong', 'drop'}
        Undefined without full coverage, or on the answered units under another name.

    Undefined
    ---------
    No unit; or a unit has no probabilities.

    Raises
    ------
    UsageError
        ``FB103`` for an unknown missing policy.

    Source
    ------
    Brier (1950), original form.
    """
    check_missing(missing)

    def statistics(scored: Scored) -> Floats:
        gold = coded(scored, "gold")
        who = answers(scored, missing)
        values = _in_unit_interval(scored, score, who.answered)
        truth = gold[:, np.newaxis] == np.arange(len(vocabulary(scored, "gold")))
        if values.shape != truth.shape:
            raise UsageError(
                "FB103", f"column '{score}' has shape {values.shape}, not {truth.shape}"
            )
        error = np.where(who.answered, ((values - truth) ** 2).sum(axis=1), 0.0)
        return as_rows(error, who.answered, who.kept & ~who.answered)

    return _metric(
        "brier_multiclass",
        statistics,
        ("squared_error", "units", "unanswered"),
        lambda t: ratio(t[..., 0], t[..., 1]),
        {"score": score, "missing": missing},
        unanswered=2,
        high=2.0,
    )


def ece(
    *,
    positive: str,
    bins: int,
    binning: str,
    score: str = "score",
    missing: str = "wrong",
) -> Additive:
    """Expected calibration error: mass-weighted mean over bins of |mean probability - share|.

    There is no default for the bins, since the value depends on them.

    Parameters
    ----------
    bins : int
        Number of bins, >= 1.
    binning : {'equal-width', 'equal-mass'}
        ``equal-mass`` cuts at the observed quantiles of the units at hand (the smallest observed
        score reaching each level); equal scores stay together, so bins can be empty. The cuts are
        part of the data and stay fixed in a bootstrap.
    positive : str
        Label of the positive class; all others are negative.
    score : str
        Score column, ``(n,)`` or with one column per label.
    missing : {'wrong', 'drop'}
        Undefined without full coverage, or on the answered units under another name.

    Undefined
    ---------
    No unit; or a unit has no probability (see the module).

    Source
    ------
    Naeini et al. (2015), for the positive class of a binary question.

    Deviations
    ----------
    None in the arithmetic. The value is biased upwards with few units, since chance puts a gap into
    every bin, and its interval covers less than it says.
    """
    _check_bins(bins, binning)

    def statistics(scored: Scored) -> Floats:
        p = _probabilities(scored, positive, score, missing)
        edges = _edges(p, scored.weight, bins, binning)
        inside = (_bin_of(p.score, edges)[:, np.newaxis] == np.arange(bins)) & p.used[:, np.newaxis]
        gap = np.where(p.used, p.score, 0.0) - p.positive
        return np.column_stack([inside * gap[:, np.newaxis], p.used, p.unanswered])

    def of_totals(t: Floats) -> Floats:
        return ratio(np.abs(t[..., :bins]).sum(axis=-1), t[..., bins])

    return _metric(
        "ece",
        statistics,
        (*(f"gap:{b}" for b in range(bins)), "units", "unanswered"),
        of_totals,
        {
            "positive": positive,
            "score": score,
            "bins": bins,
            "binning": binning,
            "missing": missing,
        },
        unanswered=bins + 1,
    )


def reliability(
    scored: Scored, *, positive: str, bins: int, binning: str, score: str = "score"
) -> tuple[ReliabilityBin, ...]:
    """Return the reliability curve over the answered units, one entry per bin.

    Parameters
    ----------
    scored : Scored
    positive : str
        Label whose probability the score is.
    bins, binning
        Number and kind of bins, as for :func:`ece`.
    score : str
        Column of probabilities.

    Raises
    ------
    DataError, UsageError
        As for :func:`ece`.
    """
    _check_bins(bins, binning)
    p = _probabilities(scored, positive, score, "drop")
    edges = _edges(p, scored.weight, bins, binning)
    where = _bin_of(p.score, edges)[p.used]
    weight = scored.weight[p.used]
    mass = summed(where, weight, bins)
    mean = ratio(summed(where, weight * p.score[p.used], bins), mass)
    share = ratio(summed(where, weight * p.positive[p.used], bins), mass)
    return tuple(
        ReliabilityBin(
            low=float(edges[b]),
            high=float(edges[b + 1]),
            units=float(mass[b]),
            score=float(mean[b]) if mass[b] else None,
            positive=float(share[b]) if mass[b] else None,
        )
        for b in range(bins)
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Probabilities:
    score: Floats
    positive: Bools
    used: Bools
    unanswered: Bools


def _probabilities(scored: Scored, positive: str, score: str, missing: str) -> _Probabilities:
    check_missing(missing)
    code = code_of(scored, "gold", positive)
    gold = coded(scored, "gold")
    who = answers(scored, missing)
    values = _in_unit_interval(scored, score, who.answered)
    values = of_label(scored, score, values, code)
    return _Probabilities(
        score=values,
        positive=(gold == code) & who.answered,
        used=who.answered,
        unanswered=who.kept & ~who.answered,
    )


def _in_unit_interval(scored: Scored, score: str, where: Bools) -> Floats:
    values = finite(scored, score, where, wide=True)
    outside = any_of_unit((values < 0) | (values > 1)) & where
    fail_at(scored, outside, "FB623", f"column '{score}' row {{row}} lies outside [0, 1]")
    return values


def _edges(p: _Probabilities, weight: Floats, bins: int, binning: str) -> Floats:
    if binning == "equal-width" or not p.used.any():
        return np.linspace(0.0, 1.0, bins + 1)
    order = np.argsort(p.score[p.used], kind="stable")
    ranked, mass = p.score[p.used][order], np.cumsum(weight[p.used][order])
    levels = np.arange(1, bins) / bins * mass[-1]
    cuts = ranked[np.searchsorted(mass, levels - 1e-9 * mass[-1], side="left")]
    return np.concatenate([[0.0], cuts, [1.0]])


def _bin_of(score: Floats, edges: Floats) -> Ints:
    """Return the bin with low < score <= high; unanswered units get some bin and no mass."""
    found: Ints = np.searchsorted(edges[1:-1], np.nan_to_num(score), side="left").astype(np.int64)
    return found


def _check_bins(bins: int, binning: str) -> None:
    check_choice("binning", binning, BINNINGS)
    if bins < 1:
        raise UsageError("FB103", f"bins={bins}; at least one is needed")


def _metric(
    name: str,
    statistics: Callable[[Scored], Floats],
    names: tuple[str, ...],
    of_totals: Callable[[Floats], Floats],
    parameters: Mapping[str, JsonValue],
    *,
    unanswered: int,
    high: float = 1.0,
) -> Additive:
    missing = check_missing(str(parameters["missing"]))

    def value(t: Floats) -> Floats:
        return np.where(t[..., unanswered] > 0, np.nan, of_totals(t))

    def why(t: Mapping[str, float]) -> str:
        if t["unanswered"] > 0:
            whole = t["unanswered"] + t["units"]
            return (
                f"{t['unanswered']:g} of {whole:g} units have no probability; "
                "coverage must be 100 %"
            )
        return "no units to score"

    return Additive(
        spec=MetricSpec(
            name=name if missing == "wrong" else f"{name}_answered",
            version="1",
            unit="sample",
            columns=("gold", str(parameters["score"]), "outcome"),
            better="lower",
            high=high,
            source="ours",
            parameters=parameters,
        ),
        names=names,
        statistics=statistics,
        of_totals=value,
        why=why,
    )
