import math

import numpy as np
import pytest
from sklearn import metrics as sk

from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import ABSENT, OK
from floorbench.metrics.classification import accuracy, class_accuracy, macro_accuracy
from floorbench.metrics.fscore import macro_f1
from floorbench.metrics.latency import latency_percentile
from floorbench.metrics.ranking import auc, auc_macro
from floorbench.stats.paired import compare
from floorbench.stats.quick import estimate, units

LABELS = ("keep", "yield", "wait")


def lists(n: int = 120, seed: int = 0) -> tuple[list[str], list[str]]:
    rng = np.random.default_rng(seed)
    gold = rng.choice(LABELS, n)
    said = np.where(rng.random(n) < 0.6, gold, rng.choice(LABELS, n))
    return gold.tolist(), said.tolist()


def test_values_are_those_of_scikit_learn() -> None:
    gold, said = lists()
    data = units(labels=LABELS, gold=gold, predicted=said)
    for metric, theirs in (
        (accuracy(), sk.accuracy_score(gold, said)),
        (macro_accuracy(labels=LABELS), sk.balanced_accuracy_score(gold, said)),
        (macro_f1(labels=LABELS), sk.f1_score(gold, said, average="macro")),
    ):
        found = estimate(metric, data, draws=200)
        assert found.value == pytest.approx(theirs, abs=1e-12)
        assert found.interval.low < found.value < found.interval.high
        assert (found.interval.clusters, found.units, found.coverage.ok) == (120, 120, 120)


def test_scores_by_unit_and_by_label() -> None:
    gold, _ = lists()
    rng = np.random.default_rng(1)
    table = {label: rng.random(120).tolist() for label in LABELS}
    one = units(labels=LABELS, gold=gold, scores=table["keep"])
    assert estimate(auc(positive="keep"), one, draws=50).value == pytest.approx(
        sk.roc_auc_score([g == "keep" for g in gold], table["keep"]), abs=1e-12
    )
    # columns are given by name: another order of the mapping changes nothing
    many = units(labels=LABELS, gold=gold, scores=dict(reversed(table.items())))
    mean = np.mean([sk.roc_auc_score([g == c for g in gold], table[c]) for c in LABELS])
    found = estimate(auc_macro(labels=LABELS), many, draws=50)
    assert found.value == pytest.approx(mean, abs=1e-12)


def test_clusters_and_strata_are_resampled_as_given() -> None:
    gold, said = lists()
    names = [f"d{i // 4}" for i in range(120)]
    data = units(labels=LABELS, gold=gold, predicted=said, clusters=names)
    assert data.clusters == tuple(dict.fromkeys(names))
    assert data.strata.tolist() == [0] * 30
    by_source = units(
        labels=LABELS,
        gold=gold,
        predicted=said,
        clusters=names,
        strata=["real" if i < 40 else "made" for i in range(118)] + ["made", "real"],
    )
    # the last cluster touches both and is a stratum of its own kind
    assert by_source.strata.tolist() == [0] * 10 + [1] * 19 + [2]
    wide = estimate(accuracy(), units(labels=LABELS, gold=gold, predicted=said), draws=100)
    assert wide.interval.clusters == 120
    assert estimate(accuracy(), data, draws=100).interval.clusters == 30


def test_a_missing_prediction_is_wrong_or_dropped_and_counted() -> None:
    gold, said = ["keep"] * 20, ["keep"] * 15 + [None] * 5
    data = units(labels=LABELS, gold=gold, predicted=said)
    assert data.columns["outcome"].tolist() == [OK] * 15 + [ABSENT] * 5
    found = estimate(accuracy(), data, draws=20)
    assert (found.value, found.coverage.ok, found.coverage.absent) == (0.75, 15, 5)
    assert estimate(accuracy(missing="drop"), data, draws=20).value == 1.0
    ranked = units(labels=LABELS, gold=["keep", "wait"] * 10, scores=[0.5] * 19 + [None])
    undefined = estimate(auc(positive="keep"), ranked, draws=20)
    assert undefined.reason == "1 of 20 units have no score; coverage must be 100 %"


def test_labels_and_scores_together() -> None:
    data = units(labels=LABELS, gold=["keep", "wait"], predicted=["keep", None], scores=[0.5, None])
    assert {"predicted", "score"} < data.columns.keys()
    with pytest.raises(DataError, match="FB601 row 1 has a label or a score, not both"):
        units(labels=LABELS, gold=["keep", "wait"], predicted=["keep", "wait"], scores=[0.5, None])


def test_two_systems_are_compared() -> None:
    gold, said = lists()
    a = units(labels=LABELS, gold=gold, predicted=gold)
    b = units(labels=LABELS, gold=gold, predicted=said)
    found = compare({"f1": macro_f1(labels=LABELS)}, a, b, draws=50, permutations=99, seed=0)["f1"]
    assert found.a == 1
    assert found.interval.low > 0
    assert found.test.p == 0.01


