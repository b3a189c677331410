import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floorbench.metrics.base import evaluator
from floorbench.metrics.bundle import evaluators
from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.metrics.fscore import f_score, weighted_f1
from floorbench.metrics.jackknife import LeavesOut, leave_one_out, left_out
from floorbench.metrics.ranking import auc, auc_macro, eer
from oracles.metrics_cases import ACTIONS, WORDS, label_case, score_case

CELLS = {
    "accuracy": (accuracy(), label_case),
    "macro": (macro_accuracy(labels=ACTIONS), label_case),
    "wf1": (weighted_f1(labels=ACTIONS), label_case),
    "f": (f_score(label="Dismiss", missing="drop"), label_case),
    "auc": (auc(positive="T", missing="drop"), score_case),
    "eer": (eer(positive="B", missing="drop"), score_case),
    "auc_macro": (auc_macro(labels=WORDS, score="score", missing="drop"), score_case),
}


def written_out(strata: np.ndarray, present: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Clusters left out, stratum by stratum, and a row of weights for each, one loop at a time."""
    gone, rows = [], []
    for code in sorted(set(strata[present].tolist())):
        members = [c for c in range(len(strata)) if present[c] and strata[c] == code]
        for out in members if len(members) > 1 else ():
            row = [1.0 if here else 0.0 for here in present]
            for mate in members:
                row[mate] = 0.0 if mate == out else len(members) / (len(members) - 1)
            gone.append(out)
            rows.append(row)
    return gone, np.array(rows).reshape(len(rows), len(strata))


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    strata=st.integers(1, 4),
    absent=st.floats(0, 0.6),
    memory=st.sampled_from([1, 1 << 20]),
    name=st.sampled_from(list(CELLS)),
)
def test_the_short_way_gives_the_values_of_the_weights(
    seed: int, strata: int, absent: float, memory: int, name: str
) -> None:
    rng = np.random.default_rng(seed)
    metric, case = CELLS[name]
    scored = case(rng)
    clusters = len(scored.clusters)
    codes, present = rng.integers(0, strata, clusters), rng.random(clusters) >= absent
    left = left_out(codes, present, memory=memory)
    gone, weights = written_out(codes, present)
    assert left.clusters.tolist() == gone
    want = evaluator(metric, scored)(weights) if len(gone) else []
    found = leave_one_out(evaluator(metric, scored), left)
    assert found == pytest.approx(want, abs=1e-12, nan_ok=True)
    bundled = leave_one_out(evaluators([(name, metric, scored)])[name], left)
    assert bundled.tolist() == pytest.approx(found.tolist(), abs=1e-15, nan_ok=True)


@pytest.mark.parametrize("memory", [1, 1000, 1 << 20])
def test_weights_come_in_portions_and_cannot_be_changed(memory: int) -> None:
    codes, present = np.array([2, 2, 5, 2, 5, 9, 9]), np.array([1, 1, 1, 1, 1, 1, 0], bool)
    left = left_out(codes, present, memory=memory)
    gone, rows = written_out(codes, present)
    portions = list(left.weights())
    assert (left.clusters.tolist(), len(left)) == (gone, 5)
    assert np.concatenate(portions).tolist() == rows.tolist()
    assert not any(p.flags.writeable for p in portions)
    assert len(portions) == {1: 5, 1000: 2}.get(memory, 1)


@pytest.mark.parametrize("name", ["accuracy", "macro", "auc", "auc_macro", "eer"])
def test_nothing_to_leave_out(name: str) -> None:
    metric, case = CELLS[name]
    scored = case(np.random.default_rng(0))
    clusters = len(scored.clusters)
    alone = left_out(np.arange(clusters), np.ones(clusters, bool), memory=1 << 20)
    nobody = left_out(np.zeros(clusters, np.int64), np.zeros(clusters, bool), memory=1 << 20)
    for left in (alone, nobody):
        assert leave_one_out(evaluator(metric, scored), left).tolist() == []


def test_additive_metrics_and_auc_have_a_short_way_and_functions_do_not() -> None:
    rng = np.random.default_rng(0)
    for name in ("accuracy", "f", "auc", "auc_macro"):
        metric, case = CELLS[name]
        assert isinstance(evaluator(metric, case(rng)), LeavesOut)
    assert not isinstance(lambda w: w.sum(axis=1), LeavesOut)


def test_totals_of_whole_numbers_are_exact() -> None:
    # 0 stays 0, so that what is undefined by the weights is undefined by the totals.
    sums = np.array([[3.0, 0.0], [0.0, 0.0], [0.0, 7.0], [0.0, 5.0]])
    left = left_out(np.array([0, 0, 1, 1]), np.ones(4, bool), memory=1)
    assert left.totals(sums).tolist() == [[0.0, 12.0], [6.0, 12.0], [3.0, 10.0], [3.0, 14.0]]
