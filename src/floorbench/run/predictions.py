"""Predictions made anywhere: JSONL, CSV or Parquet in, one strict check for all.

A table (CSV, Parquet) has one row a prediction and these columns, all but ``sample_id`` optional:
``sample_id``, ``condition``, ``trial``, ``outcome``, ``label``, ``scores`` (a JSON object) or one
``score.<name>`` column per score, ``events`` (a JSON list),
``trace`` and ``served`` (JSON objects), ``commit``, ``raw``, ``reason``,
``wall``, ``cpu``, ``tokens_in``, ``tokens_out``, ``batch``, ``observed``. An empty cell is a value
that is not there. Lines count from 1; in a CSV file the header is line 1.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from floorbench import codec
from floorbench.core.numbers import number_of
from floorbench.core.prediction import Prediction
from floorbench.core.words import counted
from floorbench.datasets.parquet import reading
from floorbench.errors import DataError, FloorbenchError, Place
from floorbench.run.store import JOURNAL_FILE

_TEXT = ("outcome", "label", "raw", "reason")
_COLUMNS = frozenset(
    (
        *_TEXT,
        *("sample_id", "condition", "trial", "scores", "events", "trace", "served", "commit"),
        *("wall", "cpu", "tokens_in", "tokens_out", "batch", "observed"),
    )
)


class Fault(NamedTuple):
    """One thing that is wrong with a predictions file."""

    code: str
    what: str
    line: int | None = None
    item: str | None = None

    def at(self, file: str) -> str:
        """Return the fault as one printable line."""
        text = f"{self.code} {Place(file, self.line, self.item)}: {self.what}"
        return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class _TrialOnly(msgspec.Struct):
    trial: int = 0


class Row(NamedTuple):
    """A line of a predictions file: the prediction, or what is wrong with the line."""

    line: int
    prediction: Prediction | None
    fault: Fault | None


def read_predictions(path: Path) -> Iterator[Prediction]:
    """Yield the predictions of a file or run folder; the first fault is raised.

    Raises
    ------
    DataError
        ``FB201``, ``FB202`` or ``FB208`` with file and line.
    """
    file = predictions_file(path)
    for row in scan(file):
        if row.fault is not None:
            raise DataError(row.fault.code, row.fault.what, where=Place(str(file), row.line))
        if row.prediction is not None:
            yield row.prediction


def count_trials(trials: Iterable[int]) -> int:
    """Return how many trials a file was made with: as many as it has different numbers.

    A single mistyped number must not make millions of predictions due, so the highest does not
    count; numbers beyond the count are faults.
    """
    return max(1, len({trial for trial in trials if trial >= 0}))


def trials_of(path: Path) -> int:
    """Return how many trials a predictions file was made with (see :func:`count_trials`)."""
    if path.suffix.lower() == ".jsonl" and _all_first(path):
        return 1
    return count_trials(r.prediction.trial for r in scan(path) if r.prediction is not None)


def _all_first(path: Path) -> bool:
    """Tell whether no line can be a second trial; looks at nothing else, so it is quick."""
    decode = msgspec.json.Decoder(_TrialOnly).decode
    try:
        with path.open("rb") as file:
            return all(decode(line).trial == 0 for line in file)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return False


def predictions_file(path: Path) -> Path:
    """Return the file to read: the journal of a run folder, else the path itself."""
    path = Path(path)
    return path / JOURNAL_FILE if path.is_dir() else path


def scan(path: Path) -> Iterator[Row]:
    """Yield every line of a predictions file, good or bad, one in memory at a time.

    Raises
    ------
    DataError
        ``FB208`` when the file as a whole cannot be read as a table, ``FB402`` when it cannot be
        opened.
    """
    readers = {".jsonl": _scan_jsonl, ".csv": _scan_csv, ".parquet": _scan_parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise DataError(
            "FB208", f"suffix '{path.suffix}' is none of {', '.join(readers)}", where=_place(path)
        )
    if not path.is_file():
        raise DataError("FB402", "cannot be read: there is no such file", where=_place(path))
    if not os.access(path, os.R_OK):
        raise DataError("FB402", "cannot be read: permission denied", where=_place(path))
    return reader(path)


def _place(path: Path, line: int | None = None) -> Place:
    return Place(str(path), line)


def _scan_jsonl(path: Path) -> Iterator[Row]:
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                yield _bad(number, "FB201", "the line is empty")
                continue
            try:
                yield Row(number, codec.decode(line, Prediction), None)
            except FloorbenchError as error:
                note = "" if line.endswith(b"\n") else "; the file ends in the middle of this line"
                yield _bad(number, error.code, error.what + note)


def _scan_csv(path: Path) -> Iterator[Row]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, strict=True)
            header = next(reader, None)
            if header is None:
                raise DataError("FB208", "the file is empty", where=_place(path))
            _check_header(path, header)
            for cells in reader:
                number = reader.line_num
                if len(cells) != len(header):
                    yield _bad(
                        number,
                        "FB201",
                        f"{counted(len(cells), 'cell')} where the header has {len(header)}",
                    )
                    continue
                present = {n: c for n, c in zip(header, cells, strict=True) if c != ""}
                yield _row(number, present)
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError("FB208", f"not readable as CSV ({error})", where=_place(path)) from None


def _scan_parquet(path: Path) -> Iterator[Row]:
    with reading(path, code="FB208", what="not readable as Parquet") as connection:
        cursor = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
        header = [column[0] for column in cursor.description or ()]
        _check_header(path, header)
        number = 0
        while block := cursor.fetchmany(1000):
            for cells in block:
                number += 1
                pairs = zip(header, cells, strict=True)
                yield _row(number, {n: c for n, c in pairs if c is not None})


def _check_header(path: Path, header: Iterable[str]) -> None:
    names = list(header)
    if "sample_id" not in names:
        raise DataError("FB208", "there is no column 'sample_id'", where=_place(path))
    twice = sorted({n for n in names if names.count(n) > 1})
    unknown = [n for n in names if n not in _COLUMNS and not n.startswith("score.")]
    if twice or unknown:
        what = f"column '{twice[0]}' appears twice" if twice else f"unknown column '{unknown[0]}'"
        raise DataError("FB208", what, where=_place(path))


def _row(number: int, cells: Mapping[str, Any]) -> Row:
    try:
        return Row(number, codec.convert(_record(cells), Prediction), None)
    except FloorbenchError as error:
        return _bad(number, error.code, error.what)


def _record(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the cells of a table row into the plain form of a prediction."""
    decision: dict[str, Any] = {name: str(cells[name]) for name in _TEXT if name in cells}
    scores = _json(cells, "scores", {})
    for name, cell in cells.items():
        if name.startswith("score."):
            scores[name.removeprefix("score.")] = _number(name, cell)
    decision["scores"] = scores
    decision["events"] = _json(cells, "events", [])
    for name in ("trace", "served"):
        if name in cells:
            decision[name] = _json(cells, name, {})
    if "commit" in cells:
        decision["commit"] = _number("commit", cells["commit"])
    compute: dict[str, Any] = {}
    for name in ("wall", "cpu"):
        if name in cells:
            compute[name] = _number(name, cells[name])
    for name in ("tokens_in", "tokens_out", "batch"):
        if name in cells:
            compute[name] = _whole(name, cells[name])
    record: dict[str, Any] = {"decision": decision, "compute": compute}
    for name in ("sample_id", "condition", "observed"):
        if name in cells:
            record[name] = str(cells[name])
    if "trial" in cells:
        record["trial"] = _whole("trial", cells["trial"])
    plain: dict[str, Any] = codec.to_builtins(record)  # refuses NaN and infinity
    return plain


def _json(cells: Mapping[str, Any], name: str, default: Any) -> Any:
    if name not in cells:
        return default
    value = codec.parse(str(cells[name]))
    if type(value) is not type(default):
        raise DataError("FB201", f"{name} is {cells[name]!r}, not a JSON {type(default).__name__}")
    return value


def _number(name: str, cell: Any) -> float:
    try:
        return number_of(cell) if isinstance(cell, str) else float(cell)
    except (TypeError, ValueError, OverflowError):
        raise DataError("FB201", f"{name} is {str(cell)[:80]!r}, not a number") from None


def _whole(name: str, cell: Any) -> int:
    value = _number(name, cell)
    if not value.is_integer():
        raise DataError("FB201", f"{name} is {cell!r}, not a whole number")
    return int(value)


def _bad(number: int, code: str, what: str) -> Row:
    return Row(number, None, Fault(code, what, number))
