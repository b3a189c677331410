import numpy as np
import pytest

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base, inputs
from oracles.metrics_cases import ACTIONS, label_case, with_columns


def case(**columns: np.ndarray) -> base.Scored:
    return with_columns(label_case(np.random.default_rng(0), 4, missing=False), **columns)


def test_only_missing_outcomes_are_dropped() -> None:
    n = len(base.OUTCOMES)
    units = with_columns(
        label_case(np.random.default_rng(0), n, missing=False), outcome=np.arange(n)
    )
    answered, kept = inputs.answers(units, "drop")
    assert [o for o, a in zip(base.OUTCOMES, answered, strict=True) if a] == ["ok"]
    assert [o for o, k in zip(base.OUTCOMES, kept, strict=True) if k] == ["ok", "unsupported"]
    assert inputs.answers(units, "wrong").kept.all()


def test_a_choice_names_the_allowed_values() -> None:
    assert inputs.check_choice("p", "a", ("a", "b")) == "a"
    with pytest.raises(UsageError, match="FB103 p='c' is not one of a, b"):
        inputs.check_choice("p", "c", ("a", "b"))


def test_a_label_beside_a_failed_outcome_is_no_answer() -> None:
    labels = inputs.labels(case(outcome=np.full(4, base.FAILED)), missing="wrong")
    assert labels.predicted.tolist() == [-1] * 4


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"gold": np.array([0, 1, 2, 4])}, "FB620 column 'gold' row 3"),
        ({"gold": np.array([0, -1, 2, 3])}, "FB620 column 'gold' row 1"),
        ({"predicted": np.array([0, 1, -2, 3])}, "FB620 column 'predicted' row 2"),
        ({"predicted": np.array([0, 1, -1, 3])}, "FB621 row 2 has outcome 'ok' and no label"),
        ({"gold": np.array([0.0, 1.0, 2.0, np.nan])}, "FB620 column 'gold' holds float64"),
        ({"outcome": np.array([0, 0, 7, 0])}, "FB629 column 'outcome' row 2"),
        ({"outcome": np.zeros(4)}, "FB629 column 'outcome' holds float64"),
        ({"gold": np.zeros((4, 2), int)}, "FB601 column 'gold' holds int64 in the shape"),
        ({"outcome": np.array(["ok"] * 4)}, "FB601 column 'outcome' holds <U2 in the shape"),
    ],
)
def test_bad_columns_are_refused(columns: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        inputs.labels(case(**columns), missing="wrong")


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(DataError, match="FB601 column 'gold' has 3 rows"):
        case(gold=np.zeros(3, dtype=np.int64))


def test_differing_label_sets_are_refused() -> None:
    from dataclasses import replace

    units = replace(case(), vocab={"gold": ACTIONS, "predicted": ACTIONS[::-1]})
    with pytest.raises(DataError, match="FB627 'gold' and 'predicted' have different"):
        inputs.labels(units, missing="wrong")


def test_label_lists_are_checked() -> None:
    assert inputs.check_labels(["a", "b"]) == ("a", "b")
    for bad in ("ab", [], ["a", "a"]):
        with pytest.raises(UsageError, match="FB103"):
            inputs.check_labels(bad)


def test_unknown_labels_get_a_suggestion_or_the_list() -> None:
    with pytest.raises(DataError, match="did you mean 'Dismiss'"):
        inputs.code_of(case(), "gold", "dismis")
    with pytest.raises(DataError, match="the labels are Maintain, StopandListen"):
        inputs.code_of(case(), "gold", "zzz")
    with pytest.raises(DataError, match="FB601 column 'role' has no label set"):
        inputs.code_of(case(), "role", "zzz")


def test_finite_looks_only_where_a_value_is_claimed() -> None:
    units = case(score=np.array([0.1, np.nan, 0.2, np.inf]))
    claimed = np.array([True, False, True, False])
    assert inputs.finite(units, "score", claimed)[2] == 0.2
    with pytest.raises(DataError, match="FB622 column 'score' row 1"):
        inputs.finite(units, "score", ~claimed)
    wide = case(score=np.array([[0.1, 0.2], [np.nan, 0.1], [0, 0], [0, 0]]))
    with pytest.raises(DataError, match="FB622 column 'score' row 1"):
        inputs.finite(wide, "score", np.ones(4, dtype=bool), wide=True)
    with pytest.raises(DataError, match=r"FB601 column .score. holds float64 in the shape"):
        inputs.finite(wide, "score", np.ones(4, dtype=bool))


def test_scores_of_one_label_come_from_its_column() -> None:
    table = np.arange(16.0).reshape(4, 4)
    assert inputs.of_label(case(), "score", table, 2).tolist() == [2.0, 6.0, 10.0, 14.0]
    assert inputs.of_label(case(), "score", table[:, 0], 2).tolist() == [0.0, 4.0, 8.0, 12.0]
    with pytest.raises(DataError, match="FB601 column 'score' has 3 scores per unit, there are 4"):
        inputs.of_label(case(), "score", table[:, :3], 2)


def test_integers_default_only_when_the_column_is_absent() -> None:
    assert inputs.integers(case(), "trial", default=0).tolist() == [0] * 4
    with pytest.raises(DataError, match="FB620"):
        inputs.integers(case(trial=np.zeros(4)), "trial", default=0)
    with pytest.raises(DataError, match="FB601"):
        inputs.integers(case(), "trial")
