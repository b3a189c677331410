from pathlib import Path

import duckdb
import pytest

from floorbench.datasets.parquet import reading
from floorbench.errors import DataError, UsageError

QUERY = "SELECT * FROM read_parquet(?)"


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    duckdb.sql("SELECT range AS i FROM range(3)").write_parquet(str(path))
    with reading(path, code="FB255", what="not Parquet") as connection:
        assert connection.execute(QUERY, [str(path)]).fetchall() == [(0,), (1,), (2,)]


@pytest.mark.parametrize("name", ["a.parquet", "\udce4.parquet"])
def test_what_duckdb_says_is_one_line_of_the_error(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PAR1 and nothing else PAR1")
    with (
        pytest.raises(DataError, match=r"^FB255 .*parquet: a damaged file \(") as caught,
        reading(path, code="FB255", what="a damaged file") as connection,
    ):
        connection.execute(QUERY, [str(path)])
    assert "\n" not in caught.value.what


def test_other_errors_pass(tmp_path: Path) -> None:
    with (
        pytest.raises(UsageError, match="FB103"),
        reading(tmp_path, code="FB255", what="not Parquet"),
    ):
        raise UsageError("FB103", "of the caller")
