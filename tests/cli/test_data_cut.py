import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.cli.app import main

WORDS = """speaker,word,start,end
caller,my,0.5,1.0
caller,five,2.5,3.0
agent,thank you,3.6,5.5
"""


def floorbench(*argv: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(argv)
    return int(left.value.code or 0)


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    folder = tmp_path / "calls"
    folder.mkdir()
    for name in ("one", "two"):
        soundfile.write(folder / f"{name}.wav", np.zeros((48_000, 2)), 8000)
        (folder / f"{name}.csv").write_text(WORDS, encoding="utf-8")
    return folder


def test_the_clips_can_be_run_at_once(calls: Path, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "clips"
    assert floorbench("data", "cut", str(calls), "-o", str(out), "--reader-set", "user=caller") == 0
    said = capsys.readouterr()
    assert said.out == f"{out}\n"
    assert "2 calls, 2 complete, 2 incomplete" in said.err
    runs = tmp_path / "runs"
    always = ("--set", "label=complete", "--out", str(runs), "--json")
    assert floorbench("run", "clips", "constant", "--data", str(out), *always) == 0


def test_json_counts_every_folder(calls: Path, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "clips"
    told = ("--reader-set", "user=caller", "--dev", "0.5", "--json")
    assert floorbench("data", "cut", str(calls), "-o", str(out), *told) == 0
    found = json.loads(capsys.readouterr().out)
    assert [(Path(f["folder"]).name, f["calls"], f["labels"]) for f in found] == [
        ("dev", 1, {"complete": 1, "incomplete": 1}),
        ("test", 1, {"complete": 1, "incomplete": 1}),
    ]


def test_lines_that_could_not_be_read_are_told(calls: Path, tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    (calls / "one.csv").write_text(WORDS + "caller,late,9,8\n", encoding="utf-8")
    assert floorbench("data", "cut", str(calls), "-o", str(tmp_path / "clips")) == 0
    assert "faults in the annotation: 1; pauses may be wrong there" in capsys.readouterr().err


def test_data_of_one_channel_are_refused(tmp_path: Path, capsys) -> None:  # type: ignore[no-untyped-def]
    assert floorbench("data", "cut", "starter:codett", "-o", str(tmp_path / "clips")) == 2
    assert "holds no two-channel sessions" in capsys.readouterr().err
