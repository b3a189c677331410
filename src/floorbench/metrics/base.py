"""Rows, totals and the one door for ratio metrics and rank metrics.

A task turns (sample, prediction) pairs into :class:`Scored`: scoring units as columns, each unit
tagged with its cluster. A metric is then a pure function of that, in one of two kinds:

*additive* (accuracy, F1, kappa, PASR, distances ...)
    ``rows`` gives one row of sufficient statistics per unit; rows add up; ``value`` maps totals to
    the number. ``value`` is vectorised over leading axes, so that a bootstrap is
    ``value(weights @ cluster_totals)``.

*weighted* (AUC, EER, medians)
    ``value_weighted`` takes a weight per cluster and draw.

Both become the same thing through :func:`evaluator`: a function from an array of cluster weights
``(draws, clusters)`` to values ``(draws,)``. Inside these functions undefined is NaN; at the
boundary (:func:`point`) it becomes ``None`` with the metric's own reason.

An evaluator that knows a short way to its leave-one-out values offers it as a second method,
``leave_one_out`` (:class:`floorbench.metrics.jackknife.LeavesOut`). All additive metrics do, and
so does AUC; for the others the weights are written out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, overload, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.score import Coverage
from floorbench.core.spec import MetricSpec, SystemSpec, TaskSpec
from floorbench.errors import DataError
from floorbench.metrics.jackknife import LeftOut

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Column = NDArray[Any]
Evaluator = Callable[[Floats], Floats]

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
                raise DataError("FB601", f"column '{name}' has {length} rows, 'cluster' has {n}")
        if len(self.strata) != len(self.clusters):
            raise DataError(
                "FB601", f"{len(self.strata)} strata codes for {len(self.clusters)} clusters"
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StatTable:
    """One additive row per unit.

    Parameters
    ----------
    names : tuple of str
        Meaning of each of the ``k`` statistics.
    values : float64 array (n, k)
        Already multiplied by the unit's weight.
    cluster : int64 array (n,)
    n_clusters : int
    """

    names: tuple[str, ...]
    values: Floats
    cluster: Ints
    n_clusters: int

    def by_cluster(self) -> Floats:
        """Return sums per cluster, shape ``(n_clusters, k)``."""
        out = np.empty((self.n_clusters, len(self.names)), dtype=np.float64)
        for j in range(len(self.names)):
            out[:, j] = np.bincount(
                self.cluster, weights=self.values[:, j], minlength=self.n_clusters
            )
        return out

    def totals(self) -> Floats:
        """Return the column sums, shape ``(k,)``."""
        out: Floats = self.by_cluster().sum(axis=0)
        return out


@runtime_checkable
class AdditiveMetric(Protocol):
    """A metric whose value is a function of summed rows."""

    @property
    def spec(self) -> MetricSpec:
        """Identity of the metric."""
        ...

    def rows(self, scored: Scored) -> StatTable:
        """Return one row of sufficient statistics per unit."""
        ...

    def value(self, totals: Floats) -> Floats:
        """Map totals ``(..., k)`` to values ``(...)``; NaN where undefined, no warnings."""
        ...

    def reason(self, totals: Floats) -> str:
        """Say why ``value(totals)`` is undefined, for one vector of totals."""
        ...


@runtime_checkable
class WeightedMetric(Protocol):
    """A metric that needs all units at once, weighted by cluster."""

    @property
    def spec(self) -> MetricSpec:
        """Identity of the metric."""
        ...

    def value_weighted(self, scored: Scored, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to values ``(draws,)``; NaN if undefined."""
        ...

    def reason(self, scored: Scored) -> str:
        """Say why the unweighted value is undefined."""
        ...


@runtime_checkable
class PreparedMetric(WeightedMetric, Protocol):
    """A weighted metric that checks and sorts its units once, before all draws."""

    def prepare(self, scored: Scored) -> Evaluator:
        """Return the metric as a function of cluster weights."""
        ...


Metric = AdditiveMetric | WeightedMetric


