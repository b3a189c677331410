import numpy as np
import pytest

from floorbench.metrics.classification import accuracy, class_accuracy, macro_accuracy
from floorbench.metrics.fscore import balanced_accuracy, macro_f1
from floorbench.metrics.ranking import auc
from floorbench.metrics.scored import OK, Scored
from floorbench.stats.intervals import Limits
from floorbench.stats.paired import compare
from floorbench.stats.unvaried import spread_unseen, unvaried

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


def gained(a: Scored, clusters: int, *, lost: int = 0) -> Scored:
    """Return a system that is wrong in the first clusters, and right in the last ones."""
    said = a.columns["gold"].copy()
    said[:clusters] = 1 - said[:clusters]
    if lost:
        said[-lost:] = 1 - said[-lost:]
    return a.with_columns(predicted=said)


def test_losses_that_no_cluster_shows_are_allowed_for() -> None:
    a = units()
    b = gained(a, 3)
    limits = Limits(0.01, 0.1)
    made, note = spread_unseen(limits, accuracy(), a, b, difference=0.05, level=0.95)
    assert made == (pytest.approx(0.05 - np.hypot(0.04, upper(60))), 0.1)
    assert note == "A is below B on none of 60 clusters; 0 of 60 is allowed for"
    turned, note = spread_unseen(
        Limits(-0.1, -0.01), accuracy(), b, a, difference=-0.05, level=0.95
    )
    assert turned == (-0.1, pytest.approx(-made.low))
    assert note == "A is above B on none of 60 clusters; 0 of 60 is allowed for"


def test_a_mean_over_labels_allows_for_its_rarest() -> None:
    a = units(yes=15)
    for metric in (macro_accuracy(labels=LABELS), balanced_accuracy(label="yes")):
        made, _ = spread_unseen(
            Limits(0.0, 0.1), metric, a, gained(a, 3), difference=0.1, level=0.95
        )
        assert made.low == pytest.approx(0.1 - np.hypot(0.1, upper(15)))


def test_seen_losses_and_other_metrics_leave_the_limits_alone() -> None:
    a = units()
    limits = Limits(-0.01, 0.1)
    both = a.with_columns(predicted=gained(units(), 3).columns["predicted"])
    worse = gained(units(), 0, lost=2)
    for metric, one, two in (
        (accuracy(), worse, both),
        (macro_f1(labels=LABELS), a, both),
        (accuracy(), a, a),
    ):
        found = spread_unseen(limits, metric, one, two, difference=0.02, level=0.95)
        assert found == (limits, None)


def test_comparisons_that_lean_to_one_side_say_so() -> None:
    a = units()
    made = compare({"x": accuracy()}, a, gained(a, 2), draws=300, permutations=9, seed=1)["x"]
    assert made.interval.low == pytest.approx(2 / 60 - np.hypot(2 / 60, upper(60)), abs=2e-2)
    assert made.interval.low < -0.03
    assert made.interval.warning == "A is below B on none of 60 clusters; 0 of 60 is allowed for"
