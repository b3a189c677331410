import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.cli.compare import compare
from floorbench.cli.gate import gate
from floorbench.cli.opening import PredictionOptions, opened, read_declaration
from floorbench.cli.run import run
from floorbench.cli.score import score
from floorbench.errors import DataError, UsageError


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Return a run folder of a few samples."""
    run("codett", "always-takeover", limit=4, out=tmp_path / "runs", score=False)
    return next((tmp_path / "runs" / "codett").glob("*/*"))


@pytest.fixture
def files(tmp_path: Path, made: Path) -> list[Path]:
    """Return predictions files of the same answers."""
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    for path in paths:
        path.write_bytes((made / "predictions.jsonl").read_bytes())
    return paths


def declared(path: Path, name: str) -> Path:
    labels = ["Takeover", "Dismiss"]
    path.write_text(json.dumps({"name": name, "version": "1", "labels": labels}))
    return path


def test_declarations_go_to_predictions_files_in_their_order(
    tmp_path: Path, made: Path, files: list[Path]
) -> None:
    systems = [declared(tmp_path / f"{name}.json", name) for name in "ab"]
    given = PredictionOptions(task="codett", systems=systems)
    paths = [files[0], made, files[1]]
    assert [o.system.name for o in opened(paths, given)] == ["a", "always-takeover", "b"]
    too_few = PredictionOptions(task="codett", systems=systems[:1])
    with pytest.raises(UsageError, match="1 --system for 2 predictions files"):
        next(opened(paths, too_few))


def test_a_declaration_that_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    with pytest.raises(DataError, match="FB402"):
        read_declaration(file)
    file.write_text('{"name": "mine", "version": "1", "lables": []}')
    with pytest.raises(DataError, match="lables"):
        read_declaration(file)


def test_conditions_are_of_the_predictions_files(made: Path, files: list[Path]) -> None:
    given = PredictionOptions(task="codett", conditions=["h1"])
    of_run, of_file = opened([made, files[0]], given)
    assert (of_run.plan.conditions, of_file.plan.conditions) == (("h0",), ("h1",))


@pytest.mark.parametrize(
    "command",
    [
        lambda path, given: score(path, options=given),
        lambda path, given: compare(path, path, options=given),
        lambda path, given: gate(path, against=path, options=given),
    ],
    ids=["score", "compare", "gate"],
)
def test_no_command_ignores_conditions_where_all_are_runs(
    command: Callable[..., Any], made: Path
) -> None:
    with pytest.raises(UsageError, match="--condition is for predictions files"):
        command(made, PredictionOptions(conditions=["h0"]))


def test_what_is_not_there_is_said_before_anything_is_scored(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    with pytest.raises(DataError, match=r"FB402 .*nothing"):
        score(made, tmp_path / "nothing", draws=10)
    assert capsys.readouterr().out == ""
