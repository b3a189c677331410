import numpy as np
import pytest

from floorbench.core.spec import MetricSpec
from floorbench.metrics import base
from floorbench.metrics.base import Scored, StatTable


def units(values: list[float], clusters: list[int], names: tuple[str, ...]) -> Scored:
    return Scored(
        cluster=np.asarray(clusters, dtype=np.int64),
        clusters=names,
        strata=np.zeros(len(names), dtype=np.int64),
        weight=np.ones(len(values)),
        columns={"x": np.asarray(values)},
        units=tuple(str(i) for i in range(len(values))),
    )


class Mean:
    spec = MetricSpec(name="mean", version="1", unit="sample", columns=("x",))

    def rows(self, scored: Scored) -> StatTable:
        values = np.stack([scored.column("x"), np.ones(len(scored))], axis=1)
        return StatTable(
            names=("sum", "n"),
            values=values * scored.weight[:, None],
            cluster=scored.cluster,
            n_clusters=len(scored.clusters),
        )

    def value(self, totals: base.Floats) -> base.Floats:
        return base.ratio(totals[..., 0], totals[..., 1])

    def reason(self, totals: base.Floats) -> str:
        return "no units"


class Largest:
    spec = MetricSpec(name="largest", version="1", unit="sample", columns=("x",))

    def value_weighted(self, scored: Scored, weights: base.Floats) -> base.Floats:
        w = weights[:, scored.cluster]
        values = np.where(w > 0, scored.column("x"), -np.inf)
        best = values.max(axis=1, initial=-np.inf)
        return np.where(np.isinf(best), np.nan, best)

    def reason(self, scored: Scored) -> str:
        return "no units"


SCORED = units([1.0, 2.0, 6.0], [0, 1, 1], ("a", "b"))


@pytest.mark.parametrize(("metric", "all_", "second"), [(Mean(), 3.0, 4.0), (Largest(), 6.0, 6.0)])
def test_ratio_and_rank_metrics_use_one_door(
    metric: base.Metric, all_: float, second: float
) -> None:
    door = base.evaluator(metric, SCORED)
    got = door(np.array([[1.0, 1.0], [0.0, 2.0], [0.0, 0.0]]))
    assert got[:2].tolist() == [all_, second]
    assert np.isnan(got[2])
    assert base.point(metric, SCORED) == base.Point(all_, None)
    empty = SCORED.where(np.zeros(3, dtype=np.bool_))
    assert base.point(metric, empty) == base.Point(None, "no units")


def test_merging_shards_equals_the_whole() -> None:
    shards = [SCORED.where(SCORED.cluster == c) for c in (1, 0)]
    merged = base.concat(shards)
    assert base.point(Mean(), merged) == base.point(Mean(), SCORED)
    assert sorted(merged.clusters) == ["a", "b"]


def test_ratio_is_undefined_where_nothing_is_counted() -> None:
    got = base.ratio(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    assert np.isnan(got[0])
    assert got[1] == 0.5
