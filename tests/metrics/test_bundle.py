import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.errors import DataError
from floorbench.metrics.base import evaluator
from floorbench.metrics.bundle import evaluators, one_product
from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.metrics.fscore import f_score, weighted_f1
from floorbench.metrics.ranking import auc
from oracles.metrics_cases import ACTIONS, draws, label_case, only_clusters, score_case


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_bundled_values_are_those_of_each_metric_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, words = label_case(rng), score_case(rng)
    cells = {
        "accuracy": (accuracy(), labels),
        "dropped": (accuracy(missing="drop"), labels),
        "macro": (macro_accuracy(labels=ACTIONS), labels),
        "wf1": (weighted_f1(labels=ACTIONS), labels),
        "f": (f_score(label="Dismiss"), labels.where(labels.columns["gold"] > 1)),
        "auc": (auc(positive="T"), words),
    }
    bundled = evaluators((name, *cell) for name, cell in cells.items())
    assert list(bundled) == list(cells)
    for weights in (draws(rng, labels), draws(rng, labels, 3)):
        for name, (metric, scored) in cells.items():
            want = evaluator(metric, scored)(weights)
            assert bundled[name](weights) == pytest.approx(want, abs=1e-12, nan_ok=True)


def test_alternating_weights_are_not_mixed_up() -> None:
    case = label_case(np.random.default_rng(0))
    one = evaluators([("a", accuracy(), case), ("b", accuracy(missing="drop"), case)])
    first, second = draws(np.random.default_rng(1), case), draws(np.random.default_rng(2), case)
    want = one["a"](first).tolist()
    one["b"](second)
    assert one["a"](first).tolist() == want


def test_other_clusters_are_refused() -> None:
    case = label_case(np.random.default_rng(0))
    with pytest.raises(DataError, match="FB601 cell 'b' has other clusters"):
        evaluators([("a", accuracy(), case), ("b", accuracy(), only_clusters(case, [0, 1]))])
    assert evaluators([]) == {}


def test_what_shares_a_product_is_told_from_what_does_not() -> None:
    rng = np.random.default_rng(0)
    case, words = label_case(rng), score_case(rng)
    two = evaluators([("a", accuracy(), case), ("m", macro_accuracy(labels=ACTIONS), case)])
    shared = one_product(two)
    assert shared is not None
    weights = draws(rng, case)
    for name, part in shared.parts.items():
        assert np.array_equal(
            part.of_totals(weights @ shared.sums), two[name](weights), equal_nan=True
        )
    other = evaluators([("b", accuracy(), case)])
    assert one_product({**two, **other}) is None
    assert one_product({**two, "x": evaluator(accuracy(), case)}) is None
    assert one_product(evaluators([("auc", auc(positive="T"), words)])) is None
    assert one_product({}) is None
