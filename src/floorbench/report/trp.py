"""The within-turn TRP table: systems, baselines on the same slots, and the paper's rows below."""

from __future__ import annotations

from collections.abc import Sequence

from floorbench.core.score import Estimate
from floorbench.report import published
from floorbench.report.summary import is_reference, notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result
from floorbench.run.twoway import PanelResult

COLUMNS = {
    "slot_precision": "precision",
    "slot_recall": "recall",
    "slot_f": "F1",
    "auc": "AUC",
    "kappa_all": "kappa_all",
    "kappa_hit": "kappa_hit",
    "kappa_near": "kappa_near",
    "kappa_true": "k_true (paper)",
    "mae_slots": "slots off",
    "mae_slots_recall": "slots missed by",
    "nmae": "NMAE",
    "n": "n",
    "coverage": "coverage %",
}
PRINTED = {
    "slot_precision": "precision",
    "slot_recall": "recall",
    "slot_f": "f1",
    "kappa_all": "kappa_free_all",
    "kappa_true": "kappa_free_true",
    "nmae": "nmae",
}
BASELINES = {
    "never": "never",
    "always": "always",
    "random": "random at prevalence",
    "pause": "pause rule",
    "punctuation": "punctuation rule",
    "listener": "one listener",
}
NOTES = (
    "Not label for label comparable with the paper: its turns, listeners, prompts and repeats are "
    "not public, its NMAE may be normalised otherwise, and its k_true cannot be recovered from "
    "text or table (kappa_hit and kappa_near are other statistics).",
    "At the paper's prevalence of about .032, never has kappa_all .936, above all 14 of its rows, "
    "and always has F1 .062, at or above 6 of them.",
    "Pause and punctuation rules look ahead; one listener stands against the consensus of the "
    "others. slots off: from a prediction to the nearest consensus slot; slots missed by: the "
    "other way round.",
)


def table(results: Sequence[Result]) -> Table:
    """Return one table for the results of a dataset.

    Systems that read no instruction have one row; others one per condition.
    """
    rows = [row for result in results for row in _rows(result)]
    rows += _baselines(results[0])
    rows += [
        Row(
            name=f"{printed['system']} {printed['condition']}",
            cells={
                key: Cell(value=published.number(printed[name]), digits=3)
                for key, name in PRINTED.items()
            },
            published=True,
        )
        for printed in published.rows("trp-2")
    ]
    return Table(
        title="within-turn TRP",
        head="system",
        columns=COLUMNS,
        rows=rows,
        notes=[
            *_consensus(results[0]),
            *panel_notes(results),
            *NOTES,
            *(n.replace("; values in percent, AUC from 0 to 1", "") for n in notes(results)),
        ],
    )


def _rows(result: Result) -> list[Row]:
    shown = [result.estimates[i] for i in result.headline]
    rows = []
    for condition in dict.fromkeys(e.slice["condition"] for e in shown):
        mine = [e for e in shown if e.slice["condition"] == condition]
        name = result.system.name + (" [reference]" if is_reference(result) else "")
        cells = {e.metric: _cell(e) for e in mine if e.metric in COLUMNS}
        cells["n"] = text(str(mine[0].units))
        cells["coverage"] = Cell(value=mine[0].coverage.share, scale=100, digits=1)
        rows.append(Row(name=name if condition == "none" else f"{name} {condition}", cells=cells))
    return rows


def _baselines(result: Result) -> list[Row]:
    return [
        Row(
            name=f"({label})",
            cells={
                e.metric: _cell(e)
                for e in result.estimates
                if e.slice.get("baseline") == name and e.metric in COLUMNS
            },
        )
        for name, label in BASELINES.items()
    ]


def panel_notes(results: Sequence[Result]) -> list[str]:
    """Return F1 with the listeners drawn again too, and how many labels another panel turns."""
    shown, flips = [], None
    for result in results:
        for panel in result.panels:
            flips = panel.flip_rate if flips is None else flips
            condition = panel.slice["condition"]
            where = "" if condition == "none" else f" {condition}"
            for name in panel.values:
                shown.append(f"{result.system.name}{where} {around(panel, name)}")
    if not shown:
        return []
    turned = ""
    if flips is not None:
        turned = f" Another panel would turn {100 * flips:.1f} % of the labels."
    return [f"F1 with stimuli and listeners drawn again: {', '.join(shown)}.{turned}"]


def around(panel: PanelResult, name: str) -> str:
    """Return a value with its two-way interval."""
    value, interval = panel.values[name], panel.intervals[name]
    point = "undefined" if value is None else f"{value:.3f}"
    if interval.low is None or interval.high is None:
        return f"{point} (no interval: {interval.reason})"
    return f"{point} [{interval.low:.3f}, {interval.high:.3f}]"


def _consensus(result: Result) -> list[str]:
    """Return what the result says about its labels."""
    found = [e.note for i in result.headline if (e := result.estimates[i]).metric == "slot_recall"]
    return [note for note in found[:1] if note]


def _cell(estimate: Estimate) -> Cell:
    return cell(estimate, scale=1.0, digits=3)
