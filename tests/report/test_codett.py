import dataclasses

from floorbench.core.score import Coverage
from floorbench.report import codett
from floorbench.report.tables import as_text
from support.results import toy_result


def test_stage1_sets_systems_baselines_and_the_paper_side_by_side() -> None:
    turn = dataclasses.replace(toy_result().system, name="smart-turn-v3.2")
    like_smart_turn = dataclasses.replace(toy_result(), system=turn)
    tables = codett.stage1([toy_result(), toy_result("oracle"), like_smart_turn])
    assert next(t.title for t in tables).startswith("CoDeTT stage 1, Chinese")
    for table in tables:
        names = [r.name for r in table.rows]
        assert names[:3] == ["always-takeover", "oracle [reference]", "smart-turn-v3.2"]
        assert "(best constant per state)" in names
        assert "Smart-Turn-v3 (paper)" in names
        oracle = table.rows[1].cells
        assert {oracle[a].value for a in (*codett.ACTIONS, "average", "all4")} == {1.0}
        takeover = table.rows[0].cells
        assert takeover["Takeover"].value == 1.0
        assert takeover["Dismiss"].value == 0.0
        assert not any(c.best for r in table.rows for c in r.cells.values())  # a starter set


def test_published_values_are_quoted_as_printed() -> None:
    turn = dataclasses.replace(toy_result().system, name="smart-turn-v3.2")
    (chinese, english) = codett.stage1([dataclasses.replace(toy_result(), system=turn)])
    assert "74.53" in as_text(chinese)
    assert "58.27" in as_text(english)
    assert "not comparable" in as_text(english)


def test_the_best_is_marked_among_systems_when_the_data_rank() -> None:
    results = [
        dataclasses.replace(toy_result(name), dataset={"name": "some data"})
        for name in ("always-takeover", "oracle")
    ]
    (table, _) = codett.stage1(results)
    best = [r.name for r in table.rows if r.cells.get("all4") and r.cells["all4"].best]
    assert best == ["always-takeover"]  # a reference is never ranked


def test_stage2_shows_systems_that_name_scenarios_only() -> None:
    assert codett.stage2([toy_result()]) == []
    (table, _) = codett.stage2([toy_result("oracle")])
    assert table.rows[0].cells["Dismiss/Exclusion"].value == 1.0
    assert table.rows[0].cells["Maintain/SMR"].value == 0.0
    assert table.rows[0].cells["Maintain/action"].value == 1.0  # beside the SMR
    assert table.rows[0].cells["coverage"].value == 1.0
    assert len(table.columns) == 14 + 3 * 4 + 2
    assert table.rows[0].note == (
        "SMR is over the items with the right action: M 24, S&L 18, T 12, D 30"
    )
    assert table.rows[0].cells["Maintain/SMR"].units is None  # not the 24 of the action, by name


def test_turn_ends_are_shown_for_scored_systems_only() -> None:
    assert codett.turn_ends([toy_result()]) == []
    (table,) = codett.turn_ends([toy_result("silence-webrtc")])
    assert [r.name for r in table.rows] == ["silence-webrtc Chinese", "silence-webrtc English"]
    assert set(table.rows[0].cells) == {"auc", "Completion", "Incomplete", "n", "coverage"}
    assert table.rows[0].note is None


def test_an_auc_over_answered_items_is_called_so_in_both_tables() -> None:
    result = toy_result("silence-webrtc")
    some = Coverage(expected=12, ok=9, failed=3)
    whole = next(e for e in result.estimates if e.slice.get("scenarios"))
    answered = dataclasses.replace(
        whole, metric="auc_answered", value=0.75, reason=None, coverage=some, units=12
    )
    changed = dataclasses.replace(result, estimates=(*result.estimates, answered))
    (table,) = codett.turn_ends([changed])
    row = next(r for r in table.rows if r.cells["auc"].value == 0.75)
    assert row.note == "AUC over the 9 scored items of 12"
    assert row.cells["coverage"].value == 0.75
