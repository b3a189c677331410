"""Frames: activity from spans by exact arithmetic, maximal runs, closed gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.time import TICKS_PER_SECOND, Ticks
from floorbench.core.vocab import Role
from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.events.spans import Bools, Ints, check_spans, two_roles, union


def frame_count(end: Ticks, *, rate: Fraction) -> int:
    """Return the number of frames that cover ``[0, end)``: the last one may be partial.

    Parameters
    ----------
    end : int
        End of the session in ticks: the largest end over both sides, non-speech tokens included.
    rate : Fraction
        Frames a second.

    Raises
    ------
    DataError
        ``FB610`` for a session that ends before 0.
    """
    if end < 0:
        raise DataError("FB610", f"the session ends at {end} ticks, before 0")
    return -(-end * rate.numerator // (TICKS_PER_SECOND * rate.denominator))


def frame_activity(
    spans: ArrayLike, *, frames: int, rate: Fraction, name: str = "channel"
) -> Bools:
    """Return which frames are active: at least half covered by the union of speech.

    Parameters
    ----------
    spans : array-like (n, 2)
        Speech in ticks, sorted by start; spans may overlap, the union counts.
    frames : int
        Number of frames ``T``; see :func:`frame_count`.
    rate : Fraction
        Frames a second; frame ``t`` is ``[t, t + 1) / rate`` seconds.
    name : str
        What the spans are, for messages.

    Returns
    -------
    bool array (T,)

    Raises
    ------
    DataError
        As ``check_spans``; ``FB610`` when speech goes on after the last frame.

    Notes
    -----
    Exact: times and frame edges are compared as integers in units of one tick divided by the
    rate's numerator. The last frame counts with its full length even if the session ends in it.
    """
    speech = union(check_spans(spans, name=name)) * rate.numerator
    length = TICKS_PER_SECOND * rate.denominator
    if len(speech) and speech[-1, 1] > frames * length:
        raise DataError(
            "FB610", f"speech of '{name}' goes on after the last of {counted(frames, 'frame')}"
        )
    if len(speech) == 0:
        return np.zeros(frames, dtype=np.bool_)
    edges = np.arange(frames + 1, dtype=np.int64) * length
    before = np.concatenate([[0], np.cumsum(speech[:, 1] - speech[:, 0])])
    index = np.searchsorted(speech[:, 0], edges, side="right")
    rest = np.maximum(speech[np.maximum(index - 1, 0), 1] - edges, 0)
    heard = before[index] - np.where(index > 0, rest, 0)
    active: Bools = 2 * np.diff(heard) >= length
    return active


def session_activity(
    speech: Mapping[Role, ArrayLike], *, end: Ticks, rate: Fraction
) -> dict[Role, Bools]:
    """Return two frame tracks of equal length from two channels of speech spans.

    Parameters
    ----------
    speech : mapping of Role to array-like (n, 2)
        Speech of exactly two channels in ticks, each sorted by start; a silent one is empty.
    end : int
        End of the session in ticks: the largest end over both sides, non-speech tokens included.
    rate : Fraction
        Frames a second.

    Raises
    ------
    DataError
        As :func:`frame_activity`, and ``FB611`` for a missing channel.
    """
    frames = frame_count(end, rate=rate)
    return {
        role: frame_activity(speech[role], frames=frames, rate=rate, name=role)
        for role in two_roles(speech)
    }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """Maximal runs of active frames, half-open, in order.

    Parameters
    ----------
    start, end : int64 arrays (n,)
        First frame and the frame after the last one.
    """

    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.start)

    @property
    def length(self) -> Ints:
        """Frames of each run."""
        return self.end - self.start

    def where(self, mask: Bools) -> Runs:
        """Return the runs selected by a mask."""
        return Runs(start=self.start[mask], end=self.end[mask])


def runs(active: Bools) -> Runs:
    """Return the maximal runs of a boolean frame track."""
    edges = np.flatnonzero(active[1:] != active[:-1]) + 1
    first = [0] if active[:1].any() else []
    last = [len(active)] if active[-1:].any() else []
    edges = np.concatenate([first, edges, last]).astype(np.int64)
    return Runs(start=edges[::2], end=edges[1::2])


def paint(spans: Runs, frames: int) -> Bools:
    """Return a boolean track that is true inside the given disjoint runs."""
    step = np.zeros(frames + 1, dtype=np.int64)
    np.add.at(step, spans.start, 1)
    np.add.at(step, spans.end, -1)
    track: Bools = np.cumsum(step)[:frames] > 0
    return track


def close_gaps(active: Bools, *, min_gap: int) -> Bools:
    """Fill own gaps of at most ``min_gap`` frames between two runs.

    Silence before the first and after the last run is never filled.

    Raises
    ------
    UsageError
        ``FB612`` for a negative ``min_gap``.
    """
    if min_gap < 0:
        raise UsageError("FB612", f"min_gap is {counted(min_gap, 'frame')}; it must be 0 or more")
    found = runs(active)
    if min_gap == 0 or len(found) < 2:
        return active
    keep = found.start[1:] - found.end[:-1] > min_gap
    merged = Runs(
        start=found.start[np.concatenate([[True], keep])],
        end=found.end[np.concatenate([keep, [True]])],
    )
    return paint(merged, len(active))


def check_frames(channels: Mapping[Role, ArrayLike]) -> dict[Role, Bools]:
    """Return two frame tracks of equal length as booleans, in the order of ``Role``.

    Parameters
    ----------
    channels : mapping of Role to array-like (T,)
        0/1 or boolean activity.

    Raises
    ------
    DataError
        ``FB611`` for a missing channel or unequal lengths, ``FB202`` for NaN or infinity,
        ``FB610`` for values other than 0 and 1 or a track that is not 1-D.
    """
    out: dict[Role, Bools] = {}
    for role in two_roles(channels):
        track = np.asarray(channels[role])
        if track.ndim != 1:
            raise DataError("FB610", f"track of '{role}' has shape {track.shape}, not (T,)")
        if track.dtype.kind == "f" and not np.isfinite(track).all():
            frame = int(np.flatnonzero(~np.isfinite(track))[0])
            raise DataError("FB202", f"frame {frame} of '{role}' is {track[frame]}")
        if track.dtype.kind not in "biuf" or not ((track == 0) | (track == 1)).all():
            raise DataError("FB610", f"track of '{role}' holds values other than 0 and 1")
        out[role] = track.astype(np.bool_)
    first, second = out
    if len(out[first]) != len(out[second]):
        raise DataError(
            "FB611",
            f"'{first}' has {counted(len(out[first]), 'frame')}, '{second}' has {len(out[second])}",
        )
    return out
