"""The table of whole turns: false cut-ins beside the delay at the end of the others."""

from __future__ import annotations

from collections.abc import Sequence

from floorbench.report.summary import is_reference, notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result
from floorbench.tasks.turns import REACHED

COLUMNS = {
    "early_share": "Cut in %",
    "answered_share": "Took the floor %",
    "accuracy": "Right %",
    "50%": "Delay 50 % (s)",
    "90%": "Delay 90 % (s)",
    "n": "n",
    "coverage": "answered %",
}
READ = (
    "Cut in: the stream took the floor before the user's last word had ended. Took the floor: at "
    "any time up to the end of the window, cut-ins included. Right: after the last word and within "
    "the window. These are shares of all turns. Delay: from the end of the last word, over the "
    "turns that were not cut into; one without a take is infinitely late, one not heard to the end "
    "of the window is censored (Kaplan-Meier). '-': fewer takes than the percentile asks for."
)


def table(results: Sequence[Result]) -> Table:
    """Return one row a result."""
    rows = []
    for result in results:
        cells: dict[str, Cell] = {}
        for e in result.estimates:
            if e.metric.startswith("latency_percentile"):
                if e.slice["turns"] == REACHED:
                    cells[e.slice["percentile"]] = cell(e, scale=1.0, digits=2)
            else:
                cells[e.metric] = cell(e)
                cells["n"] = text(str(e.units))
                cells["coverage"] = Cell(value=e.coverage.share, scale=100, digits=1)
        name = result.system.name + (" [reference]" if is_reference(result) else "")
        rows.append(Row(name=name, cells=cells))
    window = results[0].task.parameters["window"]
    return Table(
        title=f"Turns of {results[0].dataset.get('name', 'data')}: who takes the floor, and when?",
        head="system",
        columns=COLUMNS,
        rows=rows,
        notes=(READ, f"window: {window:g} s after the last word", *notes(results)),
    )
