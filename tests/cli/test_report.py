from pathlib import Path

import pytest

from floorbench.cli.app import main
from floorbench.core.prediction import Decision
from floorbench.datasets.codett import CodettSource
from floorbench.tasks.codett import CodettTask
from support.codett_tiny import build
from support.viewing import system, write_run


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    source = CodettSource(build(tmp_path / "data", history=0))
    return [
        str(
            write_run(
                tmp_path / "runs",
                task=CodettTask(),
                source=source,
                spec=system(says, labels=("Takeover", "Dismiss"), score=None, context="none"),
                answer=lambda _, __, says=says: Decision(label=says),
            )
        )
        for says in ("Takeover", "Dismiss")
    ]


def code(*argv: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["report", *argv])
    return int(caught.value.code or 0)


def test_a_page_figures_and_tables(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, folder = tmp_path / "r.html", tmp_path / "figures"
    asked = ["-o", str(page), "--figures", str(folder), "--format", "pdf", "--format", "svg"]
    assert code(*runs, *asked, "--draws", "50", "--form", "latex") == 0
    said = capsys.readouterr()
    assert "toprule" in said.out
    assert str(page) in said.out
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    made = sorted(p.name for p in folder.iterdir())
    assert "confusion-Takeover-en-h0.pdf" in made
    assert "confusion-Takeover-en-h0.svg" in made
    assert "forest-Takeover-Dismiss.pdf" in made
    assert "reading: 2 of 2" in said.err


def test_what_to_write_must_be_said(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert code(*runs) == 2
    assert code(*runs, "-o", "page.pdf") == 2
    assert "FB103" in capsys.readouterr().err


def test_a_run_named_twice_is_refused(runs: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert code(runs[0], *runs, "--form", "text") == 2
    assert "FB802" in capsys.readouterr().err


def test_two_figures_of_one_name_are_two_files(
    runs: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from floorbench.report import html

    made = html.sections
    monkeypatch.setattr(html, "sections", lambda *a, **k: 2 * made(*a, **k))
    folder = tmp_path / "figures"
    assert code(*runs, "--figures", str(folder), "--draws", "20", "--format", "json") == 0
    names = {p.name for p in folder.iterdir()}
    assert {"confusion-Takeover-en-h0.json", "confusion-Takeover-en-h0-2.json"} <= names


def test_moved_data_ask_for_dataset(
    runs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").rename(tmp_path / "moved")
    assert code(*runs, "--form", "text") == 2
    said = capsys.readouterr().err
    assert "FB801" in said
    assert "--dataset" in said
    asked = ["--dataset", str(tmp_path / "moved"), "--draws", "20"]
    assert code(*runs, "--form", "text", *asked) == 0


def test_the_baseline_is_the_first_run_or_the_one_named(
    runs: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert code(*runs, "--form", "text", "--draws", "20") == 0
    assert "comparing Takeover against Dismiss" in " ".join(capsys.readouterr().err.split())
    assert code(*runs, "--form", "text", "--draws", "20", "--baseline", runs[1]) == 0
    assert "comparing Dismiss against Takeover" in " ".join(capsys.readouterr().err.split())
    assert code(runs[0], "--form", "text", "--baseline", runs[1]) == 2
    assert "none of the runs named" in " ".join(capsys.readouterr().err.split())
