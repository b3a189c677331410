"""Are the channels whose they are said to be? Energy against annotation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from floorbench.core.vocab import Role
from floorbench.datasets.two_channel_session import ROLES, TwoChannelSession
from floorbench.events.dualturn import RATE
from floorbench.events.spans import Bools

DECIDED = 3.0
"""dB by which a channel must be louder in its own speech than in the other's."""
LEAST = 12
"""Frames in which one side alone speaks, per side."""


class ChannelCheck(NamedTuple):
    """What the energies say: ``straight``, ``swapped`` or ``undecided``, and by how many dB."""

    verdict: str
    difference: float | None
    why: str


def check_channels(session: TwoChannelSession) -> ChannelCheck:
    """Compare each channel's level while its own side alone speaks and while the other does.

    Returns
    -------
    ChannelCheck
        ``difference`` is the mean over both channels of level in own speech minus level in the
        other's speech, in dB: positive for channels as annotated, negative for swapped ones.
    """
    if set(session.audio) != set(ROLES):
        return ChannelCheck("undecided", None, "no audio")
    vad = session.vad(RATE)
    user, system = (vad[role] for role in ROLES)
    alone = {Role.USER: user & ~system, Role.SYSTEM: system & ~user}
    if min(int(a.sum()) for a in alone.values()) < LEAST:
        return ChannelCheck("undecided", None, "a side hardly ever speaks alone")
    gaps = []
    for role, other in ((Role.USER, Role.SYSTEM), (Role.SYSTEM, Role.USER)):
        level = _level(session, role, len(user))
        gaps.append(_mean(level, alone[role]) - _mean(level, alone[other]))
    difference = float(np.mean(gaps))
    if abs(difference) < DECIDED:
        return ChannelCheck("undecided", difference, "levels hardly differ")
    return ChannelCheck("straight" if difference > 0 else "swapped", difference, "")


def _level(session: TwoChannelSession, role: Role, frames: int) -> np.ndarray:
    """Return the level per frame in dB; frames past the audio are as silent as can be."""
    ref = session.audio[role]
    samples = ref.read()
    edges = np.minimum(
        (np.arange(frames + 1) * ref.rate * RATE.denominator) // RATE.numerator, len(samples)
    ).astype(np.int64)
    power = np.concatenate([[0.0], np.cumsum(samples.astype(np.float64) ** 2)])
    mean = np.diff(power[edges]) / np.maximum(np.diff(edges), 1)
    return np.asarray(10 * np.log10(mean + 1e-10))


def _mean(level: np.ndarray, where: Bools) -> float:
    return float(level[where].mean())
