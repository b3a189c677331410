"""One table, five forms: terminal text, Markdown, LaTeX (booktabs), CSV and JSON.

A :class:`Table` holds cells with their value, interval, count and coverage; a renderer only
decides how they look. Values stay unrounded in CSV and JSON and are rounded for reading in the
other three.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from floorbench import codec
from floorbench.core.score import Estimate, Interval
from floorbench.core.words import counted
from floorbench.errors import UsageError

NA = "N/A"
UNDEFINED = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """Metric and slice of an estimate; ``slice`` is the estimate's own mapping, not a copy."""

    metric: str
    slice: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell.

    Parameters
    ----------
    value : float, str or None
        A number in the metric's own unit, a text, or ``None`` when undefined or N/A.
    scale : float
        Multiplier for reading (100 shows a share in percent).
    digits : int
        Decimals shown.
    low, high : float or None
        Interval, same unit as ``value``.
    made : Interval or None
        Where ``low`` and ``high`` come from: method, clusters, or the reason why there is none.
    units, coverage : int or None, float or None
        Size of the denominator and answered share.
    best : bool
        Marked in bold (``*`` in plain text).
    reason : str or None
        Why there is no value.
    undeclared : bool
        The system does not declare this cell: shown as N/A.
    about : About or None
        What this is a value of, so that a page can lead from the cell to its items.
    """

    value: float | str | None
    scale: float = 1.0
    digits: int = 1
    low: float | None = None
    high: float | None = None
    made: Interval | None = None
    units: int | None = None
    coverage: float | None = None
    best: bool = False
    reason: str | None = None
    undeclared: bool = False
    about: About | None = None

    def shown(self) -> str:
        """Return the value as read by people."""
        if isinstance(self.value, str):
            return self.value
        if self.value is None:
            return NA if self.undeclared else UNDEFINED
        return f"{self.value * self.scale:.{self.digits}f}"

    def interval(self) -> str:
        """Return the interval as read by people, or an empty text."""
        if self.low is None or self.high is None:
            return ""
        low, high = self.low * self.scale, self.high * self.scale
        between = " to " if low < 0 else "–"
        return f"{low:.{self.digits}f}{between}{high:.{self.digits}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: its leading text, its cells by column key, and whether it is quoted from a paper."""

    name: str
    cells: Mapping[str, Cell]
    published: bool = False
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A titled table with notes below it; ``columns`` maps keys to headings in print order."""

    title: str
    head: str
    columns: Mapping[str, str]
    rows: Sequence[Row]
    notes: Sequence[str] = field(default_factory=tuple)


def cell(estimate: Estimate, *, scale: float = 100.0, digits: int = 1) -> Cell:
    """Return an estimate as a cell (shares in percent by default)."""
    undeclared = estimate.reason is not None and estimate.reason.startswith(NA)
    return Cell(
        value=estimate.value,
        scale=scale,
        digits=digits,
        low=estimate.interval.low,
        high=estimate.interval.high,
        made=estimate.interval,
        units=estimate.units,
        coverage=estimate.coverage.share,
        reason=estimate.reason,
        undeclared=undeclared,
        about=About(metric=estimate.metric, slice=estimate.slice),
    )


def text(value: str) -> Cell:
    """Return a cell of plain text."""
    return Cell(value=value)


def width(value: str) -> int:
    """Return the number of terminal columns a text takes (wide characters count two)."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in value
    )


def pad(value: str, to: int, *, left: bool) -> str:
    """Return a text with spaces up to a width, behind it (``left``) or before it."""
    space = " " * max(0, to - width(value))
    return value + space if left else space + value


def row_name(row: Row) -> str:
    """Return the leading text of a row, marked where it is quoted from a paper."""
    return f"{row.name} †" if row.published else row.name


