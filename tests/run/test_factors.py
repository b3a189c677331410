import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from floorbench.core.prediction import Compute
from floorbench.errors import DataError
from floorbench.run.factors import folder_bytes, measure
from floorbench.run.store import RunFolder
from support.small_run import small_run


def rule(number: int, seconds: float) -> Compute:
    wall = 0.1 + 0.02 * seconds + (3.0 if number == 0 else 0.0)
    return Compute(wall=wall, cpu=wall / 2, tokens_in=10, tokens_out=1)


def test_the_factors_of_a_run_are_its_answers(tmp_path: Path) -> None:
    got = measure(small_run(tmp_path, rule))
    assert (got.samples, got.predictions, len(got.wall)) == (23, 24, 23)
    assert got.sounds
    np.testing.assert_allclose(got.wall, 0.1 + 0.02 * got.length)
    assert got.cpu is not None
    np.testing.assert_allclose(got.cpu, got.wall / 2)
    assert got.tokens_in is not None
    assert got.tokens_in.tolist() == [10.0] * 23
    assert sorted(set(got.sample.tolist())) == list(range(23))
    np.testing.assert_allclose(got.recorded, got.length)  # no history is shown here
    assert got.bytes == RunFolder(got.opened.path).journal.stat().st_size
    assert got.loading == 2.0


def test_the_first_answer_counts_with_loading(tmp_path: Path) -> None:
    got = measure(small_run(tmp_path, rule))
    assert got.warming == pytest.approx(3.0, abs=0.1)
    assert got.overhead == pytest.approx(0.01)
    even = measure(small_run(tmp_path / "even", lambda n, s: Compute(wall=1.0)))
    assert even.warming == 0.0
    assert even.cpu is None
    assert even.tokens_in is None


def test_seconds_of_several_workers_are_theirs_together(tmp_path: Path) -> None:
    got = measure(small_run(tmp_path, lambda n, s: Compute(wall=1.0), workers=4, outside=0.02))
    assert len(got.wall) == 20  # four first answers
    assert got.overhead == pytest.approx(0.02, abs=1e-4)


def test_a_run_of_an_older_version_has_no_overhead(tmp_path: Path) -> None:
    got = measure(small_run(tmp_path, rule, loading=None))
    assert (got.loading, got.overhead) == (None, None)


def test_runs_that_say_too_little_are_refused(tmp_path: Path) -> None:
    short = small_run(tmp_path / "short", rule, samples=9)
    with pytest.raises(DataError, match=r"FB561.*9 samples have a measured time, 10 are needed"):
        measure(short)
    timeless = small_run(tmp_path / "timeless", lambda n, s: Compute())
    with pytest.raises(DataError, match=r"FB561.*0 samples"):
        measure(timeless)
    folder = RunFolder(short)
    folder.write_record(dataclasses.replace(folder.record(), status="interrupted"))
    with pytest.raises(DataError, match=r"FB561.*interrupted, not complete"):
        measure(short)


def test_a_record_that_claims_too_much_costs_no_memory(tmp_path: Path) -> None:
    folder = RunFolder(small_run(tmp_path, rule))
    record = folder.record()
    (sitting,) = record.sittings
    boast = dataclasses.replace(sitting, workers=10**6, batch=10**6, written=10**15)
    folder.write_record(dataclasses.replace(record, sittings=(sitting, boast)))
    assert measure(folder.path).predictions == 24


def test_a_folder_weighs_what_its_files_do(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "one").write_bytes(b"123")
    (tmp_path / "two").write_bytes(b"4567")
    assert folder_bytes(tmp_path) == 7
    assert folder_bytes(tmp_path / "two") == 4


@pytest.mark.parametrize(
    "cost",
    [Compute(wall=-1.0), Compute(wall=1.0, cpu=1e300), Compute(wall=1.0, cpu=-1.0),
     Compute(wall=1.0, batch=0), Compute(wall=1.0, batch=10**400),
     Compute(wall=1.0, tokens_in=10**400), Compute(wall=1.0, tokens_out=-1)],
)  # fmt: skip
def test_costs_that_no_answer_has_are_named_with_their_line(tmp_path: Path, cost: Compute) -> None:
    path = small_run(tmp_path, lambda n, s: cost if n == 3 else Compute(wall=1.0))
    with pytest.raises(DataError, match=r"FB505 .*predictions\.jsonl:4: .* is .*, not a number"):
        measure(path)


def edited(path: Path, **changes: Any) -> Path:
    folder = RunFolder.open(path)
    folder.write_record(dataclasses.replace(folder.record(), **changes))
    return path


def test_records_that_contradict_the_journal_are_refused(tmp_path: Path) -> None:
    path = edited(small_run(tmp_path / "a", rule), sittings=())
    with pytest.raises(DataError, match=r"FB561 .*no sitting of the run has written an answer"):
        measure(path)
    path = edited(small_run(tmp_path / "b", rule), trials=1000)
    with pytest.raises(DataError, match=r"FB561 .*1000 trials .*only 24 answers"):
        measure(path)


def test_data_that_have_moved_are_told_as_those_of_the_run(tmp_path: Path) -> None:
    path = small_run(tmp_path, rule)
    dataset = RunFolder.open(path).record().dataset
    gone = dataclasses.replace(dataset, locator={"reader": "codett", "path": str(tmp_path / "no")})
    with pytest.raises(DataError, match=f"FB211 .*data of the run '{path}'") as caught:
        measure(edited(path, dataset=gone))
    assert "where they were" in str(caught.value.hint)
