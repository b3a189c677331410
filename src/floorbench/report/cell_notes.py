"""What a reader must know of the cells of a table: how many items each is over, and why some say
nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from floorbench.core.words import counted
from floorbench.report.tables import NA, Cell, Row, Table

MANY = 6
"""Columns of one kind beyond which they are counted instead of named."""


def cell_notes(table: Table) -> list[str]:
    """Return the denominators that the column ``n`` does not give, then the reasons of no value.

    Rows quoted from a paper are left out. A column whose rows have different denominators is given
    with the smallest and the largest.
    """
    return [*_sizes(table), *_reasons(table)]


def _sizes(table: Table) -> Iterator[str]:
    spans: dict[str, tuple[int, int]] = {}
    plain = True
    for key, row, cell in _cells(table):
        if cell.units is None or cell.value is None:
            continue
        n = row.cells.get("n")
        plain = plain and n is not None and n.value == str(cell.units)
        low, high = spans.get(key, (cell.units, cell.units))
        spans[key] = min(low, cell.units), max(high, cell.units)
    if plain or not spans:
        return
    columns: dict[tuple[int, int], list[str]] = {}
    for key, span in spans.items():
        columns.setdefault(span, []).append(table.columns[key])
    told = [
        f"{low if low == high else f'{low} to {high}'} in {_named(names)}"
        for (low, high), names in columns.items()
    ]
    yield f"items behind a cell: {'; '.join(told)}"


def _reasons(table: Table) -> Iterator[str]:
    found: dict[tuple[str, str], dict[str, None]] = {}
    for key, _, cell in _cells(table):
        if cell.value is None and cell.reason is not None:
            reason = cell.reason.removeprefix(f"{NA}: ")
            found.setdefault((cell.shown(), reason), {})[table.columns[key]] = None
    for (shown, reason), columns in found.items():
        yield f"{shown} in {_named(list(columns))}: {reason}"


def _cells(table: Table) -> Iterator[tuple[str, Row, Cell]]:
    for key in table.columns:
        for row in table.rows:
            if not row.published and key in row.cells:
                yield key, row, row.cells[key]


def _named(columns: list[str]) -> str:
    return ", ".join(columns) if len(columns) <= MANY else counted(len(columns), "column")
