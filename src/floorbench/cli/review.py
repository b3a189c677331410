"""``floorbench review DATASET``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from floorbench.cli import console
from floorbench.cli.page import OpenBrowser, need_web, serve
from floorbench.core.words import counted
from floorbench.errors import UsageError

if TYPE_CHECKING:
    from floorbench.core.ports import DatasetSource
    from floorbench.web.review_agreement import Exported

ROOT = Path("reviews")


def review(
    dataset: str,
    /,
    *,
    session: Path | None = None,
    share: float | None = None,
    per_scenario: int | None = None,
    seed: int | None = None,
    reader: str | None = None,
    export: Path | None = None,
    port: int = 0,
    open_browser: OpenBrowser = False,
) -> int:
    """Let two or more people label items by ear, blind, and measure how far they agree.

    The page is served to this machine only, at an address with a random token. Every answer is
    kept at once; a reviewer whose page was closed goes on with the same id. Ends with Ctrl-C.

    Parameters
    ----------
    dataset
        A path or starter:NAME: CoDeTT's layout, or matched contrasts (yield or keep).
    session
        Folder that everything is kept in; reviews/NAME by default.
    share
        Review this share of all items, drawn by lot: 0.01 is one in a hundred.
    per_scenario
        Review so many items of each label in each language, drawn by lot.
    seed
        Seed of the draw; 0 by default.
    reader
        Reader of the data.
    export
        Write verdicts (JSONL) and agreement (JSON) of the review, and serve nothing.
    port
        Port; any free one by default.
    """
    from floorbench.datasets.open import open_dataset

    need_web()
    source = open_dataset(dataset, reader=reader)
    folder = session if session is not None else ROOT / _name(source)
    if export is not None:
        if (share, per_scenario, seed) != (None, None, None):
            raise UsageError("FB891", "a review that is exported has its plan already")
        return _export(source, folder, export)
    from floorbench.run.store import held
    from floorbench.web.review import ReviewRoom
    from floorbench.web.review_plan import Sampling

    sampling = None
    if (share, per_scenario, seed) != (None, None, None):
        whole = 1.0 if share is None and per_scenario is None else share
        sampling = Sampling(share=whole, per_scenario=per_scenario, seed=seed or 0)
    with held(folder):
        room = ReviewRoom(source, folder, sampling=sampling)
        people = len(room.review.reviewers())
        kept = (
            f"{counted(len(room.samples), 'item')}; kept in {folder}; "
            f"{counted(people, 'reviewer')} so far"
        )
        serve(room.app(), token=room.token, port=port, open_browser=open_browser, remarks=[kept])
    return 0


def _name(source: DatasetSource) -> str:
    written = str(source.describe().get("name", ""))
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in written) or "review"


def _export(source: DatasetSource, folder: Path, path: Path) -> int:
    from floorbench.web.review import planned
    from floorbench.web.review_agreement import export
    from floorbench.web.review_store import Review

    kept = Review(folder)
    if kept.plan.data != source.digest():
        what = f"'{kept.plan.name}' was reviewed; these items differ from it"
        raise UsageError("FB892", what)
    made = export(kept, planned(source, kept.plan), path)
    console.say(_table(made))
    console.say(
        f"{counted(made.accepted, 'item')} accepted, "
        f"{made.rejected} rejected, {made.open} without a verdict"
    )
    console.data(str(made.verdicts))
    console.data(str(made.agreement))
    return 0


def _table(made: Exported) -> str:
    rows = []
    for one in made.found:
        interval = one.interval
        shown = "-" if one.value is None else f"{one.value:.3f}"
        limits = one.reason or (interval.reason if interval is not None else None) or ""
        if interval is not None and interval.low is not None and interval.high is not None:
            limits = f"{interval.low:.3f} to {interval.high:.3f}"
        people = ", ".join(one.reviewers)
        rows.append((one.metric, one.part, people, str(one.items), shown, limits))
    head = ("coefficient", "state", "reviewers", "items", "value", "95 % interval")
    return console.columns(rows, head)
