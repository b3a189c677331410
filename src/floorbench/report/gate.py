"""A gate as a table for people and as JUnit XML for the pages of a CI."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

from floorbench.core.words import counted
from floorbench.report.summary import slice_text
from floorbench.report.tables import Cell, Row, Table, interval_notes, text
from floorbench.run.gate import GatedCell, GateReport
from floorbench.run.signature import one_line
from floorbench.stats.conservative import NAME


def gate_table(report: GateReport) -> Table:
    """Return the judged cells: both values, the gain with its interval, the margin, the verdict."""
    first, second = report.candidate.system, report.baseline.system
    table = Table(
        title=f"{'kept' if report.passed else 'NOT KEPT'}: {first['name']} {first['version']} "
        f"against {second['name']} {second['version']}",
        head="metric",
        columns={
            "slice": "slice",
            "candidate": "candidate",
            "baseline": "baseline",
            "gain": "gain",
            "margin": "margin",
            "says": "verdict",
        },
        rows=[_row(c) for c in report.cells],
    )
    notes = [
        "gain: candidate against baseline with the paired cluster bootstrap, turned so that above "
        "0 is better; a cell is kept when its interval lies above -margin",
        *_wider(report),
        "metrics between 0 and 1 in points (hundredths)",
        *_facts(report),
        *_left_out(report),
    ]
    return replace(table, notes=(*interval_notes(table), *notes))


def verdicts(report: GateReport) -> str:
    """Return one line: how many cells have which verdict."""
    counts = Counter(c.verdict for c in report.cells)
    told = ", ".join(f"{counts[v]} {v}" for v in ("kept", "worse", "not shown") if counts[v])
    return f"gate: {counted(len(report.cells), 'cell')}: {told}"


def junit(report: GateReport) -> str:
    """Return the gate as JUnit XML: one test case per cell, a failure where it is not kept.

    Signatures, coverage and the cells that were left out stand in ``system-out``.
    """
    failures = sum(c.verdict != "kept" for c in report.cells)
    suite = ET.Element(
        "testsuite",
        name="floorbench gate",
        tests=str(len(report.cells)),
        failures=str(failures),
        errors="0",
        skipped="0",
    )
    task = str(report.candidate.protocol["task"])
    for cell in report.cells:
        case = ET.SubElement(
            suite,
            "testcase",
            classname=_xml(f"{task}.{cell.metric}"),
            name=_xml(slice_text(cell.slice) or "all"),
        )
        if cell.verdict != "kept":
            message = _xml(cell.sentence)
            ET.SubElement(case, "failure", type=cell.verdict, message=message).text = message
        else:
            ET.SubElement(case, "system-out").text = _xml(cell.sentence)
    out = ET.SubElement(suite, "system-out")
    out.text = _xml("\n".join([*_facts(report), *_left_out(report)]))
    ET.indent(suite)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"
    )


def _wider(report: GateReport) -> list[str]:
    """Say how many cells were judged by other limits than the interval's own."""
    n = sum(c.interval is not None and NAME in c.interval.beside for c in report.cells)
    if not n or report.same_answers:
        return []
    return [
        f"conservative limits: {counted(n, 'cell')} with few or unequal clusters, or a difference "
        "to one side only, shown and judged by wider ones than those of compare"
    ]


def _facts(report: GateReport) -> list[str]:
    asked = {"candidate": report.candidate_coverage, "baseline": report.baseline_coverage}
    answered = ", ".join(f"{who} {c.ok} of {c.expected}" for who, c in asked.items())
    shares = [c.share or 0.0 for c in asked.values()]
    policy = report.candidate.protocol["parameters"].get("missing")
    fell = "the candidate answers less" + (f" (missing answers: {policy})" if policy else "")
    return [
        f"answered: {answered}" + (f"; {fell}" if shares[0] < shares[1] else ""),
        f"candidate: {one_line(report.candidate)}",
        f"baseline: {one_line(report.baseline)}",
        *(f"differs: {d}" for d in report.system_differences),
        *(f"{c.metric} {slice_text(c.slice)}: {c.note}" for c in report.cells if c.note),
    ]


def _left_out(report: GateReport) -> list[str]:
    """Return one line per metric and reason."""
    counts = Counter((c.metric, c.reason) for c in report.left_out)
    return [
        f"not judged: {metric} ({counted(n, 'cell')}): {reason}"
        for (metric, reason), n in counts.items()
    ]


def _row(c: GatedCell) -> Row:
    scale, digits = (100.0, 1) if c.share else (1.0, 3)
    return Row(
        name=c.metric,
        cells={
            "slice": text(slice_text(c.slice)),
            "candidate": Cell(value=c.candidate, scale=scale, digits=digits),
            "baseline": Cell(value=c.baseline, scale=scale, digits=digits),
            "gain": Cell(
                value=c.gain,
                scale=scale,
                digits=digits,
                low=c.low,
                high=c.high,
                made=c.interval,
                units=c.clusters,
                reason=None if c.gain is not None else c.sentence,
            ),
            "margin": Cell(value=c.margin, scale=scale, digits=digits),
            "says": text(c.sentence),
        },
    )


def _xml(value: str) -> str:
    """Replace what XML cannot hold; names come from data."""
    return "".join(c if _allowed(ord(c)) else "\N{REPLACEMENT CHARACTER}" for c in value)


def _allowed(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or (
        0x20 <= code < 0x110000 and not 0xD800 <= code < 0xE000 and code not in (0xFFFE, 0xFFFF)
    )
