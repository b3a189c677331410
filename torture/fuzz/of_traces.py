"""Scores per frame: those that a run keeps, and those that a user brings."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.core.prediction import Decision, Trace
from floorbench.events.dualturn import RATE as FRAMES
from floorbench.events.traces import make_trace, trace_problem
from floorbench.run.traces import get, put
from floorbench.run.traces_import import Declared, read_trace
from torture.fuzz.files import DECIMAL, file
from torture.fuzz.of_answers import seeds
from torture.fuzz.target import Target, finite, law

_TRACE = make_trace(
    np.linspace(0, 1, 24).reshape(12, 2), rate=FRAMES,
    columns=["eot:user", "eot:system"],
)  # fmt: skip


@cache
def _stored_trace() -> tuple[bytes, Decision]:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        decision = put(Path(folder), Decision(trace=_TRACE))
        return (Path(folder) / str(decision.trace.file)).read_bytes(), decision


def _trace_file(data: bytes, folder: Path) -> None:
    decision = _stored_trace()[1]
    path = folder / str(decision.trace.file)
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    found = get(folder, decision).trace
    law(found is not None and found.data == _TRACE.data, "other scores than the line says")


def _trace_line(found: Any) -> None:
    trace = codec.convert(found, Trace)
    problem = trace_problem(trace)
    if problem is None:
        finite(trace)
        law(trace.frames >= 1 and Fraction(trace.rate) > 0, "an impossible trace")


def _imported(suffix: str, rate: Fraction | None) -> Callable[[Path], None]:
    declared = Declared(rate=rate, columns=("eot:user", "eot:system") if suffix == ".npy" else None)

    def check(path: Path) -> None:
        trace = read_trace(path, declared)
        law(trace_problem(trace) is None, str(trace_problem(trace)))
        if suffix == ".csv":
            given = path.read_bytes().decode("utf-8-sig")
            lines = [x for x in given.replace("\r\n", "\n").replace("\r", "\n").split("\n") if x]
            if '"' not in given:
                law(
                    trace.frames == len(lines) - 1,
                    f"{trace.frames} frames of {len(lines) - 1} rows",
                )
            for line in csv.reader(io.StringIO(given, newline="")):
                if line and not line[0].startswith("time"):
                    for cell in line:
                        law(DECIMAL.fullmatch(cell), f"{cell!r} is taken for a number")

    return check


@cache
def _arrays() -> dict[str, bytes]:
    out = {}
    values = np.linspace(0, 1, 24, dtype=np.float32).reshape(12, 2)
    buffer = io.BytesIO()
    np.save(buffer, values)
    out["npy"] = buffer.getvalue()
    buffer = io.BytesIO()
    np.savez(buffer, values=values, columns=np.array(["eot:user", "eot:system"]))
    out["npz"] = buffer.getvalue()
    buffer = io.BytesIO()
    np.savez_compressed(buffer, values=values, columns=np.array(["eot:user", "eot:system"]))
    out["npz2"] = buffer.getvalue()
    lines = ["time_sec,eot:user,eot:system"]
    lines += [f"{0.08 * (i + 1):.2f},{v[0]:.3f},{v[1]:.3f}" for i, v in enumerate(values)]
    out["csv"] = ("\n".join(lines) + "\n").encode()
    import duckdb

    path = Path("/tmp") / f"torture-{id(out)}.parquet"
    with duckdb.connect() as connection:
        connection.execute(
            'COPY (SELECT i * 0.08 + 0.08 AS time_sec, i / 20.0 AS "eot:user", 0.5 AS "eot:system"'
            f" FROM range(12) t(i)) TO '{path}' (FORMAT parquet)"
        )
    out["parquet"] = path.read_bytes()
    path.unlink()
    return out


TARGETS = [
    Target(
        name="run-trace-file",
        seeds=lambda: [_stored_trace()[0]],
        read=_trace_file,
        covers=("floorbench.run.traces:get", "floorbench.run.traces:_read"),
        native=True,
    ),
    Target(
        name="run-trace-line",
        seeds=seeds(json.loads(codec.encode(_TRACE))),
        read=lambda data, folder: _trace_line(codec.parse(data)),
        covers=("floorbench.events.traces:trace_problem",),
    ),
    *(
        Target(
            name=f"run-import-{kind.strip('2')}",
            seeds=lambda kinds=kinds: [_arrays()[k] for k in kinds],
            read=file(f"s1.{kind}", _imported(f".{kind}", rate)),
            covers=(f"floorbench.run.traces_import:{function}",
                    "floorbench.run.traces_import:read_trace"),
            tokens=tokens,
            native=kind != "csv",
            share=0.05 if kind == "parquet" else 1.0,
        )
        for kind, kinds, function, rate, tokens in (
            ("csv", ("csv",), "_text", None, (b"time_sec", b"eot:user", b",")),
            ("npy", ("npy",), "_loaded", FRAMES, (b"'descr': '<f8'", b"'shape': (9999999999, 2)",
                                                  b"\x93NUMPY", b"'|O'", b"'fortran_order': True")),
            ("npz", ("npz", "npz2"), "_loaded", FRAMES, (b"PK\x03\x04", b"values.npy", b"\x93NUMPY",
                                                         b"'shape': (9999999999, 2)", b"'|O'")),
            ("parquet", ("parquet",), "_parquet", None, ()),
        )
    ),
]  # fmt: skip
