import numpy as np
import pytest

from floorbench.errors import DataError
from floorbench.metrics import base
from floorbench.metrics.base import point
from floorbench.metrics.pairs import independence_baseline, pasr, pkc, prsr
from oracles.metrics_cases import pair_case, role_case, with_columns


def test_a_pair_with_a_missing_member_fails_or_leaves() -> None:
    case = pair_case(np.random.default_rng(0), missing=False)
    perfect = with_columns(
        case, predicted_a=case.columns["gold_a"], predicted_b=case.columns["gold_b"]
    )
    outcome = perfect.columns["outcome_b"].copy()
    flips = np.flatnonzero(perfect.columns["contrast"] < 2)
    outcome[flips[0]] = base.TIMEOUT
    failed = with_columns(perfect, outcome_b=outcome)
    lost = failed.weight[flips[0]] / failed.weight[flips].sum()
    assert point(pasr(), failed).value == pytest.approx(1 - lost)
    assert point(pasr(missing="drop"), failed).value == 1.0


def test_contrasts_split_the_flips_and_keep_pairs_stand_apart() -> None:
    case = pair_case(np.random.default_rng(0))
    inside = case.columns["contrast"] == 0
    assert point(pasr(contrast="IB"), case) == point(pasr(), case.where(inside))
    assert point(pasr(contrast="BO"), case) == (
        None,
        "no pair of contrast 'BO' counts for pasr",
    )
    assert point(pkc(contrast="BO"), case) == point(pkc(), case)


def test_independence_uses_the_members_of_its_own_contrast() -> None:
    # contrast IB: a right 1 of 2, b right 2 of 2; contrast IO all wrong
    case = base.Scored(
        cluster=np.arange(3),
        clusters=("x", "y", "z"),
        strata=np.zeros(3, dtype=np.int64),
        weight=np.ones(3),
        columns={
            "contrast": np.array([0, 0, 1]),
            "gold_a": np.array([0, 0, 0]),
            "gold_b": np.array([1, 1, 1]),
            "predicted_a": np.array([0, 1, 1]),
            "predicted_b": np.array([1, 1, 0]),
            "outcome_a": np.zeros(3, dtype=np.int64),
            "outcome_b": np.zeros(3, dtype=np.int64),
        },
        vocab={"contrast": ("IB", "IO", "BO"), "gold": ("yield", "keep")},
    )
    assert point(independence_baseline(contrast="IB"), case).value == 0.5
    assert point(independence_baseline(contrast="IO"), case).value == 0.0
    assert point(independence_baseline(contrast="BO"), case).reason == "no pair of contrast 'BO'"
    swapped = with_columns(case, gold_a=np.array([0, 1, 0]), gold_b=np.array([1, 0, 1]))
    with pytest.raises(DataError, match="FB624 pair 1 of contrast 'IB'"):
        point(independence_baseline(contrast="IB"), swapped)


def test_a_pair_with_one_member_is_refused() -> None:
    case = role_case(np.random.default_rng(0), 3)
    gold = case.columns["gold_b"].copy()
    gold[1] = -1
    with pytest.raises(DataError, match="FB624 pair 1 has no member 'b'"):
        point(prsr(), with_columns(case, gold_b=gold))
    with pytest.raises(DataError, match="FB621 pair 0 member 'a'"):
        point(
            prsr(),
            with_columns(
                case,
                predicted_a=np.full(3, -1),
                outcome_a=np.zeros(3, dtype=np.int64),
            ),
        )


def test_unknown_contrast_is_refused() -> None:
    with pytest.raises(DataError, match="FB627 label 'XY' is not in the label set of 'contrast'"):
        point(pasr(contrast="XY"), pair_case(np.random.default_rng(0)))
