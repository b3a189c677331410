"""The table of labelled clips: systems side by side, one table a language.

For a turn detector two columns say it all: of the turns that were over, how many it saw, and of
the pauses inside a turn, how many it sat out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from floorbench.core.score import Estimate
from floorbench.core.words import counted
from floorbench.report.languages import languages
from floorbench.report.summary import is_reference, notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result

LABELS = ("complete", "incomplete", "backchannel", "wait")
ENDS = "complete+incomplete"
READ = (
    "Complete right: ends of turns that the system would have answered. Incomplete right: pauses "
    "that it would have sat out; 100 minus it is the rate of false cut-ins. Clips without an "
    "answer count as wrong in both."
)
EVERY = "End, all clips: complete or not over all clips, where backchannels and wait are not."


def tables(results: Sequence[Result]) -> list[Table]:
    """Return one table per language of the data."""
    return [_table(results, code, name) for code, name in languages(results).items()]


def _table(results: Sequence[Result], language: str, name: str) -> Table:
    found = [[e for e in r.estimates if e.slice["language"] == language] for r in results]
    there = {
        e.slice["label"]
        for estimates in found
        for e in estimates
        if e.metric == "class_accuracy" and e.units
    }
    labels = [label for label in LABELS if label in there]
    other = not there <= set(LABELS[:2])
    rows = []
    for result, estimates in zip(results, found, strict=True):
        cells = dict(_cells(estimates))
        if cells:
            system = result.system.name + (" [reference]" if is_reference(result) else "")
            rows.append(Row(name=system, cells=cells, note=_answered(estimates)))
    about = results[0].dataset.get("name", "data") + ("" if language == "und" else f", {name}")
    columns = {label: f"{label.capitalize()} right" for label in labels}
    columns |= {"average": "Average"} | ({"end": "End, all clips"} if other else {})
    return Table(
        title=f"Clips of {about}: is the turn over? (accuracy in %)",
        head="system",
        columns={**columns, "auc": "AUC", "n": "n", "coverage": "answered %"},
        rows=rows,
        notes=(*((READ,) if "incomplete" in labels else ()), *((EVERY,) if other else ()),
               *notes(results)),
    )  # fmt: skip


def _cells(estimates: Sequence[Estimate]) -> Iterator[tuple[str, Cell]]:
    for e in estimates:
        if e.metric == "class_accuracy":
            yield e.slice["label"], cell(e)
        elif e.metric == "macro_accuracy":
            yield "average", cell(e)
        elif e.metric == "accuracy" and e.slice["clips"] == "all":
            yield "end", cell(e)
            yield "n", text(str(e.units))
            yield "coverage", Cell(value=e.coverage.share, scale=100, digits=1)
        elif e.metric in ("auc", "auc_answered") and e.slice["clips"] == ENDS:
            yield "auc", cell(e, scale=1.0, digits=3)


def _answered(estimates: Sequence[Estimate]) -> str | None:
    for e in estimates:
        if e.metric == "auc_answered" and e.slice["clips"] == ENDS:
            return f"AUC over the {counted(e.coverage.ok, 'scored clip')} of {e.units}"
    return None
