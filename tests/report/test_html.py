from pathlib import Path

import pytest

from floorbench.errors import UsageError
from floorbench.report import figures_data, html
from floorbench.report.stored import StoredRun
from floorbench.report.tables import Cell, Row, Table
from floorbench.run.scoring import open_predictions, score
from support.viewing import (
    HOSTILE,
    DuoSource,
    DuoTask,
    answers,
    duo_reader,
    duo_runs,
    system,
    write_run,
)


def test_a_report_holds_tables_figures_comparisons_and_provenance(tmp_path: Path) -> None:
    paths = duo_runs(tmp_path)
    score(open_predictions(paths[0], task=DuoTask(), source=DuoSource()), draws=200)
    parts = html.sections([duo_reader()(p) for p in paths], draws=50)
    assert [p.title for p in parts] == ["toy on duo"]
    assert [t.title for t in parts[0].tables] == [
        "toy: one on duo", "toy: two on duo",
    ]  # fmt: skip
    assert [t.title for t in parts[0].comparisons] == ["A = one  against  B = two"]
    assert [f.name for f in parts[0].figures] == [
        "confusion-one-h0", "confusion-one-h1", "confusion-two-h0", "confusion-two-h1",
        "history", "forest-one-two",
    ]  # fmt: skip
    assert parts[0].runs[1]["remarks"] == ["no intervals: not scored since it was written"]
    assert parts[0].remarks == [("two", "no intervals: not scored since it was written")]
    assert parts[0].runs[0]["facts"]["signature"].startswith("task:toy/1|data:")
    text = html.page(parts, title="T", interactive=False)
    assert text.count("<svg") == 6
    assert "<script" not in text
    assert "no intervals" in text


def test_runs_that_are_not_compared_are_named(tmp_path: Path) -> None:
    paths = [
        write_run(tmp_path, task=DuoTask(), source=DuoSource(), spec=system(f"system {k}"),
                  answer=answers(wrong_every=k + 3))
        for k in range(6)
    ]  # fmt: skip
    (part,) = html.sections([duo_reader()(p) for p in paths], draws=50, figures=False)
    assert len(part.comparisons) == 3
    assert part.problems == [
        "only 3 runs are compared with the first, not system 4, system 5: "
        "`floorbench compare` takes any two"
    ]
    assert part.remarks == [("all runs", "no intervals: not scored since it was written")]
    assert "not system 4" in html.page([part], title="T", interactive=False)


def test_a_figure_of_all_items_has_no_condition_in_its_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def whole(run: StoredRun) -> list[figures_data.Part]:
        return [part._replace(about="") for part in confusions(run)][:1]

    confusions = figures_data.confusions
    monkeypatch.setattr(figures_data, "confusions", whole)
    runs = [duo_reader()(path) for path in duo_runs(tmp_path)]
    (part,) = html.sections(runs, draws=50, compared=False)
    found = [(f.name, f.caption) for f in part.figures if f.name.startswith("confusion")]
    assert found == [("confusion-one", "one"), ("confusion-two", "two")]


def test_why_a_cell_is_empty_is_heard_and_printed_pages_hide_nothing() -> None:
    cells = {"a": Cell(value=None, reason="no item <here>")}
    table = Table(title="t", head="h", columns={"a": "A"}, rows=[Row(name="r", cells=cells)])
    part = html.Section("s", (), [table], (), (), (), ())
    text = html.page([part], title="T", interactive=False)
    assert '<span class="hidden">no item &lt;here&gt;: </span>-' in text
    printed = text[text.index("@media print") :]
    assert "details::details-content { content-visibility: visible" in printed
    assert ".scroll, .plot { overflow: visible; }" in printed


def test_names_are_escaped_and_scripts_cannot_be_ended(tmp_path: Path) -> None:
    path = write_run(
        tmp_path,
        task=DuoTask(),
        source=DuoSource(),
        spec=system(HOSTILE),
        answer=answers(),
    )
    parts = html.sections([duo_reader()(path)], draws=50)
    text = html.page(parts, title=HOSTILE)
    assert "<img src=x" not in text
    assert "&lt;img src=x" in text
    assert text.count("</script>") == 3


def test_size_does_not_grow_with_samples(tmp_path: Path) -> None:
    sizes = []
    for n in (40, 400):
        base = tmp_path / str(n)
        task, source = DuoTask(), DuoSource(n, audio=False)
        paths = [
            write_run(
                base, task=task, source=source, spec=system(f"system {k}"),
                answer=answers(wrong_every=k + 3),
            )
            for k in range(10)
        ]  # fmt: skip
        read = duo_reader(n, audio=False)
        parts = html.sections([read(p) for p in paths], draws=20)
        sizes.append(len(html.page(parts, title="T").encode()))
    assert sizes[1] < 2_500_000
    assert sizes[1] - sizes[0] < 20_000


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    task, source = DuoTask(), DuoSource()
    whole = duo_runs(tmp_path)[0]
    torn = write_run(
        tmp_path, task=task, source=source, spec=system("torn"), answer=answers(), only=5,
        torn=True,
    )  # fmt: skip
    parts = html.sections([duo_reader()(p) for p in (whole, torn)], draws=50)
    assert parts[0].problems == ["one against torn: not compared: the last line is unfinished"]
    assert "the last line is unfinished" in html.page(parts, title="T", interactive=False)


def test_no_run_is_refused() -> None:
    with pytest.raises(UsageError, match="FB802"):
        html.sections([], draws=10)
