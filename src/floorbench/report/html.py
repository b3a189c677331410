"""One self-contained page about runs: tables, figures, provenance, signatures.

Everything is inside the file: no request leaves it, and its content-security policy forbids any.
It holds aggregates only, so its size does not grow with the number of samples. Figures stand in it
as SVG; with the drawing library inside they also answer to the pointer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

from floorbench import __version__, codec
from floorbench.errors import FloorbenchError, UsageError, missing_extra
from floorbench.report import figures_data
from floorbench.report.comparison import comparison_table
from floorbench.report.figures import draw
from floorbench.report.figures_save import converter, render, specification
from floorbench.report.render import tables
from floorbench.report.stored import StoredRun, with_names
from floorbench.report.tables import Table
from floorbench.run.compare import compare_runs
from floorbench.run.signature import one_line

COMPARED = 3
"""Runs of one data set that are compared with the first, at most."""


class Drawn(NamedTuple):
    """A figure in a page: its name in files, caption, chart."""

    name: str
    caption: str
    chart: Any


class Section(NamedTuple):
    """All that the page shows of the runs of one task on one data set."""

    title: str
    notices: Sequence[str]
    tables: Sequence[Table]
    comparisons: Sequence[Table]
    figures: Sequence[Drawn]
    runs: Sequence[Mapping[str, Any]]
    problems: Sequence[str]

    @property
    def remarks(self) -> list[tuple[str, str]]:
        """Every remark once, after the names of the runs that it is about."""
        about: dict[str, list[str]] = {}
        for run in self.runs:
            for remark in run["remarks"]:
                about.setdefault(remark, []).append(run["name"])
        return [
            ("all runs" if len(names) == len(self.runs) > 2 else ", ".join(names), remark)
            for remark, names in about.items()
        ]


def sections(
    runs: Sequence[StoredRun],
    *,
    draws: int,
    compared: bool = True,
    figures: bool = True,
    told: Callable[[str], None] = lambda _: None,
) -> list[Section]:
    """Return what a report of runs holds, by task and data set.

    Parameters
    ----------
    draws : int
        Draws of the paired comparisons.
    compared : bool
        Compare the first run of a group with up to :data:`COMPARED` others.
    figures : bool
        Draw the figures.
    told : function
        Hears what is being compared, because that may take long.

    Raises
    ------
    UsageError
        ``FB802`` without a run.
    """
    if not runs:
        raise UsageError("FB802", "no run was named")
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.record.task_spec.name, run.digest), []).append(run)
    return [
        _section(with_names(group), draws=draws, compared=compared, figures=figures, told=told)
        for group in groups.values()
    ]


def _section(
    runs: Sequence[StoredRun],
    *,
    draws: int,
    compared: bool,
    figures: bool,
    told: Callable[[str], None],
) -> Section:
    shown = list(tables([run.result for run in runs]))
    compared_tables = []
    drawn = _figures(runs) if figures else []
    problems = []
    real = [r for r in runs if str(r.record.system_spec.level) != "reference"]
    if compared and len(real) > 1:
        a = real[0]
        for b in real[1 : COMPARED + 1]:
            names = f"{a.result.system.name} against {b.result.system.name}"
            told(f"comparing {names}")
            try:
                found = compare_runs(a.opened, b.opened, draws=draws)
            except FloorbenchError as error:
                problems.append(f"{names}: not compared: {error.what}")
                continue
            compared_tables.append(comparison_table(found))
            part = figures_data.differences(found)
            if part.rows and figures:
                title = f"Paired differences, {part.about}"
                name = f"forest-{a.result.system.name}-{b.result.system.name}"
                drawn.append(Drawn(name, title, draw("forest", part.rows, title=title)))
        left = [r.result.system.name for r in real[COMPARED + 1 :]]
        if left:
            problems.append(
                f"only {COMPARED} runs are compared with the first, not {', '.join(left)}: "
                "`floorbench compare` takes any two"
            )
    first = runs[0].record
    return Section(
        title=f"{first.task_spec.name} on {first.dataset.name}",
        notices=list(first.dataset.describe.get("notices", ())),
        tables=shown,
        comparisons=compared_tables,
        figures=drawn,
        runs=[_provenance(run) for run in runs],
        problems=problems,
    )


def _figures(runs: Sequence[StoredRun]) -> list[Drawn]:
    out = []
    runs = [run for run in runs if str(run.record.system_spec.level) != "reference"]
    for run in runs:
        for part in figures_data.confusions(run):
            title = ", ".join(filter(None, (run.result.system.name, part.about)))
            name = f"confusion-{run.result.system.name}-{part.about}".rstrip("-")
            out.append(Drawn(name, title, draw("confusion", part.rows, title=title)))
    for kind, parts, words in (
        ("history", figures_data.histories(runs), "Against history"),
        ("pair-success", figures_data.pair_successes(runs), "Pairs against accuracy"),
        ("anticipation", figures_data.anticipations(runs), "Turn ends ahead of time"),
        ("reliability", figures_data.calibrations(runs), "Reliability"),
        ("trade-off", figures_data.trade_offs(runs), "Thresholds"),
    ):
        for part in parts:
            title = f"{words}, {part.about}" if part.about else words
            name = f"{kind}-{part.about}".rstrip("-")
            out.append(Drawn(name, title, draw(kind, part.rows, title=title)))
    return out


def _provenance(run: StoredRun) -> dict[str, Any]:
    record, result = run.record, run.result
    sitting = record.sittings[-1] if record.sittings else None
    facts = {
        "run": record.run_id,
        "created": record.created,
        "status": record.status,
        "system": f"{record.system_spec.name} {record.system_spec.version}",
        "level": str(record.system_spec.level),
        "licence": record.system_spec.licence,
        "answered": f"{result.coverage.ok} of {result.coverage.expected}",
        "data": f"{record.dataset.name}, {record.dataset.digest}",
        "seed": record.seed,
        "floorbench": sitting.floorbench if sitting else "",
        "code": json.dumps(dict(record.code), ensure_ascii=False),
        "hardware": json.dumps(dict(record.hardware), ensure_ascii=False),
        "packages": ", ".join(f"{k} {v}" for k, v in record.packages.items()),
        "signature": one_line(result.signature),
    }
    remarks = list(run.remarks)
    if not run.fresh:
        remarks.append("no intervals: not scored since it was written")
    return {
        "name": result.system.name,
        "facts": facts,
        "remarks": remarks,
        "signature": codec.encode_pretty(result.signature),
    }


def page(parts: Sequence[Section], *, title: str, interactive: bool = True) -> str:
    """Return the page.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without jinja2, Altair or vl-convert; ``FB803`` for a character without a glyph.
    """
    try:
        import jinja2
    except ImportError:
        raise missing_extra("jinja2", "report") from None
    here = files("floorbench.report").joinpath("templates")
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: here.joinpath(name).read_text("utf-8")),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    figures = [f for section in parts for f in section.figures]
    pictures = {id(f): render(f.chart, "svg").decode() for f in figures}
    specs = [specification(f.chart) for f in figures]
    with_library = interactive and bool(figures)
    return environment.get_template("report.html").render(
        title=title,
        version=__version__,
        sections=parts,
        picture=lambda f: pictures[id(f)],
        number={id(f): i for i, f in enumerate(figures)},
        identity=id,
        specs=_script_json(specs) if with_library else None,
        library=_script_safe(converter().javascript_bundle()) if with_library else None,
        style=here.joinpath("report.css").read_text("utf-8"),
        glue=here.joinpath("report.js").read_text("utf-8"),
    )


def _script_json(value: Any) -> str:
    """Return JSON that cannot end the script element that it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def _script_safe(code: str) -> str:
    return code.replace("</script", "<\\/script").replace("<!--", "<\\!--")
