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
