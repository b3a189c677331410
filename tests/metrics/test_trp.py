import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base
from floorbench.metrics.base import point
from floorbench.metrics.trp import slot_f, slot_precision, slot_recall
from oracles.metrics_cases import LISTS, slot_case, with_columns


@pytest.mark.parametrize("seed", range(3))
def test_pooled_agrees_with_scikit_learn(seed: int) -> None:
    case = slot_case(np.random.default_rng(seed), 20, missing=False)
    p, r, f, _ = precision_recall_fscore_support(
        case.columns["gold"],
        case.columns["predicted"],
        average="binary",
        sample_weight=case.weight,
    )
    assert point(slot_precision(), case).value == pytest.approx(p, abs=1e-12)
    assert point(slot_recall(), case).value == pytest.approx(r, abs=1e-12)
    assert point(slot_f(), case).value == pytest.approx(f, abs=1e-12)


def two_lists() -> base.Scored:
    """List 1: stimulus 0 with P 1/1, stimulus 1 with P 1/3. List 2: stimulus 2 with P 0/2."""
    gold = np.array([1, 0, 1, 0, 0, 0, 0, 1])
    said = np.array([1, 0, 1, 1, 1, 1, 1, 0])
    return base.Scored(
        cluster=np.array([0, 0, 1, 1, 1, 2, 2, 2]),
        clusters=("a", "b", "c"),
        strata=np.zeros(3, dtype=np.int64),
        weight=np.ones(8),
        columns={
            "gold": gold,
            "predicted": said,
            "outcome": np.zeros(8, dtype=np.int64),
            "stimulus": np.array([0, 0, 1, 1, 1, 2, 2, 2]),
            "slot": np.array([1, 2, 1, 2, 3, 1, 2, 3]),
            "list": np.array([0, 0, 0, 0, 0, 1, 1, 1]),
        },
        vocab={"gold": ("no", "yes"), "list": LISTS},
    )


def test_the_three_aggregations_differ() -> None:
    case = two_lists()
    assert point(slot_precision(), case).value == pytest.approx(2 / 6)
    listed = slot_precision(aggregation="list_mean", lists=LISTS)
    assert point(listed, case).value == pytest.approx((2 / 4 + 0) / 2)
    macro = slot_precision(aggregation="stimulus_list_macro", lists=LISTS)
    assert point(macro, case).value == pytest.approx(((1 + 1 / 3) / 2 + 0) / 2)


def test_undefined_lists_are_named_and_undefined_stimuli_counted() -> None:
    case = two_lists()
    silent = with_columns(
        case, predicted=np.where(case.columns["stimulus"] == 1, 0, case.columns["predicted"])
    )
    macro = slot_precision(aggregation="stimulus_list_macro", lists=LISTS)
    assert point(macro, silent).value == pytest.approx((1 + 0) / 2)
    table = macro.rows(silent)
    assert dict(zip(table.names, table.totals(), strict=True))["excluded"] == 1
    quiet = with_columns(
        case, predicted=np.where(case.columns["list"] == 1, 0, case.columns["predicted"])
    )
    listed = slot_precision(aggregation="list_mean", lists=LISTS)
    assert point(listed, quiet).reason == "no slot was predicted in list 'list2'"
    assert point(macro, quiet).reason == "no slot was predicted in any stimulus of list 'list2'"


def test_lists_and_aggregation_must_fit() -> None:
    with pytest.raises(UsageError, match="FB103 aggregation='list_mean' with 0 lists"):
        slot_f(aggregation="list_mean")
    with pytest.raises(UsageError, match="FB103 aggregation='pooled' with 2 lists"):
        slot_f(lists=LISTS)
    with pytest.raises(UsageError, match="FB103 aggregation='mean'"):
        slot_f(aggregation="mean")
    with pytest.raises(UsageError, match="FB103 beta=0"):
        slot_f(beta=0)
    with pytest.raises(DataError, match="FB627 list 'list2' is not among the declared"):
        point(slot_f(aggregation="list_mean", lists=LISTS[:1]), two_lists())
    split = with_columns(two_lists(), list=np.array([0, 1, 0, 0, 0, 1, 1, 1]))
    with pytest.raises(DataError, match="FB625 the stimulus of row 0 stands in two lists"):
        point(slot_f(aggregation="list_mean", lists=LISTS), split)
