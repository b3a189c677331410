from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorbench import codec
from floorbench.errors import UsageError
from floorbench.web.index import Group
from floorbench.web.query import facets, masks, read_query, select
from support.viewing import HOSTILE, duo_reader, duo_runs

NONE: dict[str, set[str]] = {}


@pytest.fixture
def group(tmp_path: Path) -> Group:
    read = duo_reader()
    return Group([read(p) for p in duo_runs(tmp_path)])


def found(group: Group, marks: dict[str, set[str]] = NONE, **asked: str) -> list[tuple[str, str]]:
    query = read_query({k.replace("__", "."): v for k, v in asked.items()}, group)
    rows = select(group, query, masks(group, query, marks))
    return [(group.keys[r].sample_id, group.keys[r].condition) for r in rows.tolist()]


def test_every_filter_narrows(group: Group) -> None:
    assert len(found(group)) == 24
    assert {s for s, _ in found(group, verdict="wrong")} == {"s0", "s5", "s10"}
    assert {c for _, c in found(group, tag__condition="h1")} == {"h1"}
    assert {s for s, _ in found(group, tag__language="zh")} == {"s0", HOSTILE, "s6", "s9"}
    assert {s for s, _ in found(group, run="1", outcome="failed")} == {"s0", "s7"}
    assert {s for s, _ in found(group, gold="no", predicted="yes")} == {"s0", "s10"}
    assert {s for s, _ in found(group, run="1", predicted="no usable answer")} == {"s0", "s7"}
    assert {s for s, _ in found(group, text="number 1")} == {"s1", "s10", "s11"}
    assert {s for s, _ in found(group, mark="odd", marks={"s1": {"odd"}, "s2": set()})} == {"s1"}
    assert {s for s, _ in found(group, mark="any", marks={"s1": {"odd"}, "s2": set()})} == {
        "s1", "s2",
    }  # fmt: skip
    cell = codec.encode({"metric": "accuracy", "condition": "h0"}).decode()
    assert len(found(group, cell=cell)) == 12


def test_two_runs_are_set_against_each_other(group: Group) -> None:
    def ids(how: str) -> set[str]:
        return {s for s, _ in found(group, against="1", how=how)}

    assert ids("first-only") == {HOSTILE, "s6", "s7", "s9"}
    assert ids("second-only") == {"s5", "s10"}
    assert ids("neither") == {"s0"}
    assert ids("both") == {"s1", "s2", "s4", "s8", "s11"}
    assert ids("differ") == ids("first-only") | ids("second-only") | {"s0"}


def test_order_by_score_margin_id_and_time_with_unknown_last(group: Group) -> None:
    def scores(**asked: str) -> list[float]:
        query = read_query({"run": "1", **asked}, group)
        rows = select(group, query, masks(group, query, NONE))
        return group.runs[1].score[rows].tolist()

    up, down = scores(sort="score"), scores(sort="score", down="1")
    assert np.isnan(up[-4:]).all()
    assert np.isnan(down[-4:]).all()
    assert up[:-4] == sorted(up[:-4])
    assert down[:-4] == sorted(down[:-4], reverse=True)
    margins = [abs(s - 0.5) for s in scores(sort="margin", down="1")[:-4]]
    assert margins == sorted(margins, reverse=True)
    assert found(group, sort="id") == sorted(found(group))
    assert found(group, sort="data", down="1") == found(group)[::-1]
    walls = [
        group.runs[0].stored.items[group.rows[k]].prediction.compute.wall
        for k in [group.keys[group.rows[(s, c, 0)]] for s, c in found(group, sort="time")]
    ]
    assert walls == sorted(walls)


def test_facet_counts_are_what_choosing_them_would_leave(group: Group) -> None:
    asked = {"verdict": "wrong", "tag.condition": "h0"}
    query = read_query(asked, group)
    made = facets(group, query, masks(group, query, NONE))
    names = [f["name"] for f in made]
    assert names[:3] == ["verdict", "gold", "predicted"]
    for facet in made:
        for value in facet["values"]:
            chosen: dict[str, Any] = {**asked, facet["name"]: value["value"]}
            left = found(group, **{k.replace(".", "__"): v for k, v in chosen.items()})
            assert len(left) == value["count"], (facet["name"], value)


@pytest.mark.parametrize(
    "asked",
    [
        {"verdict": "maybe"},
        {"gold": "perhaps"},
        {"run": "-1"},
        {"run": "7"},
        {"tag.nothing": "x"},
        {"sideways": "1"},
        {"cell": "{"},
        {"cell": "[1]"},
        {"sort": "beauty"},
        {"against": "1", "how": "loudly"},
        {"outcome": "great"},
        {"layer": "deep"},
    ],
)
def test_what_there_is_not_is_refused(group: Group, asked: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="FB805"):
        found(group, **{k.replace(".", "__"): v for k, v in asked.items()})
