import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from floorbench.errors import DataError
from floorbench.metrics import base
from floorbench.metrics.base import point
from floorbench.metrics.ranking import auc, auc_macro, eer, eer_macro
from oracles.metrics_cases import WORDS, score_case, with_columns


@pytest.mark.parametrize("seed", range(4))
def test_agrees_with_scikit_learn(seed: int) -> None:
    case = score_case(np.random.default_rng(seed), 150)
    gold, scores = case.columns["gold"], case.columns["scores"]
    each = [roc_auc_score(gold == k, scores[:, k], sample_weight=case.weight) for k in range(3)]
    for k, word in enumerate(WORDS):
        got = point(auc(positive=word, score="scores"), case).value
        assert got == pytest.approx(each[k], abs=1e-12)
    assert point(auc_macro(labels=WORDS), case).value == pytest.approx(np.mean(each), abs=1e-12)


def test_without_full_coverage_undefined_or_named_otherwise() -> None:
    case = score_case(np.random.default_rng(0))
    outcome = case.columns["outcome"].copy()
    outcome[3] = base.FAILED
    holed = with_columns(case, outcome=outcome)
    assert point(auc(positive="T"), holed) == (
        None,
        f"1 of {len(case)} units have no score; coverage must be 100 %",
    )
    answered = auc(positive="T", missing="drop")
    assert answered.spec.name == "auc_answered"
    rest = case.where(np.arange(len(case)) != 3)
    assert point(answered, holed).value == point(auc(positive="T"), rest).value
    outcome[3] = base.UNSUPPORTED
    assert point(answered, with_columns(case, outcome=outcome)).value is None


@pytest.mark.parametrize("metric", [auc, eer])
def test_an_absent_class_is_named(metric) -> None:
    case = score_case(np.random.default_rng(0))
    gold = case.columns["gold"]
    assert point(metric(positive="T"), case.where(gold != 2)).reason == (
        "no unit has gold label 'T'"
    )
    assert point(metric(positive="T"), case.where(gold == 2)).reason == (
        "every unit has gold label 'T'"
    )


@pytest.mark.parametrize("metric", [auc_macro, eer_macro])
def test_an_absent_class_undoes_the_average(metric) -> None:
    case = score_case(np.random.default_rng(0))
    value, reason = point(metric(labels=WORDS), case.where(case.columns["gold"] != 1))
    assert value is None
    assert reason == "no unit has gold label 'B'"


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_claimed_must_be_finite(bad: float) -> None:
    case = score_case(np.random.default_rng(0))
    score = case.columns["score"].copy()
    score[5] = bad
    with pytest.raises(DataError, match="FB622 column 'score' row 5"):
        point(auc(positive="T"), with_columns(case, score=score))


def test_scores_must_match_the_labels() -> None:
    case = score_case(np.random.default_rng(0))
    with pytest.raises(DataError, match="FB601 column 'scores' has 2 scores per unit"):
        point(
            auc(positive="T", score="scores"),
            with_columns(case, scores=case.columns["scores"][:, :2]),
        )
    with pytest.raises(DataError, match="FB627 label 'X'"):
        point(auc(positive="X"), case)


def test_weightless_classes_in_a_draw_are_undefined_there_alone() -> None:
    case = score_case(np.random.default_rng(0))
    weights = np.ones((2, len(case.clusters)))
    weights[1] = 0
    values = auc(positive="T").value_weighted(case, weights)
    assert not np.isnan(values[0])
    assert np.isnan(values[1])