def values(row: Row, keys: Sequence[str]) -> list[list[str]]:
    """Return a row's cells as one line of values and, where there are any, one of intervals."""
    got = [row.cells.get(key) for key in keys]
    below = ["" if c is None else c.interval() for c in got]
    top = ["" if c is None else c.shown() + ("*" if c.best else "") for c in got]
    return [top, below] if any(below) else [top]


def as_text(table: Table) -> str:
    """Return the table for a terminal: value above, interval below; readable without colour."""
    keys = list(table.columns)
    lines = [
        [row_name(row) if i == 0 else "", *cells]
        for row in table.rows
        for i, cells in enumerate(values(row, keys))
    ]
    head = [table.head, *table.columns.values()]
    widths = [max(width(line[i]) for line in [head, *lines]) for i in range(len(head))]
    rule = "  ".join("-" * w for w in widths)

    def line(parts: list[str]) -> str:
        padded = (
            pad(part, w, left=i == 0) for i, (part, w) in enumerate(zip(parts, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    out = [table.title, "", line(head), rule, *map(line, lines), rule]
    return "\n".join([*out, *footer(table)]) + "\n"


def footer(table: Table) -> list[str]:
    """Return the lines below a table: its notes, what its marks mean, the notes of its rows."""
    notes = list(table.notes)
    if any(c.best for r in table.rows for c in r.cells.values()):
        notes.append("* best of its column among comparable rows")
    if any(r.published for r in table.rows):
        notes.append(
            "† published, on the paper's own data: not comparable with rows measured on other data"
        )
    notes += [f"{r.name}: {r.note}" for r in table.rows if r.note]
    return notes


def interval_notes(table: Table) -> list[str]:
    """Return what must be known of a table's intervals, one line each, counted in cells.

    Intervals over few clusters, or over clusters worth few of equal weight, which are too narrow;
    those made another way than by BCa; and values without an interval, by reason.
    """
    from floorbench.stats.intervals import FEW_CLUSTERS, FEWEST_CLUSTERS

    cells = [c for row in table.rows for c in row.cells.values() if c.value is not None]
    made = [c.made for c in cells if c.made is not None]
    some = [m for m in made if m.low is not None]
    out = []
    sizes = [min(m.clusters, m.effective or m.clusters) for m in some]
    few = sorted(int(n) for n in sizes if n < FEW_CLUSTERS)
    uneven = any(m.clusters >= FEW_CLUSTERS > n for m, n in zip(some, sizes, strict=True))
    if few:
        span = f"{few[0]} to {few[-1]}" if few[0] < few[-1] else f"{few[0]}"
        out.append(
            f"few clusters: {len(few)} of {counted(len(some), 'interval')} rest on {span} clusters "
            f"{'of equal weight ' if uneven else ''}(under {FEW_CLUSTERS}), "
            "where intervals tend to be too narrow"
        )
    ways = {
        "clopper-pearson": "Clopper-Pearson (no draw varies)",
        "percentile": "percentile (BCa undefined)",
    }
    others = Counter(ways[m.method] for m in some if m.method in ways)
    if others:
        told = ", ".join(f"{n} {way}" for way, n in others.items())
        out.append(f"intervals not by BCa: {told}")
    gaps = Counter(
        f"fewer than {FEWEST_CLUSTERS} clusters"
        if m.clusters < FEWEST_CLUSTERS
        else m.reason or "no reason given"
        for m in made
        if m.low is None
    )
    if gaps:
        told = ", ".join(f"{n} ({reason})" for reason, n in gaps.items())
        out.append(f"values without an interval: {told}")
    return out


def as_markdown(table: Table) -> str:
    """Return a GitHub-flavoured Markdown table; intervals stand behind their values."""

    def shown(c: Cell | None) -> str:
        if c is None:
            return ""
        body = f"**{c.shown()}**" if c.best else c.shown()
        return _md(f"{body} ({c.interval()})" if c.interval() else body)

    head = [table.head, *table.columns.values()]
    out = [f"**{_md(table.title)}**", "", "| " + " | ".join(map(_md, head)) + " |"]
    out.append("|" + "---|" + "---:|" * len(table.columns))
    for row in table.rows:
        name = row_name(row)
        cells = [shown(row.cells.get(k)) for k in table.columns]
        out.append("| " + " | ".join([_md(name), *cells]) + " |")
    notes = footer(table)
    return "\n".join(out) + "\n" + ("\n" + "  \n".join(map(_md, notes)) + "\n" if notes else "")


def _md(value: str) -> str:
    return value.replace("|", "\\|").replace("\n", " ")


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_",
    "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar\allowbreak{}",
    "–": "--", "†": r"$\dagger$", "≥": r"$\ge$", "×": r"$\times$",
}  # fmt: skip
_TEX_FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"


def as_tex(value: str) -> str:
    """Return a text whose signs LaTeX prints as they are."""
    return "".join(_TEX.get(c, c) for c in value)


def as_latex(table: Table) -> str:
    """Return a booktabs ``tabular`` inside a ``table`` float, made smaller where it is too wide.

    The document needs ``booktabs`` and ``graphicx``. Intervals stand below their values.
    """

    def line(name: str, cells: Sequence[str], *, space: str = "") -> str:
        return " & ".join([name, *cells]) + r" \\" + space

    def shown(c: Cell | None) -> str:
        if c is None:
            return ""
        return rf"\textbf{{{as_tex(c.shown())}}}" if c.best else as_tex(c.shown())

    def interval(c: Cell | None) -> str:
        return rf"{{\scriptsize {as_tex(c.interval())}}}" if c is not None and c.interval() else ""

    body = []
    for row in table.rows:
        cells = [row.cells.get(k) for k in table.columns]
        name = as_tex(row.name) + (r"$^\dagger$" if row.published else "")
        below = [interval(c) for c in cells]
        body.append(line(name, [shown(c) for c in cells], space="[-2pt]" if any(below) else ""))
        if any(below):
            body.append(line("", below, space="[2pt]"))
    notes = [rf"{as_tex(n)}\par" for n in footer(table)]
    label = "-".join(re.findall(r"[a-z0-9]+", table.title.lower()))
    return "\n".join(
        [
            r"\begin{table} % needs \usepackage{booktabs,graphicx}",
            r"\centering",
            rf"\caption{{{as_tex(table.title)}}}\label{{tab:{label}}}",
            _TEX_FIT,
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
            r"\toprule",
            line(as_tex(table.head), [as_tex(h) for h in table.columns.values()]),
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\par\smallskip",
            r"\parbox{\linewidth}{\footnotesize\raggedright",
            *notes,
            "}",
            r"\end{table}",
            "",
        ]
    )


_FIELDS = ("value", "low", "high", "units", "coverage", "reason")


def as_csv(table: Table) -> str:
    """Return long-form CSV, one line per cell, numbers unrounded."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["row", "published", "column", *_FIELDS])
    for row in table.rows:
        for key in table.columns:
            c = row.cells.get(key)
            if c is not None:
                values = [getattr(c, f) for f in _FIELDS]
                cells = [
                    "" if v is None else repr(v) if isinstance(v, float) else v for v in values
                ]
                writer.writerow([row.name, row.published, key, *cells])
    return out.getvalue()


def as_json(table: Table) -> str:
    """Return the table as JSON, numbers unrounded."""
    return codec.encode_pretty(table)


RENDERERS = {
    "text": as_text,
    "markdown": as_markdown,
    "latex": as_latex,
    "csv": as_csv,
    "json": as_json,
}


def render(table: Table, form: str) -> str:
    """Return the table in a named form, ``FB103`` for an unknown one."""
    if form not in RENDERERS:
        raise UsageError(
            "FB103",
            f"there is no table form '{form}'",
            hint=f"one of: {', '.join(RENDERERS)}",
        )
    return RENDERERS[form](table)
