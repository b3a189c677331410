"""``floorbench compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.opening import UNSAID, PredictionOptions, ThresholdsFrom, opened
from floorbench.cli.options import Form
from floorbench.report.comparison import comparison_table
from floorbench.run.compare import compare_many


def compare(
    first: Path,
    second: Path,
    /,
    *others: Path,
    options: PredictionOptions = UNSAID,
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
    *runs, base = opened((first, second, *others), options, thresholds_from=thresholds_from)
    found = compare_many(runs, base, draws=draws, level=level, headline=not every)
    if json:
        console.data_json(found)
        return 0
    for comparison in found:
        console.table(comparison_table(comparison), form)
    return 0
