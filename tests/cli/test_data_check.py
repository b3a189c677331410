"""``floorbench data check`` says what is there and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from floorbench.cli.data_check import check, open_contrasts
from floorbench.errors import DataError
from support import codett_tiny, echo_tiny


def test_the_starter_set_has_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("starter:echo") == 0
    out = capsys.readouterr().out
    assert "echo-starter 1: no faults" in out
    words = [line.split() for line in out.splitlines()]
    assert ["groups", "14", "14", "14", "6", "48"] in words
    assert ["samples", "34", "34", "34", "102"] in words
    assert "Table 2" in out


def test_json_holds_both_tables(capsys: pytest.CaptureFixture[str]) -> None:
    assert check("starter:echo", json=True, audio=False) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["size"]["pairs"] == {"I-B": 20, "I-O": 20, "B-O": 20}
    assert found["closure"]["zh"]["unique"] == 1.0
    assert found["faults"] == []


def test_all_faults_are_listed_with_their_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = echo_tiny.build(tmp_path / "set")
    samples = echo_tiny.rows()
    samples[0]["action"] = "keep"
    samples[3]["events"]["insertion_end"] = 0.1
    samples[5]["audio"]["user"]["path"] = "audio/lost.wav"
    samples[6]["events"]["insertion_end"] = samples[6]["events"]["system_end"] = 9.0
    echo_tiny.write(folder, samples, echo_tiny.pairs(samples))
    assert check(str(folder)) == 1
    out = capsys.readouterr().out
    assert "samples.jsonl:1 [zh-ib-0-i]: the action of a interruption is 'keep'" in out
    assert "FB263" in out
    assert "lost.wav" in out
    assert "the user channel has 3.300 s, the events need 9.000 s" in out
    assert "tiny 1: 5 faults" in out


def test_any_dataset_is_read_to_the_last_sound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = codett_tiny.build(tmp_path, history=1)
    sounds = sorted(p for p in folder.rglob("*.wav"))
    assert sounds
    assert check(str(folder)) == 0
    assert "sounds read: no faults" in capsys.readouterr().out
    sounds[0].write_bytes(sounds[0].read_bytes()[:20])
    listed = folder / "checksums.txt"
    listed.write_text(f"{'0' * 64}  {sounds[1].relative_to(folder)}\n", encoding="utf-8")
    assert check(str(folder)) == 1
    out = capsys.readouterr().out
    assert sounds[0].name in out
    assert f"FB277 {listed}:1: '{sounds[1].relative_to(folder)}' has other bytes" in out
    assert check(str(folder), audio=False, json=True) == 1
    found = json.loads(capsys.readouterr().out)
    assert [f["code"] for f in found["faults"]] == ["FB277"]
    assert found["samples"] > 0


def test_another_kind_of_dataset_is_refused(tmp_path: Path) -> None:
    folder = codett_tiny.build(tmp_path, history=1, audio=False)
    with pytest.raises(DataError, match="FB266"):
        open_contrasts(str(folder), None)


SOUNDS = {
    "a broken sample": ("user", lambda x: (np.append(x[:-1], np.float32(np.nan)), 16_000), "nan"),
    "another rate in its header": ("user", lambda x: (x, 8_000), "not one clock"),
    "a channel that is cut": ("system", lambda x: (x[:20_000], 16_000), "events need 2.640 s"),
    "a channel that ends before": ("system", lambda x: (x[:40_000], 16_000), "not one clock"),
}


@pytest.mark.parametrize("name", SOUNDS)
def test_sound_that_does_not_fit_is_found(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    role, change, words = SOUNDS[name]
    folder = echo_tiny.build(tmp_path / "set")
    file = folder / echo_tiny.rows()[0]["audio"][role]["path"]
    samples, rate = change(soundfile.read(file, dtype="float32")[0])
    soundfile.write(file, samples, rate, "FLOAT")
    assert check(str(folder)) == 1
    assert words in capsys.readouterr().out
