"""What the protocol reads of a trace: probe features, word scores, turn-end scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from floorbench.core.vocab import Role
from floorbench.events.spans import Floats
from floorbench.events.traces import SIGNALS, column, shares, signal
from floorbench.tasks.frame_units import OTHER, ROLES, around

MARGIN = 5
"""Frames on both sides of an anchor that the action probe reads."""
PEAKS = ("eot", "hold", "bot", "bc")
ACTION_FEATURES = (
    *(f"peak {s} {who}" for who in ("user", "agent") for s in PEAKS),
    *(f"mean vad {who}" for who in ("user", "agent")),
    *(f"max {w} {who}" for who in ("user", "agent") for w in ("fvad near", "fvad far")),
    *(f"eot - hold {who}" for who in ("user", "agent")),
)
WORD_FEATURES = tuple(f"{s} {who}" for who in ("speaker", "other") for s in SIGNALS)
OFFSETS = tuple(range(-12, 7))
"""Frames from a turn's end, -0.96 to +0.48 s."""
Columns = Mapping[str, Floats]


def offset_column(offset: int) -> str:
    """Return the column of the turn-end score at an offset in frames.

    Examples
    --------
    >>> offset_column(-3)
    'at-240ms'
    """
    return f"at{offset * 80:+d}ms"


def action_features(
    columns: Columns, *, agent: Role, anchor: NDArray[np.int64], frames: int
) -> Floats:
    """Return the 16 features of the action probe around each anchor.

    Notes
    -----
    Peak of eot, hold, bot and bc, mean of vad, and maximum of the near (windows 1 and 2) and far
    (3 and 4) future activity, for user and agent, and the difference of the eot and hold peaks,
    over ``anchor - 5 .. anchor + 5``. A system without future activity gives its ``p_now`` and
    ``p_future`` instead.
    """
    grid = around(anchor, margin=MARGIN, frames=frames)
    who = (OTHER[agent], agent)
    peaks = {
        (s, r): signal(columns, s, r, frames)[grid].max(axis=1, initial=-np.inf)
        for s in PEAKS
        for r in who
    }
    out: list[Floats] = [peaks[s, r] for r in who for s in PEAKS]
    out += [signal(columns, "vad", r, frames)[grid].mean(axis=1) for r in who]
    for r in who:
        near, far = _future(columns, r, frames)
        out += [near[grid].max(axis=1), far[grid].max(axis=1)]
    out += [peaks["eot", r] - peaks["hold", r] for r in who]
    return np.stack(out, axis=1)


def word_features(
    columns: Columns,
    *,
    speakers: Sequence[Role],
    frame: NDArray[np.int64],
    frames: int,
) -> Floats:
    """Return every signal of speaker and other at each word's frame, ``(n, 22)``.

    ``frame`` -1 stands for a word that ends before the first frame; its features are 0.
    """
    by_role = {r: np.stack([signal(columns, s, r, frames) for s in SIGNALS], axis=1) for r in ROLES}
    index = np.maximum(frame, 0)
    mine = np.asarray([ROLES.index(r) for r in speakers], dtype=np.int64)
    stacked = np.stack([by_role[r] for r in ROLES])
    own, other = stacked[mine, index], stacked[1 - mine, index]
    both = np.concatenate([own, other], axis=1)
    both[frame < 0] = 0.0
    return both


def word_scores(features: Floats) -> Floats:
    """Return scores for C, B and T without a probe: T = eot, B = other's bc, C = 1 - the larger.

    Our reading of a heuristic that was published as a figure only.
    """
    t = features[:, WORD_FEATURES.index("eot speaker")]
    b = features[:, WORD_FEATURES.index("bc other")]
    return np.stack([1.0 - np.maximum(t, b), b, t], axis=1)


def end_scores(
    columns: Columns, *, role: Role, end: NDArray[np.int64], frames: int
) -> dict[str, Floats]:
    """Return the score of a hand-over at each offset from each segment end.

    The score at ``end + d`` is what was known then: the value of frame ``end + d - 1``. It is
    eot - hold of the speaker, or, for systems without them, p_now of the other.
    """
    score = shift_score(columns, role, frames)
    return {offset_column(d): score[np.clip(end + d - 1, 0, max(frames - 1, 0))] for d in OFFSETS}


def shift_score(columns: Columns, role: Role, frames: int) -> Floats:
    """Return, per frame, how much a hand-over by ``role`` is expected."""
    if column("eot", role) in columns or column("hold", role) in columns:
        return signal(columns, "eot", role, frames) - signal(columns, "hold", role, frames)
    now = shares(columns, "p_now", ROLES)
    if now is None:
        return np.zeros(frames)
    out: Floats = now[:, ROLES.index(OTHER[role])]
    return out


def _future(columns: Columns, role: Role, frames: int) -> tuple[Floats, Floats]:
    if column("fvad1", role) not in columns and column("p_now", role) in columns:
        return signal(columns, "p_now", role, frames), signal(columns, "p_future", role, frames)
    near = np.maximum(
        signal(columns, "fvad1", role, frames), signal(columns, "fvad2", role, frames)
    )
    far = np.maximum(signal(columns, "fvad3", role, frames), signal(columns, "fvad4", role, frames))
    return near, far
