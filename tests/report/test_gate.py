from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from floorbench.report.gate import gate_table, junit, verdicts
from floorbench.report.tables import as_text
from floorbench.run.engine import run
from floorbench.run.gate import GateReport, LeftOut, gate
from floorbench.run.scoring import open_predictions
from support.engine_toys import Bad, Source, System, Task, choice, quiet


@pytest.fixture
def report(tmp_path: Path) -> GateReport:
    task, source = Task(), Source(80)
    candidate, baseline = (
        open_predictions(
            run(task=task, system=choice(kind), source=source, out=tmp_path, notify=quiet).path,
            task=task,
            source=source,
        )
        for kind in (Bad, System)
    )
    return gate(candidate, against=baseline, draws=50)


def test_a_gate_reads_as_a_table(report: GateReport) -> None:
    text = as_text(gate_table(report))
    assert text.startswith("NOT KEPT: ")
    assert report.cells[0].sentence in text
    assert "; the candidate answers less (missing answers: wrong)" in text
    assert "gain: candidate against baseline" in text
    assert verdicts(report).startswith("gate: 2 cells: ")


def test_cells_that_were_left_out_are_counted(report: GateReport) -> None:
    out = tuple(
        LeftOut(metric="wait", slice={"language": name}, reason="no unit") for name in ("en", "zh")
    )
    report = replace(report, left_out=out)
    line = "not judged: wait (2 cells): no unit"
    assert line in gate_table(report).notes
    assert line in (ET.fromstring(junit(report)).findtext("system-out") or "")


def test_limits_wider_than_those_of_compare_are_counted(report: GateReport) -> None:
    def noted(**wider: tuple[float, float]) -> list[str]:
        cells = tuple(replace(c, interval=replace(c.interval, beside=wider)) for c in report.cells)
        notes = gate_table(replace(report, cells=cells)).notes
        return [n.split(" with")[0] for n in notes if n.startswith("conservative limits")]

    assert noted(percentile=(0.0, 1.0)) == []
    assert noted(conservative=(0.0, 1.0)) == ["conservative limits: 2 cells"]


def test_xml_holds_whatever_the_data_are_called(report: GateReport) -> None:
    name = "a\x00b\x1b<&\"'\ud800\ufffe 中"
    cell = replace(report.cells[0], slice={"kind": name}, verdict="worse", sentence=name)
    report = replace(report, cells=(cell,))
    read = ET.fromstring(junit(report).encode())
    expected = "a\ufffdb\ufffd<&\"'\ufffd\ufffd 中"
    case = read.find("testcase")
    assert case is not None
    assert case.get("name") == f"kind={expected}"
    failure = case.find("failure")
    assert failure is not None
    assert (failure.get("message"), failure.text) == (expected, expected)
