"""How many clusters of equal weight stand behind a value."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.metrics.base import Metric
from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.metrics.fscore import balanced_accuracy, macro_f1, precision
from floorbench.metrics.latency import latency_percentile
from floorbench.metrics.ranking import auc, auc_macro
from floorbench.metrics.scored import OK, Scored
from floorbench.stats.effective import effective_clusters, worth
from floorbench.stats.intervals import entering, intervals
from floorbench.stats.paired import compare

LABELS = ("no", "yes", "rare")


def units(sizes: list[int], *, rare: int = 0, said_in: int | None = None) -> Scored:
    """Units of gold "no" and "yes" in turn; "rare" once in some clusters; "yes" said in some."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    first = np.r_[True, cluster[1:] != cluster[:-1]]
    gold = np.where(first & (cluster < rare), 2, np.arange(len(cluster)) % 2)
    said = np.where(cluster < (len(sizes) if said_in is None else said_in), 1, 0)
    return Scored(
        cluster=cluster,
        clusters=tuple(map(str, range(len(sizes)))),
        strata=np.zeros(len(sizes), dtype=np.int64),
        weight=np.ones(len(cluster)),
        columns={
            "gold": gold,
            "predicted": said,
            "outcome": np.full(len(cluster), OK),
            "scores": np.random.default_rng(0).random((len(cluster), 3)),
            "latency": np.zeros(len(cluster)),
            "status": np.zeros(len(cluster), dtype=np.int64),
        },
        vocab={"gold": LABELS, "predicted": LABELS},
    )


def test_by_hand() -> None:
    assert effective_clusters(np.array([3.0, 3.0, 3.0])) == pytest.approx(3)
    assert effective_clusters(np.array([6.0, 1.0, 1.0, 0.0])) == pytest.approx(64 / 38)
    assert effective_clusters(np.zeros(4)) == 0
    assert effective_clusters(np.empty(0)) == 0


@given(st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=30))
def test_between_one_and_the_number_of_clusters(sizes: list[float]) -> None:
    found = effective_clusters(np.array(sizes))
    assert found == 0 or 1 - 1e-9 <= found <= len(sizes) + 1e-9


def own(metric: Metric, scored: Scored) -> float:
    return worth(metric, scored, entering(metric, scored))


def test_only_units_that_enter_the_value_count() -> None:
    scored = units([4] * 20 + [80], said_in=12)
    assert own(accuracy(), scored) == pytest.approx(160**2 / (20 * 16 + 6400))
    assert worth(precision(label="yes"), scored) == own(accuracy(), scored)
    assert own(precision(label="yes"), scored) == pytest.approx(12)
    assert own(latency_percentile(), scored) == own(accuracy(), scored)
    assert own(precision(label="yes"), units([4] * 20, said_in=0)) == 0


@pytest.mark.parametrize(
    "metric", [macro_accuracy(labels=LABELS), macro_f1(labels=LABELS), balanced_accuracy(
        label="rare"), auc(positive="rare", score="scores"), auc_macro(labels=LABELS)],
    ids=lambda m: m.spec.name,
)  # fmt: skip
def test_several_labels_are_worth_as_much_as_the_rarest(metric) -> None:
    assert own(metric, units([6] * 40, rare=7)) == pytest.approx(7)


def test_labels_that_a_metric_does_not_read_do_not_count() -> None:
    scored = units([6] * 40, rare=7)
    assert own(macro_f1(labels=("no", "yes")), scored) > 35
    assert own(auc(positive="yes", score="scores"), scored) > 35


def test_an_interval_says_what_its_clusters_are_worth() -> None:
    scored = units([2] * 39 + [60])
    said = np.where(scored.cluster % 5 == 0, 0, scored.columns["gold"])
    scored = scored.with_columns(predicted=said)
    made = intervals({"x": accuracy()}, scored, draws=400, seed=1)["x"]
    assert made.clusters == 40
    assert made.effective == pytest.approx(138**2 / (39 * 4 + 3600))
    assert made.warning == "40 clusters, worth 5 of equal weight; the interval is too narrow"


def test_the_weaker_side_of_a_comparison_decides() -> None:
    a, b = units([4] * 40, said_in=40), units([4] * 40, said_in=12)
    found = compare({"x": precision(label="yes")}, a, b, draws=200, permutations=99, seed=1)["x"]
    assert found.interval.effective == pytest.approx(12)
    assert found.interval.clusters == found.clusters == 40
