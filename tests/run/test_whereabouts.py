import json
from collections.abc import Callable
from pathlib import Path

import pytest

from floorbench.cli.app import main
from floorbench.run.whereabouts import to_keep, to_open
from support import codett_tiny, echo_tiny, trp_tiny, two_channel_tiny


def test_a_relative_path_starts_at_the_run_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    run = Path("runs/t/s/r")
    given = {"reader": "r", "path": "data/set", "splits": "lists/my.json", "audio": "../sound"}
    kept = to_keep(given, run)
    assert kept == {
        "reader": "r",
        "path": "../../../../data/set",
        "splits": "../../../../lists/my.json",
        "audio": "../../../../../sound",
    }
    whole = {
        "reader": "r",
        "path": str(tmp_path / "project/data/set"),
        "splits": str(tmp_path / "project/lists/my.json"),
        "audio": str(tmp_path / "sound"),
    }
    assert to_open(kept, run) == whole
    monkeypatch.chdir("/")
    assert to_open(kept, tmp_path / "project" / run) == whole


@pytest.mark.parametrize(
    "locator",
    [
        {"reader": "codett", "path": "starter:codett"},
        {"reader": "shards", "path": "s3://bucket/set"},
        {"reader": "shards", "path": "https://example.org/set"},
        {"reader": "clips", "path": "/corpora/clips", "name": "clips", "language": "en"},
        {"reader": "pairs", "path": "/corpora/calls", "splits": "none", "audio": None},
        {"reader": "pairs", "path": "/corpora/calls", "splits": None, "only": ["a=b"]},
    ],
)
def test_what_is_no_relative_path_stays(locator: dict, tmp_path: Path) -> None:
    assert to_keep(locator, tmp_path) == locator
    assert to_open(locator, tmp_path) == locator


def test_with_nothing_but_the_root_in_common_a_path_is_absolute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (first, *_) = tmp_path.parts[1:]
    assert to_keep({"path": "data"}, Path(f"/not-{first}/run")) == {"path": str(tmp_path / "data")}


def test_runs_behind_a_link_find_their_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``..`` is the parent of where the folder really is."""
    (tmp_path / "project/data").mkdir(parents=True)
    (tmp_path / "big/disk/runs/r").mkdir(parents=True)
    (tmp_path / "project/runs").symlink_to(tmp_path / "big/disk/runs")
    monkeypatch.chdir(tmp_path / "project")
    kept = to_keep({"path": "data"}, Path("runs/r"))
    for run in (Path("runs/r"), tmp_path / "big/disk/runs/r"):
        assert to_open(kept, run) == {"path": str(tmp_path / "project/data")}
        assert (run / str(kept["path"])).samefile("data")


def test_the_parent_of_a_link_is_where_it_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("project/data", "big/data", "big/disk"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "project/link").symlink_to(tmp_path / "big/disk")
    monkeypatch.chdir(tmp_path / "project")
    kept = to_keep({"path": "link/../data"}, Path("runs/r"))
    assert to_open(kept, Path("runs/r")) == {"path": str(tmp_path / "big/data")}
    (tmp_path / "project/shown").symlink_to(tmp_path / "big/data")
    assert to_keep({"path": "shown"}, Path("runs/r")) == {"path": "../../shown"}


def calls(folder: Path) -> Path:
    """Calls with a list of splits and a list of phrases beside them."""
    two_channel_tiny.build(folder)
    splits = {"train": [], "validation": [], "test": list(two_channel_tiny.CALLS)}
    (folder.parent / "my.json").write_text(json.dumps(splits))
    phrases = {"phrases": ["mhm"], "counts": [2], "utterance_gap": 0.4}
    (folder.parent / "phrases.json").write_text(json.dumps(phrases))
    return folder


def packed(folder: Path) -> Path:
    codett_tiny.build(folder.parent / "whole", history=0)
    with pytest.raises(SystemExit, match="0"):
        main(["data", "pack", str(folder.parent / "whole"), "--out", str(folder)])
    return folder


KINDS: dict[str, tuple[Callable[[Path], object], list[str], list[str]]] = {
    "codett": (lambda p: codett_tiny.build(p, history=0), ["codett", "oracle"], []),
    "shards": (packed, ["codett", "oracle"], []),
    "echo": (echo_tiny.build, ["echo", "oracle"], []),
    "trp": (trp_tiny.build, ["trp", "oracle"], ["--reader-set", "split=dev"]),
    "part": (trp_tiny.build, ["trp", "oracle"], ["--reader-set", "only=id!=one/1"]),
    "calls": (
        calls,
        [
            "dualturn-4s",
            "oracle",
            "--task-set",
            "min_gap=10",
            "--task-set",
            "phrases=data/phrases.json",
        ],
        ["--reader-set", "splits=data/my.json", "--reader-set", "language=en"],
    ),
}


@pytest.fixture(params=KINDS)
def project(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Path, list[str]]:
    """A folder with ``data/set`` and a run on it below ``runs``; how it was called."""
    build, call, about = KINDS[request.param]
    (tmp_path / "project/data").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    build(Path("data/set"))
    with pytest.raises(SystemExit, match="0"):
        main(["run", *call, "--data", "data/set", *about])
    return tmp_path / "project", call


def commands(run: Path, call: list[str]) -> list[list[str]]:
    """Commands that read a run; to go on with it, files of the task are named from where one is."""
    root = run.parents[3]
    call = [word.replace("data/", f"{root}/data/") for word in call]
    return [
        ["score", str(run), "--draws", "20"],
        ["check", str(run)],
        ["compare", str(run), str(run), "--draws", "20"],
        ["report", str(run), "--form", "csv", "--no-compare"],
        ["run", *call, "--resume", str(run), "--no-score"],
    ]


def test_a_run_works_from_any_folder_and_moves_with_its_data(
    project: tuple[Path, list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder, call = project
    (run,) = folder.glob("runs/*/*/*")
    record = json.loads((run / "run.json").read_text())
    assert str(tmp_path) not in json.dumps([record["dataset"], record["task"]])
    journal = (run / "predictions.jsonl").read_bytes()
    monkeypatch.chdir(tmp_path / "elsewhere")
    moved = tmp_path / "far/away"
    for where in (folder, moved):
        if where == moved:
            moved.parent.mkdir()
            folder.rename(moved)
        for command in commands(where / run.relative_to(folder), call):
            with pytest.raises(SystemExit, match="0"):
                main(command)
    assert (moved / run.relative_to(folder) / "predictions.jsonl").read_bytes() == journal


def test_a_run_without_its_data_asks_for_them(
    project: tuple[Path, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Data of the same path elsewhere are never taken for them."""
    folder, call = project
    (run,) = folder.glob("runs/*/*/*")
    (folder / "data").rename(tmp_path / "elsewhere/data")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for command in commands(run, call):
        capsys.readouterr()
        with pytest.raises(SystemExit, match="2"):
            main(command)
        said = capsys.readouterr().err
        assert str(folder / "data") in said
        assert "Traceback" not in said
        assert "--data" in said or "phrases.json" in said
