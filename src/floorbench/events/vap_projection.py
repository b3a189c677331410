"""Voice activity projection: the 256 classes of the next two seconds and their summary scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.frames import check_frames
from floorbench.events.spans import Floats, Ints

BINS = 4
CLASSES = 2 ** (2 * BINS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionRules:
    """Bins of the projection window, in exact seconds; frames are truncated.

    Parameters
    ----------
    rate : Fraction
        Frames a second.
    bins : tuple of four Fractions
        Lengths of the bins, which follow each other from the next frame on.
    active : Fraction
        A bin is active if at least this share of its frames is.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    rate: Fraction = Fraction(50)
    bins: tuple[Fraction, ...] = (
        Fraction(1, 5),
        Fraction(2, 5),
        Fraction(3, 5),
        Fraction(4, 5),
    )
    active: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        if len(self.bins) != BINS or min(self.bin_frames) < 1:
            raise UsageError(
                "FB612",
                f"bins of {self.bin_frames} frames; four of at least one are needed",
            )
        if not 0 < self.active <= 1:
            raise UsageError("FB612", f"active is {self.active}; it lies in (0, 1]")

    @property
    def bin_frames(self) -> tuple[int, ...]:
        """Frames of each bin."""
        return tuple(int(b * self.rate) for b in self.bins)

    @property
    def horizon(self) -> int:
        """Frames that a projection looks ahead."""
        return sum(self.bin_frames)


def projection_classes(vad: Mapping[Role, ArrayLike], rules: ProjectionRules) -> Ints:
    """Return the projection class of every frame whose horizon lies inside the session.

    Parameters
    ----------
    vad : mapping of Role to array-like (T,)
    rules : ProjectionRules

    Returns
    -------
    int64 array (max(T - horizon, 0),)
        In [0, 256). Bin ``b`` of the channel ``c`` is bit ``4 c + b``; bins follow the frame.
    """
    tracks = check_frames(vad)
    frames = len(next(iter(tracks.values())))
    out = np.zeros(max(frames - rules.horizon, 0), dtype=np.uint8)
    for side, track in enumerate(tracks.values()):
        total = np.zeros(frames + 1, dtype=np.int32)
        np.cumsum(track, out=total[1:])
        low = 1
        for b, length in enumerate(rules.bin_frames):
            inside = total[low + length :][: len(out)] - total[low:][: len(out)]
            active = inside >= math.ceil(rules.active * length)
            out |= active.view(np.uint8) << np.uint8(BINS * side + b)
            low += length
    return out.astype(np.int64)


class NextSpeaker(NamedTuple):
    """Share of the expected activity that belongs to each speaker, arrays (T, 2)."""

    now: Floats
    future: Floats


def next_speaker(probabilities: ArrayLike) -> NextSpeaker:
    """Return ``p_now`` (bins 1-2) and ``p_future`` (bins 3-4) of 256-class probabilities.

    Parameters
    ----------
    probabilities : array-like (T, 256)
        Rows sum to one within 0.001.

    Returns
    -------
    NextSpeaker
        Each row sums to one over the two speakers.

    Raises
    ------
    DataError
        ``FB202`` for NaN or infinity, ``FB615`` for a wrong shape or rows that are no
        probabilities.

    Notes
    -----
    Undefined: a row that expects no activity from anybody in the two bins is NaN.
    Deviations: the source adds 1e-5 to the denominator, which biases quiet frames towards 0.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2 or p.shape[1] != CLASSES:
        raise DataError("FB615", f"probabilities have shape {p.shape}, not (T, {CLASSES})")
    if not np.isfinite(p).all():
        row = int(np.flatnonzero(~np.isfinite(p).all(axis=1))[0])
        raise DataError("FB202", f"probabilities of frame {row} are not finite")
    bad = (p < 0).any(axis=1) | (np.abs(p.sum(axis=1) - 1) > 1e-3)
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        raise DataError("FB615", f"probabilities of frame {row} sum to {p[row].sum():.6g}")
    bits = (np.arange(CLASSES)[:, None] >> np.arange(2 * BINS)) & 1
    near = np.stack([bits[:, 0] + bits[:, 1], bits[:, 4] + bits[:, 5]], axis=1)
    far = np.stack([bits[:, 2] + bits[:, 3], bits[:, 6] + bits[:, 7]], axis=1)
    return NextSpeaker(_normalised(p @ near), _normalised(p @ far))


def _normalised(weights: Floats) -> Floats:
    total = weights.sum(axis=1, keepdims=True)
    out = np.full(weights.shape, np.nan)
    np.divide(weights, total, out=out, where=total > 0)
    return out
