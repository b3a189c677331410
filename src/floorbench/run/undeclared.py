"""Cells of two systems that declare different labels: what compares, and over which units.

A system is asked only for what it declares, and its coverage counts nothing else. A cell over the
declared labels therefore has other units in another system and is refused. A cell that counts
undeclared labels as wrong by definition has a value on all items for both: here it gets their
units, so that both systems stand on the same clusters in every draw and every swap.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from floorbench.core.words import counted
from floorbench.errors import DataError
from floorbench.metrics.base import UNSUPPORTED, Bools, Declared, Measure, Scored, concat
from floorbench.stats.paired import matched
from floorbench.stats.permutation import Pair


def sets_differ(a: Measure, b: Measure) -> str | None:
    """Say over which labels two cells are, if that is why they do not compare.

    Parameters
    ----------
    a, b : Measure
        The same cell of the first and the second run.

    Returns
    -------
    str or None
        ``None`` when both are over the same labels, when the cell counts undeclared labels as
        wrong, or when it does not depend on what a system declares.
    """
    one, two = a.declared, b.declared
    if one is None or two is None or one.labels == two.labels or _completable(one, two):
        return None
    sets = ["+".join(side.labels) or "nothing" for side in (one, two)]
    return f"over different sets: {sets[0]} in the first run, {sets[1]} in the second"


def wrong_by_definition(a: Measure, b: Measure) -> str | None:
    """Say which labels count as wrong because one of the two systems does not declare them.

    Parameters
    ----------
    a, b : Measure
        The same cell of the first and the second run.
    """
    one, two = a.declared, b.declared
    if one is None or two is None or not _completable(one, two):
        return None
    lacking = (("first", _without(two, one)), ("second", _without(one, two)))
    parts = [f"{'+'.join(labels)} in the {run} run" for run, labels in lacking if labels]
    return f"not declared, so wrong by definition: {', '.join(parts)}" if parts else None


def paired_units(a: Measure, b: Measure) -> Pair:
    """Return a cell's metric and the units of both systems, on the same clusters.

    Where the two declare different labels and the cell counts undeclared ones as wrong, each side
    gets the other's units of the labels that it does not declare, as ``unsupported`` answers: wrong
    under either missing policy. The metric is then that of all labels that one of the two
    declares; labels that neither declares stay without units and count as wrong for both. The
    values are those of the two systems' own cells, where both have one.

    Parameters
    ----------
    a, b : Measure
        The same cell of the first and the second run, not refused by :func:`sets_differ`.

    Raises
    ------
    DataError
        ``FB651`` when the two were not asked about the same items of the labels that both
        declare.
    """
    one, two = a.declared, b.declared
    if one is None or two is None:
        return (a.metric, *matched(a.scored, b.scored))
    _demand_same_items(a.scored, b.scored, one, two)
    if one.labels == two.labels or one.others_wrong is None:
        return (a.metric, *matched(a.scored, b.scored))
    either = {*one.labels, *two.labels}
    metric = one.others_wrong([x for x in a.scored.vocab[one.column] if x in either])
    left, right = (_only(side, metric.spec.columns) for side in (a.scored, b.scored))
    predicted = next(c for c in metric.spec.columns if c not in (one.column, "outcome"))
    return (
        metric,
        *matched(
            concat([left, _unanswered(right, one.column, predicted, _without(two, one))]),
            concat([right, _unanswered(left, one.column, predicted, _without(one, two))]),
        ),
    )


def _completable(one: Declared, two: Declared) -> bool:
    return one.others_wrong is not None and two.others_wrong is not None


def _without(one: Declared, two: Declared) -> tuple[str, ...]:
    """Return the labels of the one that the other does not have."""
    return tuple(label for label in one.labels if label not in two.labels)


def _demand_same_items(a: Scored, b: Scored, one: Declared, two: Declared) -> None:
    """Refuse systems that were asked about different items of the labels that both declare.

    What is due comes in the order of the data and ends at the limit, so two systems that have
    equally many of these items in every cluster have the same ones.
    """
    both = set(one.labels) & set(two.labels)
    mine, theirs = _per_cluster(a, one.column, both), _per_cluster(b, two.column, both)
    other = sorted(c for c in {*mine, *theirs} if mine.get(c) != theirs.get(c))
    if other:
        raise DataError(
            "FB651",
            f"{counted(len(other), 'cluster holds', 'clusters hold')} "
            f"other items in one, for example '{other[0]}'",
        )


def _per_cluster(scored: Scored, column: str, labels: Collection[str]) -> dict[str, int]:
    counts = np.bincount(scored.cluster[_of(scored, column, labels)])
    return {scored.clusters[i]: int(counts[i]) for i in np.flatnonzero(counts)}


def _of(scored: Scored, column: str, labels: Collection[str]) -> Bools:
    codes = [i for i, label in enumerate(scored.vocab[column]) if label in labels]
    found: Bools = np.isin(scored.column(column), codes)
    return found


def _only(scored: Scored, columns: Collection[str]) -> Scored:
    """Return units with no other columns than the metric reads."""
    return replace(
        scored,
        columns={name: scored.column(name) for name in columns},
        vocab={name: labels for name, labels in scored.vocab.items() if name in columns},
    )


def _unanswered(scored: Scored, column: str, predicted: str, labels: Collection[str]) -> Scored:
    """Return the units of some gold labels as those of a system that does not declare them."""
    units = scored.where(_of(scored, column, labels))
    size = len(units)
    return units.with_columns(
        **{
            predicted: np.full(size, -1, dtype=np.int64),
            "outcome": np.full(size, UNSUPPORTED, dtype=np.int64),
        }
    )
