"""The papers' tables as laid out, and results of ours in the same columns."""

import csv
from importlib.resources import files

import pytest

from floorbench.errors import UsageError
from floorbench.report import published
from floorbench.report.published_layout import beside_paper, laid_out
from floorbench.report.tables import RENDERERS, Table, render
from support.results import toy_result

WIDE = ("codett-2", "codett-3", "echo-4", "trp-2", "dualturn")


def values(tables: list[Table], *, printed: bool) -> list[float]:
    return [
        c.value
        for t in tables
        for r in t.rows
        if r.published is printed
        for c in r.cells.values()
        if isinstance(c.value, float)
    ]


@pytest.mark.parametrize("table_id", WIDE)
def test_every_printed_value_stands_in_the_layout_once(table_id: str) -> None:
    name = published.table(table_id).file
    raw = (files("floorbench.report") / "published" / name).read_text("utf-8").splitlines()
    columns = {"trp-2": csv.DictReader(raw).fieldnames[2:]}.get(table_id)
    keys = columns or ["value" if table_id == "dualturn" else "value_percent"]
    all_values = sorted(float(r[k]) for r in csv.DictReader(raw) for k in keys if r[k])
    made = laid_out(table_id)
    assert sorted(values(made, printed=True)) == all_values
    assert all(set(r.cells) <= set(t.columns) for t in made for r in t.rows)
    assert all(r.published for t in made for r in t.rows)
    for table in made:
        for form in RENDERERS:
            assert render(table, form)


def test_decimals_and_na_are_those_of_the_paper() -> None:
    (table,) = laid_out("codett-2")
    rows = {r.name: r for r in table.rows}
    assert rows["Smart-Turn-v3 h0"].cells["zh/takeover"].shown() == "74.53"
    assert rows["Smart-Turn-v3 h0"].cells["zh/maintain"].shown() == "N/A"
    assert [n.split(":")[1].strip() for n in table.notes] == [
        "zh/Qwen3-Omni/h5/maintain~stop_and_listen",
        "en/Gemini3-Pro/h0/maintain~stop_and_listen",
    ]
    (trp,) = laid_out("trp-2")
    assert trp.rows[0].cells["nmae_da"].shown() == "11.280"


def test_results_stand_below_in_the_same_columns_and_decimals() -> None:
    actions, chinese, english = beside_paper([toy_result("silence-webrtc"), toy_result("oracle")])
    own = {r.name: r for r in actions.rows if not r.published}
    assert list(own) == ["silence-webrtc h0", "oracle h0"]
    assert set(own["oracle h0"].cells) == set(actions.columns)
    assert own["oracle h0"].cells["en/dismiss"].shown() == "100.00"
    assert own["silence-webrtc h0"].cells["zh/maintain"].shown() == "N/A"
    for table in (chinese, english):
        mine = [r for r in table.rows if not r.published]
        assert [r.name for r in mine] == ["oracle h0"]  # the other one names no scenario
        assert set(mine[0].cells) == set(table.columns)
        assert mine[0].cells["maintain/SMR"].shown() == "0.00"
    assert any("missing=drop" in n for n in actions.notes)
    assert any(n.startswith("data: ") for n in english.notes)


def test_tables_without_results_have_no_layout_of_their_own() -> None:
    assert laid_out("codett-1") == []
    with pytest.raises(UsageError, match="FB101"):
        laid_out("codett-9")
