import json

import pytest

from floorbench.audio import assets as store
from floorbench.cli import assets


def test_lists_and_doctors(capsys: pytest.CaptureFixture[str]) -> None:
    assert assets.list_assets() == 0
    assert "smart-turn-v3.2" in capsys.readouterr().out
    assert assets.list_assets(json=True) == 0
    names = {a["name"] for a in json.loads(capsys.readouterr().out)}
    assert set(assets.SETS["demo"]) <= names
    assert assets.doctor() == 0
    assert "python" in capsys.readouterr().out
    assert assets.doctor(json=True) == 0
    assert "facts" in json.loads(capsys.readouterr().out)


def test_get_of_what_is_there_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert assets.get("test", quiet=True) == 0
    assert capsys.readouterr().err == ""


def test_get_names_an_unknown_asset(capsys: pytest.CaptureFixture[str]) -> None:
    assert assets.get("smart-turn-v9") == 2
    assert "FB101" in capsys.readouterr().err


def test_a_broken_file_is_a_finding(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = tmp_path / "x.onnx"
    wrong.write_bytes(b"not a model")
    monkeypatch.setenv(store.variable("silero-vad"), str(wrong))
    assert assets.doctor_assets() == 1
    assert "silero-vad: broken" in capsys.readouterr().out
