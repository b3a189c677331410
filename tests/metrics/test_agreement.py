import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import fleiss_kappa

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base
from floorbench.metrics.agreement import (
    kappa_all,
    kappa_cohen,
    kappa_free,
    kappa_hit,
    kappa_near,
    kappa_raters,
    kappa_self,
)
from floorbench.metrics.base import point
from oracles.metrics_cases import ACTIONS, label_case, slot_case, with_columns


def cases(counts: list[list[int]]) -> base.Scored:
    n = len(counts)
    return base.Scored(
        cluster=np.zeros(n, dtype=np.int64),
        clusters=("a",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(n),
        columns={"counts": np.array(counts)},
    )


@pytest.mark.parametrize("seed", range(4))
def test_free_kappa_agrees_with_statsmodels_for_equal_numbers_of_raters(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.multinomial(5, [0.5, 0.3, 0.2], size=30)
    want = fleiss_kappa(table, method="randolph")
    got = point(kappa_free(categories=3), cases(table.tolist())).value
    assert got == pytest.approx(want, abs=1e-12)


def test_cases_with_fewer_than_two_raters_are_excluded_and_counted() -> None:
    mixed = cases([[3, 0], [1, 0], [0, 0], [1, 1]])
    metric = kappa_free(categories=2)
    assert point(metric, mixed).value == point(metric, cases([[3, 0], [1, 1]])).value == 0.0
    table = metric.rows(mixed)
    assert dict(zip(table.names, table.totals(), strict=True))["excluded"] == 2
    assert point(metric, cases([[1, 0]])).reason == "no case has two raters (1 excluded)"


def test_bad_counts_are_refused() -> None:
    with pytest.raises(DataError, match="FB626 case 1 has a count"):
        point(kappa_free(categories=2), cases([[3, 0], [4, -1]]))
    broken = with_columns(cases([[3, 0]]), counts=np.array([[np.nan, 1.0]]))
    with pytest.raises(DataError, match="FB626 case 0"):
        point(kappa_free(categories=2), broken)
    with pytest.raises(DataError, match="FB626 column 'counts' has shape"):
        point(kappa_free(categories=3), cases([[3, 0]]))
    with pytest.raises(UsageError, match="FB103 categories=1"):
        kappa_free(categories=1)


@pytest.mark.parametrize("seed", range(4))
def test_cohen_agrees_with_scikit_learn(seed: int) -> None:
    case = label_case(np.random.default_rng(seed), 100, missing=False)
    want = cohen_kappa_score(
        case.columns["gold"], case.columns["predicted"], sample_weight=case.weight
    )
    assert point(kappa_cohen(labels=ACTIONS), case).value == pytest.approx(want, abs=1e-12)


def test_cohen_is_undefined_when_both_use_one_label() -> None:
    case = label_case(np.random.default_rng(0), 5, missing=False)
    zeros = np.zeros(5, dtype=np.int64)
    same = with_columns(case, gold=zeros, predicted=zeros)
    assert point(kappa_cohen(labels=ACTIONS), same).reason == (
        "both sides use one and the same label only"
    )
    with pytest.raises(DataError, match="FB627 row 0 has a gold label outside"):
        point(kappa_cohen(labels=ACTIONS[1:]), same)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_kappa_all_is_the_free_kappa_of_model_and_consensus(seed: int) -> None:
    case = slot_case(np.random.default_rng(seed), missing=False)
    votes = np.zeros((len(case), 2), dtype=np.int64)
    for column in ("gold", "predicted"):
        votes[np.arange(len(case)), case.columns[column]] += 1
    want = point(kappa_free(categories=2), with_columns(case, counts=votes)).value
    assert point(kappa_all(), case).value == pytest.approx(want, abs=1e-12)


def test_windows_are_clipped_and_united() -> None:
    #        slots 1..7, consensus at 1 and 3, prediction at 5
    case = base.Scored(
        cluster=np.zeros(7, dtype=np.int64),
        clusters=("a",),
        strata=np.zeros(1, dtype=np.int64),
        weight=np.ones(7),
        columns={
            "gold": np.array([1, 0, 1, 0, 0, 0, 0]),
            "predicted": np.array([0, 0, 0, 0, 1, 0, 0]),
            "outcome": np.zeros(7, dtype=np.int64),
            "stimulus": np.zeros(7, dtype=np.int64),
            "slot": np.arange(1, 8),
        },
        vocab={"gold": ("no", "yes")},
    )
    assert point(kappa_hit(h=1), case).value == -1.0
    assert point(kappa_hit(h=2), case).value == 0.0  # one of the two consensus slots
    assert point(kappa_near(h=1), case).value == 0.0  # slots 1-4, agree on 2 and 4
    assert point(kappa_near(h=2), case).value == pytest.approx(2 * 2 / 5 - 1)
    quiet = with_columns(case, gold=np.zeros(7, dtype=np.int64))
    assert point(kappa_hit(), quiet).reason == "no slot is consensus-positive"
    with pytest.raises(UsageError, match="FB103 h=-1"):
        kappa_near(h=-1)


def test_runs_of_a_model_and_raters_have_kappas_of_their_own() -> None:
    votes = np.array([[3, 0], [2, 1]])
    case = with_columns(cases([[1, 1], [1, 1]]), run_counts=votes, rater_counts=votes[::-1])
    assert point(kappa_self(), case) == point(kappa_free(categories=2), cases(votes.tolist()))
    assert point(kappa_raters(), case).value == point(kappa_self(), case).value
    assert kappa_self().spec.name != kappa_raters().spec.name
