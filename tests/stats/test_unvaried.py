import numpy as np
import pytest

from floorbench.metrics.classification import accuracy, class_accuracy, macro_accuracy
from floorbench.metrics.fscore import macro_f1
from floorbench.metrics.ranking import auc
from floorbench.metrics.scored import OK, Scored
from floorbench.stats.paired import compare
from floorbench.stats.unvaried import unvaried

LABELS = ("no", "yes")


def units(
    n: int = 60, *, yes: int = 20, predicted: int | None = None, scale: float = 1.0
) -> Scored:
    gold = (np.arange(n) < yes).astype(np.int64)
    rng = np.random.default_rng(3)
    said = gold.copy() if predicted is None else np.full(n, predicted)
    return Scored(
        cluster=np.arange(n),
        clusters=tuple(f"c{i}" for i in range(n)),
        strata=np.zeros(n, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "gold": gold,
            "predicted": said,
            "outcome": np.full(n, OK),
            "score": rng.random(n) * scale,
        },
        vocab={"gold": LABELS, "predicted": LABELS},
    )


def upper(n: int) -> float:
    """Share of clusters of which none in n is seen with probability .025."""
    return 1 - 0.025 ** (1 / n)


def test_a_share_moves_no_further_than_the_clusters_that_may_differ() -> None:
    a = units()
    found = unvaried(accuracy(), a, a)
    assert found is not None
    assert found.limit == pytest.approx(upper(60))
    assert found.clusters == 60
    part = unvaried(class_accuracy(label="yes"), a, a)
    assert part is not None
    assert part.limit == pytest.approx(upper(20))


def test_a_mean_rests_on_its_rarest_label() -> None:
    a = units(yes=15)
    found = unvaried(macro_accuracy(labels=LABELS), a, a)
    assert found is not None
    assert found == (pytest.approx(upper(15)), 15)


def test_ranks_rest_on_the_order_of_the_scores() -> None:
    a, b, other = units(), units(scale=3.0), units(scale=-1.0)
    found = unvaried(auc(positive="yes"), a, b)
    assert found is not None
    assert found == (pytest.approx(1 - (1 - upper(20)) ** 2), 20)
    assert unvaried(auc(positive="yes"), a, other) is None


def test_no_limit_without_enough_clusters_or_for_other_metrics_or_differences() -> None:
    a, b = units(), units(predicted=0)
    assert unvaried(macro_f1(labels=LABELS), a, a) is None
    assert unvaried(accuracy(), a, b) is None
    assert unvaried(macro_accuracy(labels=LABELS), a, b) is None
    assert unvaried(macro_accuracy(labels=LABELS), units(yes=9), units(yes=9)) is None
    assert unvaried(accuracy(), units(9, yes=3), units(9, yes=3)) is None


def test_comparisons_print_these_limits() -> None:
    a, none, all_ = units(yes=0), units(yes=0, predicted=1), units(yes=0, predicted=0)
    same = compare({"x": accuracy()}, a, all_, draws=50, permutations=9, seed=1)["x"].interval
    assert (same.low, same.high) == (pytest.approx(-upper(60)), pytest.approx(upper(60)))
    assert (same.method, same.clusters, same.reason) == ("clopper-pearson", 60, None)
    apart = compare({"x": accuracy()}, none, all_, draws=50, permutations=9, seed=1)["x"].interval
    assert apart.low == -1
    assert apart.high == pytest.approx(-1 + 2 * upper(60))
