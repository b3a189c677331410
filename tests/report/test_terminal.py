from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.report.tables import Cell, Row, Table, as_text, footer, text, width
from floorbench.report.terminal import fitted, listed, wrapped

NUMBERS = {f"n{i}": f"number of {i}" for i in range(9)}


def share(value: float, **more: Any) -> Cell:
    return Cell(value=value, scale=100, low=value / 2, high=value, **more)


SCORES = Table(
    title="accuracy of everything there is to be measured here (%)",
    head="system",
    columns=NUMBERS,
    rows=[
        Row(name="first", cells={k: share(i / 10) for i, k in enumerate(NUMBERS)}),
        Row(name="(chance)", cells={"n8": Cell(value=0.5, scale=100)}),
        Row(name="of a paper", cells={"n0": text("74.53")}, published=True),
    ],
    notes=("a note that is long enough to be wrapped in a terminal of eighty columns or fewer",),
)
COMPARED = Table(
    title="A against B",
    head="metric",
    columns={"slice": "slice", "a": "A", "d": "A - B", "p": "p", "says": "reading", "e": "effect"},
    rows=[
        Row(
            name=name,
            cells={
                "slice": text("language=zh condition=h0 actions=Takeover+Dismiss"),
                "a": share(0.3),
                "d": share(-0.2),
                "p": text("0.0160"),
                "says": text("no difference shown (p = 0.016)"),
                "e": text("-3.76 (difference / standard error)"),
            },
        )
        for name in ("class_accuracy", "average")
    ],
)
TABLES = {"scores": SCORES, "compared": COMPARED}


def words(said: str) -> list[str]:
    return [w for w in said.replace(";", " ").split() if set(w) != {"-"}]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("columns", [40, 60, 80, 100, 120])
def test_a_table_fits_the_terminal_and_nothing_is_left_out(name: str, columns: int) -> None:
    table = TABLES[name]
    shown = fitted(table, columns)
    assert max(map(width, shown.splitlines())) <= columns
    have = words(shown)
    for row in table.rows:
        for part in (row.name, *(c.shown() for c in row.cells.values())):
            assert all(word in have for word in words(part))
        for cell in row.cells.values():
            assert cell.interval() in shown
    assert all(word in have for line in footer(table) for word in words(line))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_narrow_enough_is_the_plain_one(name: str) -> None:
    plain = as_text(TABLES[name])
    assert fitted(TABLES[name], max(map(width, plain.splitlines()))) == plain


def test_numbers_come_in_blocks_without_the_rows_that_have_none() -> None:
    shown = fitted(SCORES, 80)
    first, second = shown.split("\n\n")[1:]
    assert "number of 0" in first
    assert "number of 0" not in second
    assert "number of 8" in second
    assert "(chance)" not in first
    assert "(chance)" in second
    assert "of a paper †" in first
    assert "of a paper" not in second
    assert "† published" in second


def test_headings_are_wrapped_where_that_saves_a_block() -> None:
    heads = {k: f"heading {k}" for k in ("a", "b", "c", "d")}
    table = Table(title="t", head="row", columns=heads, rows=[Row(name="r", cells={})])
    assert fitted(table, 40).splitlines()[2:4] == [
        "     heading  heading  heading  heading",
        "row        a        b        c        d",
    ]
    assert "heading a  heading b" in fitted(table, 30)


def test_long_texts_stand_above_and_below_their_numbers() -> None:
    lines = fitted(COMPARED, 80).splitlines()
    assert lines[2] == "metric  slice"
    at = lines.index("class_accuracy  language=zh condition=h0 actions=Takeover+Dismiss")
    assert lines[at + 1].split() == ["30.0", "-20.0", "0.0160"]
    assert lines[at + 3].startswith("  reading: no difference shown (p = 0.016); effect: -3.76")


def test_a_list_is_wrapped_inside_its_columns() -> None:
    rows = [("one", "a few words that are to be wrapped", "x"), ("two", "short", "中文")]
    shown = listed(rows, ("name", "what it is", "z"), 30)
    assert max(map(width, shown.splitlines())) <= 30
    assert shown.splitlines()[2:4] == [
        "one   a few words that    x",
        "      are to be wrapped",
    ]
    assert listed(rows, ("name", "what it is", "z"), None).splitlines()[2] == (
        "one   a few words that are to be wrapped  x"
    )


def test_columns_that_are_the_same_in_every_row_stand_once() -> None:
    rows = [("same-word-in-all", f"row-number-{i}", "2") for i in range(3)]
    assert listed(rows, ("first", "second", "third"), 25).splitlines() == [
        "first: same-word-in-all",
        "  third: 2",
        "second",
        "------------",
        *(f"row-number-{i}" for i in range(3)),
    ]


def test_words_that_are_too_long_make_paragraphs() -> None:
    rows = [(f"name-{i}", f"/a/long/path/that/nobody/can/break/{i}", "") for i in range(2)]
    assert listed(rows, ("name", "path", "x"), 30).splitlines() == [
        "name: name-0",
        "  path: /a/long/path/that/nobody/can/break/0",
        "name: name-1",
        "  path: /a/long/path/that/nobody/can/break/1",
    ]


@given(st.lists(st.text("ab-中 ", min_size=1, max_size=9), max_size=9), st.integers(6, 40))
def test_wrapping_keeps_every_word_in_order(parts: list[str], columns: int) -> None:
    said = " ".join(parts)
    lines = wrapped(said, columns, first="* ", rest="  ")
    assert " ".join(lines).split() == ["*", *said.split()]
    longest = max((width(w) for w in said.split()), default=0)
    assert all(width(line) <= max(columns, longest + 2) for line in lines)


def test_rows_that_say_the_same_are_all_there() -> None:
    rows = [["通话的记录", "the same words"]] * 2
    said = listed(rows, ["call", "said"], 10)
    assert said.count("通话的记录") == 2
    assert said.split().count("same") == 2


def test_a_column_without_a_word_takes_no_room() -> None:
    assert listed([["", "a word and another"]], ["", "said"], 15).count("another") == 1
