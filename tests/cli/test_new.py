"""A skeleton works as it was written, and so does its test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from floorbench.systems import build_system
from floorbench.systems.worker_check import check_program
from support.cli_calls import called

SRC = Path(__file__).parents[2] / "src"


def test_both_skeletons_pass_their_own_tests(tmp_path, capsys):
    for name, kind in (("my-detector", "class"), ("my-program", "program")):
        code, out, err = called(
            capsys, "new", "system", name, "--kind", kind, "--folder", str(tmp_path)
        )
        assert (code, out) == (0, "")
        assert "test it: pytest" in err
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)],
        check=True,
        cwd=tmp_path,
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(SRC)},
    )
    system = build_system(f"{tmp_path / 'my_detector.py'}:MyDetector", pause=0.5)
    assert (system.spec.name, system.spec.threshold) == ("my-detector", 0.5)
    assert all(c.fine for c in check_program(f"{sys.executable} {tmp_path / 'my_program.py'}"))


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "test_mine.py").write_text("kept")
    code, _, err = called(capsys, "new", "system", "mine", "--folder", str(tmp_path))
    assert code == 2
    assert "FB558" in err
    assert [p.name for p in tmp_path.iterdir()] == ["test_mine.py"]


@pytest.mark.parametrize("name", ["My", "a_b", "3d", "../x", "a-"])
def test_names(tmp_path, capsys, name):
    code, _, err = called(capsys, "new", "system", name, "--folder", str(tmp_path))
    assert code == 2
    assert "FB103" in err
