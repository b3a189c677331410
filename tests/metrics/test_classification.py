import numpy as np
import pytest

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base
from floorbench.metrics.base import point
from floorbench.metrics.classification import (
    accuracy,
    action_average,
    average_all4,
    class_accuracy,
    macro_accuracy,
    prediction_share,
    smr,
)
from oracles.metrics_cases import ACTIONS, INTENTS, label_case, with_columns


def small() -> base.Scored:
    """Two units of each action; the second Takeover failed, the second Dismiss is unsupported."""
    gold = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    said = np.array([0, 1, 1, 1, 2, -1, 2, -1])
    outcome = np.array([0, 0, 0, 0, 0, base.FAILED, 0, base.UNSUPPORTED])
    return base.Scored(
        cluster=np.arange(8),
        clusters=tuple("abcdefgh"),
        strata=np.zeros(8, dtype=np.int64),
        weight=np.ones(8),
        columns={"gold": gold, "predicted": said, "outcome": outcome},
        vocab={"gold": ACTIONS},
        units=tuple(f"u{i}" for i in range(8)),
    )


def test_missing_is_wrong_or_dropped_and_unsupported_is_always_wrong() -> None:
    assert point(accuracy(), small()).value == 4 / 8
    assert point(accuracy(missing="drop"), small()).value == 4 / 7
    assert point(class_accuracy(label="Takeover"), small()).value == 0.5
    assert point(class_accuracy(label="Takeover", missing="drop"), small()).value == 1.0
    assert point(class_accuracy(label="Dismiss", missing="drop"), small()).value == 0.0


def test_average_all4_counts_unsupported_actions_and_the_macro_need_not() -> None:
    supported = macro_accuracy(labels=ACTIONS[:3])
    assert point(supported, small()).value == pytest.approx(2 / 3)
    assert point(average_all4(labels=ACTIONS), small()).value == 0.5
    assert supported.spec.parameters["labels"] == list(ACTIONS[:3])


def test_empty_class_is_named() -> None:
    without = small().where(small().columns["gold"] != 2)
    value, reason = point(macro_accuracy(labels=ACTIONS), without)
    assert value is None
    assert reason == "no unit of 'Takeover' in gold"


def test_accuracy_is_micro_over_units_and_not_a_mean_of_scenarios() -> None:
    # 3 of 3 in one scenario and 0 of 1 in the other: micro 0.75, mean of scenarios 0.5
    case = base.Scored(
        cluster=np.zeros(4, dtype=np.int64),
        clusters=("a",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(4),
        columns={
            "gold": np.zeros(4, dtype=np.int64),
            "predicted": np.array([0, 0, 0, 1]),
            "gold_intent": np.array([0, 0, 0, 1]),
            "predicted_intent": np.array([0, 0, 0, 2]),
            "outcome": np.zeros(4, dtype=np.int64),
        },
        vocab={"gold": ACTIONS, "gold_intent": INTENTS},
    )
    assert point(class_accuracy(label="Maintain"), case).value == 0.75
    assert point(action_average(scenarios=INTENTS[:2]), case).value == 0.5


def test_smr_is_undefined_without_a_hit_and_says_so() -> None:
    case = label_case(np.random.default_rng(1))
    never = with_columns(case, predicted=np.where(case.columns["predicted"] == 0, 1, -1))
    never = with_columns(never, outcome=np.where(never.columns["predicted"] < 0, 3, 0))
    never = with_columns(never, predicted_intent=np.where(never.columns["predicted"] < 0, -1, 2))
    value, reason = point(smr(action="Maintain"), never)
    assert value is None
    assert reason == "no unit of action 'Maintain' was answered with it"


def test_prediction_share_has_no_better_direction() -> None:
    assert prediction_share(label="Dismiss").spec.better is None


def test_bad_labels_and_policies_are_refused() -> None:
    with pytest.raises(UsageError, match="FB103 missing='skip'"):
        accuracy(missing="skip")
    with pytest.raises(DataError, match="FB627 label 'Takover'") as caught:
        point(class_accuracy(label="Takover"), small())
    assert "did you mean 'Takeover'?" in str(caught.value)
    with pytest.raises(DataError, match="FB620"):
        point(accuracy(), with_columns(small(), gold=np.full(8, 4)))
    with pytest.raises(DataError, match="FB621 u0: row 0"):
        point(accuracy(), with_columns(small(), predicted=np.full(8, -1)))
    with pytest.raises(DataError, match="FB601 column 'gold_intent' has no label set"):
        point(action_average(scenarios=INTENTS[:1]), small())


def test_a_single_cluster_and_no_unit_at_all() -> None:
    one = small().where(np.arange(8) == 0)
    assert point(accuracy(), one).value == 1.0
    assert point(accuracy(), small().where(np.zeros(8, dtype=bool))) == (
        None,
        "no units to score",
    )
