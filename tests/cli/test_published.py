import json

import pytest

from floorbench.cli import published
from floorbench.errors import UsageError


def test_show_lists_tables_then_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert published.show() == 0
    assert "codett-2" in capsys.readouterr().out
    assert published.show("echo-4") == 0
    assert "SoulX-Duplug" in capsys.readouterr().out
    assert published.show("trp-1", json=True) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["list1"] == "846.3"
    assert published.show(json=True) == 0
    assert len(json.loads(capsys.readouterr().out)) >= 10
    with pytest.raises(UsageError, match="FB101"):
        published.show("none")


def test_check_prints_three_lists_and_is_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert published.check() == 0
    out = capsys.readouterr().out
    assert "misprint (6)" in out
    assert "unexplained (7)" in out
    assert published.check(json=True) == 0
    kinds = [f["kind"] for f in json.loads(capsys.readouterr().out)]
    assert kinds.count("misprint") == 6


def test_results_are_shown_in_the_papers_rows_and_columns(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert published.show("codett-3") == 0
    out = capsys.readouterr().out
    assert out.count("Qwen3-Omni h5") == 2  # one table a language
    assert published.show("trp-2", form="latex") == 0
    assert r"\begin{tabular}{lrrrrrrrr}" in capsys.readouterr().out
