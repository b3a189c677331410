"""Whatever stands in a column, a metric gives a finite value, a reason, or one clear error."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from floorbench.errors import DataError, FloorbenchError
from floorbench.metrics.base import Scored, evaluator, point
from oracles.metrics_cases import CASES
from oracles.metrics_instances import INSTANCES, Instance


def spoilt(values: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    bad = (np.nan, np.inf, -np.inf, 1e308, -1.0) if values.dtype.kind == "f" else (99, -5, 2**62)
    for value in bad:
        changed = values.copy()
        changed[3] = value
        yield str(value), changed
    yield "fractions", values + 0.5
    yield "text", values.astype(str)
    yield "nothing", np.full(values.shape, None, dtype=object)
    yield "too wide", np.stack([values, values], axis=1) if values.ndim == 1 else values[:, :1]
    yield "too deep", values.reshape(*values.shape, 1, 1)


@pytest.mark.parametrize("instance", INSTANCES, ids=str)
def test_no_column_makes_anything_else(instance: Instance) -> None:
    case: Scored = CASES[instance.kind](np.random.default_rng(1))
    metric = instance.build()
    refused = 0
    for column, values in case.columns.items():
        for what, changed in spoilt(np.asarray(values)):
            units = replace(case, columns={**case.columns, column: changed})
            try:
                found = point(metric, units)
                draws = evaluator(metric, units)(np.ones((2, len(case.clusters))))
            except FloorbenchError:
                refused += 1
                continue
            assert (found.value is None) == (found.reason is not None), (column, what)
            assert found.value is None or np.isfinite(found.value), (column, what)
            assert not np.isinf(draws).any(), (column, what)
    assert refused > 3


@pytest.mark.parametrize("weight", [np.nan, np.inf, -1.0])
def test_weights_are_weights(weight: float) -> None:
    case = CASES["label"](np.random.default_rng(1))
    changed = case.weight.copy()
    changed[2] = weight
    with pytest.raises(DataError, match="FB601 a unit's weight is not a finite number"):
        replace(case, weight=changed)
