"""The labels as a trace: what a perfect system would have said in every frame."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from floorbench.core.prediction import Decision
from floorbench.core.vocab import Outcome, Role
from floorbench.events.dualturn import (
    RATE,
    SEGMENT_CLASSES,
    SegmentClass,
    SignalRules,
    dualturn_signals,
)
from floorbench.events.spans import Bools, Floats
from floorbench.events.traces import FVAD, column, make_trace
from floorbench.tasks.frame_units import ROLES

REACH = 12
"""Frames before and after a segment end over which its class is said."""


def gold_trace(vad: Mapping[Role, Bools], rules: SignalRules) -> Decision:
    """Return vad, bot, bc and fvad as labelled; eot and hold around the nearest segment end.

    Where two ends are equally near, the later one is said; windows of future activity that leave
    the session are 0.
    """
    frames = len(vad[ROLES[0]])
    if not frames:
        return Decision(outcome=Outcome.ABSTAINED, reason="the session has no frame")
    signals = dualturn_signals(vad, rules)
    columns: dict[str, Floats] = {}
    for role in ROLES:
        own = signals.channels[role]
        for name, track in (("vad", own.vad), ("bot", own.bot), ("bc", own.bc)):
            columns[column(name, role)] = track.astype(np.float64)
        for name, kind in (("eot", SegmentClass.EOT), ("hold", SegmentClass.HOLD)):
            columns[column(name, role)] = _near(
                own.segments.end, own.segment_class, SEGMENT_CLASSES.index(kind), frames
            )
        for k, window in enumerate(FVAD):
            columns[column(window, role)] = np.nan_to_num(own.fvad[:, k], nan=0.0)
    trace = make_trace(np.stack(list(columns.values()), axis=1), columns=list(columns), rate=RATE)
    return Decision(trace=trace)


def _near(end: np.ndarray, kind: np.ndarray, wanted: int, frames: int) -> Floats:
    eot, hold = (SEGMENT_CLASSES.index(c) for c in (SegmentClass.EOT, SegmentClass.HOLD))
    use = (kind == eot) | (kind == hold)
    last, kinds = end[use] - 1, kind[use]
    if not len(last):
        return np.zeros(frames)
    grid = np.arange(frames)
    after = np.minimum(np.searchsorted(last, grid), len(last) - 1)
    before = np.maximum(after - 1, 0)
    nearest = np.where(np.abs(last[after] - grid) <= np.abs(last[before] - grid), after, before)
    close = np.abs(last[nearest] - grid) <= REACH
    return np.asarray(close & (kinds[nearest] == wanted), dtype=np.float64)
