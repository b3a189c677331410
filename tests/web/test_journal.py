from pathlib import Path

import pytest

from floorbench.errors import DataError, EnvironmentProblem
from floorbench.web.journal import append_bytes, mend, now, plain_lines, write_safely


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x"
    write_safely(path, b"one")
    write_safely(path, b"two")
    assert path.read_bytes() == b"two"
    assert list(tmp_path.iterdir()) == [path]


def test_a_torn_last_line_is_left_out_and_then_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "new" / "log.jsonl"
    append_bytes(path, b'{"a": 1}\n')
    append_bytes(path, b'{"a": 2')
    assert list(plain_lines(path)) == [(1, {"a": 1})]
    mend(path)
    append_bytes(path, b'{"a": 3}\n')
    assert list(plain_lines(path)) == [(1, {"a": 1}), (2, {"a": 3})]


def test_a_line_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    append_bytes(path, b"{}\nno\n")
    with pytest.raises(DataError) as found:
        list(plain_lines(path))
    assert found.value.where is not None
    assert found.value.where.line == 2


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(EnvironmentProblem, match="FB402"):
        append_bytes(tmp_path / "file" / "log.jsonl", b"{}\n")


def test_time_of_day_is_in_utc() -> None:
    assert now().endswith("+00:00")
