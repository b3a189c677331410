"""Scores per frame beside the journal: ``traces/<sha256>.npz`` in a run folder.

The name of a file is the hash of what it holds. So a trace is written before the journal line
that names it, a killed run leaves at most a file that no line names, and two equal traces share
one file. Predictions made elsewhere may name files the same way, or carry the scores inline.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np

from floorbench.core.prediction import Decision, Trace
from floorbench.errors import DataError, Place
from floorbench.events.traces import trace_problem, trace_values
from floorbench.run.store import write_bytes

FOLDER = "traces"


def put(folder: Path, decision: Decision) -> Decision:
    """Store a decision's trace in a run folder; return the decision that names the file.

    Raises
    ------
    EnvironmentProblem
        ``FB504`` when the file cannot be written.
    """
    trace = decision.trace
    if trace is None or not trace.data:
        return decision
    import hashlib

    digest = hashlib.sha256(trace.data).hexdigest()
    name = f"{FOLDER}/{digest[:32]}.npz"
    path = folder / name
    if not path.is_file():
        path.parent.mkdir(exist_ok=True)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, values=trace_values(trace).astype("<f4"))
        write_bytes(path, buffer.getvalue())
    return replace(decision, trace=replace(trace, data=b"", file=name, sha256=digest))


def get(folder: Path, decision: Decision) -> Decision:
    """Return the decision with its trace's scores loaded.

    Parameters
    ----------
    folder : Path
        The folder that file names are relative to; nothing outside it is opened.
    decision : Decision
        One without a trace, or with its scores inline, comes back as it is.

    Raises
    ------
    DataError
        ``FB532`` when the file is missing, is no such file, or holds other scores than the line
        says.
    """
    trace = decision.trace
    if trace is None or trace.data or trace.file is None:
        return decision
    where = Place(str(folder / trace.file))
    path = (folder / trace.file).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise DataError("FB532", "the file lies outside the folder of the predictions", where=where)
    data = _read(path, where, trace)
    loaded = replace(trace, data=data)
    problem = trace_problem(loaded)
    if problem is not None:
        raise DataError("FB532", problem, where=where)
    return replace(decision, trace=loaded)


def _read(path: Path, where: Place, trace: Trace) -> bytes:
    try:
        with np.load(path, allow_pickle=False) as held:
            values = held["values"]
    except Exception as error:  # a damaged header or archive raises almost anything
        raise DataError("FB532", f"cannot be read ({type(error).__name__})", where=where) from None
    shape = (trace.frames, len(trace.columns))
    if values.shape != shape:
        raise DataError("FB532", f"holds {values.shape} scores, the line says {shape}", where=where)
    return np.ascontiguousarray(values, dtype="<f4").tobytes()