# ---- bad input: one clear error, or an undefined value with its reason -------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"predicted": ["keep"]}, "FB601 'predicted' has 1 entry, 'gold' has 2"),
        ({"predicted": ["keep", "wait"], "clusters": ["a"]}, "FB601 'clusters' has 1 entry"),
        ({"predicted": ["keep", "wait"], "strata": "xyz"}, "FB601 'strata' has 3 entries"),
        ({"scores": [0.1, 0.2, 0.3]}, "FB601 'scores' has 3 entries"),
        ({"scores": {"keep": [0.1, 0.2]}}, "FB601 scores are of .'keep'., the labels are"),
        (
            {"scores": {"keep": [0.1, None], "yield": [0.1, 0.2], "wait": [0.1, 0.2]}},
            "FB601 row 1 has a score for some labels only",
        ),
        (
            {"predicted": ["keep", "yeild"]},
            r"FB627 'predicted' row 1: label 'yeild' is not in the label set\s+"
            "hint: did you mean 'yield'",
        ),
        ({"predicted": ["keep", 3]}, "FB627 'predicted' row 1: label 3 is not in the label set"),
        ({"clusters": [1, "1"]}, "FB601 two different 'clusters' read alike"),
    ],
)
def test_bad_lists(given: dict, message: str) -> None:
    with pytest.raises(DataError, match=message):
        units(labels=LABELS, gold=["keep", "wait"], **given)


def test_bad_gold_and_label_sets() -> None:
    with pytest.raises(DataError, match="FB627 'gold' row 0: label 'nod'"):
        units(labels=LABELS, gold=["nod"], predicted=["keep"])
    with pytest.raises(DataError, match="FB627 row 1 has no gold label"):
        units(labels=LABELS, gold=["keep", None], predicted=["keep", "keep"])
    with pytest.raises(UsageError, match="FB103 the label set is empty"):
        units(labels=(), gold=[], predicted=[])
    with pytest.raises(UsageError, match="FB103 a label stands twice"):
        units(labels=("a", "a"), gold=["a"], predicted=["a"])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_scores_that_are_not_finite(value: float) -> None:
    data = units(labels=LABELS, gold=["keep", "wait"] * 10, scores=[0.5] * 7 + [value] + [0.1] * 12)
    with pytest.raises(DataError, match="FB622 column 'score' row 7 is not a finite number"):
        estimate(auc(positive="keep"), data, draws=10)


def test_a_metric_of_other_columns() -> None:
    data = units(labels=LABELS, gold=["keep"], predicted=["keep"])
    with pytest.raises(DataError, match="FB601 the metric reads a column 'score'"):
        estimate(auc(positive="keep"), data, draws=10)
    with pytest.raises(DataError, match=r"FB\d+ "):
        estimate(latency_percentile(level=0.5), data, draws=10)


def test_nothing_at_all() -> None:
    found = estimate(accuracy(), units(labels=LABELS, gold=[], predicted=[]), draws=10)
    assert (found.value, found.reason) == (None, "no units to score")
    assert found.interval.reason == "0 clusters; an interval needs 10"


def test_a_single_cluster_has_a_value_and_no_interval() -> None:
    data = units(labels=LABELS, gold=["keep"] * 30, predicted=["keep"] * 30, clusters=["a"] * 30)
    found = estimate(accuracy(), data, draws=10)
    assert (found.value, found.interval.low) == (1.0, None)
    assert found.interval.reason == "1 cluster; an interval needs 10"
    tested = compare({"x": accuracy()}, data, data, draws=10, seed=0)["x"].test
    assert (tested.p, tested.reason) == (None, "1 cluster; a test needs 6")


def test_an_absent_class_is_undefined_with_the_reason() -> None:
    gold = ["keep"] * 10 + ["yield"] * 10
    data = units(labels=LABELS, gold=gold, predicted=gold)
    assert estimate(class_accuracy(label="wait"), data, draws=10).reason == (
        "no unit has gold label 'wait'"
    )
    assert estimate(macro_accuracy(labels=LABELS), data, draws=10).reason == (
        "no unit of 'wait' in gold"
    )
    assert estimate(macro_accuracy(labels=LABELS[:2]), data, draws=10).value == 1.0


def test_a_perfect_share_has_the_exact_interval() -> None:
    data = units(labels=LABELS, gold=["keep"] * 100, predicted=["yield"] * 100)
    found = estimate(class_accuracy(label="keep"), data, draws=50)
    assert found.interval.method == "clopper-pearson"
    assert found.interval.high == pytest.approx(1 - 0.025**0.01)


def test_bad_numbers() -> None:
    data = units(labels=LABELS, gold=["keep"], predicted=["keep"])
    with pytest.raises(UsageError, match="FB650 0 draws"):
        estimate(accuracy(), data, draws=0)
    with pytest.raises(UsageError, match="FB650 the level is 1"):
        estimate(accuracy(), data, level=1)
    with pytest.raises(UsageError, match="FB650 the seed is -1"):
        estimate(accuracy(), data, seed=-1)
