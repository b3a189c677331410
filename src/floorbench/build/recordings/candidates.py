"""Where in a two-channel session a scenario may have happened, by rules over who spoke when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from itertools import pairwise

import numpy as np

from floorbench.core.time import Ticks, to_ticks
from floorbench.core.vocab import Role
from floorbench.datasets.codett_labels import BY_LABEL, Intent
from floorbench.datasets.two_channel_session import TwoChannelSession
from floorbench.errors import UsageError
from floorbench.events.floor import Floor, FloorRules, floor
from floorbench.events.tokens import is_speech

BACKCHANNEL = BY_LABEL["SystemSpeaking_Maintain_Backchannel"]
INTERRUPTION = BY_LABEL["SystemSpeaking_StopandListen_Interruption"]
COMPLETION = BY_LABEL["SystemIdle_Takeover_Completion"]
INCOMPLETE = BY_LABEL["SystemIdle_Dismiss_Incomplete"]
ROUNDS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningRules:
    """Thresholds in seconds.

    Parameters
    ----------
    min_gap : float
        Own silences shorter than this do not end an inter-pausal unit.
    max_backchannel, backchannel_silence, interruption_overlap : float
        As in :class:`~floorbench.events.floor.FloorRules`.
    max_gap : float
        Longest gap between a completed turn and the answer.
    min_pause : float
        Shortest pause inside an incomplete turn.
    shortest, longest : float
        Length of a target.
    """

    min_gap: float = 0.2
    max_backchannel: float = 1.0
    backchannel_silence: float = 1.0
    interruption_overlap: float = 0.3
    max_gap: float = 2.0
    min_pause: float = 0.6
    shortest: float = 0.3
    longest: float = 15.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                raise UsageError("FB885", f"{field.name} {value!r} is not a time in seconds")
        if not 0 < self.shortest <= self.longest:
            raise UsageError("FB885", f"targets from {self.shortest} to {self.longest} s")
        if self.max_gap < 0 or self.min_pause <= 0:
            raise UsageError("FB885", "max_gap is 0 or more and min_pause above 0")

    def floor(self) -> FloorRules:
        """Return the rules of the floor; backchannels do not take it."""
        return FloorRules(
            min_gap=to_ticks(self.min_gap),
            max_backchannel=to_ticks(self.max_backchannel),
            backchannel_silence=to_ticks(self.backchannel_silence),
            interruption_overlap=to_ticks(self.interruption_overlap),
            backchannels="exclude",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Successive units of one speaker, without backchannels, in ticks."""

    role: Role
    start: Ticks
    end: Ticks
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A span that a rule proposes for a label.

    Parameters
    ----------
    intent : Intent
    role : Role
        Whose turn it is; the other channel plays the system.
    start, end : int
        Ticks; ``end`` is where a system has to decide.
    text : str
        Words inside; empty when the session has none.
    rule : str
        The rule and its figures, for the reviewer.
    history : tuple of (Turn, Turn)
        Up to five rounds before it: a turn of ``role`` and the answer of the other.
    """

    intent: Intent
    role: Role
    start: Ticks
    end: Ticks
    text: str
    rule: str
    history: tuple[tuple[Turn, Turn], ...]


def candidates(session: TwoChannelSession, rules: MiningRules) -> list[Candidate]:
    """Return all candidates of both sides, ordered by time.

    - Backchannel, Interruption: the inter-pausal units that the floor's rules call so.
    - Completion: from the start of a turn to its end, where the other side takes the floor without
      overlap and within ``max_gap``.
    - Incomplete: from the start of a turn to a pause inside it of at least ``min_pause`` after
      which the same side goes on.

    Source
    ------
    CoDeTT, section 4.1 (E): genuine samples are integrated for these four scenarios; it gives no
    rules.
    """
    found = floor(session.speech, rules.floor())
    turns = _turns(session, found)
    low, high = to_ticks(rules.shortest), to_ticks(rules.longest)
    out = [
        candidate
        for candidate in (*_units(session, found, turns), *_ends(session, found, turns, rules))
        if low <= candidate.end - candidate.start <= high
    ]
    return sorted(out, key=lambda c: (c.start, c.end, c.intent.label))


def _units(session: TwoChannelSession, found: Floor, turns: list[Turn]) -> Iterator[Candidate]:
    ipus = found.ipus
    for marks, intent in ((ipus.backchannel, BACKCHANNEL), (ipus.interruption, INTERRUPTION)):
        for i in np.flatnonzero(marks):
            role = found.roles[int(ipus.role[i])]
            start, end = int(ipus.start[i]), int(ipus.end[i])
            yield _candidate(session, intent, role, start, end, intent.scenario.lower(), turns)


def _ends(
    session: TwoChannelSession, found: Floor, turns: list[Turn], rules: MiningRules
) -> Iterator[Candidate]:
    moves = found.transitions
    max_gap, min_pause = to_ticks(rules.max_gap), to_ticks(rules.min_pause)
    for k in range(len(moves)):
        offset, fto = int(moves.offset[k]), int(moves.fto[k])
        role = found.roles[int(moves.before[k])]
        shift = bool(moves.shift[k])
        if not (0 <= fto <= max_gap if shift else fto >= min_pause):
            continue
        turn = next((t for t in turns if t.role == role and t.start < offset <= t.end), None)
        if turn is None:
            continue
        intent = COMPLETION if shift else INCOMPLETE
        kind = "gap" if shift else "pause"
        rule = f"{kind} of {fto / 1e6:.2f} s"
        yield _candidate(session, intent, role, turn.start, offset, rule, turns)


def _candidate(
    session: TwoChannelSession,
    intent: Intent,
    role: Role,
    start: Ticks,
    end: Ticks,
    rule: str,
    turns: list[Turn],
) -> Candidate:
    return Candidate(
        intent=intent,
        role=role,
        start=start,
        end=end,
        text=_text(session, role, start, end),
        rule=rule,
        history=_rounds(turns, role, start),
    )


def _turns(session: TwoChannelSession, found: Floor) -> list[Turn]:
    """Join successive units of one speaker until the other one has the floor."""
    ipus = found.ipus
    spans: list[list[int]] = []
    for i in range(len(ipus)):
        if ipus.backchannel[i]:
            continue
        role, start, end = int(ipus.role[i]), int(ipus.start[i]), int(ipus.end[i])
        if spans and spans[-1][0] == role:
            spans[-1][2] = max(end, spans[-1][2])
        else:
            spans.append([role, start, end])
    return [
        Turn(
            role=found.roles[role],
            start=start,
            end=end,
            text=_text(session, found.roles[role], start, end),
        )
        for role, start, end in spans
    ]


def _rounds(turns: list[Turn], role: Role, before: Ticks) -> tuple[tuple[Turn, Turn], ...]:
    """Return the last rounds of ``role`` and an answer whose turns have begun before a time."""
    past = [turn for turn in turns if turn.end <= before]
    rounds = [
        (own, answer) for own, answer in pairwise(past) if own.role == role and answer.role != role
    ]
    return tuple(rounds[-ROUNDS:])


def _text(session: TwoChannelSession, role: Role, start: Ticks, end: Ticks) -> str:
    words = session.words.get(role, ())
    return " ".join(
        w.text for w in words if start <= w.start and w.end <= end and is_speech(w.text)
    )
