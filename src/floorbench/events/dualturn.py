"""DualTurn's frame signals from two-channel voice activity: BC, EOT, HOLD, BOT and future VAD.

Protocol ``dualturn-4s``. Runs of speech are whole and never clipped to a look-ahead window; every
search is a binary search over runs, so the cost grows with the length of the session only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.vocab import Role
from floorbench.errors import UsageError
from floorbench.events.frames import Runs, check_frames, close_gaps, paint, runs
from floorbench.events.spans import Bools, Floats, Ints

RATE = Fraction(25, 2)
FVAD_EDGES = (0, 3, 6, 12, 25)
_FAR = np.iinfo(np.int64).max // 4


class SegmentClass(StrEnum):
    """What became of one speech segment's end."""

    BC = "BC"
    EOT = "EOT"
    HOLD = "HOLD"
    OPEN = "open"


SEGMENT_CLASSES = tuple(SegmentClass)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalRules:
    """Thresholds of the signals, in frames of 80 ms.

    Parameters
    ----------
    min_gap : int
        Own gaps of at most this many frames are closed after framing. No default: it decides how
        many holds there are.
    min_turn : int
        Shortest run that counts as a turn.
    max_bc : int
        Longest backchannel.
    min_bc_silence : int
        Own silence on both sides of a backchannel.
    max_gap : int
        Look-ahead and look-back, 4 s.
    fvad : {"disjoint", "cumulative"}
        Whether the four windows of the future activity follow each other or all start at the next
        frame.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    min_gap: int
    min_turn: int = 12
    max_bc: int = 12
    min_bc_silence: int = 12
    max_gap: int = 50
    fvad: Literal["disjoint", "cumulative"] = "disjoint"

    def __post_init__(self) -> None:
        for name in ("min_gap", "min_turn", "max_bc", "min_bc_silence", "max_gap"):
            if getattr(self, name) < 0:
                raise UsageError("FB612", f"{name} is {getattr(self, name)}; it must be 0 or more")
        if self.fvad not in ("disjoint", "cumulative"):
            raise UsageError("FB612", f"fvad is '{self.fvad}'; it is disjoint or cumulative")


class EventRow(NamedTuple):
    """One line of an event table."""

    session: str
    role: Role
    frame: int
    label: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChannelSignals:
    """Signals of one channel over ``T`` frames.

    Parameters
    ----------
    vad, eot, hold, bot, bc : bool arrays (T,)
        ``vad`` with gaps closed; ``eot`` and ``hold`` stand on the last frame of a segment,
        ``bot`` on its first, ``bc`` on all frames of a backchannel.
    fvad : float64 array (T, 4)
        Mean activity of the four windows after each frame, in [0, 1]; NaN where ``fvad_known`` is
        false.
    fvad_known : bool array (T, 4)
        Whether the window lies inside the session.
    segments : Runs
        All speech segments.
    segment_class : int64 array (n,)
        Index into ``SEGMENT_CLASSES`` per segment.
    hold_truncated : bool array (n,)
        Segments labelled HOLD because the session ended before the look-ahead did, with nobody
        active in what was left.
    """

    vad: Bools
    eot: Bools
    hold: Bools
    bot: Bools
    bc: Bools
    fvad: Floats
    fvad_known: Bools
    segments: Runs
    segment_class: Ints
    hold_truncated: Bools

    def count(self, label: SegmentClass) -> int:
        """Return the number of segments of a class."""
        return int((self.segment_class == SEGMENT_CLASSES.index(label)).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Signals:
    """Signals of both channels of one session, and the rules they follow."""

    channels: Mapping[Role, ChannelSignals]
    rules: SignalRules

    @property
    def hold_truncated(self) -> int:
        """Number of holds over both channels whose look-ahead was cut off by the session's end."""
        return sum(int(c.hold_truncated.sum()) for c in self.channels.values())

    def rows(self, session: str) -> list[EventRow]:
        """Return the session's events in order of frame and role.

        A BC stands on its first frame; EOT and HOLD on the segment's last one; BOT on the first.
        """
        out = []
        for order, (role, signals) in enumerate(self.channels.items()):
            spans = zip(signals.segments.start.tolist(), signals.segments.end.tolist(), strict=True)
            for i, (start, end) in enumerate(spans):
                kind = SEGMENT_CLASSES[signals.segment_class[i]]
                rule = "truncated" if signals.hold_truncated[i] else "dualturn-4s"
                if kind is not SegmentClass.OPEN:
                    frame = start if kind is SegmentClass.BC else end - 1
                    out.append((frame, order, EventRow(session, role, frame, kind.value, rule)))
                if signals.bot[start]:
                    out.append((start, order, EventRow(session, role, start, "BOT", "dualturn-4s")))
        return [row for _, _, row in sorted(out, key=lambda item: item[:2])]


