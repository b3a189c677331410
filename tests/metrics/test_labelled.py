import numpy as np
import pytest

from floorbench.errors import UsageError
from floorbench.metrics.base import point
from floorbench.metrics.labelled import (
    label_spec,
    macro_recall_metric,
    many_label_metric,
    prevalence_metric,
    recall_metric,
)
from oracles.metrics_cases import ACTIONS, label_case


def test_specs_carry_every_parameter_that_changes_the_value() -> None:
    spec = label_spec("accuracy", "gold", "predicted", "drop", {"label": "x"})
    assert spec.parameters == {"gold": "gold", "missing": "drop", "label": "x"}
    assert spec.columns == ("gold", "predicted", "outcome")
    with pytest.raises(UsageError, match="FB103 missing='none'"):
        label_spec("accuracy", "gold", "predicted", "none", {})


def test_a_mean_of_recalls_is_their_mean() -> None:
    case = label_case(np.random.default_rng(0), 100)
    where = ("gold", "predicted", "wrong")
    each = [point(recall_metric("r", label, *where), case).value for label in ACTIONS]
    mean = point(macro_recall_metric("m", ACTIONS, *where), case).value
    assert mean == pytest.approx(np.mean(each))


def test_label_sets_are_checked_when_the_metric_is_built() -> None:
    with pytest.raises(UsageError, match="FB103 the label set is empty"):
        many_label_metric(
            "x", (), ("gold", "predicted", "wrong"), lambda t: t[..., 0], gold_only=True
        )


def test_prevalence_counts_gold_labels_of_kept_units() -> None:
    case = label_case(np.random.default_rng(0), 100)
    metric = prevalence_metric("p", "Dismiss", ("gold", "predicted", "drop"), lambda p: p)
    kept = (case.columns["outcome"] == 0) | (case.columns["outcome"] == 2)
    gold = case.columns["gold"] == 3
    want = case.weight[kept & gold].sum() / case.weight[kept].sum()
    assert point(metric, case).value == pytest.approx(want)
