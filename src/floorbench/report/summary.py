"""The plain table that every task has: its headline cells, one a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from floorbench.core.score import Estimate
from floorbench.core.vocab import Level
from floorbench.report.served import served_notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result
from floorbench.run.signature import one_line


def headline(result: Result) -> list[Estimate]:
    """Return the estimates that belong to the printed table."""
    return [result.estimates[i] for i in result.headline]


def summary(result: Result, *, every: bool = False) -> Table:
    """Return the headline cells of one result, or all of its cells."""
    rows = []
    for estimate in result.estimates if every else headline(result):
        share = _is_share(result, estimate)
        shown = cell(estimate, scale=100.0 if share else 1.0, digits=1 if share else 3)
        rows.append(
            Row(
                name=estimate.metric,
                cells={
                    "slice": text(slice_text(estimate.slice)),
                    "value": shown,
                    "n": text(str(estimate.units)),
                    "coverage": Cell(value=estimate.coverage.share, scale=100, digits=1),
                    "remark": text(remark(estimate)),
                },
            )
        )
    return Table(
        title=f"{result.task.name}: {result.system.name} on {result.dataset.get('name', 'data')}",
        head="metric",
        columns={
            "slice": "slice",
            "value": "value (shares in %)",
            "n": "n",
            "coverage": "coverage %",
            "remark": "remark",
        },
        rows=rows,
        notes=notes([result]),
    )


def _is_share(result: Result, estimate: Estimate) -> bool:
    spec = result.metrics[estimate.metric]
    return (spec.low, spec.high) == (0.0, 1.0) and "auc" not in spec.name


def slice_text(slice_: Mapping[str, str]) -> str:
    """Return a slice as ``language=zh condition=h0``."""
    return " ".join(f"{k}={v}" for k, v in slice_.items())


def remark(estimate: Estimate) -> str:
    """Return what must be read beside a value: reasons, warnings, notes."""
    value, interval = estimate.reason, estimate.interval.reason
    if value is not None and interval is not None and value.endswith(interval):
        interval = None  # an undeclared cell carries its reason twice
    said = (value, interval, estimate.interval.warning, estimate.note)
    return "; ".join(dict.fromkeys(s for s in said if s))


def notes(results: Sequence[Result]) -> list[str]:
    """Return the lines under a table: data and its notice, level and method, signatures."""
    first = results[0]
    out = []
    name = first.dataset.get("name", "data")
    digest = str(first.signature.protocol.get("dataset", ""))[:12]
    out.append(f"data: {name}, digest {digest}")
    out += [f"NOTE: {notice}" for notice in first.dataset.get("notices", ())]
    level = next((e.interval.level for e in first.estimates), 0.95)
    out.append(
        f"intervals: {level:.0%}, cluster bootstrap (BCa where defined); "
        "values in percent, AUC from 0 to 1"
    )
    for r in results:
        if r.served:
            out += served_notes(r.served, of=r.system.name if len(results) > 1 else "")
    out += [one_line(r.signature) for r in results]
    return out


def is_reference(result: Result) -> bool:
    """Tell whether the predictor may have seen the gold answers."""
    return result.system.level is Level.REFERENCE
