"""Two runs side by side, as a table a person can act on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from floorbench.core.words import counted
from floorbench.report.served import compared_notes
from floorbench.report.summary import slice_text
from floorbench.report.tables import Cell, Row, Table, interval_notes, text
from floorbench.run.compare import CellComparison, RunComparison
from floorbench.run.signature import one_line
from floorbench.run.twoway import PanelResult
from floorbench.stats.paired import ALPHA, Comparison

PLAIN = ("auc", "eer", "kappa", "slot_", "nmae", "brier", "ece")
"""Beginnings of the names of metrics between 0 and 1 that no table shows in percent."""


def comparison_table(comparison: RunComparison) -> Table:
    """Return the compared cells: both values, the paired difference, p and what it means."""
    first, second = comparison.first.system, comparison.second.system
    compared = [c for c in comparison.cells if c.found is not None]
    asked = (("A", comparison.first_coverage), ("B", comparison.second_coverage))
    notes = [
        "answered: " + ", ".join(f"{n} {c.ok} of {c.expected}" for n, c in asked),
        f"A: {one_line(comparison.first)}",
        f"B: {one_line(comparison.second)}",
        "difference: A - B with the paired cluster bootstrap; p: permutation of whole clusters, "
        f"after Holm over {counted(comparison.tests, 'test')}",
    ]
    notes += dict.fromkeys(f"{c.metric}: {c.note}" for c in compared if c.note is not None)
    notes += [
        f"{' '.join(filter(None, (c.metric, slice_text(c.slice))))}: {c.found.note}"
        for c in compared
        if c.found is not None and c.found.note and c.adjusted is not None and c.adjusted <= ALPHA
    ]
    if comparison.first_served or comparison.second_served:
        notes += compared_notes(
            comparison.first_served, comparison.second_served, systems=(first, second)
        )
    notes += [f"differs: {d}" for d in comparison.system_differences]
    notes += [_panel(p) for p in comparison.panels]
    notes += _not_compared([c for c in comparison.cells if c.found is None])
    table = Table(
        title=f"A = {_named(first, second)}  against  B = {_named(second, first)}",
        head="metric",
        columns={
            "slice": "slice",
            "a": "A",
            "b": "B",
            "difference": "A - B",
            "p": "p (Holm)",
            "effect": "effect size",
            "detectable": "detectable",
            "says": "reading",
        },
        rows=[_row(c, c.found) for c in comparison.cells if c.found is not None],
    )
    return replace(table, notes=(*interval_notes(table), *notes))


def _named(system: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Return a system's name, with its version where the other has the same name."""
    name = str(system.get("name"))
    return f"{name} {system.get('version')}" if name == str(other.get("name")) else name


def _not_compared(cells: Sequence[CellComparison]) -> list[str]:
    """Name the cells without a comparison; more than two of one metric and reason are counted."""
    alike: dict[tuple[str, str | None], list[str]] = {}
    for cell in cells:
        alike.setdefault((cell.metric, cell.reason), []).append(slice_text(cell.slice))
    return [
        f"not compared: {metric} {text}: {reason}"
        for (metric, reason), slices in alike.items()
        for text in (slices if len(slices) <= 2 else [f"({counted(len(slices), 'cell')})"])
    ]


def _panel(panel: PanelResult) -> str:
    """Return the difference of F1 when the listeners are drawn again too."""
    made = panel.difference
    shown = "no interval" if made is None else f"no interval: {made.reason}"
    if made is not None and made.low is not None and made.high is not None:
        shown = f"{100 * made.level:g} % [{made.low:.3f}, {made.high:.3f}]"
    flips = ""
    if panel.flip_rate is not None:
        flips = f"; another panel turns {100 * panel.flip_rate:.1f} % of labels"
    return (
        f"F1, {slice_text(panel.slice)}, A - B with stimuli and listeners drawn again, both "
        f"systems on the same panels: {shown}{flips}"
    )


def _says(c: CellComparison) -> str:
    """Return the wording without the number that has a column of its own."""
    detectable = None if c.found is None else c.found.detectable
    if detectable is None:
        return c.wording
    return c.wording.replace(f"; detectable from {detectable:.3g}", "")


def in_percent(c: CellComparison) -> bool:
    """Tell whether a metric is shown in percent, as in the tables of its task."""
    return c.share and not c.metric.startswith(PLAIN)


def _row(c: CellComparison, found: Comparison) -> Row:
    scale, digits = (100.0, 1) if in_percent(c) else (1.0, 3)
    effect = found.effect
    return Row(
        name=c.metric,
        cells={
            "slice": text(slice_text(c.slice)),
            "a": Cell(value=found.a, scale=scale, digits=digits),
            "b": Cell(value=found.b, scale=scale, digits=digits),
            "difference": Cell(
                value=found.difference,
                scale=scale,
                digits=digits,
                low=found.interval.low,
                high=found.interval.high,
                made=found.interval,
                units=found.clusters,
                reason=found.reason,
            ),
            "p": text("-" if c.adjusted is None else f"{c.adjusted:.4f}"),
            "effect": text("-" if effect.value is None else f"{effect.value:.2f} ({effect.name})"),
            "detectable": Cell(value=found.detectable, scale=scale, digits=digits),
            "says": text(_says(c)),
        },
    )
