"""The build report: yields and rejects per stage, as tables, as JSON and as one offline page.

A recipe adds figures and values of what was built (:class:`Showing`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from textwrap import shorten
from typing import Any, NamedTuple, Protocol, runtime_checkable

from floorbench import __version__, codec
from floorbench.build.pipeline.export import ExportFolder
from floorbench.build.pipeline.record import REJECTED_FILE, BuildRecord, Lost, StageReport
from floorbench.build.pipeline.stage import Item
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.report.tables import Cell, Row, Table, text

PAGE_FILE = "build-report.html"
REPORT_FILE = "report.json"
EXAMPLE = 110
"""Characters of the example that stands for the lost items of a stage and reason."""


class Figure(NamedTuple):
    """A figure for the page: its caption, a whole ``<svg>`` element, and the same in numbers.

    Without an ``svg`` the table stands alone.
    """

    caption: str
    svg: str
    table: Table | None = None


class Shown(NamedTuple):
    """What a recipe has measured on its finished items: figures, and values for ``report.json``."""

    figures: Sequence[Figure]
    measured: Mapping[str, Any]


@runtime_checkable
class Showing(Protocol):
    """A recipe that shows something of its own in the report; it need not."""

    def shown(self, items: Sequence[Item]) -> Shown:
        """Return figures and values of the finished items, which come in the order of their ids."""
        ...


def _number(value: float | None, digits: int = 0, reason: str | None = None) -> Cell:
    return Cell(value=value, digits=digits, reason=reason)


def _reasons(counts: Mapping[str, int]) -> Cell:
    return text(", ".join(f"{name} {n}" for name, n in counts.items()) or "-")


def stage_table(record: BuildRecord) -> Table:
    """Return what went in and came out of every stage, and why items were lost."""
    rows = [
        Row(
            name=s.stage,
            cells={
                "entered": _number(s.entered),
                "left": _number(s.left),
                "yield": Cell(
                    value=s.left / s.entered if s.entered else None,
                    scale=100,
                    reason=None if s.entered else "no item came here",
                ),
                "failed": _number(s.failed),
                "rejected": _reasons(s.rejected),
                "again": _reasons(s.tried_again),
            },
        )
        for s in record.stages
    ]
    return Table(
        title=f"{record.recipe}: {counted(record.seeds, 'seed')}, "
        f"{counted(record.finished, 'item')} came through",
        head="stage",
        columns={
            "entered": "in",
            "left": "out",
            "yield": "yield %",
            "failed": "failed",
            "rejected": "rejected",
            "again": "tried again",
        },
        rows=rows,
        notes=(
            "in, out: items; a stage that cuts one item into several gives more than it got",
            "tried again: rejections that another attempt followed; not lost",
        ),
    )


def speed_table(record: BuildRecord) -> Table:
    """Return calls, seconds and the real-time factor of every stage."""
    rows = [
        Row(
            name=s.stage,
            cells={
                "calls": _number(s.calls),
                "cached": _number(s.cached),
                "cpu": _number(s.cpu, 1),
                "wall": _number(s.wall, 1),
                "seconds": _number(s.seconds, 1),
                "rtf": _number(s.real_time_factor, 3, _silent(s)),
            },
        )
        for s in record.stages
    ]
    return Table(
        title="Calls and seconds",
        head="stage",
        columns={
            "calls": "calls",
            "cached": "from cache",
            "cpu": "processor s",
            "wall": "clock s",
            "seconds": "sound s",
            "rtf": "real-time factor",
        },
        rows=rows,
        notes=(
            "real-time factor: processor seconds per second of sound that the stage stored",
            "a call from the cache counts with the seconds it took when it was made",
        ),
    )


def _silent(stage: StageReport) -> str | None:
    return None if stage.real_time_factor is not None else "no sound was stored"


def lost_rows(lost: Sequence[Lost]) -> list[tuple[str, str, str, int, str]]:
    """Return stage, kind, reason, number and one example of the items that were lost, by stage."""
    groups: dict[tuple[str, str, str], list[Lost]] = {}
    for one in lost:
        groups.setdefault((one.stage, one.kind, one.reason), []).append(one)
    return [
        (
            *key,
            len(found),
            shorten(f"{found[0].item}: {found[0].detail}", EXAMPLE, placeholder=" ..."),
        )
        for key, found in sorted(groups.items())
    ]


def lost_table(lost: Sequence[Lost]) -> Table:
    """Return the reasons of rejections and failures, each with an example."""
    rows = [
        Row(
            name=stage,
            cells={
                "kind": text(kind),
                "reason": text(reason),
                "items": _number(n),
                "example": text(example),
            },
        )
        for stage, kind, reason, n, example in lost_rows(lost)
    ]
    return Table(
        title="Items that did not come through",
        head="stage",
        columns={"kind": "kind", "reason": "reason", "items": "items", "example": "for example"},
        rows=rows,
        notes=(
            f"{REJECTED_FILE}: every item with its figures",
            "failed items are tried again when the same build is started again",
        ),
    )


def build_tables(record: BuildRecord, lost: Sequence[Lost]) -> list[Table]:
    """Return the tables of a build."""
    return [stage_table(record), speed_table(record), *([lost_table(lost)] if lost else [])]


def write_report(
    folder: ExportFolder,
    record: BuildRecord,
    lost: Sequence[Lost],
    *,
    tables: Sequence[Table] = (),
    figures: Sequence[Figure] = (),
    measured: Mapping[str, Any] | None = None,
) -> None:
    """Write ``report.json`` and ``build-report.html`` into a dataset that is being written.

    Parameters
    ----------
    folder : ExportFolder
    record : BuildRecord
    lost : sequence of Lost
    tables, figures : sequence
        Shown after the tables of the stages.
    measured : mapping or None
        Further content of ``report.json``, under ``measured``.
    """
    facts = {
        "recipe": record.recipe,
        "seeds": record.seeds,
        "finished": record.finished,
        "rejected": record.rejected,
        "failed": record.failed,
        "stages": record.stages,
        "lost": [
            {"stage": s, "kind": k, "reason": r, "items": n} for s, k, r, n, _ in lost_rows(lost)
        ],
        "measured": measured or {},
    }
    folder.text(REPORT_FILE, codec.encode_pretty(facts))
    folder.text(PAGE_FILE, page(record, [*build_tables(record, lost), *tables], figures))


def page(record: BuildRecord, tables: Sequence[Table], figures: Sequence[Figure] = ()) -> str:
    """Return one page that fetches nothing: tables, figures, and how the build was made."""
    style = files("floorbench.report").joinpath("templates/report.css").read_text("utf-8")
    title = f"Build of {record.recipe}"
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    facts = {
        "recipe": record.recipe,
        "preset": record.preset or "none",
        "settings": f"{_listed(record.settings) or 'none'}; all others as the recipe has them",
        "seed": str(record.seed),
        "limit": "none" if record.limit is None else str(record.limit),
        "deterministic": "yes" if record.deterministic else "no: a stage asks a remote model",
        "started": record.started,
        "took": f"{record.took:.1f} s by the clock, {_workers(record.workers)}",
        "code": _listed(record.floorbench),
        "hardware": _listed(record.hardware),
    }
    listed = "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>\n" for k, v in facts.items())
    drawn = "".join(map(_figure, figures))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f'<header><h1>{escape(title)}</h1>\n<p class="quiet">floorbench {__version__}. '
        "Nothing in this page is fetched from anywhere.</p></header>\n<main>\n"
        f"{''.join(map(_table, tables))}{drawn}"
        f"<h2>How it was made</h2>\n<dl>\n{listed}</dl>\n</main>\n</body>\n</html>\n"
    )


def _workers(count: int) -> str:
    return f"{count or 1} process{'es' if count > 1 else ''}"


def _listed(facts: Mapping[str, JsonValue]) -> str:
    """Return facts as words; texts stand as they are, other values as JSON."""
    return ", ".join(
        f"{name} {value if isinstance(value, str) else codec.encode(value).decode()}"
        for name, value in facts.items()
    )


def _figure(figure: Figure) -> str:
    caption = escape(figure.caption)
    if not figure.svg:
        return "" if figure.table is None else _table(figure.table)
    below = (
        ""
        if figure.table is None
        else f"<details><summary>the same in numbers</summary>\n{_table(figure.table)}</details>"
    )
    return (
        f"<figure><figcaption>{caption}</figcaption>"
        f'<div class="plot facets" tabindex="0" role="region" aria-label="{caption}">'
        f'<div class="chart" role="img" aria-label="{caption}">{figure.svg}</div></div>'
        f"{below}</figure>\n"
    )


def _table(table: Table) -> str:
    title = escape(table.title)
    heads = "".join(
        f'<th scope="col">{escape(h)}</th>' for h in (table.head, *table.columns.values())
    )
    rows = []
    for row in table.rows:
        cells = []
        for key in table.columns:
            cell = row.cells[key]
            kind = "" if isinstance(cell.value, str) else ' class="number"'
            why = f' title="{escape(cell.reason)}"' if cell.reason else ""
            said = f'<span class="hidden">{escape(cell.reason)}: </span>' if cell.reason else ""
            cells.append(f"<td{kind}{why}>{said}{escape(cell.shown())}</td>")
        rows.append(f'<tr><th scope="row">{escape(row.name)}</th>{"".join(cells)}</tr>\n')
    notes = "".join(f'<p class="quiet small">{escape(n)}</p>' for n in table.notes)
    return (
        f'<figure>\n<figcaption>{title}</figcaption>\n<div class="scroll" tabindex="0" '
        f'role="region" aria-label="{title}">\n<table>\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{''.join(rows)}</tbody>\n</table>\n</div>\n{notes}</figure>\n"
    )
