"""``floorbench data``: what two-channel sessions hold, by the rules of a protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import Form, ReaderSettings, open_data, open_given
from floorbench.errors import UsageError


def stats(
    path: str,
    /,
    *,
    protocol: Literal["dualturn-4s", "vap-1s"],
    min_gap: int,
    utterance_gap: float = 0.5,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    events: Path | None = None,
    energies: bool = True,
    form: Form = "text",
    json: bool = False,
) -> int:
    """Count segments, signals, actions and word classes of every session.

    Exits 1 when channels are swapped, by their levels against the annotation.

    Parameters
    ----------
    path
        Folder or file of two-channel sessions.
    protocol
        Whose rules label them.
    min_gap
        Own gaps of at most this many frames are closed first (0 for vap-1s). It has no default.
    utterance_gap
        Seconds of silence that end an utterance, for the word classes.
    reader
        Reader of the data; found by looking at them by default.
    events
        Write every event as a row (session, kind, role, frame, label, rule) to this .parquet or
        .jsonl file.
    energies
        Compare the channels' levels with the annotation, where there is audio.
    form
        Form of the tables.
    json
        Print JSON.
    """
    from floorbench.datasets.dualturn_labels import (
        LabelRules,
        SessionCounts,
        TableRow,
        labelled,
        totals,
        training_phrases,
        write_table,
    )
    from floorbench.datasets.two_channel import TwoChannelSource
    from floorbench.events.dualturn_words import PhraseList
    from floorbench.report.dualturn import stats_tables
    from floorbench.report.tables import render

    source = open_given(path, reader, reader_sets)
    if not isinstance(source, TwoChannelSource):
        raise UsageError("FB103", f"'{path}' holds no two-channel sessions")
    rules = LabelRules(protocol=protocol, min_gap=min_gap, utterance_gap=utterance_gap)
    empty = PhraseList(phrases=(), counts=())
    phrases = training_phrases(source, rules) if protocol == "dualturn-4s" else empty
    counts: list[SessionCounts] = []
    with console.progress("labels") as tick:

        def rows() -> Iterator[TableRow]:
            for found in labelled(source, rules, phrases, energies=energies):
                counts.append(found.counts)
                tick(len(counts), len(source.ids))
                yield from found.rows

        written = write_table(events, rows()) if events is not None else sum(1 for _ in rows())
    if events is not None:
        console.say(f"{written} events: {events}")
    swapped = [c.session for c in counts if c.channels == "swapped"]
    if json:
        console.data_json(
            {
                "protocol": protocol,
                "parameters": dataclasses.asdict(rules),
                "dataset": source.describe(),
                "phrases": {"sha256": phrases.digest(), "phrases": phrases.phrases},
                "sessions": [dataclasses.asdict(c) for c in counts],
                "totals": totals(counts),
            }
        )
    else:
        for table in stats_tables(counts, rules, phrases, name=source.name):
            console.data(render(table, form))
    for session in swapped:
        console.say(f"channels of '{session}' are swapped, by their levels in solo speech")
    return 1 if swapped else 0


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
