"""The two shapes every metric here takes: summed rows, or one evaluator over cluster weights.

A factory in a family's file checks its parameters and returns one of these; nothing else in the
package implements the metric protocols of :mod:`floorbench.metrics.base`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from floorbench.core.spec import MetricSpec
from floorbench.metrics.base import Bools, Evaluator, Floats, Scored, StatTable


@dataclass(frozen=True, slots=True, kw_only=True)
class Additive:
    """A metric whose value is a function of summed rows.

    Parameters
    ----------
    spec : MetricSpec
    names : tuple of str
        Meaning of the ``k`` statistics.
    statistics : callable
        Scored to unweighted rows ``(n, k)``; the unit weight is applied here, once.
    of_totals : callable
        Totals ``(..., k)`` to values ``(...)``, NaN where undefined.
    why : callable
        Totals by name to the reason for being undefined.
    unread : tuple of str
        Statistics that the value does not depend on: ledgers, and counts that come along. A unit
        that has nothing else does not enter the value.
    """

    spec: MetricSpec
    names: tuple[str, ...]
    statistics: Callable[[Scored], Floats]
    of_totals: Callable[[Floats], Floats]
    why: Callable[[Mapping[str, float]], str]
    unread: tuple[str, ...] = ()

    def rows(self, scored: Scored) -> StatTable:
        """Return one weighted row of sufficient statistics per unit."""
        return StatTable(
            names=self.names,
            values=self.statistics(scored) * scored.weight[:, np.newaxis],
            cluster=scored.cluster,
            n_clusters=len(scored.clusters),
        )

    def enters(self, rows: StatTable) -> Bools:
        """Tell which units ``(n,)`` enter the value, from their rows."""
        read = [j for j, name in enumerate(self.names) if name not in self.unread]
        return np.asarray(rows.values[:, read].any(axis=1))

    def value(self, totals: Floats) -> Floats:
        """Map totals ``(..., k)`` to values ``(...)``; NaN where undefined."""
        return self.of_totals(np.asarray(totals, dtype=np.float64))

    def reason(self, totals: Floats) -> str:
        """Say why ``value(totals)`` is undefined."""
        return self.why(dict(zip(self.names, np.asarray(totals).tolist(), strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted:
    """A metric that needs all units at once.

    Parameters
    ----------
    spec : MetricSpec
    prepared : callable
        Scored to a function from cluster weights ``(draws, clusters)`` to values ``(draws,)``;
        sorting and checking happen once, before the draws.
    why : callable
        Scored to the reason for being undefined.
    enters : callable
        Scored to the units ``(n,)`` that enter the value; the others could as well not be there.
    by_order : str or None
        Score column that enters only by its order within one system, so that another scale gives
        the same value.
    """

    spec: MetricSpec
    prepared: Callable[[Scored], Evaluator]
    why: Callable[[Scored], str]
    enters: Callable[[Scored], Bools]
    by_order: str | None = None

    def prepare(self, scored: Scored) -> Evaluator:
        """Return the metric as a function of cluster weights, with the sorting done."""
        return self.prepared(scored)

    def value_weighted(self, scored: Scored, weights: Floats) -> Floats:
        """Map cluster weights ``(draws, clusters)`` to values ``(draws,)``."""
        return self.prepared(scored)(np.asarray(weights, dtype=np.float64))

    def reason(self, scored: Scored) -> str:
        """Say why the unweighted value is undefined."""
        return self.why(scored)


def undefined(weights: Floats) -> Floats:
    """Return NaN for every draw: the evaluator of a metric that is undefined on these units."""
    return np.full(len(weights), np.nan)
