from dataclasses import replace
from pathlib import Path

import pytest

from floorbench.report.comparison import comparison_table, in_percent
from floorbench.report.tables import as_text
from floorbench.run.compare import CellComparison, compare_runs
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions
from support.engine_toys import Batched, Source, System, Task, choice, quiet


def test_a_comparison_reads_as_a_table(tmp_path: Path) -> None:
    task, source = Task(), Source(40)
    paths = [
        run(task=task, system=choice(kind), source=source, out=tmp_path, notify=quiet).path
        for kind in (System, Batched)
    ]
    opened = [open_predictions(p, task=task, source=source) for p in paths]
    table = comparison_table(compare_runs(*opened, draws=50))
    text = as_text(table)
    assert "A - B" in text
    assert "after Holm over" in text
    assert all("p" in row.cells for row in table.rows)


def test_releases_of_one_system_are_named_with_their_versions(tmp_path: Path) -> None:
    task, source = Task(), Source(12)
    path = run(task=task, system=choice(System), source=source, out=tmp_path, notify=quiet).path
    old = open_predictions(path, task=task, source=source)
    new = old._replace(system=replace(old.system, version="1.1"))
    table = comparison_table(compare_runs(new, old, draws=10))
    name = old.system.name
    assert table.title == f"A = {name} 1.1  against  B = {name} {old.system.version}"


def test_what_is_not_compared_is_counted_where_it_is_many(tmp_path: Path) -> None:
    task, source = Task(), Source(12)
    path = run(task=task, system=choice(System), source=source, out=tmp_path, notify=quiet).path
    opened = open_predictions(path, task=task, source=source)
    missing = [
        CellComparison(
            metric=metric, slice={"k": str(k)}, found=None, adjusted=None, wording="", reason="gone"
        )
        for metric, n in (("few", 2), ("many", 3))
        for k in range(n)
    ]
    found = replace(compare_runs(opened, opened, draws=10), cells=tuple(missing))
    notes = [n for n in comparison_table(found).notes if n.startswith("not compared")]
    assert notes == [
        "not compared: few k=0: gone",
        "not compared: few k=1: gone",
        "not compared: many (3 cells): gone",
    ]


def test_swaps_that_see_more_than_the_standard_error_are_noted_where_p_is_small(
    tmp_path: Path,
) -> None:
    task, source = Task(), Source(40)
    paths = [
        run(task=task, system=choice(kind), source=source, out=tmp_path, notify=quiet).path
        for kind in (System, Batched)
    ]
    found = compare_runs(*(open_predictions(p, task=task, source=source) for p in paths), draws=50)
    cells = [
        replace(cell, found=replace(cell.found, note=f"note {i}"), adjusted=p)
        for i, (cell, p) in enumerate(zip(found.cells[:1] * 2, (0.05, 0.06), strict=True))
        if cell.found is not None
    ]
    notes = comparison_table(replace(found, cells=tuple(cells))).notes
    assert [n.rpartition(": ")[2] for n in notes if ": note " in n] == ["note 0"]


@pytest.mark.parametrize(
    ("metric", "share", "percent"),
    [
        ("class_accuracy", True, True),
        ("slot_recall", True, False),
        ("auc", True, False),
        ("kappa_all", False, False),
        ("mae_slots", False, False),
        ("latency_percentile", False, False),
    ],
)
def test_only_shares_are_in_percent(metric: str, share: bool, percent: bool) -> None:
    cell = CellComparison(
        metric=metric, slice={}, found=None, adjusted=None, wording="", share=share
    )
    assert in_percent(cell) is percent
