import json
from pathlib import Path

import pytest

from support import two_channel_tiny as tiny
from support.cli_calls import called


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    return tiny.build(tmp_path / "calls", ("sw9001", "sw9002"))


STATS = ("data", "stats", "--protocol", "dualturn-4s", "--min-gap", "0")


def test_counts_as_tables_and_as_json(capsys, calls: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.jsonl"
    code, out, err = called(capsys, *STATS, str(calls), "--events", str(events))
    assert code == 0
    assert "sw9001 user" in out
    assert "min_gap 0 frames" in out
    assert str(events) in err
    code, out, _ = called(capsys, *STATS, str(calls), "--json")
    found = json.loads(out)
    assert code == 0
    assert found["parameters"]["min_gap"] == 0
    assert found["totals"]["sides"]["EOT"] == sum(
        '"label":"EOT"' in line for line in events.read_text().splitlines()
    )


def test_min_gap_has_no_default(capsys, calls: Path) -> None:
    code, _, _ = called(capsys, "data", "stats", str(calls), "--protocol", "dualturn-4s")
    assert code != 0


def test_swapped_channels_are_a_finding(capsys, calls: Path) -> None:
    tiny.stereo(calls / "sw9001.wav", tiny.call(0), seconds=60.0, swapped=True)
    tiny.stereo(calls / "sw9002.wav", tiny.call(1), seconds=60.0)
    code, out, err = called(capsys, *STATS, str(calls))
    assert code == 1
    assert "2 checked, 1 swapped" in out
    assert "'sw9001' are swapped" in err


def test_reader_options_and_wrong_data(capsys, calls: Path, tmp_path: Path) -> None:
    code, out, _ = called(capsys, *STATS, str(calls), "--reader-set", "user=B", "--json")
    assert code == 0
    other = json.loads(out)["sessions"][0]["sides"]
    _, out, _ = called(capsys, *STATS, str(calls), "--json")
    assert json.loads(out)["sessions"][0]["sides"]["user"] == other["system"]
    code, _, err = called(capsys, *STATS, "starter:codett", "--reader", "codett")
    assert code == 2
    assert "FB103" in err
