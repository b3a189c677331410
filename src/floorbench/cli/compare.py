"""``floorbench compare``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import (
    Conditions,
    Declared,
    Form,
    ReaderSettings,
    TaskSettings,
    ThresholdsFrom,
    declarations,
)
from floorbench.cli.score import Task, opened
from floorbench.errors import DataError, Place
from floorbench.report.comparison import comparison_table
from floorbench.run.artefact import read_artefact
from floorbench.run.compare import compare_many
from floorbench.run.scoring import Opened
from floorbench.run.store import RUN_FILE


def compare(
    first: Path,
    second: Path,
    /,
    *others: Path,
    task: Task = None,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    task_sets: TaskSettings = None,
    systems: Declared = None,
    conditions: Conditions = None,
    thresholds_from: ThresholdsFrom = None,
    draws: int = 2000,
    level: float = 0.95,
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    form: Form = "text",
    json: bool = False,
) -> int:
    """Compare runs, or predictions made elsewhere, on the same samples.

    Prints A, B and A - B with its interval and test, paired over the same samples. All are scored
    anew with the installed version. Task, data and settings of the scoring must be the same; what
    differs between the systems is printed. The p values of all tables are corrected together.

    Parameters
    ----------
    first
        A: the run in question, a run folder or a predictions file.
    second
        B: what it is compared with.
    others
        More runs; then the last one is B, and each of the others is A in a table of its own.
    data
        Data that predictions files are about.
    reader
        Reader of the data.
    draws
        Draws of the paired cluster bootstrap.
    level
        Level of the intervals.
    every
        All cells, not only those of the printed table.
    form
        Form of the table.
    json
        Print JSON.
    """
    *runs, base = opened_together(
        (first, second, *others),
        task=task,
        data=data,
        reader=reader,
        reader_sets=reader_sets,
        task_sets=task_sets,
        systems=systems,
        conditions=conditions,
        thresholds_from=thresholds_from,
    )
    found = compare_many(
        runs,
        base,
        draws=draws,
        level=level,
        headline=not every,
    )
    if json:
        console.data_json(found)
        return 0
    for comparison in found:
        console.table(comparison_table(comparison), form)
    return 0


def opened_together(
    paths: Sequence[Path],
    *,
    systems: Sequence[Path] | None,
    conditions: Sequence[str] | None,
    thresholds_from: Sequence[Path] | None,
    **about: Any,
) -> list[Opened]:
    """Open runs and predictions files that are to be compared; ``about`` is for all of them."""
    thresholds = [read_artefact(path) for path in thresholds_from or ()]
    for path in paths:
        if not path.exists():
            raise DataError("FB402", "there is no such file or folder", where=Place(str(path)))
    return [
        opened(
            path,
            seed=None,
            system=system,
            conditions=None if (path / RUN_FILE).is_file() else conditions,
            thresholds=thresholds,
            **about,
        )
        for path, system in zip(paths, declarations(paths, systems), strict=True)
    ]
