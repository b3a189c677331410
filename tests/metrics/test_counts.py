import numpy as np
import pytest

from floorbench.metrics import counts
from floorbench.metrics.inputs import Labels

LABELS = Labels(
    gold=np.array([0, 0, 1, 1, 2, 0]),
    predicted=np.array([0, 1, 1, -1, -1, -1]),
    answered=np.array([True, True, True, False, False, False]),
    kept=np.array([True, True, True, True, True, False]),
)


def test_one_label_follows_the_rule_for_missing() -> None:
    tp, fp, fn, tn = counts.split(counts.one_label(LABELS, 1).sum(axis=0))
    assert (tp, fp, fn, tn) == (1, 1, 1, 1)  # the unanswered unit of label 2 is in no count


def test_many_labels_are_one_label_each() -> None:
    rows = counts.many_labels(LABELS, np.array([2, 0]))
    tp, fp, fn = counts.thirds(rows)
    for place, code in enumerate((2, 0)):
        one = counts.split(counts.one_label(LABELS, code))
        assert tp[:, place].tolist() == one.tp.tolist()
        assert fp[:, place].tolist() == one.fp.tolist()
        assert fn[:, place].tolist() == one.fn.tolist()


def test_formulas_are_vectorised_and_nan_where_undefined() -> None:
    tp, other = np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 3.0]])
    assert counts.precision(tp, other) == pytest.approx(
        np.array([[np.nan, 0.5], [1.0, 0.0]]), nan_ok=True
    )
    assert counts.f_beta(tp, other, other) == pytest.approx(
        np.array([[np.nan, 0.5], [1.0, 0.0]]), nan_ok=True
    )
    assert np.isnan(counts.specificity(np.zeros(1), np.zeros(1))).all()
    assert np.isnan(counts.recall(np.zeros(1), np.zeros(1))).all()


def test_empty_labels_are_named() -> None:
    totals = np.array([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0])
    assert counts.empty_labels(totals, ("a", "b", "c"), gold_only=True) == ["b", "c"]
    assert counts.empty_labels(totals, ("a", "b", "c"), gold_only=False) == ["c"]
    assert counts.count_names(("a", "b"))[:3] == ("tp:a", "tp:b", "fp:a")
