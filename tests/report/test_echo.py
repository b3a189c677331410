"""ECHO's table: systems, their expectations, constants and the paper's rows side by side."""

from __future__ import annotations

from typing import Any

import pytest

from floorbench.datasets.echo import EchoSource
from floorbench.report.echo import tables
from floorbench.report.tables import Table, render
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.references import make_reference
from floorbench.run.scoring import Result, open_predictions, score
from floorbench.tasks.echo import EchoTask
from support import echo_tiny

SYSTEMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("barge-in-energy", {}),
    ("barge-in-energy", {"hold_off": 0.4}),
    ("always-keep", {}),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    folder = tmp_path_factory.mktemp("echo")
    source, task = EchoSource(echo_tiny.build(folder / "set", copies=3)), EchoTask()
    chosen = [SystemChoice(name=n, parameters=p) for n, p in SYSTEMS]
    out = []
    for system in (*chosen, make_reference("oracle", task=task, source=source)):
        made = run(task=task, system=system, source=source, out=folder, notify=lambda _: None)
        out.append(score(open_predictions(made.path, task=task, source=source), draws=50))
    return out


@pytest.fixture(scope="module")
def made(results: list[Result]) -> list[Table]:
    return tables(results)


def rows(table: Table) -> dict[str, Any]:
    return {row.name: row for row in table.rows}


def test_one_table_of_scores_and_one_of_latencies_per_language(made: list[Table]) -> None:
    assert [t.title.split(",")[1].split(":")[0].strip() for t in made] == [
        "Chinese", "Chinese", "English", "English"
    ]  # fmt: skip


def test_streams_stand_at_both_tails_and_others_once(made: list[Table]) -> None:
    names = [r.name for r in made[2].rows if not r.name.startswith("  ")]
    assert names == [
        "barge-in-energy (hold_off=0.0), tail 0 s",
        "barge-in-energy (hold_off=0.0), tail 1 s",
        "barge-in-energy (hold_off=0.4), tail 0 s",
        "barge-in-energy (hold_off=0.4), tail 1 s",
        "always-keep",
        "oracle [reference]",
        "(always yield)",
        "(always keep)",
        "(fair coin, expected)",
    ]


def test_values_stand_in_their_columns(made: list[Table]) -> None:
    found = rows(made[2])
    constant, oracle = found["always-keep"].cells, found["oracle [reference]"].cells
    printed = found["(always keep)"].cells
    for key, value in (("interruption", 0.0), ("backchannel", 1.0), ("pasr", 0.0), ("pkc", 1.0)):
        assert constant[key].value == printed[key].value == value
    assert constant["macro"].value == pytest.approx(2 / 3)
    assert all(oracle[k].value == 1.0 for k in ("macro", "pasr", "pasr/I-B", "pasr/I-O", "pkc"))
    assert oracle["n"].value == "27"
    assert found["(fair coin, expected)"].cells["pasr"].value == 0.25


def test_expectations_stand_below_each_system(made: list[Table]) -> None:
    names = [r.name for r in made[2].rows]
    place = names.index("always-keep")
    independent, matched = made[2].rows[place + 1], made[2].rows[place + 2]
    assert independent.name == "  expected if independent"
    assert independent.cells["pasr/I-B"].value == 0.0
    assert matched.name == "  expected at its yield rate"
    assert (matched.cells["pasr"].value, matched.cells["pkc"].value) == (0.0, 1.0)


def test_the_papers_rows_are_beside_the_chinese_ones_alone(made: list[Table]) -> None:
    paper = {r.name: r for r in made[0].rows if r.published}
    assert len(paper) == 6
    assert paper["MiniCPM-o 4.5 (paper)"].cells["pasr/I-B"].shown() == "54.00"
    assert paper["Gemini-3.1-Pro three-way (paper)"].cells["prsr"].shown() == "66.00"
    assert not any(r.published for r in made[2].rows)


def test_latencies_are_those_of_streams(made: list[Table]) -> None:
    found = rows(made[3])
    assert set(found) == {
        "barge-in-energy (hold_off=0.0), tail 1 s",
        "barge-in-energy (hold_off=0.4), tail 1 s",
    }
    early, late = (found[n].cells["interruption/50%"].value for n in sorted(found))
    assert late - early == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
def test_every_form_can_be_made(made: list[Table], form: str) -> None:
    for table in made:
        assert "barge-in-energy" in render(table, form)
