from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from floorbench.core.prediction import Decision
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.errors import DataError
from floorbench.events.traces import make_trace
from floorbench.run.checking import check
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.run.predictions import read_predictions
from floorbench.run.references import make_reference
from floorbench.run.store import RunFolder
from floorbench.run.traces import get, put
from floorbench.tasks.dualturn import DualTurnTask
from support import two_channel_tiny as tiny
from support.parquet import write_parquet

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
    with pytest.raises(DataError, match=r"FB532 .*SHA-256"):
        get(tmp_path, stored)
    np.savez_compressed(file, values=np.ones((4, 2), dtype="<f4"))
    with pytest.raises(DataError, match=r"FB532"):
        get(tmp_path, stored)
    file.write_bytes(b"no archive")
    with pytest.raises(DataError, match=r"FB532"):
        get(tmp_path, stored)
    file.unlink()
    with pytest.raises(DataError, match=r"FB532"):
        get(tmp_path, stored)


def test_pickled_arrays_are_never_loaded(tmp_path: Path) -> None:
    stored = stored_in(tmp_path)
    assert stored.trace is not None
    assert stored.trace.file is not None
    np.savez_compressed(tmp_path / stored.trace.file, values=np.array([{}], dtype=object))
    with pytest.raises(DataError, match=r"FB532"):
        get(tmp_path, stored)


def test_a_file_outside_the_folder_is_not_opened(tmp_path: Path) -> None:
    stored = stored_in(tmp_path / "a") if (tmp_path / "a").mkdir() is None else None
    assert stored is not None
    assert stored.trace is not None
    away = Decision(trace=replace(stored.trace, file=f"../a/{stored.trace.file}"))
    (tmp_path / "b").mkdir()
    with pytest.raises(DataError, match="outside"):
        get(tmp_path / "b", away)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> SwitchboardSource:
    folder = tiny.build(tmp_path_factory.mktemp("calls"), tiny.CALLS[4:7])
    return SwitchboardSource(folder, splits="none")


def made(source: SwitchboardSource, out: Path, executor: str = "serial") -> RunFolder:
    return run(
        task=DualTurnTask(min_gap=0),
        system=SystemChoice(name="persistence"),
        source=source,
        executor=make_executor(executor, workers=1, batch=1, timeout=60.0),
        out=out,
        notify=lambda _: None,
    )


def scores(folder: Path, file: Path) -> dict[str, bytes]:
    found = {p.sample_id: get(folder, p.decision).trace for p in read_predictions(file)}
    return {name: trace.data for name, trace in found.items() if trace is not None}


def test_scores_cross_a_worker_process(source: SwitchboardSource, tmp_path: Path) -> None:
    here = made(source, tmp_path / "a")
    there = made(source, tmp_path / "b", "process")
    assert len(scores(here.path, here.path)) == 3
    assert scores(here.path, here.path) == scores(there.path, there.path)


def test_a_resumed_run_has_every_trace_once(source: SwitchboardSource, tmp_path: Path) -> None:
    whole = made(source, tmp_path / "a")
    before = scores(whole.path, whole.path)
    lines = whole.journal.read_bytes().splitlines(keepends=True)
    whole.journal.write_bytes(b"".join(lines[:-1]) + lines[-1][:40])
    run(
        task=DualTurnTask(min_gap=0),
        system=SystemChoice(name="persistence"),
        source=source,
        resume=whole.path,
        notify=lambda _: None,
    )
    assert scores(whole.path, whole.path) == before
    assert len(list((whole.path / "traces").iterdir())) == 3


def test_the_derived_parquet_names_the_same_files(
    source: SwitchboardSource, tmp_path: Path
) -> None:
    whole = made(source, tmp_path / "a")
    assert scores(whole.path, write_parquet(whole)) == scores(whole.path, whole.path)


def test_a_lost_trace_is_a_fault_of_its_line(source: SwitchboardSource, tmp_path: Path) -> None:
    whole = made(source, tmp_path / "a")
    next((whole.path / "traces").iterdir()).unlink()
    faults = check(whole.path, DualTurnTask(min_gap=0), source)
    assert [f.code for f in faults] == ["FB532"]
    assert faults[0].line is not None


def test_replay_says_the_same(source: SwitchboardSource, tmp_path: Path) -> None:
    whole = made(source, tmp_path / "a")
    replay = make_reference(
        "replay", task=DualTurnTask(min_gap=0), source=source, predictions=whole.path
    )
    for sample in source.samples():
        trace = replay.decide(sample, "", 0).trace
        assert trace is not None
        assert trace.data == scores(whole.path, whole.path)[sample.id]
