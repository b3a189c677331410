"""From results to the tables of their task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from floorbench.report import clips, codett, dualturn, echo, trp, turns
from floorbench.report.cell_notes import cell_notes
from floorbench.report.summary import notes, summary
from floorbench.report.tables import Table, interval_notes
from floorbench.run.scoring import Result

_TABLES: dict[str, Callable[[Sequence[Result]], list[Table]]] = {
    "clips": clips.tables,
    "codett": codett.tables,
    "echo": echo.tables,
    "turns": lambda results: [turns.table(results)],
    "trp": lambda results: [trp.table(results)],
    "dualturn-4s": dualturn.tables,
    "vap-1s": dualturn.vap_tables,
}


def tables(results: Sequence[Result], *, every: bool = False) -> list[Table]:
    """Return the tables of results of one task: the task's own form, else the plain one.

    Parameters
    ----------
    results : sequence of Result
        Of one task and one dataset.
    every : bool
        All cells of each result in the plain form.
    """
    make = _TABLES.get(results[0].task.name)
    if make is None or every:
        return [summary(result, every=every) for result in results]
    return shared_notes_last(make(results), results)


def shared_notes_last(made: list[Table], results: Sequence[Result]) -> list[Table]:
    """Keep the notes that all tables of a group share under the last one only.

    What must be known of a table's own cells and intervals stands under each.
    """
    shared = set(notes(results))
    out = []
    for table in made:
        own = [n for n in table.notes if n not in shared]
        common = [n for n in table.notes if n in shared] if table is made[-1] else []
        out.append(
            replace(table, notes=(*own, *cell_notes(table), *interval_notes(table), *common))
        )
    return out
