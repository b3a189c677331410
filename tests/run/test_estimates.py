from dataclasses import replace

import numpy as np
import pytest

from floorbench.core.score import Coverage
from floorbench.metrics.base import Measure, Scored
from floorbench.metrics.classification import accuracy, class_accuracy
from floorbench.metrics.fscore import precision, recall
from floorbench.run.estimates import estimate_cells
from floorbench.stats.intervals import intervals, share_bounds
from floorbench.stats.quick import units as units_of
from floorbench.stats.rates import wilson
from oracles.metrics_cases import label_case


def measure(metric: object, scored: Scored, **slice_: str) -> Measure:
    return Measure(
        metric=metric,  # type: ignore[arg-type]
        slice=slice_,
        scored=scored,
        coverage=Coverage(expected=len(scored), ok=len(scored)),
    )


def test_cells_have_the_interval_they_have_alone_whatever_their_order() -> None:
    units = label_case(np.random.default_rng(0), 200)
    part = units.where(units.cluster % 2 == 0)
    cells = [
        measure(accuracy(), units, of="all"),
        measure(class_accuracy(label="Dismiss"), part, of="part"),
        measure(accuracy(), part, of="part"),
    ]
    how = {"seed": 3, "draws": 100, "level": 0.9}
    found = estimate_cells(cells, **how)
    assert [e.slice for e in found] == [c.slice for c in cells]
    back = estimate_cells(cells[::-1], **how)[::-1]
    for cell, estimate, again in zip(cells, found, back, strict=True):
        bounds = share_bounds(cell.metric)
        alone = intervals(
            {"x": cell.metric},
            cell.scored,
            proportions={"x": bounds} if bounds else None,
            **how,
        )["x"]
        for one in (estimate.interval, again.interval):
            assert (one.low, one.high) == pytest.approx((alone.low, alone.high), abs=1e-12)


def test_a_cell_that_is_not_declared_is_not_computed() -> None:
    units = label_case(np.random.default_rng(0), 50)
    cell = replace(measure(accuracy(), units), undeclared="no such state")
    (found,) = estimate_cells([cell], seed=0, draws=10, level=0.95)
    assert (found.value, found.reason) == (None, "N/A: no such state")
    assert found.interval.reason == "no such state"


def test_an_interval_counts_the_clusters_that_enter_the_value() -> None:
    said = ["yield"] * 11 + ["keep"] * 29
    units = units_of(labels=("keep", "yield"), gold=["yield"] * 40, predicted=said)
    (found,) = estimate_cells(
        [measure(precision(label="yield"), units)], seed=0, draws=100, level=0.95
    )
    assert (found.units, found.interval.clusters) == (40, 11)
    assert found.interval.low == pytest.approx(0.025 ** (1 / 11))


def test_wilson_is_on_the_units_that_enter_the_value() -> None:
    gold = ["yield"] * 18 + ["keep"] * 22
    said = ["yield"] * 9 + ["keep"] * 9 + ["yield"] * 3 + ["keep"] * 19
    units = units_of(labels=("keep", "yield"), gold=gold, predicted=said)
    cells = [measure(metric(label="yield"), units) for metric in (precision, recall)]
    of_said, of_gold = estimate_cells(cells, seed=0, draws=100, level=0.95)
    for found, right, n in ((of_said, 9, 12), (of_gold, 9, 18)):
        exact = wilson(right, n)
        assert found.interval.clusters == n
        assert found.interval.beside["wilson"] == pytest.approx((exact.low, exact.high))
