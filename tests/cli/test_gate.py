import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from floorbench.cli import app
from floorbench.cli.gate import gate, read_margins
from floorbench.cli.run import run
from floorbench.errors import DataError, EnvironmentProblem, UsageError

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    out = tmp_path_factory.mktemp("runs")
    for name in ("always-takeover", "always-dismiss"):
        run("codett", name, out=out, score=False)
    return {name: next((out / "codett" / name).glob("*")) for name in ("always-takeover",
            "always-dismiss")}  # fmt: skip


def test_a_run_is_kept_against_itself(folders: dict[str, Path], capsys: Captured) -> None:
    path = folders["always-takeover"]
    assert gate(path, against=path, draws=50) == 0
    said = capsys.readouterr()
    assert said.out.startswith("kept: always-takeover 1 against always-takeover 1\n")
    assert "worse" not in said.err
    assert " kept" in said.err


def test_a_worse_run_ends_with_1_and_junit_names_the_cells(
    folders: dict[str, Path], tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "gate.xml"
    first, second = folders["always-dismiss"], folders["always-takeover"]
    options = {"metrics": ["class_accuracy"], "draws": 50, "margins": ["5"]}
    assert gate(first, against=second, junit_file=file, json=True, **options) == 1
    report = json.loads(capsys.readouterr().out)
    suite = ET.parse(file).getroot()
    cases = suite.findall("testcase")
    assert [c.get("classname") for c in cases] == ["codett.class_accuracy"] * len(report["cells"])
    failures = {c.get("name"): f for c in cases for f in c.findall("failure")}
    expected = {
        " ".join(f"{k}={v}" for k, v in c["slice"].items()): c["sentence"]
        for c in report["cells"]
        if c["verdict"] != "kept"
    }
    assert {name: f.get("message") for name, f in failures.items()} == expected
    assert {c["slice"]["action"] for c in report["cells"] if c["verdict"] == "worse"} == {
        "Takeover"
    }
    assert (suite.get("tests"), suite.get("failures")) == (str(len(cases)), str(len(failures)))
    signature = suite.findtext("system-out") or ""
    assert "candidate: task:codett/1|data:" in signature
    assert "system:always-takeover/1" in signature


def test_no_file_is_left_where_nothing_was_judged(folders: dict[str, Path], tmp_path: Path) -> None:
    path, file = folders["always-takeover"], tmp_path / "gate.xml"
    with pytest.raises(UsageError, match="FB526"):
        gate(path, against=path, metrics=["acuracy"], junit_file=file, draws=20)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(EnvironmentProblem, match="FB504"):
        gate(path, against=path, junit_file=tmp_path / "no" / "gate.xml", draws=20)


def test_runs_of_other_data_and_missing_runs_are_refused(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    run("codett", "always-takeover", limit=20, out=tmp_path, score=False)
    part = next((tmp_path / "codett").glob("*/*"))
    with pytest.raises(UsageError, match="FB520"):
        gate(part, against=folders["always-takeover"], draws=20)
    with pytest.raises(DataError, match="FB402"):
        gate(tmp_path / "nothing", against=part, draws=20)


@pytest.mark.parametrize(
    ("given", "points", "named"),
    [
        (None, 2.0, {}),
        (["1.5"], 1.5, {}),
        (["auc=1", "0", "wait=0.1"], 0.0, {"auc": 1.0, "wait": 0.1}),
    ],
)
def test_margins_are_read(given: list[str] | None, points: float, named: dict[str, float]) -> None:
    assert read_margins(given) == (points, named)


@pytest.mark.parametrize("given", [["x"], ["1", "2"], ["auc=1", "auc=1"], ["auc="], ["1_5"]])
def test_margins_that_are_none_are_refused(given: list[str]) -> None:
    with pytest.raises(UsageError, match="FB527"):
        read_margins(given)


@pytest.mark.parametrize("given", [["auc"], ["auc=lower", "auc=higher"]])
def test_ways_that_are_none_are_refused(folders: dict[str, Path], given: list[str]) -> None:
    path = folders["always-takeover"]
    with pytest.raises(UsageError, match="FB103"):
        gate(path, against=path, better=given, draws=20)


def call(*words: str) -> int:
    with pytest.raises(SystemExit) as left:
        app.main(["gate", *words])
    assert isinstance(left.value.code, int)
    return left.value.code


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (lambda a, b: [a, "--against", a], 0),
        (lambda a, b: [a, "--against", b], 1),
        (lambda a, b: [a, "--against", a, "--margin=-1"], 2),
        (lambda a, b: [a], 2),
        (lambda a, b: [a, "--against", a, "--junit", f"{a}/no/gate.xml"], 3),
    ],
    ids=["kept", "worse", "negative", "no baseline", "unwritable"],
)
def test_exit_codes(
    folders: dict[str, Path], words: Callable[[str, str], list[str]], code: int
) -> None:
    a, b = (str(folders[name]) for name in ("always-dismiss", "always-takeover"))
    got = call(*words(a, b), "--draws", "20")
    assert got == code
