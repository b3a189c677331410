"""Reading Parquet files through duckdb."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from floorbench.errors import DataError, Place


@contextmanager
def reading(path: Path, *, code: str, what: str) -> Iterator[Any]:
    """Give a duckdb connection; whatever duckdb finds wrong inside becomes one error.

    Parameters
    ----------
    path : Path
        File that is read, for the message.
    code, what : str
        Code of the error and what to say of the file.

    Raises
    ------
    DataError
        With ``code``, for a file that is no Parquet or damaged.
    """
    import duckdb

    try:
        with duckdb.connect() as connection:
            yield connection
    except (duckdb.Error, RuntimeError) as error:  # RuntimeError: a name that is no UTF-8
        first = str(error).splitlines()[0]
        raise DataError(code, f"{what} ({first})", where=Place(str(path))) from None