def dualturn_signals(vad: Mapping[Role, ArrayLike], rules: SignalRules) -> Signals:
    """Return the signals of a two-channel session.

    Parameters
    ----------
    vad : mapping of Role to array-like (T,)
        Binary activity of exactly two channels at 12.5 Hz.
    rules : SignalRules
        Thresholds; ``rules.min_gap`` is applied first.

    Returns
    -------
    Signals

    Raises
    ------
    DataError
        ``FB202``, ``FB610`` or ``FB611`` for tracks that cannot be read.

    Notes
    -----
    Source: DualTurn (arXiv 2603.08216), its agent-action definition over 4 s and the released
    label columns. Segments are maximal runs ``[start, end)``.

    - BC: at most ``max_bc`` frames, own silence of at least ``min_bc_silence`` on both sides
      (measured to the session's edge when there is no neighbour), and a run of the other channel
      of at least ``min_turn`` frames that overlaps ``[start - max_gap, end + max_gap)``.
    - EOT or HOLD at each other segment that ends before the session does: in
      ``[end, end + max_gap)`` EOT if the other channel is active strictly before the own one and
      that run, with its part before ``end``, has at least ``min_turn`` frames; else HOLD.
    - BOT at a non-BC segment of at least ``min_turn`` frames: in the ``max_gap`` frames before it
      the other channel was active last, strictly later than the own one, in a run that had lasted
      at least ``min_turn`` frames by then.

    Deviations: windows of the future activity that reach past the end are undefined and masked;
    holds without a full look-ahead and without any activity in it are counted as truncated.
    """
    tracks = {
        role: close_gaps(track, min_gap=rules.min_gap) for role, track in check_frames(vad).items()
    }
    found = {role: runs(track) for role, track in tracks.items()}
    first, second = tracks
    return Signals(
        channels={
            first: _channel(tracks[first], found[first], found[second], rules),
            second: _channel(tracks[second], found[second], found[first], rules),
        },
        rules=rules,
    )


def _channel(track: Bools, own: Runs, other: Runs, rules: SignalRules) -> ChannelSignals:
    frames = len(track)
    is_bc = _backchannels(own, other, frames, rules)
    inner = own.end < frames
    eot, truncated = _ends(own, other, frames, rules)
    eot &= inner & ~is_bc
    hold = inner & ~is_bc & ~eot
    kind = np.select(
        [is_bc, eot, hold],
        [SEGMENT_CLASSES.index(c) for c in (SegmentClass.BC, SegmentClass.EOT, SegmentClass.HOLD)],
        SEGMENT_CLASSES.index(SegmentClass.OPEN),
    ).astype(np.int64)
    bot = _starts(own, other, rules) & ~is_bc
    fvad, known = future_activity(track, cumulative=rules.fvad == "cumulative")
    return ChannelSignals(
        vad=track,
        eot=_marks(own.end[eot] - 1, frames),
        hold=_marks(own.end[hold] - 1, frames),
        bot=_marks(own.start[bot], frames),
        bc=paint(own.where(is_bc), frames),
        fvad=fvad,
        fvad_known=known,
        segments=own,
        segment_class=kind,
        hold_truncated=hold & truncated,
    )


def _backchannels(own: Runs, other: Runs, frames: int, rules: SignalRules) -> Bools:
    """Tell which segments are backchannels."""
    before = own.start - np.concatenate([[0], own.end[:-1]])[: len(own)]
    after = np.concatenate([own.start[1:], [frames]])[: len(own)] - own.end
    turns = other.where(other.length >= rules.min_turn)
    near = np.searchsorted(turns.end, own.start - rules.max_gap, side="right")
    reach = np.append(turns.start, _FAR)[near] < own.end + rules.max_gap
    silent = (before >= rules.min_bc_silence) & (after >= rules.min_bc_silence)
    out: Bools = (own.length <= rules.max_bc) & silent & reach
    return out


def _ends(own: Runs, other: Runs, frames: int, rules: SignalRules) -> tuple[Bools, Bools]:
    """Tell which segments hand over, and which look-aheads were cut off and empty."""
    limit = np.minimum(own.end + rules.max_gap, frames)
    index = np.searchsorted(other.end, own.end, side="right")
    first_other = np.maximum(np.append(other.start, _FAR)[index], own.end)
    length = np.append(other.length, 0)[index]
    first_own = np.concatenate([own.start[1:], [_FAR]])[: len(own)]
    eot: Bools = (first_other < limit) & (first_other < first_own) & (length >= rules.min_turn)
    nobody = np.minimum(first_other, first_own) >= frames
    truncated: Bools = (frames - own.end < rules.max_gap) & nobody
    return eot, truncated


def _starts(own: Runs, other: Runs, rules: SignalRules) -> Bools:
    """Tell which segments begin a turn after the other channel's turn."""
    index = np.searchsorted(other.start, own.start, side="left") - 1
    known = index >= 0
    last_other = np.minimum(np.append(other.end, 0)[index], own.start) - 1
    length = last_other + 1 - np.append(other.start, 0)[index]
    last_own = np.concatenate([[0], own.end[:-1]])[: len(own)] - 1
    out: Bools = (
        known
        & (own.length >= rules.min_turn)
        & (last_other >= own.start - rules.max_gap)
        & (last_other > last_own)
        & (length >= rules.min_turn)
    )
    return out


class FutureActivity(NamedTuple):
    """Mean activity of the windows after each frame, and where it is defined."""

    value: Floats
    known: Bools


def future_activity(track: Bools, *, cumulative: bool = False) -> FutureActivity:
    """Return the mean activity in frames t+1..t+3, t+4..t+6, t+7..t+12 and t+13..t+25.

    Parameters
    ----------
    track : bool array (T,)
    cumulative : bool
        Windows t+1..t+3, t+1..t+6, t+1..t+12 and t+1..t+25 instead.

    Returns
    -------
    FutureActivity
        Arrays (T, 4); values are NaN where the window leaves the session.
    """
    frames = len(track)
    total = np.concatenate([[0], np.cumsum(track, dtype=np.int64)])
    value = np.full((frames, 4), np.nan)
    for k in range(4):
        low, high = (0 if cumulative else FVAD_EDGES[k]), FVAD_EDGES[k + 1]
        whole = frames - high
        if whole > 0:
            window = total[high + 1 : high + 1 + whole] - total[low + 1 : low + 1 + whole]
            value[:whole, k] = window / (high - low)
    return FutureActivity(value, ~np.isnan(value))


def _marks(index: Ints, frames: int) -> Bools:
    track = np.zeros(frames, dtype=np.bool_)
    track[index] = True
    return track
