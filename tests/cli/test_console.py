import io
import json
import os
import subprocess
import sys

import pytest

from floorbench.cli import console
from floorbench.errors import EnvironmentProblem
from floorbench.report.tables import Cell, Row, Table, render


def test_data_goes_to_stdout_and_talk_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    console.data("a")
    console.data_json({"b": 1})
    console.say("talk")
    got = capsys.readouterr()
    assert got.out == 'a\n{\n  "b": 1\n}\n'
    assert got.err == "talk\n"


def test_fail_returns_the_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert console.fail(EnvironmentProblem("FB401", "no library", hint="pip install it")) == 3
    assert capsys.readouterr().err == "error: FB401 no library\nhint: pip install it\n"


def test_columns_align_wide_text() -> None:
    lines = console.columns([("中文", "x"), ("a", "y")], ("name", "v")).splitlines()
    assert lines[2].index("x") + 2 == lines[3].index("y")


TABLE = Table(
    title="t",
    head="row",
    columns={f"c{i}": f"column {i}" for i in range(9)},
    rows=[Row(name="a", cells={f"c{i}": Cell(value=0.25, digits=3) for i in range(9)})],
)


@pytest.mark.parametrize("columns", [40, 80, None])
def test_only_a_terminal_gets_folded_text(
    columns: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever ``COLUMNS`` says, piped text and other forms are whole."""
    monkeypatch.setenv("COLUMNS", str(columns or 40))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: columns is not None)
    console.table(TABLE)
    console.lines(["a sentence that has more words than forty columns hold"])
    console.data(console.columns([("a", "more words than there is room for " * 2)], ("x", "y")))
    widest = max(map(len, capsys.readouterr().out.splitlines()))
    assert widest <= columns if columns else widest > 80
    console.table(TABLE, "csv")
    assert capsys.readouterr().out == render(TABLE, "csv")


def test_progress_without_a_terminal_says_where_it_ended(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with console.progress("work") as tick:
        tick(1, 3)
        tick(3, 3)
    assert capsys.readouterr().err == "work: 3 of 3\n"


def test_what_foreign_code_prints_is_talk(capfd: pytest.CaptureFixture[str]) -> None:
    with console.only_talk():
        print("python")
        os.write(1, b"below python\n")
        subprocess.run(["echo", "child"], check=True)
    console.data("data")
    got = capfd.readouterr()
    assert got.out == "data\n"
    assert sorted(got.err.split("\n")) == ["", "below python", "child", "python"]


def test_talk_that_nobody_reads_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb", buffering=0) as pipe:
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(pipe, write_through=True))
        console.say("anybody?")
        sys.stderr.detach()


def test_json_without_utf8_is_still_json(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    console.data_json({"text": "é中😀"})
    assert json.loads(raw.getvalue()) == {"text": "é中😀"}


def test_control_characters_of_data_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    console.fail(EnvironmentProblem("FB402", "\x1b[31mred\0", hint="no"))
    assert capsys.readouterr().err == "error: FB402 \\x1b[31mred\\x00\nhint: no\n"
