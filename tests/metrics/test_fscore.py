import numpy as np
import pytest
from sklearn import metrics as sk

from floorbench.errors import UsageError
from floorbench.metrics.base import point
from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.metrics.fscore import (
    always_f1,
    balanced_accuracy,
    chance_f1,
    f_score,
    macro_f1,
    micro_f1,
    precision,
    recall,
    specificity,
    weighted_f1,
)
from oracles.metrics_cases import ACTIONS, label_case


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_scikit_learn(seed: int) -> None:
    case = label_case(np.random.default_rng(seed), 200, missing=False)
    y, z, w = case.columns["gold"], case.columns["predicted"], case.weight
    common = {"sample_weight": w}
    code = 2
    label = ACTIONS[code]
    got = {
        "accuracy": point(accuracy(), case).value,
        "balanced": point(macro_accuracy(labels=ACTIONS), case).value,
        "precision": point(precision(label=label), case).value,
        "recall": point(recall(label=label), case).value,
        "f05": point(f_score(label=label, beta=0.5), case).value,
        "macro": point(macro_f1(labels=ACTIONS), case).value,
        "micro": point(micro_f1(labels=ACTIONS[:2]), case).value,
        "weighted": point(weighted_f1(labels=ACTIONS), case).value,
    }
    want = {
        "accuracy": sk.accuracy_score(y, z, **common),
        "balanced": sk.balanced_accuracy_score(y, z, **common),
        "precision": sk.precision_score(y, z, labels=[code], average="macro", **common),
        "recall": sk.recall_score(y, z, labels=[code], average="macro", **common),
        "f05": sk.fbeta_score(y, z, beta=0.5, labels=[code], average="macro", **common),
        "macro": sk.f1_score(y, z, average="macro", **common),
        "micro": sk.f1_score(y, z, labels=[0, 1], average="micro", **common),
        "weighted": sk.f1_score(y, z, average="weighted", **common),
    }
    assert got == pytest.approx(want, abs=1e-12)


def test_without_predictions_precision_is_undefined_and_f_is_zero() -> None:
    case = label_case(np.random.default_rng(0), missing=False)
    case = case.where(case.columns["predicted"] != 2)
    assert point(precision(label="Takeover"), case) == (
        None,
        "label 'Takeover' was never predicted",
    )
    assert point(f_score(label="Takeover"), case).value == 0.0


def test_f_is_undefined_only_without_any_trace_of_the_label() -> None:
    case = label_case(np.random.default_rng(0), missing=False)
    case = case.where((case.columns["predicted"] != 2) & (case.columns["gold"] != 2))
    assert point(f_score(label="Takeover"), case).value is None
    value, reason = point(macro_f1(labels=ACTIONS), case)
    assert value is None
    assert reason == "no unit of 'Takeover' in gold and predictions"


def test_a_missing_prediction_is_a_miss_and_no_false_positive() -> None:
    case = label_case(np.random.default_rng(3), 300, missing=True)
    answered = case.where(case.columns["outcome"] == 0)
    assert point(precision(label="Dismiss"), case) == point(precision(label="Dismiss"), answered)
    assert point(specificity(label="Dismiss"), case) == point(
        specificity(label="Dismiss"), answered
    )
    assert (
        point(recall(label="Dismiss"), case).value < point(recall(label="Dismiss"), answered).value
    )


def test_label_without_support_weighs_nothing_in_wf1() -> None:
    case = label_case(np.random.default_rng(0), missing=False)
    case = case.where(case.columns["gold"] != 2)
    assert (case.columns["predicted"] == 2).any()
    with_it = point(weighted_f1(labels=ACTIONS), case).value
    without = point(weighted_f1(labels=tuple(a for a in ACTIONS if a != "Takeover")), case).value
    assert with_it == without


def test_chance_values_follow_from_the_prevalence() -> None:
    case = label_case(np.random.default_rng(0), missing=False)
    p = point(chance_f1(label="Takeover"), case).value
    assert point(always_f1(label="Takeover"), case).value == pytest.approx(2 * p / (1 + p))
    empty = case.where(case.columns["gold"] != 2)
    assert point(always_f1(label="Takeover"), empty).value == 0.0  # false positives only
    assert point(chance_f1(label="Takeover"), empty).reason == "no unit has label 'Takeover'"


def test_undefined_sides_of_balanced_accuracy_are_told_apart() -> None:
    case = label_case(np.random.default_rng(0), missing=False)
    metric = balanced_accuracy(label="Takeover")
    gold = case.columns["gold"]
    assert point(metric, case.where(gold != 2)).reason == "no unit has gold label 'Takeover'"
    assert "other than 'Takeover'" in str(point(metric, case.where(gold == 2)).reason)


@pytest.mark.parametrize("beta", [0.0, -1.0, float("nan"), float("inf")])
def test_beta_must_be_positive(beta: float) -> None:
    with pytest.raises(UsageError, match="FB103 beta="):
        f_score(label="Dismiss", beta=beta)
