"""A large parent does not hide the peak of a small child."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import peaks

MIB = 2**20
HOLDS = "bytearray(b'1') * (150 << 20)"
LARGE_PARENT = f"""
import subprocess, sys
held = {HOLDS}
subprocess.run([sys.executable, "-c", sys.argv[1]], check=True)
"""


def under_a_large_parent(code: str) -> int:
    done = subprocess.run(
        [sys.executable, "-c", LARGE_PARENT, code],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).resolve().parents[2],
    )
    return int(done.stdout)


def test_own_peak_is_without_the_parents() -> None:
    assert under_a_large_parent("from benchmarks import peaks; print(peaks.own())") < 120 * MIB
    code = f"from benchmarks import peaks; {HOLDS}; print(peaks.own())"
    assert 150 * MIB < under_a_large_parent(code) < 270 * MIB


def test_the_peak_of_a_program_is_without_that_of_who_starts_it() -> None:
    small = "from benchmarks import peaks; print(peaks.of_program('true'))"
    assert under_a_large_parent(small) < 60 * MIB
    assert peaks.of_program(sys.executable, "-c", HOLDS) > 150 * MIB


def test_a_program_that_fails_has_no_peak() -> None:
    with pytest.raises(AssertionError, match="ended with 1"):
        peaks.of_program("false")
