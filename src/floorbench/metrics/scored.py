"""Scoring units as columns, their slices and their merging.

A slice shares the columns of the whole and keeps all clusters, so that every cell of a run is
resampled with the same draws.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from floorbench.core.words import counted
from floorbench.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Column = NDArray[Any]

OUTCOMES = ("ok", "abstained", "unsupported", "invalid", "failed", "timeout", "absent")
OK, ABSTAINED, UNSUPPORTED, INVALID, FAILED, TIMEOUT, ABSENT = range(7)


class TakenColumns(Mapping[str, Column]):
    """Columns of some rows, each taken when it is asked for and not kept.

    A unit stands in many cells. As copies, its columns would stand in memory once a cell; so there
    is one copy of them, and a row number a cell.

    Parameters
    ----------
    source : mapping of str to array
        Columns of all rows.
    rows : int64 array (n,)
        Which of them, in this order.
    own : mapping of str to array (n,)
        Columns of these rows alone; they come before those of the source.
    """

    def __init__(
        self, source: Mapping[str, Column], rows: Ints, own: Mapping[str, Column] | None = None
    ) -> None:
        self.source = source
        self.rows = rows
        self.own = dict(own or {})

    def __getitem__(self, name: str) -> Column:
        if name in self.own:
            return self.own[name]
        taken: Column = self.source[name][self.rows]
        return taken

    def __contains__(self, name: object) -> bool:
        return name in self.own or name in self.source

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self.source, *self.own)))

    def __len__(self) -> int:
        return len(self.source.keys() | self.own.keys())

    def where(self, rows: Ints) -> TakenColumns:
        """Return the columns of some of these rows."""
        own = {name: column[rows] for name, column in self.own.items()}
        return TakenColumns(self.source, self.rows[rows], own)

    def replaced(self, columns: Mapping[str, Column]) -> TakenColumns:
        """Return these columns with some replaced or added."""
        return TakenColumns(self.source, self.rows, {**self.own, **columns})


class TakenNames(Sequence[str]):
    """Names of some rows.

    Parameters
    ----------
    source : sequence of str
        Names of all rows.
    rows : int64 array (n,)
        Which of them, in this order.
    """

    def __init__(self, source: Sequence[str], rows: Ints) -> None:
        self.source = source
        self.rows = rows

    @overload
    def __getitem__(self, place: int) -> str: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...

    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return TakenNames(self.source, self.rows[place])
        return self.source[int(self.rows[place])]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scored:
    """Scoring units as columns of equal length ``n``.

    Parameters
    ----------
    cluster : int64 array (n,)
        Code of each unit's cluster, an index into ``clusters``.
    clusters : tuple of str
        Names of all clusters of the run. Slices keep the full list, so that every slice of a run
        is resampled with the same draws.
    strata : int64 array (len(clusters),)
        Stratum code of each cluster.
    weight : float64 array (n,)
        Weight of each unit, 1 / trials of its sample; 1 without repeats.
    columns : mapping of str to array (n,)
        The family's columns, for example ``gold`` and ``predicted`` (int64 codes, -1 for no usable
        label), ``outcome`` (codes of ``OUTCOMES``), ``score`` (float64, NaN for no score).
    vocab : mapping of str to tuple of str
        Names behind coded columns: ``vocab["gold"][code]``. Label sets come from the task.
    units : sequence of str or None
        Names of the units, for drill-down; metrics never read them.

    Raises
    ------
    DataError
        ``FB601`` for columns of unequal length, a weight that is no weight, or a cluster code
        outside the list.
    """

    cluster: Ints
    clusters: tuple[str, ...]
    strata: Ints
    weight: Floats
    columns: Mapping[str, Column]
    vocab: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Sequence[str] | None = None

    def __post_init__(self) -> None:
        n = len(self.cluster)
        held = self.columns.own if isinstance(self.columns, TakenColumns) else self.columns
        lengths = {"weight": len(self.weight)} | {k: len(v) for k, v in held.items()}
        if self.units is not None:
            lengths["units"] = len(self.units)
        for name, length in lengths.items():
            if length != n:
                raise DataError(
                    "FB601", f"column '{name}' has {counted(length, 'row')}, 'cluster' has {n}"
                )
        if len(self.strata) != len(self.clusters):
            raise DataError(
                "FB601",
                f"{len(self.strata)} strata codes for {counted(len(self.clusters), 'cluster')}",
            )
        if not (np.isfinite(self.weight) & (self.weight >= 0)).all():
            raise DataError("FB601", "a unit's weight is not a finite number of 0 or more")
        if n and (self.cluster.min() < 0 or self.cluster.max() >= len(self.clusters)):
            raise DataError("FB601", "a cluster code lies outside the list of clusters")

    def __len__(self) -> int:
        return len(self.cluster)

    def column(self, name: str) -> Column:
        """Return a column or raise ``FB601`` naming it."""
        try:
            return self.columns[name]
        except KeyError:
            raise DataError(
                "FB601", f"the metric reads a column '{name}' that these units do not have"
            ) from None

    def code(self, column: str, name: str) -> int:
        """Return the code of a vocabulary entry."""
        return self.vocab[column].index(name)

    def where(self, mask: Bools) -> Scored:
        """Return the units selected by a boolean mask; clusters keep their codes.

        Columns and names are not copied (:class:`TakenColumns`).
        """
        rows = np.flatnonzero(mask)
        known, units = self.columns, self.units
        if isinstance(known, TakenColumns):
            columns = known.where(rows)
        else:
            columns = TakenColumns(known, rows)
        if isinstance(units, TakenNames):
            together = isinstance(known, TakenColumns) and known.rows is units.rows
            units = TakenNames(units.source, columns.rows if together else units.rows[rows])
        elif units is not None:
            units = TakenNames(units, rows)
        return replace(
            self,
            cluster=self.cluster[mask],
            weight=self.weight[mask],
            columns=columns,
            units=units,
        )

    def with_columns(self, **columns: Column) -> Scored:
        """Return the units with some columns replaced or added."""
        known = self.columns
        if isinstance(known, TakenColumns):
            return replace(self, columns=known.replaced(columns))
        return replace(self, columns={**known, **columns})

    def present(self) -> Bools:
        """Return, per cluster, whether any unit of this slice belongs to it."""
        found = np.zeros(len(self.clusters), dtype=np.bool_)
        found[self.cluster] = True
        return found


def concat(parts: Sequence[Scored]) -> Scored:
    """Merge shards; clusters are united by name and must keep one stratum each.

    Parameters
    ----------
    parts : sequence of Scored
        Shards of one run, at least one.

    Raises
    ------
    DataError
        ``FB601`` when shards differ in columns or vocabularies or a cluster changes stratum.
    """
    if not parts:
        raise DataError("FB601", "nothing to merge")
    first = parts[0]
    names: dict[str, int] = {}
    strata: list[int] = []
    clusters: list[Ints] = []
    for part in parts:
        if part.columns.keys() != first.columns.keys() or dict(part.vocab) != dict(first.vocab):
            raise DataError("FB601", "shards differ in their columns or label sets")
        codes = np.empty(len(part.clusters), dtype=np.int64)
        for i, name in enumerate(part.clusters):
            if name not in names:
                names[name] = len(names)
                strata.append(int(part.strata[i]))
            elif strata[names[name]] != int(part.strata[i]):
                raise DataError("FB601", f"cluster '{name}' stands in two strata")
            codes[i] = names[name]
        clusters.append(codes[part.cluster])
    units: tuple[str, ...] | None = None
    if all(p.units is not None for p in parts):
        units = tuple(_flatten(p.units for p in parts if p.units is not None))
    return Scored(
        cluster=np.concatenate(clusters),
        clusters=tuple(names),
        strata=np.asarray(strata, dtype=np.int64),
        weight=np.concatenate([p.weight for p in parts]),
        columns={k: np.concatenate([p.columns[k] for p in parts]) for k in first.columns},
        vocab=first.vocab,
        units=units,
    )


def _flatten(groups: Iterable[Sequence[str]]) -> Iterable[str]:
    for group in groups:
        yield from group
