"""``floorbench audit`` prints a sentence per probe and exits 1 on a shortcut."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from floorbench.cli.audit import audit
from support import echo_tiny


def test_no_shortcut_is_no_finding(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit("starter:echo", draws=100) == 0
    out = capsys.readouterr().out
    assert "zh, channels alone: no shortcut found" in out
    assert "50.0 (50.0–50.0)" in out


def test_a_shortcut_is_a_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = echo_tiny.build(tmp_path / "set", copies=6, level={"interruption": 0.4})
    assert audit(str(folder), draws=40, json=True) == 1
    found = json.loads(capsys.readouterr().out)
    told = {(f["language"], f["probe"]): f["shortcut"] for f in found}
    assert told["zh", "loudness and duration"]
    assert not told["zh", "text"]
