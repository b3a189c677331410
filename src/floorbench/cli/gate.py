"""``floorbench gate``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.opening import UNSAID, PredictionOptions, ThresholdsFrom, opened
from floorbench.cli.options import Form
from floorbench.core.numbers import number_of
from floorbench.errors import UsageError
from floorbench.report.gate import gate_table, junit, verdicts
from floorbench.run.gate import MARGIN
from floorbench.run.gate import gate as judge
from floorbench.run.store import write_text


def gate(
    run: Path,
    /,
    *,
    against: Path,
    margins: Annotated[list[str] | None, Parameter(name="--margin", negative=())] = None,
    metrics: Annotated[list[str] | None, Parameter(name="--metric", negative=())] = None,
    better: Annotated[list[str] | None, Parameter(name="--better", negative=())] = None,
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    junit_file: Annotated[Path | None, Parameter(name="--junit")] = None,
    options: PredictionOptions = UNSAID,
    thresholds_from: ThresholdsFrom = None,
    draws: int = 2000,
    level: float = 0.95,
    form: Form = "text",
    json: bool = False,
) -> int:
    """Exit with 1 unless a release is shown to be no worse than another, by a margin.

    For a CI. Each cell of the table is kept, worse, or not shown to be either, by the interval of
    its paired difference and the margin; all must be kept. Both runs are scored anew with the
    installed version, as by floorbench compare.

    Parameters
    ----------
    run
        The candidate: a run folder, or a predictions file.
    against
        The baseline, for example the last release: a run folder, or a predictions file.
    margins
        What a cell may lose: a number of points for all metrics between 0 and 1 (2 by default),
        or NAME=VALUE for one metric, in points or, for other metrics, in their own unit.
        Repeat the option.
    metrics
        Metric to judge (repeat the option); by default all cells of the printed table.
    better
        NAME=lower or NAME=higher, for a metric that takes no side by itself.
    every
        All cells, not only those of the printed table.
    junit_file
        Also write JUnit XML to this file, one test case per cell.
    draws
        Draws of the paired cluster bootstrap.
    level
        Level of the two-sided intervals; a release that is worse by the margin passes with a
        probability of about (1 - level) / 2.
    form
        Form of the table.
    json
        Print JSON.
    """
    allowed = read_margins(margins)
    sides = _pairs(better, "--better latency_percentile=lower")
    candidate, baseline = opened((run, against), options, thresholds_from=thresholds_from)
    found = judge(
        candidate,
        against=baseline,
        margin=allowed.points,
        margins=allowed.named,
        metrics=metrics or (),
        better=sides,
        every=every,
        draws=draws,
        level=level,
    )
    if junit_file is not None:
        write_text(junit_file, junit(found))
    if json:
        console.data_json(found)
    else:
        console.table(gate_table(found), form)
    console.say(verdicts(found))
    return 0 if found.passed else 1


class Margins(NamedTuple):
    """Points for all shares, and margins by metric."""

    points: float
    named: dict[str, float]


def read_margins(given: Sequence[str] | None) -> Margins:
    """Read ``VALUE`` and ``NAME=VALUE``.

    Raises
    ------
    UsageError
        ``FB527`` for a margin that is no number, or given twice.
    """
    points: float | None = None
    named: dict[str, float] = {}
    for said in given or ():
        name, equals, number = said.rpartition("=")
        try:
            value = number_of(number)
        except ValueError:
            raise UsageError("FB527", f"the margin '{said}' is no number") from None
        if name in named if equals else points is not None:
            raise UsageError("FB527", f"the margin '{said}' is given twice")
        if equals:
            named[name] = value
        else:
            points = value
    return Margins(MARGIN if points is None else points, named)


def _pairs(given: Sequence[str] | None, example: str) -> dict[str, str]:
    out: dict[str, str] = {}
    for said in given or ():
        name, equals, value = said.partition("=")
        if not equals or name in out:
            what = "is given twice" if equals else "is not NAME=VALUE"
            raise UsageError("FB103", f"'{said}' {what}", hint=f"for example {example}")
        out[name] = value
    return out
