"""``floorbench data stats``: what two-channel sessions hold, by the rules of a protocol."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from floorbench.cli import console
from floorbench.cli.options import Form, ReaderSettings, open_given
from floorbench.core.words import counted
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
        console.say(f"{counted(written, 'event')}: {events}")
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
            console.table(table, form)
    for session in swapped:
        console.say(f"channels of '{session}' are swapped, by their levels in solo speech")
    return 1 if swapped else 0
