"""``floorbench fit``."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench import codec
from floorbench.cli import console
from floorbench.cli.options import (
    ReaderSettings,
    Settings,
    check_given,
    open_given,
    settings,
)
from floorbench.core.time import to_ticks
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.errors import DataError, UsageError
from floorbench.events.dualturn_words import WordRules, frequent_phrases
from floorbench.run.fit import FitRules, fit_frame_probe
from floorbench.run.store import write_text
from floorbench.tasks.dualturn import Phrases

KINDS = ("frame-probe", "phrases")


def fit(
    task: str,
    system: str,
    /,
    *,
    data: str,
    split: str = "train",
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    sets: Settings = None,
    out: Annotated[Path | None, Parameter(name=["--out", "-o"])] = None,
) -> int:
    """Train a probe, or make the list of backchannel phrases, from the sessions of one split.

    Prints the file and its SHA-256; `run --set artefact=FILE` (or `--task-set phrases=FILE`)
    takes it, and the signature names it.

    Parameters
    ----------
    task
        The task to train for: dualturn-4s.
    system
        What to make: frame-probe, which needs `--set min_gap=FRAMES`, or phrases.
    data
        Two-channel sessions with splits.
    split
        The part of the data to learn from.
    reader
        Reader of the data.
    out
        File to write; SYSTEM.json by default.
    """
    if task != "dualturn-4s" or system not in KINDS:
        raise UsageError(
            "FB103",
            f"nothing is trained for '{task} {system}'",
            hint=f"known: {', '.join(f'dualturn-4s {kind}' for kind in KINDS)}",
        )
    source = open_given(data, reader, reader_sets)
    if not isinstance(source, TwoChannelSource):
        raise UsageError("FB103", f"'{data}' holds no two-channel sessions")
    given = settings(sets)
    path = out if out is not None else Path(f"{system}.json")
    if system == "phrases":
        text = codec.encode_pretty(_phrases(source, split, given))
    else:
        check_given(FitRules, given, what=f"'{system}'", option="--set")
        try:
            rules = FitRules(**given)
        except TypeError as error:
            raise UsageError("FB103", f"{system}: {error}") from None
        artefact = fit_frame_probe(source, split=split, rules=rules, notify=console.say)
        text = codec.encode_pretty(artefact)
    write_text(path, text)
    console.data(f"{path}  sha256 {hashlib.sha256(text.encode()).hexdigest()}")
    return 0


def _phrases(source: TwoChannelSource, split: str, given: Mapping[str, object]) -> Phrases:
    others = sorted(given.keys() - {"utterance_gap"})
    if others:
        raise UsageError("FB103", f"phrases take utterance_gap only, not {', '.join(others)}")
    gap = given.get("utterance_gap", 0.5)
    if not isinstance(gap, int | float) or isinstance(gap, bool):
        raise UsageError("FB103", f"utterance_gap={gap!r} is no number of seconds")
    whole = split == "all"
    sessions = source.sessions(None if whole else split)
    found = frequent_phrases(
        (s.words for s in sessions if s.words), WordRules(utterance_gap=to_ticks(float(gap)))
    )
    if not found.phrases:
        raise DataError("FB536", f"no session with words is in split '{split}'")
    return Phrases(utterance_gap=float(gap), phrases=found.phrases, counts=found.counts)
