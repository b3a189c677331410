"""Systems that answer in every frame, from activity alone: silence timeout, persistence, constant.

They hear what an observation says of the activity of both channels, frame by frame, and use
nothing after the end of a frame: their scores of frame ``t`` are committed at ``(t + 1) / rate``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Word
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.time import to_ticks
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.events.dualturn import RATE
from floorbench.events.frames import session_activity
from floorbench.events.spans import Bools, Floats, Ints, spans_to_ticks
from floorbench.events.traces import FVAD, column, make_trace
from floorbench.systems.common import choice, number

ROLES = (Role.USER, Role.SYSTEM)
OTHER = {Role.USER: Role.SYSTEM, Role.SYSTEM: Role.USER}
FRONT_END = FrontEnd(gate="activity given by the task", text=None)
NEVER = 10_000
"""Frames since something that has not happened yet."""


class Heard(NamedTuple):
    """Activity of both channels in frames, and the words with times."""

    frames: int
    vad: Mapping[Role, Bools]
    words: tuple[Word, ...]


def hear(observation: Observation, *, rate: Fraction = RATE) -> Heard | None:
    """Return what a frame system listens to, ``None`` when the activity is not given."""
    if set(observation.activity) != set(ROLES) or observation.cutoff is None:
        return None
    speech = {r: spans_to_ticks(observation.activity[r], name=r) for r in ROLES}
    vad = session_activity(speech, end=to_ticks(observation.cutoff), rate=rate)
    return Heard(len(vad[Role.USER]), vad, observation.words)


def deaf() -> Decision:
    """Return the answer to an observation without activity or without a single frame."""
    return Decision(outcome=Outcome.UNSUPPORTED, reason="no activity of two channels")


def since(event: Bools) -> Ints:
    """Return frames since the last true frame, 0 in it, ``NEVER`` before the first."""
    index = np.arange(len(event))
    last = np.maximum.accumulate(np.where(event, index, -1))
    return np.where(last >= 0, index - last, NEVER).astype(np.int64)


class SilenceFrames:
    """The turn is over after enough silence: the rule of most deployed endpointers, as a stream.

    ``eot`` of a channel is 1 once its silence has lasted ``timeout``, ``hold`` is 1 in a shorter
    silence after speech; the floor then belongs to the other channel.

    Parameters
    ----------
    timeout : float
        Seconds, 0.08 to 4; the family is swept over it.
    """

    def __init__(self, *, timeout: float = 0.5) -> None:
        self._timeout = number("timeout", timeout, low=0.08, high=4.0)
        self._frames = int(-(-Fraction(str(timeout)) * RATE // 1))
        self.spec = _spec(
            f"silence-frames({self._timeout:g})",
            {"timeout": self._timeout, "timeout_frames": self._frames},
        )

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Return scores for every frame of the session."""
        heard = hear(observation)
        if heard is None or not heard.frames:
            return deaf()
        columns: dict[str, Floats] = {}
        over = {}
        for role in ROLES:
            quiet = since(heard.vad[role])
            spoken = quiet < NEVER
            over[role] = spoken & (quiet >= self._frames)
            columns[column("vad", role)] = heard.vad[role].astype(np.float64)
            columns[column("eot", role)] = over[role].astype(np.float64)
            columns[column("hold", role)] = (spoken & (quiet > 0) & ~over[role]).astype(np.float64)
        last = last_speaker(heard.vad)
        for role in ROLES:
            mine = np.where(last == ROLES.index(role), ~over[role], over[OTHER[role]])
            share = np.where(last < 0, 0.5, mine.astype(np.float64))
            columns[column("p_now", role)] = columns[column("p_future", role)] = share
        return answer(columns)


class PersistenceFrames:
    """Who speaks now goes on speaking: the projection that any model has to beat.

    Every future window is expected to look like the recent past: the share of active frames in
    the last ``window`` seconds. ``eot`` of a channel is how much more the other one has spoken of
    late, ``hold`` the reverse.

    Parameters
    ----------
    window : float
        Seconds, 0.08 to 10.
    """

    def __init__(self, *, window: float = 0.4) -> None:
        self._window = number("window", window, low=0.08, high=10.0)
        self._frames = max(1, round(self._window * float(RATE)))
        self.spec = _spec("persistence", {"window": self._window, "window_frames": self._frames})

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Return scores for every frame of the session."""
        heard = hear(observation)
        if heard is None or not heard.frames:
            return deaf()
        recent = {role: recent_share(heard.vad[role], self._frames) for role in ROLES}
        columns: dict[str, Floats] = {}
        for role in ROLES:
            lead = recent[OTHER[role]] - recent[role]
            columns[column("vad", role)] = heard.vad[role].astype(np.float64)
            columns[column("eot", role)] = np.maximum(lead, 0.0)
            columns[column("hold", role)] = np.maximum(-lead, 0.0)
            for window in FVAD:
                columns[column(window, role)] = recent[role]
        return answer(columns)


class ConstantFrames:
    """Says the same in every frame: ``hold`` (nobody ever hands over) or ``eot``."""

    def __init__(self, *, signal: str = "hold") -> None:
        self._signal = choice("signal", signal, ("hold", "eot", "bc"))
        self.spec = _spec(f"constant-frames({signal})", {"signal": signal})

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Return the same scores for every frame."""
        heard = hear(observation)
        if heard is None or not heard.frames:
            return deaf()
        return answer({column(self._signal, role): np.ones(heard.frames) for role in ROLES})


def answer(columns: Mapping[str, Floats], *, look_ahead: float = 0.0) -> Decision:
    """Return columns of equal length at 12.5 frames a second as a decision."""
    trace = make_trace(
        np.stack(list(columns.values()), axis=1),
        columns=list(columns),
        rate=RATE,
        look_ahead=look_ahead,
    )
    return Decision(trace=trace)


def recent_share(active: Bools, frames: int) -> Floats:
    """Return the share of active frames among the last ``frames``; fewer at the start."""
    total = np.concatenate([[0], np.cumsum(active, dtype=np.int64)])
    end = np.arange(1, len(active) + 1)
    start = np.maximum(end - frames, 0)
    out: Floats = (total[end] - total[start]) / (end - start)
    return out


def last_speaker(vad: Mapping[Role, Bools]) -> Ints:
    """Return who spoke alone last: index into ``ROLES``, -1 before anybody did."""
    user, system = (vad[role] for role in ROLES)
    alone = np.where(user & ~system, 0, np.where(system & ~user, 1, -1))
    index = np.maximum.accumulate(np.where(alone >= 0, np.arange(len(alone)), -1))
    return np.where(index >= 0, alone[np.maximum(index, 0)], -1).astype(np.int64)


def _spec(name: str, parameters: Mapping[str, object]) -> SystemSpec:
    return SystemSpec(
        name=name,
        version="1",
        level=Level.MEASURED,
        modalities=("activity",),
        context="both channels up to the frame",
        streaming_step=float(1 / RATE),
        front_end=FRONT_END,
        parameters=dict(parameters),
        licence="Apache-2.0",
    )
