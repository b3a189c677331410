"""From plain lists to a number with its interval, without a task.

>>> from floorbench.metrics.classification import accuracy
>>> said = ["keep", "yield", "keep", None] * 20
>>> data = units(labels=("keep", "yield"), gold=["keep", "yield"] * 40, predicted=said,
...              clusters=[i // 4 for i in range(80)])
>>> found = estimate(accuracy(), data)
>>> found.value, found.coverage.absent, found.interval.clusters
(0.75, 20, 20)
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from floorbench.core.score import Coverage, Estimate
from floorbench.core.words import counted
from floorbench.errors import DataError, did_you_mean
from floorbench.metrics.base import (
    ABSENT,
    OK,
    OUTCOMES,
    Column,
    Floats,
    Ints,
    Metric,
    Scored,
    point,
)
from floorbench.metrics.inputs import check_labels
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.intervals import intervals, share_bounds

Score = float | None


def units(
    *,
    labels: Sequence[str],
    gold: Sequence[str],
    predicted: Sequence[str | None] | None = None,
    scores: Sequence[Score] | Mapping[str, Sequence[Score]] | None = None,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
) -> Scored:
    """Turn lists of equal length, one entry per unit, into scoring units.

    Parameters
    ----------
    labels : sequence of str
        The label set of the task; never read off the data, so that an absent class is seen.
    gold : sequence of str
    predicted : sequence of str or None
        A ``None`` is a missing prediction: wrong, or left out under ``missing="drop"``.
    scores : sequence of float or None, or mapping of label to such
        A score per unit (column ``score``), or one per unit and label (column ``scores``).
        ``None`` where there is none.
    clusters : sequence or None
        What is resampled: names of dialogues, sessions, groups. Every unit is its own cluster
        by default.
    strata : sequence or None
        A stratum per unit; a cluster lies in the set of strata that its units name.

    Returns
    -------
    Scored
        Columns ``gold``, ``outcome``, and ``predicted``, ``score`` or ``scores`` as given.

    Raises
    ------
    DataError
        ``FB601`` for lists of unequal length, a label without a score or the reverse, or scores
        whose labels are not the label set; ``FB627`` for an unknown label.
    UsageError
        ``FB103`` for an empty label set or a label that stands in it twice.
    """
    names = check_labels(labels)
    n = len(gold)
    truth = _codes("gold", gold, names, n)
    columns: dict[str, Column] = {"gold": truth}
    missing = np.zeros(n, dtype=np.bool_)
    if predicted is not None:
        columns["predicted"] = _codes("predicted", predicted, names, n)
        missing = columns["predicted"] < 0
    if scores is not None:
        name = "scores" if isinstance(scores, Mapping) else "score"
        columns[name], bare = _scores(scores, names, n)
        odd = np.flatnonzero(missing != bare)
        if predicted is not None and len(odd):
            raise DataError("FB601", f"row {odd[0]} has a label or a score, not both")
        missing = bare
    if (truth < 0).any():
        raise DataError("FB627", f"row {int(np.argmin(truth))} has no gold label")
    columns["outcome"] = np.where(missing, ABSENT, OK)
    cluster, cluster_names = _grouped("clusters", range(n) if clusters is None else clusters, n)
    return Scored(
        cluster=cluster,
        clusters=cluster_names,
        strata=_strata(cluster, len(cluster_names), strata, n),
        weight=np.ones(n),
        columns=columns,
        vocab={"gold": names, "predicted": names},
    )


def estimate(
    metric: Metric, data: Scored, *, level: float = 0.95, draws: int = DRAWS, seed: int = 0
) -> Estimate:
    """Return a metric's value on units with its interval, coverage and reasons.

    Parameters
    ----------
    metric : Metric
        From any factory of ``floorbench.metrics``.
    data : Scored
        From :func:`units`, or other units with a column ``outcome``.
    level, draws, seed
        Of the cluster bootstrap (see :func:`floorbench.stats.intervals.interval`).

    Undefined
    ---------
    The value is ``None`` with the metric's reason; the interval with its own.

    Raises
    ------
    DataError
        What the metric says about its columns, for example ``FB622`` for a NaN score.
    UsageError
        ``FB650`` for numbers out of range.
    """
    name = metric.spec.name
    bounds = share_bounds(metric)
    made = intervals(
        {name: metric},
        data,
        proportions={} if bounds is None else {name: bounds},
        level=level,
        draws=draws,
        seed=seed,
    )[name]
    value, reason = point(metric, data)
    counts = np.bincount(data.column("outcome"), minlength=len(OUTCOMES)).tolist()
    return Estimate(
        metric=name,
        slice={},
        value=value,
        interval=made,
        coverage=Coverage(expected=len(data), **dict(zip(OUTCOMES, counts, strict=True))),
        units=len(data),
        reason=reason,
    )


def _codes(name: str, given: Sequence[str | None], labels: tuple[str, ...], n: int) -> Ints:
    _check_length(name, len(given), n)
    place: dict[str | None, int] = {label: i for i, label in enumerate(labels)}
    place[None] = -1
    for row, label in enumerate(given):
        if label not in place:
            near = did_you_mean(str(label), labels)
            raise DataError(
                "FB627",
                f"'{name}' row {row}: label {label!r} is not in the label set",
                hint=f"did you mean '{near}'?" if near else f"the labels are {', '.join(labels)}",
            )
    return np.array([place[label] for label in given], dtype=np.int64)


def _scores(
    given: Sequence[Score] | Mapping[str, Sequence[Score]], labels: tuple[str, ...], n: int
) -> tuple[Floats, Column]:
    """Return the scores ``(n,)`` or ``(n, labels)`` and where there is none."""
    if not isinstance(given, Mapping):
        _check_length("scores", len(given), n)
        values = np.array([np.nan if s is None else s for s in given], dtype=np.float64)
        return values, np.array([s is None for s in given], dtype=np.bool_)
    if set(given) != set(labels):
        raise DataError("FB601", f"scores are of {sorted(given)}, the labels are {sorted(labels)}")
    parts = [_scores(given[label], labels, n) for label in labels]
    none = np.stack([bare for _, bare in parts], axis=1)
    partial = np.flatnonzero(none.any(axis=1) != none.all(axis=1))
    if len(partial):
        raise DataError("FB601", f"row {partial[0]} has a score for some labels only")
    return np.stack([values for values, _ in parts], axis=1), none[:, 0]


def _grouped(name: str, given: Sequence[Hashable] | range, n: int) -> tuple[Ints, tuple[str, ...]]:
    _check_length(name, len(given), n)
    place: dict[Hashable, int] = {}
    codes = [place.setdefault(value, len(place)) for value in given]
    names = tuple(str(value) for value in place)
    if len(set(names)) < len(names):
        raise DataError("FB601", f"two different '{name}' read alike, for example 1 and '1'")
    return np.array(codes, dtype=np.int64), names


def _strata(cluster: Ints, clusters: int, given: Sequence[Hashable] | None, n: int) -> Ints:
    if given is None:
        return np.zeros(clusters, dtype=np.int64)
    unit, _ = _grouped("strata", given, n)
    touched: list[set[int]] = [set() for _ in range(clusters)]
    for c, s in zip(cluster.tolist(), unit.tolist(), strict=True):
        touched[c].add(s)
    return _grouped("strata", [frozenset(t) for t in touched], clusters)[0]


def _check_length(name: str, found: int, n: int) -> None:
    if found != n:
        raise DataError(
            "FB601", f"'{name}' has {counted(found, 'entry', 'entries')}, 'gold' has {n}"
        )
