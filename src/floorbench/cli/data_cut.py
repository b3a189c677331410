"""``floorbench data cut``: calls become labelled clips, one at each pause."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import ReaderSettings, open_given
from floorbench.core.words import counted
from floorbench.errors import UsageError


def cut(
    calls: str,
    /,
    *,
    out: Annotated[Path, Parameter(name=["--out", "-o"])],
    turns: Annotated[bool, Parameter(negative=())] = False,
    silence: float = 0.2,
    side: Literal["user", "system", "both"] = "user",
    dev: float | None = None,
    context: float = 30.0,
    lead: float = 0.2,
    tail: float = 3.0,
    backchannel: float = 1.0,
    alone: float = 1.0,
    seed: int = 0,
    licence: str = "unknown",
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    json: bool = False,
) -> int:
    """Cut two-channel calls at every pause of one side: clips to ask a turn detector about.

    A pause is complete where the other side speaks next, incomplete where the same side goes on.
    The clips are read by the task clips, whole turns by the task turns: run, compare, gate and
    view work on both, tune on clips.

    Parameters
    ----------
    calls
        Stereo recordings with an annotation beside each, or a corpus with sound.
    out
        Folder to make.
    turns
        Whole turns, pauses inside, instead of one clip a pause: for streams and their delay.
    silence
        Seconds of silence after which your agent asks its detector. Shorter gaps are no pauses,
        and every clip ends so long after its last word.
    side
        Whose pauses.
    dev
        Share of the calls for OUT/dev, to choose a threshold on; the others go to OUT/test. One
        folder by default.
    context
        Longest clip of a pause in seconds, shortened at its beginning.
    lead
        Seconds of sound before the turn begins.
    tail
        With --turns: seconds of sound after the last word.
    backchannel
        A pause is left out if the other side says only something of at most so many seconds in
        it.
    alone
        A pause is left out if the same side is back within so many seconds of the other's start.
    seed
        Draws the calls of OUT/dev.
    licence
        What the calls may be used for.
    reader
        Reader of the calls; found by looking at them by default.
    json
        Print JSON.
    """
    from floorbench.build.call_clips import cut_calls
    from floorbench.core.vocab import Role
    from floorbench.datasets.two_channel import TwoChannelSource
    from floorbench.events.pauses import PauseRules

    source = open_given(calls, reader, reader_sets)
    if not isinstance(source, TwoChannelSource):
        raise UsageError("FB103", f"'{calls}' holds no two-channel sessions")
    reports = cut_calls(
        source,
        out,
        rules=PauseRules(silence=silence, backchannel=backchannel, alone=alone),
        sides=(Role.USER, Role.SYSTEM) if side == "both" else (Role(side),),
        context=context,
        lead=lead,
        turns=turns,
        tail=tail,
        dev=dev,
        seed=seed,
        licence=licence,
    )
    for report in reports:
        labels = ", ".join(f"{n} {label}" for label, n in sorted(report.labels.items()))
        console.say(f"{report.folder}: {counted(report.calls, 'call')}, {labels}")
        for why, count in sorted(report.left_out.items()):
            console.say(f"  left out: {count} ({why})")
        for what, count in sorted(report.faults.items()):
            console.say(f"  {what}: {count}; pauses may be wrong there")
    if json:
        console.data_json([
            asdict(r) | {"folder": str(r.folder)} for r in reports
        ])  # fmt: skip
    else:
        for report in reports:
            console.data(str(report.folder))
    return 0
