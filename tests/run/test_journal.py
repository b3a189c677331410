import errno
import os
from pathlib import Path
from typing import Any

import pytest

from floorbench.core.prediction import Decision, Prediction
from floorbench.errors import DataError, EnvironmentProblem
from floorbench.run import journal as module
from floorbench.run.journal import Journal, cut_torn_line, read_journal, torn_bytes


def prediction(i: int) -> Prediction:
    return Prediction(sample_id=f"s{i}", decision=Decision(label="yes", raw="ü" * i))


def write(path: Path, numbers: range) -> None:
    journal = Journal(path)
    for i in numbers:
        journal.append(prediction(i))
    journal.close()
    journal.close()


def read(path: Path) -> list[Prediction]:
    return [line.prediction for line in read_journal(path)]


def test_appends_and_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write(path, range(3))
    write(path, range(3, 5))
    assert read(path) == [prediction(i) for i in range(5)]
    assert [line.number for line in read_journal(path)] == [1, 2, 3, 4, 5]
    assert torn_bytes(path) == 0


def test_a_line_is_in_the_file_when_append_returns(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "p.jsonl")
    journal.append(prediction(1))
    assert read(tmp_path / "p.jsonl") == [prediction(1)]
    journal.close()


def test_no_file_is_an_empty_journal(tmp_path: Path) -> None:
    assert read(tmp_path / "none.jsonl") == []
    assert cut_torn_line(tmp_path / "none.jsonl") == 0


def test_a_last_line_torn_at_any_byte_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    write(path, range(3))
    whole = path.read_bytes()
    start = whole[:-1].rindex(b"\n") + 1
    for end in range(start, len(whole)):
        path.write_bytes(whole[:end])
        assert read(path) == [prediction(0), prediction(1)]
        assert torn_bytes(path) == end - start
        assert cut_torn_line(path) == end - start
        assert path.read_bytes() == whole[:start]
        write(path, range(2, 3))
        assert path.read_bytes() == whole


def test_a_first_line_longer_than_a_block_is_cut_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_bytes(b"x" * 200_000)
    assert cut_torn_line(path) == 200_000
    assert path.read_bytes() == b""


def test_a_newline_on_a_block_edge_is_found(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    for tail in (0, 1, module._BLOCK - 1, module._BLOCK, module._BLOCK + 1):
        path.write_bytes(b"a\n" + b"x" * tail)
        assert torn_bytes(path) == tail


@pytest.mark.parametrize("middle", [b"{\n", b"\n", b"\x00\x00\n", b'{"sample_id": "a"}\n'])
def test_a_broken_line_in_the_middle_is_named(tmp_path: Path, middle: bytes) -> None:
    path = tmp_path / "p.jsonl"
    write(path, range(1))
    path.write_bytes(path.read_bytes() + middle + path.read_bytes())
    with pytest.raises(DataError, match=r"FB505 .*p\.jsonl:2: journal line is broken"):
        read(path)


@pytest.mark.parametrize("partial", [0, 10])
def test_a_full_disk_loses_no_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, partial: int
) -> None:
    path = tmp_path / "p.jsonl"
    journal = Journal(path)
    journal.append(prediction(0))
    real, calls = os.write, 0

    def full(descriptor: int, data: Any) -> int:
        nonlocal calls
        calls += 1
        if partial and calls == 1:
            return real(descriptor, bytes(data)[:partial])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(EnvironmentProblem, match=r"FB504 .*p\.jsonl: .*No space left on device"):
        journal.append(prediction(1))
    monkeypatch.undo()
    assert torn_bytes(path) == 0
    journal.append(prediction(2))
    journal.close()
    assert read(path) == [prediction(0), prediction(2)]


def test_a_refused_sync_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "p.jsonl")
    journal.append(prediction(0))

    def refuse(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(EnvironmentProblem, match="FB504"):
        journal.close()
    journal.close()


def test_the_disk_is_synced_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    monkeypatch.setattr(module, "FSYNC_SECONDS", 0.0)
    journal = Journal(tmp_path / "p.jsonl")
    journal.append(prediction(0))
    journal.append(prediction(1))
    assert len(synced) == 2
    journal.close()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"FB504 .*no/p\.jsonl"):
        Journal(tmp_path / "no" / "p.jsonl")


def test_a_journal_that_cannot_be_opened_is_a_clear_error(tmp_path: Path) -> None:
    for read in (torn_bytes, lambda path: list(read_journal(path))):
        with pytest.raises(DataError, match=r"FB505 .*the journal cannot be read: Is a directory"):
            read(tmp_path)
