import numpy as np
import pytest
from sklearn.metrics import confusion_matrix

from floorbench.metrics.base import point
from floorbench.metrics.classification import class_accuracy
from floorbench.metrics.confusion import confusion
from oracles.metrics_cases import ACTIONS, label_case


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_scikit_learn(seed: int) -> None:
    case = label_case(np.random.default_rng(seed), missing=False)
    got = confusion(case, labels=ACTIONS).counts
    want = confusion_matrix(
        case.columns["gold"], case.columns["predicted"], sample_weight=case.weight
    )
    assert got[:, :4] == pytest.approx(want)
    assert not got[:, 4:].any()


def test_rows_add_up_and_the_diagonal_is_the_class_accuracy() -> None:
    case = label_case(np.random.default_rng(0), 200)
    matrix = confusion(case, labels=ACTIONS)
    assert matrix.counts.sum() == pytest.approx(case.weight.sum())
    shares = matrix.shares()
    for k, label in enumerate(ACTIONS):
        assert shares[k][k] == pytest.approx(point(class_accuracy(label=label), case).value)
        assert sum(shares[k]) == pytest.approx(1.0)
    assert matrix.columns == (*ACTIONS, "(other)", "(none)")


def test_a_subset_of_labels_keeps_answers_outside_it_in_their_own_column() -> None:
    case = label_case(np.random.default_rng(0), 200, missing=False)
    whole = confusion(case, labels=ACTIONS).counts
    part = confusion(case, labels=ACTIONS[2:]).counts
    assert part[:, :2] == pytest.approx(whole[2:, 2:4])
    assert part[:, 2] == pytest.approx(whole[2:, :2].sum(axis=1))


def test_missing_stands_apart_or_leaves_and_unsupported_stays() -> None:
    case = label_case(np.random.default_rng(0), 200)
    wrong, drop = (confusion(case, labels=ACTIONS, missing=m).counts for m in ("wrong", "drop"))
    unsupported = case.columns["outcome"] == 2
    assert wrong[:, :5] == pytest.approx(drop[:, :5])
    assert drop[:, 5].sum() == pytest.approx(case.weight[unsupported].sum())
    assert wrong[:, 5].sum() == pytest.approx(case.weight[case.columns["outcome"] > 0].sum())


def test_a_label_without_a_unit_has_no_shares() -> None:
    case = label_case(np.random.default_rng(0))
    assert confusion(case.where(case.columns["gold"] != 1), labels=ACTIONS).shares()[1] is None
