import numpy as np
import pytest

from floorbench.metrics.base import AdditiveMetric, PreparedMetric, WeightedMetric, evaluator
from floorbench.metrics.classification import accuracy
from floorbench.metrics.kinds import undefined
from floorbench.metrics.ranking import auc
from oracles.metrics_cases import draws, label_case, score_case
from oracles.metrics_instances import INSTANCES, Instance


@pytest.mark.parametrize("instance", INSTANCES, ids=str)
def test_every_metric_is_of_exactly_one_kind(instance: Instance) -> None:
    metric = instance.build()
    assert isinstance(metric, AdditiveMetric) != isinstance(metric, WeightedMetric)


def test_the_unit_weight_is_applied_once() -> None:
    case = label_case(np.random.default_rng(0))
    table = accuracy().rows(case)
    assert table.totals()[1] == pytest.approx(case.weight.sum())
    assert table.names == ("right", "units")


def test_weighted_metrics_prepare_once_and_give_the_same_values() -> None:
    case = score_case(np.random.default_rng(0))
    weights = draws(np.random.default_rng(1), case)
    metric = auc(positive="T")
    assert isinstance(metric, PreparedMetric)
    assert (
        evaluator(metric, case)(weights).tolist() == metric.value_weighted(case, weights).tolist()
    )


def test_undefined_is_nan_for_every_draw() -> None:
    assert np.isnan(undefined(np.ones((3, 2)))).tolist() == [True] * 3
