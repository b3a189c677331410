import numpy as np
import pytest

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base
from floorbench.metrics.base import point
from floorbench.metrics.distances import (
    mae_density,
    mae_seconds,
    mae_slots,
    mae_slots_recall,
    mse_slots,
    nmae,
    nmse,
)
from oracles.metrics_cases import slot_case, with_columns


def one(gold: list[int], said: list[int], **columns: object) -> base.Scored:
    n = len(gold)
    return base.Scored(
        cluster=np.zeros(n, dtype=np.int64),
        clusters=("a",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "gold": np.array(gold),
            "predicted": np.array(said),
            "outcome": np.zeros(n, dtype=np.int64),
            "stimulus": np.zeros(n, dtype=np.int64),
            "slot": np.arange(1, n + 1),
            **{k: np.array(v) for k, v in columns.items()},
        },
        vocab={"gold": ("no", "yes")},
    )


def test_worked_example() -> None:
    # consensus 3 and 7 of 9 slots; predictions 3 (d 0), 5 (tie: d 2, earlier) and 9 (d 2)
    case = one([0, 0, 1, 0, 0, 0, 1, 0, 0], [0, 0, 1, 0, 1, 0, 0, 0, 1])
    assert point(mae_slots(), case).value == pytest.approx(4 / 3)
    assert point(mse_slots(), case).value == pytest.approx(8 / 3)
    assert point(mae_slots_recall(), case).value == 1.0
    # the farthest slot is 2 away, as are the farthest predictions
    assert point(nmae(norm="max_possible"), case).value == pytest.approx(2 / 3)
    assert point(nmae(norm="n_slots"), case).value == pytest.approx(4 / 27)
    assert point(nmse(norm="max_predicted"), case).value == pytest.approx(4 / 3)


def test_ties_take_time_and_density_of_the_earlier_slot() -> None:
    case = one(
        [1, 0, 0, 0, 1],
        [0, 0, 1, 0, 0],
        time=[0.0, 1.0, 2.0, 9.0, 10.0],
        proportion=[0.5, 0.0, 0.0, 0.0, 0.8],
    )
    assert point(mae_seconds(), case).value == 2.0
    assert point(mae_density(h=1), case).value == 2 / 0.5


def test_density_may_exceed_one_and_people_may_not() -> None:
    case = one(
        [1, 1, 0, 0],
        [0, 0, 0, 1],
        proportion=[1.0, 0.5, 0.0, 0.0],
        responses=[[1, 1, -1], [1, 0, -1], [0, 0, -1], [0, 0, -1]],
    )
    assert point(mae_density(h=1), case).value == 2 / 1.5
    assert point(mae_density(h=1, density="people"), case).value == 2.0


def test_all_exact_gives_zero_under_every_norm() -> None:
    case = one([1, 0, 1], [1, 0, 0])
    everywhere = one([1, 1], [1, 1])
    for norm in ("max_possible", "max_predicted", "n_slots", "none"):
        assert point(nmae(norm=norm), case).value == 0.0
        assert point(nmse(norm=norm), everywhere).value == 0.0


def test_an_outlier_lowers_max_predicted_and_not_max_possible() -> None:
    near = one([1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0])
    far = one([1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 1])
    assert point(nmae(norm="max_predicted"), near).value == 1.0
    assert point(nmae(norm="max_predicted"), far).value == pytest.approx(0.6)
    assert point(nmae(), near).value == pytest.approx(0.2)
    assert point(nmae(), far).value == pytest.approx(0.6)


def test_stimuli_without_a_side_are_excluded_and_counted() -> None:
    silent, unjustified = one([1, 0], [0, 0]), one([0, 0], [1, 1])
    assert point(mae_slots(), silent).reason == (
        "no stimulus has both a prediction and a consensus slot "
        "(1 without prediction, 0 without consensus)"
    )
    assert "0 without prediction, 1 without" in str(point(nmae(), unjustified).reason)


def test_contradictions_are_refused() -> None:
    with pytest.raises(DataError, match="FB625 row 0 is consensus-positive without a response"):
        point(mae_density(h=0), one([1, 0], [0, 1], proportion=[0.0, 0.4]))
    with pytest.raises(DataError, match="FB625 row 1 has a proportion outside"):
        point(mae_density(), one([1, 0], [0, 1], proportion=[0.5, 1.5]))
    with pytest.raises(DataError, match="FB622 column 'time' row 1"):
        point(mae_seconds(), one([1, 0], [0, 1], time=[0.5, np.nan]))
    with pytest.raises(DataError, match="FB625 the stimulus of row 0 was heard by nobody"):
        point(mae_density(density="people"), one([1, 0], [0, 1], responses=[[1, 0], [1, -1]]))
    with pytest.raises(DataError, match="FB601 column 'responses' has one value per unit"):
        point(mae_density(density="people"), one([1, 0], [0, 1], responses=[1, 0]))
    with pytest.raises(UsageError, match="FB103 norm='max'"):
        nmae(norm="max")
    with pytest.raises(UsageError, match="FB103 h=-1"):
        mae_density(h=-1)


def test_a_missing_slot_is_no_prediction() -> None:
    case = slot_case(np.random.default_rng(4), 12, missing=True)
    ok = case.columns["outcome"] == 0
    as_no = with_columns(
        case,
        predicted=np.where(ok, case.columns["predicted"], 0),
        outcome=np.zeros(len(case), dtype=np.int64),
    )
    assert point(mae_slots(), case) == point(mae_slots(), as_no)
    assert point(mae_slots_recall(), case) == point(mae_slots_recall(), as_no)
