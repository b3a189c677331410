import numpy as np
import pytest

from floorbench.core.spec import MetricSpec
from floorbench.errors import DataError
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


def test_slices_keep_all_clusters() -> None:
    part = SCORED.where(np.array([True, False, False]))
    assert part.clusters == SCORED.clusters
    assert part.present().tolist() == [True, False]
    assert list(part.units or ()) == ["0"]


def test_merging_shards_equals_the_whole() -> None:
    shards = [SCORED.where(SCORED.cluster == c) for c in (1, 0)]
    merged = base.concat(shards)
    assert base.point(Mean(), merged) == base.point(Mean(), SCORED)
    assert sorted(merged.clusters) == ["a", "b"]


def test_ratio_is_undefined_where_nothing_is_counted() -> None:
    got = base.ratio(np.array([0.0, 1.0]), np.array([0.0, 2.0]))
    assert np.isnan(got[0])
    assert got[1] == 0.5


@pytest.mark.parametrize(
    "change",
    [
        {"weight": np.ones(2)},
        {"strata": np.zeros(3, dtype=np.int64)},
        {"cluster": np.array([0, 1, 2])},
        {"units": ("a",)},
    ],
)
def test_unequal_columns_are_refused(change: dict[str, object]) -> None:
    fields = {
        "cluster": SCORED.cluster,
        "clusters": SCORED.clusters,
        "strata": SCORED.strata,
        "weight": SCORED.weight,
        "columns": SCORED.columns,
    }
    with pytest.raises(DataError, match="FB601"):
        Scored(**(fields | change))  # type: ignore[arg-type]


def test_shards_that_differ_are_refused() -> None:
    other = Scored(
        cluster=SCORED.cluster,
        clusters=("a", "b"),
        strata=np.array([0, 1]),
        weight=SCORED.weight,
        columns=SCORED.columns,
    )
    with pytest.raises(DataError, match="two strata"):
        base.concat([SCORED, other])
    with pytest.raises(DataError, match="columns"):
        base.concat([SCORED, Scored(**{**_fields(SCORED), "columns": {"y": SCORED.weight}})])
    with pytest.raises(DataError, match="nothing"):
        base.concat([])


def test_an_absent_column_is_named() -> None:
    with pytest.raises(DataError, match="'score'"):
        SCORED.column("score")


def _fields(s: Scored) -> dict[str, object]:
    return {
        "cluster": s.cluster,
        "clusters": s.clusters,
        "strata": s.strata,
        "weight": s.weight,
        "columns": s.columns,
    }


def test_a_slice_of_a_slice_takes_its_columns_from_the_whole() -> None:
    part = SCORED.where(np.array([True, False, True]))
    changed = part.with_columns(y=np.array([7, 8]))
    last = changed.where(np.array([False, True]))
    assert last.column("x").tolist() == [6.0]
    assert last.column("y").tolist() == [8]
    assert list(last.columns) == [*SCORED.columns, "y"]
    assert list(last.units or ()) == ["2"]
    assert "y" not in part.columns
    with pytest.raises(DataError, match="FB601 column 'y' has 1 rows"):
        part.with_columns(y=np.array([7]))
