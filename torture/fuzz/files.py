"""Files that hold an input, and what is the same of every file that is read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from floorbench import codec
from torture.fuzz.target import Wrong, finite, law

DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
"""What may be taken for a number in a cell or a request."""


def file(name: str, check: Callable[[Path], object]) -> Callable[[bytes, Path], None]:
    """Return a reader of bytes for a reader of a file of that name."""

    def read(data: bytes, folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        check(path)

    return read


def rows(*values: Any) -> bytes:
    """Return JSON lines."""
    return b"".join(json.dumps(v, ensure_ascii=False).encode() + b"\n" for v in values)


def survives(value: Any, kind: Any) -> None:
    """Check that a record is finite and the same after being written and read."""
    finite(value)
    law(codec.decode(codec.encode(value), kind) == value, "does not survive being written")


def filled(path: Path) -> int:
    """Return how many lines of a file are not blank."""
    return sum(1 for line in path.read_bytes().split(b"\n") if line.strip())


def cells_of(path: Path) -> list[list[str]]:
    """Return the rows of a table by the strict rules: a quotation mark that opens also closes."""
    text = path.read_bytes().decode("utf-8-sig")
    mark = "\t" if path.suffix == ".tsv" else ","
    try:
        return [
            r for r in csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True) if r
        ]
    except csv.Error as error:
        raise Wrong(f"a broken table is read ({error})") from None
