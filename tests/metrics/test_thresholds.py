import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base
from floorbench.metrics.thresholds import OBJECTIVES, choose, read, sweep
from oracles.metrics_cases import score_case, shuffled, with_columns

CAPPED = {"recall_at_fpr": 0.3, "fpr_at_recall": 0.7}


def table(case: base.Scored, threshold: float) -> tuple[float, float, float, float]:
    said = case.columns["score"] >= threshold
    gold = case.columns["gold"] == 2
    return tuple(
        float(case.weight[m].sum())
        for m in (said & gold, said & ~gold, ~said & gold, ~said & ~gold)
    )


def objective(name: str, tp: float, fp: float, fn: float, tn: float) -> float | None:
    if name == "accuracy":
        return (tp + tn) / (tp + fp + fn + tn)
    if name == "f_score":
        return 2 * tp / (2 * tp + fp + fn)
    recall, fpr = tp / (tp + fn), fp / (fp + tn)
    if name == "balanced_accuracy":
        return (recall + 1 - fpr) / 2
    if name == "recall_at_fpr":
        return recall if fpr <= 0.3 + 1e-12 else None
    return -fpr if recall >= 0.7 - 1e-12 else None


@pytest.mark.parametrize("name", OBJECTIVES)
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_choice_is_the_best_of_all_and_the_highest_of_the_best(name: str, seed: int) -> None:
    case = score_case(np.random.default_rng(seed), 40)
    chosen = choose(case, positive="T", objective=name, limit=CAPPED.get(name))
    values = {t: objective(name, *table(case, t)) for t in [*case.columns["score"].tolist(), 9.0]}
    allowed = {t: v for t, v in values.items() if v is not None}
    best = max(allowed.values())
    highest = max(t for t, v in allowed.items() if v >= best - 1e-12)
    if highest == 9.0:
        assert chosen.threshold > case.columns["score"].max()
    else:
        assert chosen.threshold == highest
    assert abs(chosen.value) == pytest.approx(abs(best), abs=1e-12)


def test_order_of_the_data_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    case = score_case(rng)
    first = choose(case, positive="T", objective="f_score")
    for _ in range(5):
        assert choose(shuffled(case, rng), positive="T", objective="f_score") == first


@pytest.mark.parametrize("name", OBJECTIVES)
def test_reading_on_the_choosing_split_has_no_gap(name: str) -> None:
    case = score_case(np.random.default_rng(3))
    chosen = choose(case, positive="T", objective=name, limit=CAPPED.get(name))
    reading = read(case, chosen)
    assert reading.gap == pytest.approx(0.0, abs=1e-12)
    assert (reading.tp, reading.fp, reading.fn, reading.tn) == table(case, chosen.threshold)


def test_missing_on_the_reading_split_counts_as_wrong() -> None:
    case = score_case(np.random.default_rng(3))
    chosen = choose(case, positive="T", objective="accuracy")
    outcome = np.full(len(case), base.FAILED)
    reading = read(with_columns(case, outcome=outcome), chosen)
    assert reading.accuracy == reading.recall == 0.0
    assert reading.precision is None
    assert reading.fpr is None
    assert reading.missed + reading.spared == pytest.approx(case.weight.sum())
    assert reading.value == 0.0


def test_sweep_starts_with_nothing_and_ends_with_everything() -> None:
    case = score_case(np.random.default_rng(0))
    s = sweep(case, positive="T")
    assert s.recall[0] == s.fpr[0] == 0
    assert np.isnan(s.precision[0])
    assert s.recall[-1] == s.fpr[-1] == 1
    assert (np.diff(s.thresholds) < 0).all()
    assert (np.diff(s.tp) >= 0).all()


def test_without_a_class_there_is_no_point() -> None:
    case = score_case(np.random.default_rng(0))
    one_class = case.where(case.columns["gold"] == 2)
    with pytest.raises(DataError, match="FB631 'balanced_accuracy' is undefined"):
        choose(one_class, positive="T", objective="balanced_accuracy")
    nothing = case.where(np.zeros(len(case), dtype=bool))
    with pytest.raises(DataError, match="FB631"):
        choose(nothing, positive="T", objective="accuracy")
    reading = read(nothing, choose(case, positive="T", objective="f_score"))
    assert reading.value is None
    assert reading.gap is None


def test_bad_input_is_refused() -> None:
    case = score_case(np.random.default_rng(0))
    with pytest.raises(UsageError, match="FB103 objective='auc'"):
        choose(case, positive="T", objective="auc")
    with pytest.raises(UsageError, match="FB103 objective='recall_at_fpr' with limit=None") as e:
        choose(case, positive="T", objective="recall_at_fpr")
    assert e.value.hint == "it needs a limit from 0 to 1: for example 0.1"
    with pytest.raises(UsageError, match=r"FB103 objective='f_score' with limit=0\.1"):
        choose(case, positive="T", objective="f_score", limit=0.1)
    with pytest.raises(DataError, match="FB622"):
        sweep(with_columns(case, score=case.columns["score"] * np.nan), positive="T")
