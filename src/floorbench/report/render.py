"""From results to the tables of their task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from floorbench.report import codett, dualturn
from floorbench.report.summary import summary
from floorbench.report.tables import Table
from floorbench.run.scoring import Result

_TABLES: dict[str, Callable[[Sequence[Result]], list[Table]]] = {
    "codett": lambda results: [*codett.stage1(results), *codett.stage2(results)],
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
    return make(results)
