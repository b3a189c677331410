import json
from pathlib import Path

import pytest

from floorbench.cli import demo


@pytest.mark.parametrize(
    ("called", "path", "command"),
    [
        (".venv/bin/floorbench", "", ".venv/bin/floorbench"),
        (".venv/bin/floorbench", "{}", "floorbench"),
        ("pytest", "", "floorbench"),
    ],
)
def test_the_next_command_is_one_that_the_shell_finds(
    called: str, path: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "floorbench"
    program.write_text("")
    program.chmod(0o755)
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setenv("PATH", path.format(tmp_path))
    assert demo._command() == command


def test_the_main_job_end_to_end_and_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "runs"
    assert demo.demo(out=out, limit=12, draws=100, workers=1) == 0
    text = capsys.readouterr().out
    for name in (*demo.MODELS, *demo.RULES, *demo.CONSTANTS, "oracle [reference]"):
        assert name in text
    assert "Smart-Turn-v3 (paper) †" in text
    assert "does not rank" in text
    assert "floorbench compare" in text
    made = sorted(out.glob("codett/*/*"))
    assert len(made) == 12
    assert demo.demo(out=out, limit=12, draws=100, json=True) == 0
    results = json.loads(capsys.readouterr().out)
    assert len(results) == 12
    assert sorted(out.glob("codett/*/*")) == made  # reused, not made again
