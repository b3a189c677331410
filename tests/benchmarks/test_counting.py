"""Counts of the hot paths against the stored ones, and planted regressions that must be seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import counted as paths
from benchmarks import counting
from floorbench.run.keys import KeyTable

ROOT = Path(__file__).parents[2]


def test_no_count_has_grown() -> None:
    """The message names the path; ``--counts --write`` stores a growth that is meant."""
    environment = os.environ | {"PYTHONHASHSEED": "7"}
    done = subprocess.run(  # noqa: PLW1510 -- its code is looked at below
        [sys.executable, "-m", "benchmarks", "--counts"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr


def test_stored_counts_are_those_of_the_paths() -> None:
    assert list(counting.read()) == list(paths.PATHS)
    assert all(counting.read().values())


def test_counts_are_the_same_twice() -> None:
    assert paths.driver_step() == paths.driver_step()
    assert paths.engine_sample() == paths.engine_sample()


def test_one_write_and_no_sync_a_sample() -> None:
    found = paths.engine_sample()
    assert (found["write"], found["fsync"], found["opens"]) == (1, 0, 0)


def test_one_call_more_a_sample_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    golden = {"engine": paths.engine_sample()}
    add = KeyTable.add
    look = KeyTable.get

    def thorough(self: KeyTable, code: int, value: int = 0) -> bool:
        for _ in range(3):
            look(self, code)
        return add(self, code, value)

    monkeypatch.setattr(KeyTable, "add", thorough)
    (sentence,) = [
        s for s in counting.grown(golden, {"engine": paths.engine_sample()}) if "calls" in s
    ]
    assert sentence.startswith("engine: calls ")


def test_work_that_becomes_quadratic_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    look = KeyTable.get

    def one_after_the_other(self: KeyTable, code: int) -> int | None:
        for _ in range(self._size):
            look(self, code)
        return look(self, code)

    golden = {"engine": paths.engine_sample()}
    monkeypatch.setattr(KeyTable, "get", one_after_the_other)
    found = {"engine": paths.engine_sample()}
    assert counting.grown(golden, found)
    assert found["engine"]["calls"] > 2 * golden["engine"]["calls"]


def test_memory_that_grows_is_seen() -> None:
    held = counting.peak(lambda: bytes(2 << 20))
    assert held == pytest.approx(2048, rel=0.05)
    (sentence,) = counting.grown({"a": {"peak": 1000.0}}, {"a": {"peak": held}})
    assert "peak 1000 -> 20" in sentence


def test_margins() -> None:
    grown = counting.grown
    assert not grown({"a": {"calls": 100.0}}, {"a": {"calls": 105.0}})
    assert grown({"a": {"calls": 100.0}}, {"a": {"calls": 106.0}})
    assert not grown({"a": {"calls": 100.0}}, {"a": {"calls": 50.0}})
    assert grown({"a": {"calls": 0.0}}, {"a": {"calls": 0.1}})
    assert not grown({"a": {"peak": 100.0}}, {"a": {"peak": 114.0}})


def test_paths_without_a_stored_count_and_the_reverse_are_named() -> None:
    (new,) = counting.grown({}, {"new": {"calls": 1.0}})
    assert new == "new: nothing is stored for it"
    (old,) = counting.grown({"old": {"calls": 1.0}}, {})
    assert "no longer counted" in old


def test_only_floorbench_is_counted() -> None:
    found = counting.counted(lambda: json.loads(json.dumps(sorted(["b", "a"]))))
    assert found == {"calls": 0, "built_in": 0, "opens": 0}


def test_calls_built_in_calls_and_openings_are_counted(tmp_path: Path) -> None:
    table = KeyTable()
    found = counting.counted(lambda: table.add(5), names=("len",))
    assert found["calls"] == 2  # add and the slot that it asks for
    assert found["len"] == found["built_in"] == 2
    assert counting.counted(lambda: (tmp_path / "x").write_text("x"))["opens"] == 1


def test_comprehensions_are_no_calls() -> None:
    def listed() -> None:
        exec(compile("def f(): return [x for x in (1, 2)]\nf()\nf()", PACKAGED, "exec"), {})

    assert counting.counted(listed)["calls"] == 3  # the module and twice the function


PACKAGED = f"{counting._ROOT}made_up.py"


def test_slope_leaves_constants_out() -> None:
    table = KeyTable()

    def work(n: int) -> None:
        table.get(1)
        for code in range(1, n + 1):
            table.get(code)

    assert counting.slope(work, 10)["calls"] == 2
    assert len(table) == 0


def test_growth_is_an_exit_code_and_storing_it_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = {"calls": 10.0}
    monkeypatch.setattr(paths, "PATHS", {"a": lambda: dict(calls)})
    monkeypatch.setattr(counting, "GOLDEN", tmp_path / "counts.json")
    assert counting.main(write=True) == 0
    assert counting.main(write=False) == 0
    calls["calls"] = 12.0
    assert counting.main(write=False) == 1
    said = capsys.readouterr().err
    assert "GROWN a: calls 10 -> 12" in said
    assert "--counts --write" in said
