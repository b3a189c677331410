"""Metrics, tasks, and the one door for ratio metrics and rank metrics.

A task turns (sample, prediction) pairs into :class:`Scored`: scoring units as columns, each unit
tagged with its cluster (:mod:`floorbench.metrics.scored`; its names are imported from here as
well). A metric is then a pure function of that, in one of two kinds:

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

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.score import Coverage
from floorbench.core.spec import MetricSpec, SystemSpec, TaskSpec
from floorbench.metrics.jackknife import LeftOut
from floorbench.metrics.scored import (
    ABSENT,
    ABSTAINED,
    FAILED,
    INVALID,
    OK,
    OUTCOMES,
    TIMEOUT,
    UNSUPPORTED,
    Bools,
    Column,
    Floats,
    Ints,
    Scored,
    TakenColumns,
    TakenNames,
    concat,
)

__all__ = [
    "ABSENT",
    "ABSTAINED",
    "FAILED",
    "INVALID",
    "OK",
    "OUTCOMES",
    "TIMEOUT",
    "UNSUPPORTED",
    "AdditiveMetric",
    "Bools",
    "Column",
    "Declared",
    "DueItem",
    "Evaluator",
    "Floats",
    "Ints",
    "Measure",
    "Metric",
    "OfSums",
    "Point",
    "PreparedMetric",
    "Scored",
    "ScoringTask",
    "StatTable",
    "TakenColumns",
    "TakenNames",
    "WeightedMetric",
    "concat",
    "evaluator",
    "point",
    "ratio",
]

Evaluator = Callable[[Floats], Floats]


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
class Declared:
    """The gold labels that a cell is over, as far as its system declares them.

    Only items of these labels are asked of the system, so two systems that declare different
    labels have different units in the same cell. Their values compare only if the cell counts
    undeclared labels as wrong by definition.

    Parameters
    ----------
    column : str
        Column of gold labels.
    labels : tuple of str
        In the order of the column's label set.
    others_wrong : callable or None
        For a cell that counts all other labels as wrong: the metric on units that cover the given
        labels (declared by one of two systems), every other label counting as wrong.
    """

    column: str
    labels: tuple[str, ...]
    others_wrong: Callable[[Sequence[str]], Metric] | None = None


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
    declared : Declared or None
        The labels that the cell is over, where that depends on what the system declares.
    """

    metric: Metric
    slice: Mapping[str, str]
    scored: Scored
    coverage: Coverage
    undeclared: str | None = None
    note: str | None = None
    headline: bool = False
    declared: Declared | None = None


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
