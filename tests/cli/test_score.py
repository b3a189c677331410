import json
from pathlib import Path

import pytest

from floorbench.cli.score import check, print_results, score
from floorbench.errors import DataError, UsageError


def lines(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return path


def test_check_names_every_fault_with_its_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lines(
        tmp_path / "p.jsonl",
        {"sample_id": "nobody", "condition": "h0", "decision": {"label": "Dismiss"}},
        {"sample_id": "nobody", "condition": "h0", "decision": {"lable": "Dismiss"}},
    )
    path.write_text(path.read_text() + "{broken\n")
    assert check(path, task="codett") == 1
    out = capsys.readouterr().out
    assert f"FB204 {path}:1" in out
    assert f"FB201 {path}:2" in out
    assert "did you mean" in out or "unknown key 'lable'" in out
    assert f"FB201 {path}:3" in out
    assert "FB207" in out
    assert check(path, task="codett", json=True) == 1
    assert len(json.loads(capsys.readouterr().out)["faults"]) >= 4


def test_a_file_needs_its_task(tmp_path: Path) -> None:
    path = lines(tmp_path / "p.jsonl")
    with pytest.raises(UsageError, match="--task"):
        score(path)
    with pytest.raises(UsageError, match="name a run folder"):
        score()


def test_nothing_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_results([], "text", every=False)
    assert capsys.readouterr().out == ""


def test_a_path_that_is_not_there_is_said_first(tmp_path: Path) -> None:
    for path in (tmp_path / "nope", tmp_path / "nope.jsonl"):
        with pytest.raises(DataError, match=r"FB402 .*nope.*: there is no such file or folder"):
            score(path, task="codett")
