"""``floorbench data import-scores``: frame scores made elsewhere, as predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import ReaderSettings, open_data
from floorbench.errors import UsageError


def import_scores(
    *files: Path,
    out: Path,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    session: str | None = None,
    rate: str | None = None,
    look_ahead: float = 0.0,
    columns: Annotated[list[str] | None, Parameter(negative=())] = None,
    swap: bool = False,
) -> int:
    """Turn frame scores made elsewhere into predictions that `score --task T` reads.

    Parameters
    ----------
    files
        CSV with a time column, .npy, .npz or .parquet, each named after its session.
    out
        Folder to write predictions.jsonl and traces/ to.
    data
        Two-channel sessions; without them names and lengths are checked when scoring. Sessions of
        the training part are left out, because no task asks for them.
    reader
        Reader of the data.
    session
        Session of a single file.
    rate
        Frames a second (12.5, 50 or 25/2); found from the times where a file has them.
    look_ahead
        Seconds of audio beyond a frame's end that its scores have used.
    columns
        Meaning of the columns, in order as signal:role, or as NAME=signal:role.
    swap
        The first channel of the files is the system's.
    """
    from floorbench.core.time import exact
    from floorbench.run.traces_import import Declared, import_traces

    if not files:
        raise UsageError("FB103", "name at least one file of frame scores")
    declared: dict[str, Any] = {"look_ahead": look_ahead, "swap": swap}
    if rate is not None:
        top, slash, bottom = rate.partition("/")
        below = exact(bottom) if slash else exact("1")
        if not below:
            raise UsageError("FB103", f"--rate {rate} divides by 0")
        declared["rate"] = exact(top) / below
    if columns is not None:
        declared["columns"] = tuple(c for part in columns for c in part.split(","))
    source = open_data("dualturn-4s", data, reader, reader_sets) if data is not None else None
    journal = import_traces(
        list(files),
        source=source,
        declared=Declared(**declared),
        out=out,
        session=session,
        notify=console.say,
    )
    console.data(str(journal))
    return 0
