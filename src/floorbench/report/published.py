"""The papers' tables as data: what was printed, cell by cell, with its source.

The CSV files beside this module hold the values as printed, misprints included; what is wrong
with them is the business of :mod:`floorbench.report.published_check`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files

from floorbench.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedTable:
    """One table of a paper: id, file, what it shows, and where it was printed."""

    id: str
    file: str
    title: str
    source: str


_CODETT = "CoDeTT: A Context-Aware Decision Benchmark for Turn-Taking Evaluation"
_ECHO = "ECHO: A Matched-Contrast Benchmark for Context-Sensitive Turn-Taking"
_TRP = "Umair, Sarathy, de Ruiter (2024), within-turn TRP"
_DUALTURN = "Rajaa (2026): DualTurn, arXiv:2603.08216"


def _table(table_id: str, file: str, title: str, source: str) -> PublishedTable:
    return PublishedTable(id=table_id, file=file, title=title, source=source)


TABLES: tuple[PublishedTable, ...] = (
    _table("codett-1", "codett_table1_taxonomy.csv", "scenarios and sizes", f"{_CODETT}, Table 1"),
    _table("codett-2", "codett_table2_actions.csv", "4-action accuracy", f"{_CODETT}, Table 2"),
    _table("codett-3", "codett_table3_intents.csv", "scenarios and SMR", f"{_CODETT}, Table 3"),
    _table("echo-1", "echo_table1_size.csv", "groups, samples and pairs", f"{_ECHO}, Table 1"),
    _table("echo-2", "echo_table2_closure.csv", "lexical closure", f"{_ECHO}, Table 2"),
    _table("echo-3", "echo_table3_context.csv", "what each system receives", f"{_ECHO}, Table 3"),
    _table("echo-4", "echo_table4.csv", "accuracy, PASR, PKC, PRSR", f"{_ECHO}, Table 4"),
    _table("trp-1", "trp_table1_lists.csv", "the two stimulus lists", f"{_TRP}, Table 1"),
    _table("trp-2", "trp_table2.csv", "models on the prediction task", f"{_TRP}, Table 2"),
    _table("dualturn", "dualturn.csv", "agent actions, word AUC, anticipation", _DUALTURN),
)


def table(table_id: str) -> PublishedTable:
    """Return one table by id, ``FB101`` with the nearest id otherwise."""
    by_id = {t.id: t for t in TABLES}
    if table_id not in by_id:
        near = did_you_mean(table_id, by_id)
        raise UsageError(
            "FB101",
            f"there is no published table '{table_id}'",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(by_id)}",
        )
    return by_id[table_id]


def rows(table_id: str) -> Iterator[Mapping[str, str]]:
    """Yield the rows of a table as printed; an empty string is a cell printed N/A or left out."""
    path = files("floorbench.report") / "published" / table(table_id).file
    yield from csv.DictReader(path.read_text(encoding="utf-8").splitlines())


def number(text: str) -> float | None:
    """Return a printed value as a number, ``None`` for an empty cell."""
    return float(text) if text else None
