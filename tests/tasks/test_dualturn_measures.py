import numpy as np
import pytest

from floorbench.metrics.base import FAILED, OK, Scored, point
from floorbench.metrics.fscore import balanced_accuracy
from floorbench.tasks.dualturn_measures import (
    NOT_FITTED,
    at_threshold,
    halves,
    predicted_by_probe,
    scored_by_probe,
    support,
)
from floorbench.tasks.frame_units import SPLITS


def units(scores, gold, splits, outcome=None) -> Scored:
    n = len(scores)
    return Scored(
        cluster=np.zeros(n, dtype=np.int64),
        clusters=("s",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "gold": np.array(gold),
            "score": np.array(scores, dtype=float),
            "features": np.array(scores, dtype=float)[:, None],
            "split": np.array([SPLITS.index(s) for s in splits]),
            "outcome": np.array(outcome or [OK] * n),
        },
        vocab={"gold": ("EOT", "HOLD"), "split": SPLITS},
    )


VALIDATION = ["validation"] * 4
TEST = ["test"] * 3


def test_the_threshold_of_validation_answers_test() -> None:
    made = units([0.9, 0.8, 0.3, 0.1, 0.85, 0.7, 0.2], [0, 0, 1, 1, 0, 0, 1], VALIDATION + TEST)
    validation, test = halves(made)
    said, why = at_threshold(validation, test, "score", objective="balanced_accuracy")
    assert why is None
    assert said.column("predicted").tolist() == [0, 1, 1]
    assert point(balanced_accuracy(label="EOT"), said).value == pytest.approx(0.75)


def test_a_missing_answer_has_no_label() -> None:
    made = units(
        [0.9, 0.1, 0.9, np.nan], [0, 1, 0, 1], ["validation", "validation", "test", "test"],
        [OK, OK, OK, FAILED],
    )  # fmt: skip
    said, _ = at_threshold(*halves(made), "score", objective="f_score")
    assert said.column("predicted").tolist() == [0, -1]


def test_nothing_is_fitted_on_one_class_or_on_test() -> None:
    made = units([0.9, 0.8, 0.5], [0, 0, 1], ["validation", "validation", "test"])
    assert at_threshold(*halves(made), "score", objective="f_score")[1] == NOT_FITTED
    assert predicted_by_probe(*halves(made), ("EOT", "HOLD"), ("x",))[1] == NOT_FITTED
    assert scored_by_probe(*halves(made), ("EOT", "HOLD"), ("x",))[1] == NOT_FITTED


def test_a_probe_answers_and_scores_test_units() -> None:
    made = units([0.9, 0.8, 0.3, 0.1, 0.95, 0.0, 0.5], [0, 0, 1, 1, 0, 1, 1], VALIDATION + TEST)
    said, why = predicted_by_probe(*halves(made), ("EOT", "HOLD"), ("x",))
    assert why is None
    assert said.column("predicted")[:2].tolist() == [0, 1]
    ranked, _ = scored_by_probe(*halves(made), ("EOT", "HOLD"), ("x",))
    assert ranked.column("scores").sum(axis=1) == pytest.approx([1, 1, 1])


def test_support_counts_gold_labels_whatever_was_answered() -> None:
    made = units([0.9, np.nan, 0.2], [0, 1, 1], TEST, [OK, FAILED, OK])
    assert support(made, ("EOT", "HOLD")) == "gold labels in the test part: EOT 1, HOLD 2"
