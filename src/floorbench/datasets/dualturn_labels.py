"""Labels of two-channel sessions: counts for people, and the event table behind every figure.

One session is in memory at a time; the list of backchannel phrases needs a first pass over the
training sessions.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from floorbench import codec
from floorbench.core.time import to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.datasets.two_channel_check import check_channels
from floorbench.datasets.two_channel_session import ROLES, TwoChannelSession
from floorbench.errors import EnvironmentProblem, Place, UsageError
from floorbench.events.dualturn import (
    RATE,
    SEGMENT_CLASSES,
    ChannelSignals,
    SegmentClass,
    SignalRules,
    Signals,
    dualturn_signals,
)
from floorbench.events.dualturn_actions import (
    ACTIONS,
    RULES,
    ActionEvents,
    ActionRules,
    agent_actions,
)
from floorbench.events.dualturn_words import (
    WORD_LABELS,
    PhraseList,
    WordLabels,
    WordRules,
    frequent_phrases,
    last_full_frame,
    word_labels,
)
from floorbench.events.spans import Floats
from floorbench.events.vap import KINDS, VapRules, vap_events

PROTOCOLS = ("dualturn-4s", "vap-1s")
SIDE_COUNTS = ("segments", "BC", "EOT", "HOLD", "open", "BOT", "hold_truncated")
SAME = 0.01
"""Stored future activity may differ by this much, rounding, and be the same."""
ST_RULES = ("ST_started", "ST_overlapping")
SIMULTANEOUS = "overlaps that both begin in one frame, no action"


class TableRow(NamedTuple):
    """One line of the event table."""

    session: str
    kind: str
    role: str
    frame: int
    label: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRules:
    """What the labels depend on.

    Parameters
    ----------
    protocol : {'dualturn-4s', 'vap-1s'}
    min_gap : int
        Own gaps of at most this many frames are closed first; 0 for ``vap-1s``, which has its own
        filling of pauses.
    utterance_gap : float
        Seconds of silence that end an utterance, for the words.
    """

    protocol: str
    min_gap: int
    utterance_gap: float = 0.5

    def __post_init__(self) -> None:
        if self.protocol not in PROTOCOLS:
            raise UsageError(
                "FB103", f"protocol='{self.protocol}' is not one of {', '.join(PROTOCOLS)}"
            )
        if self.protocol == "vap-1s" and self.min_gap:
            raise UsageError("FB103", "vap-1s takes no min_gap; it fills pauses by its own rule")

    @property
    def words(self) -> WordRules:
        """Rules of the word labels."""
        return WordRules(utterance_gap=to_ticks(self.utterance_gap))


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionCounts:
    """Counts of one session.

    Parameters
    ----------
    sides : mapping of str to mapping of str to int
        Per role: segments, BC, EOT, HOLD, open (runs to the session's end), BOT, hold_truncated;
        empty for ``vap-1s``.
    events : mapping of str to int
        Actions of both sides, each taken as agent in turn; for ``vap-1s`` its event kinds.
    starts : mapping of str to int
        Of the STs, how many the agent started and in how many it was already speaking.
    words : mapping of str to int
        C, B, T, candidates and unplaced; empty without word times.
    stored : mapping of str to int
        Frames in which labels that the data bring along differ from ours, by label.
    excluded : str or None
        Why the session gives no event.
    """

    session: str
    split: str | None
    seconds: float
    frames: int
    source: str
    sides: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    events: Mapping[str, int] = field(default_factory=dict)
    starts: Mapping[str, int] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
    stored: Mapping[str, int] = field(default_factory=dict)
    counted: Mapping[str, int] = field(default_factory=dict)
    channels: str = "undecided"
    channels_db: float | None = None
    excluded: str | None = None


class Labelled(NamedTuple):
    """Counts and event rows of one session."""

    counts: SessionCounts
    rows: list[TableRow]


def training_phrases(source: TwoChannelSource, rules: LabelRules) -> PhraseList:
    """Return the backchannel phrases of the training sessions, of all where nothing is split."""
    split = "train" if "train" in source.splits.by_id.values() else None
    return frequent_phrases((s.words for s in source.sessions(split) if s.words), rules.words)


def labelled(
    source: TwoChannelSource, rules: LabelRules, phrases: PhraseList, *, energies: bool = True
) -> Iterator[Labelled]:
    """Yield counts and events of every session, one in memory at a time.

    Parameters
    ----------
    energies : bool
        Whether channels are checked against their levels, where there is audio.
    """
    for session in source.sessions():
        split = source.splits.of(session.id)
        if rules.protocol == "vap-1s":
            yield _vap(session, split, energies)
        else:
            signals = SignalRules(min_gap=rules.min_gap, fvad=source.fvad)
            yield _dualturn(session, split, rules, signals, phrases, energies)


def totals(counts: Iterable[SessionCounts]) -> dict[str, dict[str, int]]:
    """Return sums over sessions: of the sides, the events, the words, faults and exclusions."""
    out: dict[str, Counter[str]] = {
        name: Counter()
        for name in ("sides", "events", "starts", "words", "stored", "counted", "excluded")
    }
    for c in counts:
        for side in c.sides.values():
            out["sides"].update(side)
        for name in ("events", "starts", "words", "stored", "counted"):
            out[name].update(getattr(c, name))
        if c.excluded:
            out["excluded"][c.excluded] += 1
    return {name: dict(found) for name, found in out.items()}


def write_table(path: Path, rows: Iterable[TableRow]) -> int:
    """Write an event table as JSON lines or Parquet (by suffix); return the number of rows.

    Raises
    ------
    UsageError
        ``FB103`` for another suffix.
    EnvironmentProblem
        ``FB504`` when it cannot be written.
    """
    if path.suffix not in (".jsonl", ".parquet"):
        raise UsageError("FB103", f"'{path.name}' is neither .jsonl nor .parquet")
    count = 0
    temporary = ""
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", suffix=".jsonl", delete=False
        ) as file:
            temporary = file.name
            for row in rows:
                file.write(codec.encode(row._asdict()) + b"\n")
                count += 1
        if path.suffix == ".jsonl":
            Path(temporary).replace(path)
        else:
            _to_parquet(temporary, path)
    except OSError as error:
        raise EnvironmentProblem(
            "FB504", f"cannot be written: {error.strerror or error}", where=Place(str(path))
        ) from None
    finally:
        if temporary and Path(temporary).exists():
            os.unlink(temporary)  # noqa: PTH108 - a plain name from tempfile
    return count


def _to_parquet(lines: str, path: Path) -> None:
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT * FROM read_json($1, format = 'newline_delimited', columns = {"
            "session: 'VARCHAR', kind: 'VARCHAR', role: 'VARCHAR', frame: 'BIGINT', "
            "label: 'VARCHAR', rule: 'VARCHAR'})) TO $2 (FORMAT parquet, COMPRESSION zstd)",
            [lines, str(path)],
        )


def _dualturn(
    session: TwoChannelSession,
    split: str | None,
    rules: LabelRules,
    how: SignalRules,
    phrases: PhraseList,
    energies: bool,
) -> Labelled:
    vad = session.vad(RATE)
    signals = dualturn_signals(vad, how)
    actions = {
        agent: agent_actions(vad, ActionRules(min_gap=rules.min_gap), agent=agent)
        for agent in ROLES
    }
    words = word_labels(session.words, phrases, rules.words) if session.words else None
    head = _head(session, split, len(vad[Role.USER]), energies)
    either = actions[ROLES[-1]]  # what was left out is the same for both
    if either.simultaneous:
        head["counted"] = {**head["counted"], SIMULTANEOUS: either.simultaneous}
    excluded = "shorter than 500 frames: no actions" if either.dropped else None
    if not any(len(own.segments) for own in signals.channels.values()):
        excluded = "no events"
    counts = SessionCounts(
        **head,
        sides={role.value: _side_counts(own) for role, own in signals.channels.items()},
        events=_action_counts(actions.values()),
        starts=_start_counts(actions.values()),
        words={} if words is None else _word_counts(words),
        stored=_stored_otherwise(session, signals),
        excluded=excluded,
    )
    rows = _signal_rows(session.id, signals)
    for agent in ROLES:
        rows += _action_rows(session.id, actions[agent])
    if words is not None:
        rows += _word_rows(session.id, words)
    return Labelled(counts, rows)


def _side_counts(own: ChannelSignals) -> dict[str, int]:
    return {
        "segments": len(own.segments),
        **{k.value: own.count(k) for k in SEGMENT_CLASSES},
        "BOT": int(own.bot.sum()),
        "hold_truncated": int(own.hold_truncated.sum()),
    }


def _signal_rows(session_id: str, signals: Signals) -> list[TableRow]:
    rows = [
        TableRow(r.session, "signal", r.role.value, r.frame, r.label, r.rule)
        for r in signals.rows(session_id)
    ]
    name = SegmentClass.OPEN.value
    for role, own in signals.channels.items():
        kept = own.segment_class == SEGMENT_CLASSES.index(SegmentClass.OPEN)
        rows += [
            TableRow(session_id, "signal", role.value, end - 1, name, "at the end")
            for end in own.segments.end[kept].tolist()
        ]
    return rows


def _action_counts(actions: Iterable[ActionEvents]) -> dict[str, int]:
    counts: Counter[str] = Counter(dict.fromkeys(ACTIONS, 0))
    for found in actions:
        counts.update({a: found.count(a) for a in ACTIONS})
    return dict(counts)


def _start_counts(actions: Iterable[ActionEvents]) -> dict[str, int]:
    counts: Counter[str] = Counter(dict.fromkeys(ST_RULES, 0))
    for found in actions:
        named = [RULES[r] for r in found.rule[found.by_agent].tolist()]
        counts.update(rule for rule in named if rule in ST_RULES)
    return dict(counts)


def _action_rows(session_id: str, found: ActionEvents) -> list[TableRow]:
    return [
        TableRow(session_id, "action", r.role.value, r.frame, r.label, r.rule)
        for r, mine in zip(found.rows(session_id), found.by_agent.tolist(), strict=True)
        if mine
    ]


def _word_counts(labels: WordLabels) -> dict[str, int]:
    counts = {name: labels.count(name) for name in WORD_LABELS}
    return counts | {"candidates": labels.candidates, "unplaced": labels.unplaced}


def _word_rows(session_id: str, labels: WordLabels) -> list[TableRow]:
    rows = []
    for word, role, code in zip(labels.words, labels.role, labels.label.tolist(), strict=True):
        frame = last_full_frame(word.end, rate=RATE)
        at, rule = (-1, "before the first frame") if frame is None else (frame, "last full frame")
        rows.append(TableRow(session_id, "word", role.value, at, WORD_LABELS[code], rule))
    return rows


def _stored_otherwise(session: TwoChannelSession, signals: Signals) -> dict[str, int]:
    """Return in how many frames the labels that a session brings along differ from ours."""
    found = {
        name: sum(
            int((getattr(signals.channels[role], name) != session.stored[name][role]).sum())
            for role in ROLES
        )
        for name in ("vad", "eot", "hold", "bot", "bc")
        if name in session.stored
    }
    if session.stored_fvad:
        found["fvad"] = sum(
            _differing(signals.channels[role], theirs)
            for role, theirs in session.stored_fvad.items()
        )
    return found


def _differing(ours: ChannelSignals, theirs: Floats) -> int:
    """Return in how many frames a whole window of future activity has another value."""
    known = ours.fvad_known
    apart = ~(np.abs(np.where(known, ours.fvad, 0.0) - theirs) <= SAME)  # NaN is apart
    return int((known & apart).any(axis=1).sum())


def _vap(session: TwoChannelSession, split: str | None, energies: bool) -> Labelled:
    rules = VapRules()
    vad = session.vad(rules.rate)
    found = vap_events(vad, rules)
    kinds = Counter({k.value: 0 for k in KINDS})
    rows = []
    for event in found.rows():
        kinds[event.kind.value] += 1
        rule = f"frames {event.start} to {event.end} at 50 Hz"
        rows.append(
            TableRow(session.id, "vap", event.role.value, event.start, event.kind.value, rule)
        )
    counts = SessionCounts(
        **_head(session, split, len(vad[Role.USER]), energies),
        events=dict(kinds),
        excluded=None if len(found) else "no events",
    )
    return Labelled(counts, rows)


def _head(
    session: TwoChannelSession, split: str | None, frames: int, energies: bool
) -> dict[str, Any]:
    check = check_channels(session) if energies and session.audio else None
    return {
        "session": session.id,
        "split": split,
        "seconds": session.end / 1e6,
        "frames": frames,
        "source": session.source,
        "counted": session.counted,
        "channels": check.verdict if check else "undecided",
        "channels_db": check.difference if check else None,
    }
