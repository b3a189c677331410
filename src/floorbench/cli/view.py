"""``floorbench view``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.page import OpenBrowser, need_web, serve


def view(
    *runs: Path,
    dataset: Annotated[str | None, Parameter(name=["--dataset", "--data"])] = None,
    reader: str | None = None,
    port: int = 0,
    open_browser: OpenBrowser = False,
) -> int:
    """Look at runs on a local page: tables, items, their audio, and two systems side by side.

    The page is served to this machine only, at an address with a random token. It follows runs
    that are still being written. Ends with Ctrl-C.

    Parameters
    ----------
    runs
        Run folders.
    dataset
        Where the data are now, when they moved since the run: a path or starter:NAME.
    reader
        Reader of the data.
    port
        Port; any free one by default.
    """
    need_web()
    from floorbench.report.stored import Sources, StoredRun, load
    from floorbench.web.live import LiveRuns
    from floorbench.web.server import Viewer

    sources = Sources(dataset, reader=reader)
    with console.progress("reading runs") as tick:
        count = 0

        def read(path: Path) -> StoredRun:
            nonlocal count
            found = load(path, sources)
            count += 1
            tick(min(count, len(runs)), len(runs))
            return found

        viewer = Viewer(LiveRuns(runs, read))
    remarks = (
        f"{run.stored.path}: {remark}"
        for group in viewer.runs.groups()
        for run in group.runs
        for remark in run.stored.remarks
    )
    serve(viewer.app(), token=viewer.token, port=port, open_browser=open_browser, remarks=remarks)
    return 0
