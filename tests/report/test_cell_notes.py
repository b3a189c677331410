"""What stands under a table about its cells: denominators and reasons."""

from floorbench.report.cell_notes import cell_notes
from floorbench.report.tables import Cell, Row, Table, text


def notes(*rows: Row, columns: str = "abcn") -> list[str]:
    names = {c: c.upper() if c != "n" else "n" for c in columns}
    return cell_notes(Table(title="t", head="h", columns=names, rows=rows))


def row(name: str = "s", *, n: str = "10", published: bool = False, **cells: Cell) -> Row:
    return Row(name=name, cells={**cells, "n": text(n)}, published=published)


def over(units: int | None) -> Cell:
    return Cell(value=0.5, units=units)


def none(reason: str, *, undeclared: bool = False) -> Cell:
    return Cell(value=None, reason=reason, undeclared=undeclared, units=3)


def test_nothing_is_said_where_n_says_it() -> None:
    assert notes(row(a=over(10), b=over(None))) == []
    assert notes(row(a=Cell(value=None))) == []


def test_columns_with_a_denominator_of_their_own_are_named() -> None:
    assert notes(row(a=over(6), b=over(4), c=over(10))) == [
        "items behind a cell: 6 in A; 4 in B; 10 in C"
    ]
    assert notes(row(a=over(6), b=over(6))) == ["items behind a cell: 6 in A, B"]


def test_rows_that_differ_give_a_span() -> None:
    made = notes(row("s", a=over(6)), row("t", a=over(8)))
    assert made == ["items behind a cell: 6 to 8 in A"]


def test_reasons_are_told_once_with_their_columns() -> None:
    gone = none("N/A: s does not declare it", undeclared=True)
    made = notes(row("s", a=gone, b=gone), row("t", a=none("no item")))
    assert made == ["N/A in A, B: s does not declare it", "- in A: no item"]


def test_many_columns_are_counted_and_published_rows_left_out() -> None:
    columns = "abcdefg"
    cells = {c: none("no item") for c in columns}
    assert notes(row(**cells), columns=columns) == ["- in 7 columns: no item"]
    assert notes(row(published=True, a=over(3), b=none("no item"))) == []
