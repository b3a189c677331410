from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.errors import DataError
from floorbench.events.traces import make_trace
from floorbench.run.traces import get, put

TRACE = make_trace(np.arange(6).reshape(3, 2), columns=["eot:user", "bc:user"], rate=Fraction(20))


def test_a_trace_comes_back_as_it_was(tmp_path: Path) -> None:
    stored = put(tmp_path, Decision(trace=TRACE))
    assert stored.trace is not None
    assert not stored.trace.data
    assert get(tmp_path, stored).trace == replace(TRACE, file=stored.trace.file)
    assert put(tmp_path, Decision(trace=TRACE)) == stored
    assert len(list((tmp_path / "traces").iterdir())) == 1


def test_decisions_without_a_trace_pass(tmp_path: Path) -> None:
    assert put(tmp_path, Decision(label="x")) == get(tmp_path, Decision(label="x"))
    assert not list(tmp_path.iterdir())


def stored_in(folder: Path) -> Decision:
    return put(folder, Decision(trace=TRACE))


def test_a_missing_or_changed_file_is_named(tmp_path: Path) -> None:
    stored = stored_in(tmp_path)
    assert stored.trace is not None
    assert stored.trace.file is not None
    file = tmp_path / stored.trace.file
    np.savez_compressed(file, values=np.ones((3, 2), dtype="<f4"))
    with pytest.raises(DataError, match="FB532 .*SHA-256"):
        get(tmp_path, stored)
    np.savez_compressed(file, values=np.ones((4, 2), dtype="<f4"))
    with pytest.raises(DataError, match="FB532"):
        get(tmp_path, stored)
    file.write_bytes(b"no archive")
    with pytest.raises(DataError, match="FB532"):
        get(tmp_path, stored)
    file.unlink()
    with pytest.raises(DataError, match="FB532"):
        get(tmp_path, stored)


def test_pickled_arrays_are_never_loaded(tmp_path: Path) -> None:
    stored = stored_in(tmp_path)
    assert stored.trace is not None
    assert stored.trace.file is not None
    np.savez_compressed(tmp_path / stored.trace.file, values=np.array([{}], dtype=object))
    with pytest.raises(DataError, match="FB532"):
        get(tmp_path, stored)


def test_a_file_outside_the_folder_is_not_opened(tmp_path: Path) -> None:
    stored = stored_in(tmp_path / "a") if (tmp_path / "a").mkdir() is None else None
    assert stored is not None
    assert stored.trace is not None
    away = Decision(trace=replace(stored.trace, file=f"../a/{stored.trace.file}"))
    (tmp_path / "b").mkdir()
    with pytest.raises(DataError, match="outside"):
        get(tmp_path / "b", away)
