import json
from pathlib import Path

import pytest

from floorbench.codec import read_json
from floorbench.systems.frames_probe import read_artefact
from floorbench.tasks.dualturn import Phrases, read_phrases
from support import two_channel_tiny as tiny
from support.cli_calls import called


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    folder = tiny.build(tmp_path / "calls", tiny.CALLS[:6])
    known = tmp_path / "calls" / "splits.json"
    assert json.loads(known.read_text())["train"]
    return folder


def test_a_probe_and_a_list_are_made(capsys, calls: Path, tmp_path: Path) -> None:
    path = tmp_path / "list.json"
    code, out, _ = called(
        capsys, "fit", "dualturn-4s", "phrases", "--data", str(calls), "--split", "all",
        "--out", str(path),
    )  # fmt: skip
    assert code == 0
    assert "sha256" in out
    assert read_phrases(path) == read_json(path, Phrases)
    assert "yeah" in read_phrases(path).phrases


def test_a_split_that_is_not_there(capsys, calls: Path) -> None:
    for system, sets in (("phrases", ()), ("frame-probe", ("--set", "min_gap=0"))):
        code, _, err = called(capsys, "fit", "dualturn-4s", system, "--data", str(calls), *sets)
        assert (code, "FB536" in err) == (2, True)


def test_a_probe_by_command(capsys, calls: Path, tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    splits = f"splits={calls / 'splits.json'}"
    code, _, err = called(
        capsys, "fit", "dualturn-4s", "frame-probe", "--data", str(calls), "--reader-set", splits,
        "--set", "words=5", "--set", "min_gap=0", "-o", str(path),
    )  # fmt: skip
    assert code == 0, err
    assert len(read_artefact(path).words) == 5
    assert "4 sessions read" in err


def test_unknown_things_are_refused(capsys, calls: Path) -> None:
    for argv in (
        ("codett", "frame-probe"),
        ("dualturn-4s", "smart-turn"),
        ("dualturn-4s", "frame-probe", "--set", "min_gap=0", "--set", "wrods=5"),
        ("dualturn-4s", "phrases", "--set", "gap=5"),
    ):
        code, _, err = called(capsys, "fit", *argv, "--data", str(calls))
        assert (code, "FB103" in err) == (2, True), argv
    for value in ("long", "true", "null"):
        sets = ("--set", f"utterance_gap={value}")
        code, _, err = called(capsys, "fit", "dualturn-4s", "phrases", *sets, "--data", str(calls))
        assert (code, "is no number of seconds" in err) == (2, True), value
    _, _, err = called(capsys, "fit", "vap-1s", "frame-probe", "--data", str(calls))
    assert "known: dualturn-4s frame-probe, dualturn-4s phrases" in err


def test_a_probe_needs_the_gap_of_its_labels(capsys, calls: Path, tmp_path: Path) -> None:
    path = tmp_path / "probe.json"
    code, _, err = called(
        capsys, "fit", "dualturn-4s", "frame-probe", "--data", str(calls), "-o", str(path)
    )
    assert (code, path.exists()) == (2, False)
    assert "FB103 'frame-probe' needs its parameter min_gap" in err
    assert "--set min_gap=VALUE: 0 keeps all gaps" in err
