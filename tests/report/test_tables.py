import csv
import io
import json
import subprocess
from pathlib import Path

import pytest

from floorbench.core.score import Coverage, Estimate, Interval
from floorbench.errors import UsageError
from floorbench.report import tables
from floorbench.report.render import tables as render_tables
from floorbench.report.tables import Cell, Row, Table
from support.results import toy_result

TABLE = Table(
    title="Accuracy (%)",
    head="system",
    columns={"zh": "中文", "en": "English"},
    rows=[
        Row(
            name="a_b & c",
            cells={
                "zh": Cell(value=0.51234, scale=100, low=0.4, high=0.6, units=10, coverage=1.0),
                "en": Cell(value=0.75, scale=100, best=True),
            },
        ),
        Row(name="quoted", cells={"zh": tables.text("x|y")}, published=True, note="other data"),
        Row(
            name="third",
            cells={
                "zh": Cell(value=None, undeclared=True, reason="N/A: not declared"),
                "en": Cell(value=None, reason="no items"),
            },
        ),
    ],
    notes=["n = 10"],
)


def test_text_aligns_wide_characters_and_marks_without_colour() -> None:
    text = tables.as_text(TABLE)
    lines = text.splitlines()
    assert {tables.width(line) for line in lines if line.startswith("---")} == {
        tables.width(lines[3])
    }
    assert "75.0*" in text
    assert "40.0–60.0" in text
    assert "quoted †" in text
    assert "not comparable" in text
    assert "N/A" in text
    assert "quoted: other data" in text


def of_interval(**how: object) -> Cell:
    made = Interval(**how)
    return Cell(value=0.5, low=made.low, high=made.high, made=made)


def noted(*cells: Cell) -> list[str]:
    found = {str(i): c for i, c in enumerate(cells)}
    columns = {key: key for key in found}
    row = Row(name="row", cells=found)
    return tables.interval_notes(Table(title="t", head="h", columns=columns, rows=[row]))


def test_what_must_be_known_of_intervals_stands_under_the_table() -> None:
    wide = of_interval(low=0.1, high=0.9, method="bca", clusters=40)
    assert noted(wide, Cell(value=0.5), tables.text("x")) == []
    few = of_interval(low=0.1, high=0.9, method="bca", clusters=11)
    more = of_interval(low=0.1, high=0.9, method="percentile", clusters=29)
    exact = of_interval(low=0.9, high=1.0, method="clopper-pearson", clusters=30)
    assert noted(few, more, exact, exact, wide) == [
        "few clusters: 2 of 5 intervals rest on 11 to 29 clusters "
        "(under 30), where intervals tend to be too narrow",
        "intervals not by BCa: 1 percentile (BCa undefined), 2 Clopper-Pearson (no draw varies)",
    ]
    uneven = of_interval(low=0.1, high=0.9, method="bca", clusters=80, effective=12.7)
    assert noted(few, uneven, wide) == [
        "few clusters: 2 of 3 intervals rest on 11 to 12 clusters of equal weight "
        "(under 30), where intervals tend to be too narrow"
    ]
    none = of_interval(clusters=9, reason="9 clusters; an interval needs 10")
    still = of_interval(clusters=40, reason="no draw varies")
    undefined = Cell(value=None, reason="no items", made=Interval(reason="no value"))
    assert noted(none, none, still, undefined) == [
        "values without an interval: 2 (fewer than 10 clusters), 1 (no draw varies)"
    ]


def test_width_counts_terminal_columns() -> None:
    assert tables.width("中文a") == 5
    assert tables.width("e\u0301") == 1


def test_markdown_escapes_bars() -> None:
    text = tables.as_markdown(TABLE)
    assert "x\\|y" in text
    assert "**75.0**" in text
    assert "51.2 (40.0–60.0)" in text


def test_latex_escapes_and_uses_booktabs() -> None:
    text = tables.as_latex(TABLE)
    assert r"a\_b \& c" in text
    assert r"\textbf{75.0}" in text
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 1
    assert r"{\scriptsize 40.0--60.0} &" in text  # below its value, which keeps columns narrow


def test_csv_and_json_keep_numbers_unrounded() -> None:
    rows = list(csv.DictReader(io.StringIO(tables.as_csv(TABLE))))
    assert rows[0]["value"] == "0.51234"
    assert rows[0]["coverage"] == "1.0"
    got = json.loads(tables.as_json(TABLE))
    assert got["rows"][0]["cells"]["zh"]["value"] == 0.51234


def test_a_cell_of_an_estimate_keeps_its_reason() -> None:
    estimate = Estimate(
        metric="m",
        slice={},
        value=None,
        reason="N/A: state not declared",
        interval=Interval(),
        coverage=Coverage(expected=0),
        units=0,
    )
    assert tables.cell(estimate).shown() == "N/A"


def test_an_unknown_form_is_named() -> None:
    with pytest.raises(UsageError, match="one of: text"):
        tables.render(TABLE, "pdf")


def test_latex_compiles(pdflatex: str, tmp_path: Path) -> None:
    """Results and every awkward character, with the packages the table names, within the page."""
    awkward = Table(
        title=r"100 % of \alpha & #1 {x} ~ ^ $ _ <|a|>",
        head="system",
        columns={"a": "A & B", "b": "≥ 5 × 3"},
        rows=[
            Row(name="a_b", cells={"a": Cell(value=0.5, low=0.4, high=0.6, best=True)}),
            Row(name="q", cells={"b": tables.text("x|y – †")}, published=True, note="50 %"),
        ],
        notes=["n = 10"],
    )
    results = [toy_result("always-takeover"), toy_result("oracle")]
    made = [awkward, *(t for r in results for t in render_tables([r]))]
    body = "\n".join(tables.as_latex(t) for t in made)
    head = "\\documentclass{article}\n\\usepackage[T1]{fontenc}\n\\usepackage{booktabs,graphicx}\n"
    (tmp_path / "t.tex").write_text(f"{head}\\begin{{document}}\n{body}\\end{{document}}\n")
    done = subprocess.run(
        [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-1500:]
    assert (tmp_path / "t.pdf").read_bytes().startswith(b"%PDF-")
    assert "Overfull \\hbox" not in done.stdout
