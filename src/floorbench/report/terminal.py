"""Tables and lists in a terminal of so many columns; nothing is left out.

What is wider than the terminal is folded: headings and notes are wrapped, long texts go to lines of
their own, and numbers are printed in several blocks. Piped text is never folded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorbench.report.tables import Row, Table, as_text, footer, pad, row_name, values, width

LONG = 12
"""A column of texts that is wider may be folded."""
NARROWEST = 12
"""A column of a list is not made narrower than this."""
GAP = "  "


def wrapped(text: str, columns: int, *, first: str = "", rest: str = "") -> list[str]:
    """Break a text at its spaces into lines of at most ``columns``; a longer word stays whole.

    Parameters
    ----------
    text : str
    columns : int
    first, rest : str
        What the first line and the others begin with.
    """
    if width(first + text) <= columns:
        return [first + text]
    lines: list[str] = []
    line, empty = first, True
    for word in text.split():
        if empty:
            line, empty = line + word, False
        elif width(f"{line} {word}") <= columns:
            line = f"{line} {word}"
        else:
            lines.append(line)
            line = rest + word
    return [*lines, line]


def fitted(table: Table, columns: int) -> str:
    """Return a table for a terminal of so many columns.

    Parameters
    ----------
    table : Table
    columns : int

    Returns
    -------
    str
        As :func:`floorbench.report.tables.as_text` where that is narrow enough. Otherwise a row
        begins with a line of its name and the long texts that stand before its numbers; those
        behind them follow below, with their headings. Numbers that are still too wide come in
        blocks; a row without any in a block is left out of it.
    """
    out = wrapped(table.title, columns)
    plain = as_text(_bare(table)).splitlines()[1:]
    narrow = all(width(line) <= columns for line in plain)
    out += plain if narrow else ["", *_folded(table, columns)]
    for note in footer(table):
        out += wrapped(note, columns, rest=GAP)
    return "\n".join(out) + "\n"


def _bare(table: Table) -> Table:
    """Return a table without title and without what stands below it."""
    rows = [Row(name=row_name(row), cells=row.cells) for row in table.rows]
    return Table(title="", head=table.head, columns=table.columns, rows=rows)


def _folded(table: Table, columns: int) -> list[str]:
    keys = list(table.columns)
    long = [key for key in keys if _is_long(table, key)]
    short = [key for key in keys if key not in long]
    start = keys.index(short[0]) if short else len(keys)
    lead = [key for key in long if keys.index(key) < start]
    trail = [key for key in long if key not in lead]
    names = max(width(text) for text in [table.head, *map(row_name, table.rows)])
    apart = bool(lead) or names > columns // 3
    room = columns - (len(GAP) if apart else names)
    whole, broken = (
        _blocks(short, [_width(table, key, whole=w) for key in short], room) for w in (True, False)
    )
    blocks = whole if len(whole) <= len(broken) else broken
    out: list[str] = []
    for number, block in enumerate(blocks):
        rows = [
            row
            for row in table.rows
            if _filled(row, block) or trail or (number == 0 and not _filled(row, short))
        ]
        if number:
            out.append("")
        out += _block(
            table,
            block,
            rows,
            columns,
            whole=blocks is whole,
            names=0 if apart else names,
            lead=lead,
            trail=() if number else trail,
        )
    return out


def _is_long(table: Table, key: str) -> bool:
    cells = [row.cells[key] for row in table.rows if key in row.cells]
    texts = [cell.value for cell in cells if isinstance(cell.value, str)]
    return len(texts) == len(cells) and any(width(text) > LONG for text in texts)


def _filled(row: Row, keys: Sequence[str]) -> bool:
    return any(_text(row, key) for key in keys)


def _text(row: Row, key: str) -> str:
    return row.cells[key].shown() if key in row.cells else ""


def _blocks(keys: Sequence[str], widths: Sequence[int], room: int) -> list[list[str]]:
    """Split columns into groups that fit beside the names; at least one group, of any size."""
    blocks: list[list[str]] = [[]]
    used = 0
    for key, needed in zip(keys, widths, strict=True):
        if blocks[-1] and used + len(GAP) + needed > room:
            blocks.append([])
            used = 0
        blocks[-1].append(key)
        used += len(GAP) + needed
    return blocks


def _width(table: Table, key: str, *, whole: bool) -> int:
    """Return the width of a column whose heading stands whole, or is wrapped."""
    lines = [cells[0] for row in table.rows for cells in values(row, [key])]
    heading = table.columns[key]
    return max(width(text) for text in [*([heading] if whole else heading.split()), *lines, ""])


def _block(
    table: Table,
    keys: Sequence[str],
    rows: Sequence[Row],
    columns: int,
    *,
    whole: bool,
    names: int,
    lead: Sequence[str],
    trail: Sequence[str],
) -> list[str]:
    """Return the lines of some columns; names without a width have lines of their own."""
    widths = [_width(table, key, whole=whole) for key in keys]
    first = names or len(GAP)

    def line(name: str, cells: Sequence[str]) -> str:
        padded = [pad(cell, w, left=False) for cell, w in zip(cells, widths, strict=True)]
        return GAP.join([pad(name, first, left=True), *padded]).rstrip()

    out: list[str] = []
    if not names:
        out += wrapped(GAP.join([table.head, *(table.columns[key] for key in lead)]), columns)
    heads = [wrapped(table.columns[key], w) for key, w in zip(keys, widths, strict=True)]
    tallest = max(map(len, heads), default=0)
    for i in range(tallest):
        parts = [
            head[i - tallest + len(head)] if i >= tallest - len(head) else "" for head in heads
        ]
        out.append(line(table.head if names and i == tallest - 1 else "", parts))
    rule = "-" * min(columns, first + sum(len(GAP) + w for w in widths))
    out.append(rule)
    for row in rows:
        if not names:
            texts = [row_name(row), *(_text(row, key) for key in lead)]
            out += wrapped(GAP.join(filter(None, texts)), columns, rest=GAP)
        for i, cells in enumerate(values(row, keys)):
            out.append(line(row_name(row) if names and i == 0 else "", cells))
        told = [(table.columns[key], _text(row, key)) for key in trail]
        said = "; ".join(f"{heading}: {text}" for heading, text in told if text not in ("", "-"))
        out += wrapped(said, columns, first=GAP, rest=GAP * 2) if said else []
    return [*(text for text in out if text.strip()), rule]


def listed(rows: Sequence[Sequence[str]], head: Sequence[str], columns: int | None) -> str:
    """Return rows of texts as left-aligned columns with a head line.

    Parameters
    ----------
    rows, head : sequences of str
    columns : int or None
        Of the terminal; ``None`` is as wide as it comes.

    Returns
    -------
    str
        Texts are wrapped inside their columns to fit. Where that does not do, columns that say the
        same in every row stand once, above; where that does not do either, every row is a
        paragraph of headings and values.
    """
    if columns is None:
        return _columns(rows, head, _widths(rows, head))
    widths = _narrowed(rows, head, columns)
    if widths is not None:
        return _columns(rows, head, widths)
    same = [len(rows) > 1 and len({row[i] for row in rows}) == 1 for i in range(len(head))]
    if not any(same) or all(same):
        return _paragraphs(rows, head, columns)
    told = [f"{h}: {text}" for h, text, s in zip(head, rows[0], same, strict=True) if s and text]
    others = [_without(same, row) for row in rows]
    above = "\n".join(wrapped(GAP.join(told), columns, rest=GAP)) + "\n" if told else ""
    return above + listed(others, _without(same, head), columns)


def _without(out: Sequence[bool], row: Sequence[str]) -> list[str]:
    return [text for text, left in zip(row, out, strict=True) if not left]


def _widths(rows: Sequence[Sequence[str]], head: Sequence[str]) -> list[int]:
    return [max(width(r[i]) for r in [head, *rows]) for i in range(len(head))]


def _narrowed(rows: Sequence[Sequence[str]], head: Sequence[str], columns: int) -> list[int] | None:
    """Return widths that fit, taken from the widest columns first, or ``None``."""
    widths = _widths(rows, head)
    floors = [
        min(w, max((NARROWEST, *(width(word) for r in [head, *rows] for word in r[i].split()))))
        for i, w in enumerate(widths)
    ]
    over = sum(widths) + len(GAP) * (len(head) - 1) - columns
    while over > 0:
        free = [i for i, w in enumerate(widths) if w > floors[i]]
        if not free:
            return None
        widths[max(free, key=lambda i: widths[i])] -= 1
        over -= 1
    return widths


def _columns(rows: Sequence[Sequence[str]], head: Sequence[str], widths: Sequence[int]) -> str:
    def lines(r: Sequence[str]) -> Iterator[str]:
        cells = [wrapped(text, w) for text, w in zip(r, widths, strict=True)]
        for i in range(max(map(len, cells))):
            parts = [cell[i] if i < len(cell) else "" for cell in cells]
            padded = (pad(part, w, left=True) for part, w in zip(parts, widths, strict=True))
            yield GAP.join(padded).rstrip()

    rule = GAP.join("-" * w for w in widths)
    return "\n".join([*lines(head), rule, *(line for r in rows for line in lines(r))]) + "\n"


def _paragraphs(rows: Sequence[Sequence[str]], head: Sequence[str], columns: int) -> str:
    out: list[str] = []
    for name, *texts in rows:
        out += wrapped(name, columns, first=f"{head[0]}: ", rest=GAP)
        for heading, text in zip(head[1:], texts, strict=True):
            if text:
                out += wrapped(text, columns, first=f"{GAP}{heading}: ", rest=GAP * 2)
    return "\n".join(out) + "\n"
