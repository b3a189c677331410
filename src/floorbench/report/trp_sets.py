"""What a set of TRP stimuli holds, list by list, as the paper's Table 1 says it of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from floorbench.datasets.trp_files import STIMULI, Panel, Stimulus, read_panels, read_stimuli
from floorbench.datasets.trp_lists import LISTS, read_lists
from floorbench.report.tables import Cell, Row, Table

COLUMNS = {
    "list_s": "list (s)",
    "words": "words",
    "participants": "participants",
    "stimuli": "stimuli",
    "stimulus_s": "s / stimulus",
    "words_each": "words / stimulus",
    "responses_each": "responses / stimulus",
}
PUBLISHED = {
    "paper, list 1": (846.3, 2558, 60, 28, 30.5, 91.3, 156),
    "paper, list 2": (853.5, 2693, 58, 27, 31.7, 99.7, 162),
}
"""Within-turn TRP prediction (2024), Table 1, as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListStatistics:
    """One list.

    Parameters
    ----------
    name : str
    stimuli, words : int
    turns_s : float
        Seconds of the turns, from the start of their clocks to their ends.
    heard_s : float or None
        Seconds of the list's recording with beeps and silences; ``None`` without lists.
    participants, responses : int or None
        Who heard the list or its reversed twin, and all their onsets; ``None`` when nobody has
        been asked yet.
    """

    name: str
    stimuli: int
    words: int
    turns_s: float
    heard_s: float | None
    participants: int | None
    responses: int | None


def statistics(root: Path) -> list[ListStatistics]:
    """Return the statistics of a set, one entry per list.

    Raises
    ------
    DataError
        What reading the set raises.
    """
    stimuli = read_stimuli(root / STIMULI)
    panels = read_panels(root, stimuli)
    heard: dict[str, float] = {}
    if (root / LISTS).is_file():
        heard = {one.name: one.seconds for one in read_lists(root).lists}
    out = []
    for name in sorted({s.list for s in stimuli}):
        mine = [s for s in stimuli if s.list == name]
        people, responses = _listeners(mine, panels)
        out.append(
            ListStatistics(
                name=name,
                stimuli=len(mine),
                words=sum(len(s.words) for s in mine),
                turns_s=sum(s.turn_end for s in mine),
                heard_s=heard.get(name),
                participants=people,
                responses=responses,
            )
        )
    return out


def table(found: Sequence[ListStatistics]) -> Table:
    """Return the statistics as a table, the paper's own beside them."""
    rows = [Row(name=f"list {one.name}", cells=_cells(one)) for one in found]
    for name, values in PUBLISHED.items():
        shown = zip(COLUMNS, values, strict=True)
        cells = {k: Cell(value=v, digits=int(isinstance(v, float))) for k, v in shown}
        note = "the printed s / stimulus is not list / stimuli" if name.endswith("1") else None
        rows.append(Row(name=name, cells=cells, published=True, note=note))
    notes = ["list (s): the turns alone, without beeps and silences"]
    notes += [
        f"list {one.name} is heard in {one.heard_s:.1f} s with beeps and silences"
        for one in found
        if one.heard_s is not None
    ]
    return Table(title="Stimulus lists", head="", columns=COLUMNS, rows=rows, notes=notes)


def _listeners(
    stimuli: Sequence[Stimulus], panels: dict[str, Panel] | None
) -> tuple[int | None, int | None]:
    if panels is None:
        return None, None
    people = {person for s in stimuli for person in panels[s.id].roster}
    return len(people), sum(len(t) for s in stimuli for t in panels[s.id].onsets.values())


def _cells(one: ListStatistics) -> dict[str, Cell]:
    nobody = "nobody has heard them yet"
    responses = one.responses
    return {
        "list_s": Cell(value=one.turns_s),
        "words": Cell(value=one.words, digits=0),
        "participants": Cell(
            value=one.participants, digits=0, reason=nobody if responses is None else None
        ),
        "stimuli": Cell(value=one.stimuli, digits=0),
        "stimulus_s": Cell(value=one.turns_s / one.stimuli),
        "words_each": Cell(value=one.words / one.stimuli),
        "responses_each": Cell(
            value=None if responses is None else responses / one.stimuli,
            digits=0,
            reason=nobody if responses is None else None,
        ),
    }
