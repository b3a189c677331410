"""``floorbench report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import Form
from floorbench.errors import UsageError


def report(
    *runs: Path,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
    dataset: Annotated[str | None, Parameter(name=["--dataset", "--data"])] = None,
    reader: str | None = None,
    title: str = "floorbench report",
    draws: int = 2000,
    baseline: Path | None = None,
    compare: bool = True,
    interactive: bool = True,
    figures: Annotated[Path | None, Parameter(name="--figures")] = None,
    figure_format: Annotated[list[str] | None, Parameter(name="--format", negative=())] = None,
    form: Form | None = None,
) -> int:
    """Write runs up: one offline page, figures for a paper, or tables.

    Parameters
    ----------
    runs
        Run folders.
    out
        The page (.html), one file with everything in it.
    dataset
        Where the data are now, when they moved since the run: a path or starter:NAME.
    reader
        Reader of the data.
    title
        Title of the page.
    draws
        Draws of the paired comparisons.
    baseline
        Run that the others are compared with, and that stands first; the first of RUNS by default.
    compare
        Compare the baseline with up to three others; references are left out.
    interactive
        Let the figures of the page answer to the pointer (adds 0.9 MB).
    figures
        Folder to write every figure to.
    figure_format
        Formats of these figures: svg, png, pdf, json, html (repeat the option); svg by default.
    form
        Print the tables in this form.
    """
    from floorbench.report import html
    from floorbench.report.figures import library
    from floorbench.report.figures_save import save
    from floorbench.report.stored import Sources, load
    from floorbench.run.store import safe_name, write_text

    if out is None and figures is None and form is None:
        raise UsageError(
            "FB103", "say what to write: -o PAGE.html, --figures FOLDER or --form FORM"
        )
    if out is not None and out.suffix.lower() not in (".html", ".htm"):
        raise UsageError("FB103", f"the page '{out}' does not end in .html")
    if out is not None or figures is not None:
        library()  # said now rather than after the runs have been read
    if len({path.resolve() for path in runs}) < len(runs):
        raise UsageError("FB802", "a run is named twice")
    if baseline is not None:
        if baseline.resolve() not in [path.resolve() for path in runs]:
            raise UsageError("FB103", f"the baseline '{baseline}' is none of the runs named")
        runs = tuple(sorted(runs, key=lambda path: path.resolve() != baseline.resolve()))
    sources = Sources(dataset, reader=reader)
    loaded = []
    with console.progress("reading") as tick:
        for i, path in enumerate(runs, start=1):
            loaded.append(load(path, sources))
            tick(i, len(runs))
    for run in loaded:
        for remark in run.remarks:
            console.say(f"{run.path}: {remark}")
    drawing = out is not None or figures is not None
    parts = html.sections(loaded, draws=draws, compared=compare, figures=drawing, told=console.say)
    if form is not None:
        for section in parts:
            for table in (*section.tables, *section.comparisons):
                console.table(table, form)
    if figures is not None:
        taken: dict[str, int] = {}
        for figure in (figure for section in parts for figure in section.figures):
            stem = safe_name(figure.name)
            taken[stem] = taken.get(stem, 0) + 1  # two data sets may have a figure of one name
            stem += f"-{taken[stem]}" if taken[stem] > 1 else ""
            for kind in figure_format or ["svg"]:
                console.data(str(save(figure.chart, figures / f"{stem}.{kind}")))
    if out is not None:
        write_text(out, html.page(parts, title=title, interactive=interactive))
        console.data(str(out))
    return 0