class Point(NamedTuple):
    """A point value, or the reason for its absence."""

    value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measure:
    """One cell of a result: a metric on a slice of the units, ready to be estimated.

    Parameters
    ----------
    metric : AdditiveMetric or WeightedMetric
    slice : mapping of str to str
        What the cell shows, for example ``{"language": "zh", "condition": "h0",
        "action": "Takeover"}``; metric name and slice together name the cell.
    scored : Scored
        The units of the cell (already selected).
    coverage : Coverage
        Ledger of the predictions behind the cell.
    undeclared : str or None
        Why the cell is N/A (the system does not declare it); it is then not computed.
    note : str or None
        A remark to print beside the value, for example ``answered items only``.
    headline : bool
        Whether the cell belongs to the printed table (all cells are stored).
    """

    metric: Metric
    slice: Mapping[str, str]
    scored: Scored
    coverage: Coverage
    undeclared: str | None = None
    note: str | None = None
    headline: bool = False


class DueItem(NamedTuple):
    """One prediction that the protocol asks for, with the prediction if there is one."""

    sample: Sample
    condition: str
    trial: int
    prediction: Prediction | None


class ScoringTask(Protocol):
    """What the engine and the scorer need from a benchmark protocol (one file in ``tasks``).

    Construction takes the task's own keyword parameters and nothing else; ``spec.parameters``
    lists them resolved, because they enter the signature.
    """

    spec: TaskSpec

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the conditions to run for a system (a context-free system runs fewer)."""
        ...

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Narrow a sample's observation to what ``condition`` may show to ``system``.

        A protocol that shows audio to some systems and text to others chooses by the system's
        modalities; without a system it shows all that the condition allows.
        """
        ...

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether a sample lies in the system's declared capability."""
        ...

    def gold(self, sample: Sample) -> Decision:
        """Return the decision of a perfect system, in task labels (used by references only)."""
        ...

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere (unknown label ...), or ``None``."""
        ...

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Turn items into scoring units, by kind of unit (``sample``, ``pair``, ``slot`` ...)."""
        ...

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return every cell of the task's result."""
        ...


def evaluator(metric: Metric, scored: Scored) -> Evaluator:
    """Return the metric as a function of cluster weights ``(draws, clusters)``.

    This is the one door through which intervals and tests see a metric.

    Parameters
    ----------
    metric : Metric
    scored : Scored

    Raises
    ------
    DataError
        What the metric says about the columns it reads.
    """
    if isinstance(metric, PreparedMetric):
        return metric.prepare(scored)
    if isinstance(metric, WeightedMetric):
        return lambda weights: metric.value_weighted(scored, weights)
    return OfSums(metric, metric.rows(scored).by_cluster())


class OfSums:
    """Evaluator of an additive metric from its sums per cluster.

    Parameters
    ----------
    metric : AdditiveMetric
    sums : float64 array (clusters, k)
    """

    def __init__(self, metric: AdditiveMetric, sums: Floats) -> None:
        self._metric = metric
        self._sums = sums

    def __call__(self, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to values ``(draws,)``."""
        return self._metric.value(weights @ self._sums)

    def leave_one_out(self, left: LeftOut) -> Floats:
        """Return the value without each cluster in turn."""
        return self._metric.value(left.totals(self._sums))


def point(metric: Metric, scored: Scored) -> Point:
    """Return the metric's value on the data as they are.

    Parameters
    ----------
    metric : Metric
    scored : Scored

    Undefined
    ---------
    ``value`` is ``None`` and ``reason`` the metric's own.
    """
    if isinstance(metric, WeightedMetric):
        ones = np.ones((1, len(scored.clusters)))
        value = float(metric.value_weighted(scored, ones)[0])
        return Point(None, metric.reason(scored)) if np.isnan(value) else Point(value, None)
    totals = metric.rows(scored).totals()
    value = float(metric.value(totals))
    return Point(None, metric.reason(totals)) if np.isnan(value) else Point(value, None)


def ratio(numerator: Floats, denominator: Floats) -> Floats:
    """Divide element-wise; NaN where the denominator is 0 (undefined, never 0).

    Parameters
    ----------
    numerator, denominator : float64 arrays
        Broadcast against each other.
    """
    numerator, denominator = np.broadcast_arrays(
        np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    )
    out = np.full(denominator.shape, np.nan)
    np.divide(numerator, denominator, out=out, where=denominator != 0)
    return out


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
