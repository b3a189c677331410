"""Signed response latency with misses and censoring, under names that say which is which.

Columns of *latency units* (events that call for a response)
    ``latency`` (seconds; negative for an early entry; for a censored event the time for which it
    was watched), ``status`` (codes of ``STATUSES``), ``outcome``.

An event is *missed* when its window was fully observed without a response: its latency is
+infinity. It is *censored* when the recording ends first. A prediction that is missing or
unsupported as a whole (outcome not ok) has no latency of its own: its event is missed under
``wrong``; under ``drop`` missing ones are left out.

Percentiles are the smallest observed latency at which the distribution function reaches the
level (no interpolation between events, since the next one may be infinite). The anchor from which
latency is counted belongs to the task and to the printed result.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from floorbench.core.spec import MetricSpec
from floorbench.errors import UsageError
from floorbench.metrics.base import Bools, Evaluator, Floats, Ints, Scored, ratio
from floorbench.metrics.inputs import (
    answers,
    as_rows,
    check_missing,
    fail_at,
    finite,
    integers,
    numbers,
)
from floorbench.metrics.kinds import Additive, Weighted

STATUSES = ("answered", "missed", "censored")
ANSWERED, MISSED, CENSORED = range(3)
LEVEL_TOLERANCE = 1e-12
"""A level counts as reached within this, so that 3 events of 10 reach 0.3."""
CHUNK = 4_000_000
"""Cells of a temporary (draws, events) array."""


class Latencies(NamedTuple):
    """Checked events that count; missed ones have latency +infinity."""

    latency: Floats
    status: Ints
    weight: Floats
    cluster: Ints


def read_latencies(scored: Scored, *, missing: str) -> Latencies:
    """Return checked events.

    Raises
    ------
    DataError
        ``FB628`` for an unknown status, ``FB622`` for an answered or censored event without a
        finite time.
    """
    check_missing(missing)
    who = answers(scored, missing)
    status = integers(scored, "status")
    bad = (status < 0) | (status >= len(STATUSES))
    fail_at(scored, bad, "FB628", "row {row} has an unknown latency status")
    status = np.where(who.answered, status, MISSED)
    latency = finite(scored, "latency", status != MISSED)
    latency = np.where(status == MISSED, np.inf, latency)
    kept = who.kept
    return Latencies(latency[kept], status[kept], scored.weight[kept], scored.cluster[kept])


def latency_percentile(*, level: float = 0.5, missing: str = "wrong") -> Weighted:
    """Percentile of latency: missed events at +infinity, censored ones by Kaplan-Meier.

    Parameters
    ----------
    level : float
        In (0, 1); 0.5 is the median.
    missing : {'wrong', 'drop'}
        A missing prediction is a missed event, or its event leaves.

    Undefined
    ---------
    No event; or fewer than ``level`` of the events are answered (as estimated when some are
    censored), so that the percentile is infinite or unknown.

    Source
    ------
    Kaplan and Meier (1958), with events that never respond staying at risk for good.
    """
    return _percentile("latency_percentile", level, missing, _kaplan_meier)


def latency_percentile_plain(*, level: float = 0.5, missing: str = "wrong") -> Weighted:
    """Percentile of latency with missed *and* censored events at +infinity.

    It never flatters: a censored event counts as never answered. Beside
    :func:`latency_percentile` it shows how much the censoring matters.

    Parameters
    ----------
    level : float
        In (0, 1); 0.5 is the median.
    missing : {'wrong', 'drop'}
        A missing prediction is a missed event, or its event leaves.

    Undefined
    ---------
    No event; or fewer than ``level`` of the events are answered.

    Source
    ------
    Ours: the percentile without a model of censoring.
    """
    return _percentile("latency_percentile_plain", level, missing, _plain)


def latency_percentile_conditional(*, level: float = 0.5, missing: str = "wrong") -> Weighted:
    """Percentile of latency among answered events only.

    A system that answers only when it is quick looks good here; print it beside
    :func:`answered_share`.

    Parameters
    ----------
    level : float
        In (0, 1); 0.5 is the median.
    missing : {'wrong', 'drop'}
        A missing prediction is a missed event, or its event leaves.

    Undefined
    ---------
    No event was answered.

    Source
    ------
    Ours, for comparison with papers that leave out what was not answered.
    """
    return _percentile(
        "latency_percentile_conditional", level, missing, _conditional, answered_only=True
    )


def latency_mean_conditional(*, missing: str = "wrong") -> Additive:
    """Mean signed latency among answered events only.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A missing prediction is a missed event, or its event leaves.

    Undefined
    ---------
    No event was answered.

    Source
    ------
    Ours, for comparison with papers that print means of answered events.
    """

    def statistics(scored: Scored) -> Floats:
        latency, answered, _ = _per_unit(scored, missing)
        return as_rows(np.where(answered > 0, latency, 0.0), answered)

    return Additive(
        spec=_spec("latency_mean_conditional", missing, None, low=None),
        names=("seconds", "answered"),
        statistics=statistics,
        of_totals=lambda t: ratio(t[..., 0], t[..., 1]),
        why=lambda _: "no event was answered",
    )


def answered_share(*, missing: str = "wrong") -> Additive:
    """Share of events that were answered; censored events stay in the denominator.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A missing prediction is a missed event, or its event leaves.

    Undefined
    ---------
    No event.

    Source
    ------
    Ours: no percentile is printed without it.
    """

    def statistics(scored: Scored) -> Floats:
        _, answered, kept = _per_unit(scored, missing)
        return as_rows(answered, kept)

    return Additive(
        spec=_spec("answered_share", missing, None, better="higher", high=1.0),
        names=("answered", "events"),
        statistics=statistics,
        of_totals=lambda t: ratio(t[..., 0], t[..., 1]),
        why=lambda _: "no events to score",
    )


def early_share(*, missing: str = "wrong") -> Additive:
    """Share of events answered before their anchor (latency below 0).

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A missing prediction is a missed event, or its event leaves.

    Undefined
    ---------
    No event.

    Source
    ------
    Ours: latency is signed and early entries are kept, so their share is shown.
    """

    def statistics(scored: Scored) -> Floats:
        latency, answered, kept = _per_unit(scored, missing)
        return as_rows((latency < 0) & (answered > 0), kept)

    return Additive(
        spec=_spec("early_share", missing, None, better=None, high=1.0),
        names=("early", "events"),
        statistics=statistics,
        of_totals=lambda t: ratio(t[..., 0], t[..., 1]),
        why=lambda _: "no events to score",
    )


def _per_unit(scored: Scored, missing: str) -> tuple[Floats, Floats, Floats]:
    read_latencies(scored, missing=missing)
    who = answers(scored, missing)
    answered = who.answered & (numbers(scored, "status") == ANSWERED)
    latency = np.asarray(numbers(scored, "latency"), dtype=np.float64)
    return latency, answered.astype(np.float64), who.kept.astype(np.float64)


class _Mass(NamedTuple):
    """Masses per draw: answered and censored at each time ``(draws, times)``, never answered."""

    answered: Floats
    censored: Floats
    never: Floats


def _kaplan_meier(m: _Mass) -> Floats:
    """Return the distribution function at each time."""
    timed = m.answered + m.censored
    total = (timed.sum(axis=1) + m.never)[:, np.newaxis]
    at_risk = total - np.cumsum(timed, axis=1) + timed
    hazard = np.divide(m.answered, at_risk, out=np.zeros_like(timed), where=m.answered > 0)
    survival = np.cumprod(1.0 - np.minimum(hazard, 1.0), axis=1)
    return np.where(total > 0, 1.0 - survival, 0.0)


def _plain(m: _Mass) -> Floats:
    total = (m.answered + m.censored).sum(axis=1) + m.never
    return np.nan_to_num(ratio(np.cumsum(m.answered, axis=1), total[:, np.newaxis]))


def _conditional(m: _Mass) -> Floats:
    total = m.answered.sum(axis=1, keepdims=True)
    return np.nan_to_num(ratio(np.cumsum(m.answered, axis=1), total))


def _percentile(
    name: str,
    level: float,
    missing: str,
    distribution: Callable[[_Mass], Floats],
    *,
    answered_only: bool = False,
) -> Weighted:
    if not 0 < level < 1:
        raise UsageError("FB103", f"level={level} is not inside (0, 1)")
    check_missing(missing)

    def prepared(scored: Scored) -> Evaluator:
        e = read_latencies(scored, missing=missing)
        never = np.bincount(
            e.cluster[e.status == MISSED],
            weights=e.weight[e.status == MISSED],
            minlength=len(scored.clusters),
        )
        timed = np.flatnonzero(e.status != MISSED)
        times, place = np.unique(e.latency[timed], return_inverse=True)
        order = timed[np.argsort(place, kind="stable")]
        starts = np.searchsorted(np.sort(place), np.arange(len(times)))
        cluster = e.cluster[order]
        died = np.where(e.status[order] == ANSWERED, e.weight[order], 0.0)
        left = np.where(e.status[order] == CENSORED, e.weight[order], 0.0)

        def evaluate(weights: Floats) -> Floats:
            out = np.full(len(weights), np.nan)
            if not len(times):
                return out
            step = max(1, CHUNK // len(cluster))
            for first in range(0, len(weights), step):
                w = weights[first : first + step]
                mass = w[:, cluster]
                f = distribution(
                    _Mass(
                        np.add.reduceat(mass * died, starts, axis=1),
                        np.add.reduceat(mass * left, starts, axis=1),
                        w @ never,
                    )
                )
                reached = f >= level - LEVEL_TOLERANCE
                found = np.where(reached.any(axis=1), times[np.argmax(reached, axis=1)], np.nan)
                out[first : first + step] = found
            return out

        return evaluate

    def why(scored: Scored) -> str:
        e = read_latencies(scored, missing=missing)
        if not len(e.status):
            return "no events to score"
        if not e.weight.any():
            return "the events have no weight"
        share = float(e.weight[e.status == ANSWERED].sum() / e.weight.sum())
        if share == 0:
            return "no event was answered"
        return f"the level {level:g} lies above the answered share ({share:.3g})"

    def enters(scored: Scored) -> Bools:
        _, answered, kept = _per_unit(scored, missing)
        return (answered if answered_only else kept) > 0

    spec = _spec(name, missing, level, low=None)
    return Weighted(spec=spec, prepared=prepared, why=why, enters=enters)


def _spec(
    name: str,
    missing: str,
    level: float | None,
    *,
    better: str | None = None,
    low: float | None = 0.0,
    high: float | None = None,
) -> MetricSpec:
    return MetricSpec(
        name=name,
        version="1",
        unit="event",
        columns=("latency", "status", "outcome"),
        better=better,
        low=low,
        high=high,
        source="ours",
        parameters={
            "missing": check_missing(missing),
            **({} if level is None else {"level": level}),
        },
    )
