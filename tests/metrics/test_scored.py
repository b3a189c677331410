import numpy as np
import pytest

from floorbench.errors import DataError
from floorbench.metrics.scored import Scored, concat

SCORED = Scored(
    cluster=np.array([0, 1, 1]),
    clusters=("a", "b"),
    strata=np.array([0, 0]),
    weight=np.ones(3),
    columns={"x": np.array([1.0, 2.0, 6.0])},
    units=("0", "1", "2"),
)


def test_slices_keep_all_clusters() -> None:
    part = SCORED.where(np.array([True, False, False]))
    assert part.clusters == SCORED.clusters
    assert part.present().tolist() == [True, False]
    assert list(part.units or ()) == ["0"]


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
        concat([SCORED, other])
    with pytest.raises(DataError, match="columns"):
        concat([SCORED, Scored(**{**_fields(SCORED), "columns": {"y": SCORED.weight}})])
    with pytest.raises(DataError, match="nothing"):
        concat([])


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
    with pytest.raises(DataError, match="FB601 column 'y' has 1 row"):
        part.with_columns(y=np.array([7]))
