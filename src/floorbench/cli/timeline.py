"""``floorbench timeline``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import ReaderSettings, open_data
from floorbench.errors import DataError, UsageError


def timeline(
    data: str,
    session: str,
    /,
    *,
    start: float,
    end: float,
    out: Annotated[list[Path], Parameter(name=["--out", "-o"], negative=())],
    min_gap: int | None = None,
    run: Path | None = None,
    signals: Annotated[list[str] | None, Parameter(negative=())] = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
) -> int:
    """Draw activity, words, gold events and predictions of a span of one session.

    Parameters
    ----------
    data
        Two-channel sessions.
    session
        Id of the session to draw.
    start
        Where the drawing begins, in seconds of the session.
    end
        Where it ends, at most 60 s later.
    out
        Files to write: .svg, .png, .pdf, .json or .html (repeat the option).
    min_gap
        Own gaps of at most this many frames are closed before labelling. It must be given.
    run
        Run folder or predictions folder whose scores are drawn.
    signals
        Which of its signals; eot and bc by default, or the next ones that it has.
    reader
        Reader of the data.
    """
    from floorbench.datasets.two_channel import TwoChannelSource
    from floorbench.report.figures_save import save
    from floorbench.report.timeline import timeline as draw
    from floorbench.run.predictions import predictions_file, read_predictions
    from floorbench.run.traces import get
    from floorbench.tasks.dualturn import MIN_GAP_HINT

    if min_gap is None:
        raise UsageError(
            "FB103",
            "gold events are drawn, and --min-gap is not given",
            hint=f"--min-gap FRAMES: {MIN_GAP_HINT}",
        )
    source = open_data("dualturn-4s", data, reader, reader_sets)
    if not isinstance(source, TwoChannelSource):
        raise UsageError("FB103", f"'{data}' holds no two-channel sessions")
    trace = None
    if run is not None:
        found = next((p for p in read_predictions(run) if p.sample_id == session), None)
        if found is None or found.decision.trace is None:
            raise DataError("FB204", f"no scores per frame of '{session}' in '{run}'")
        trace = get(predictions_file(run).parent, found.decision).trace
    chart = draw(
        source.session(session),
        start=start,
        end=end,
        min_gap=min_gap,
        trace=trace,
        signals=signals or (),
    )
    for path in out:
        save(chart, path)
        console.data(str(path))
    return 0
