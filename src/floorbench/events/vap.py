"""Events of the protocol ``vap-1s`` (voice activity projection) on two-channel activity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.frames import Runs, check_frames, paint, runs
from floorbench.events.spans import Bools, Floats, Ints


class VapKind(StrEnum):
    """Kinds of event regions."""

    SHIFT = "shift"
    HOLD = "hold"
    SHIFT_PREDICTION = "shift_prediction"
    SHIFT_PREDICTION_NEGATIVE = "shift_prediction_negative"
    BACKCHANNEL = "backchannel"
    BACKCHANNEL_PREDICTION = "backchannel_prediction"
    BACKCHANNEL_PREDICTION_NEGATIVE = "backchannel_prediction_negative"


KINDS = tuple(VapKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class VapRules:
    """Parameters of the events, in exact seconds; frames are truncated.

    Parameters
    ----------
    rate : Fraction
        Frames a second.
    min_context : Fraction
        No event begins earlier.
    pad, region : Fraction
        A shift or hold needs a silence of ``pad + region`` and is scored on ``region`` seconds
        that begin ``pad`` after the offset.
    pre, post : Fraction
        One speaker only before the silence and after it, on activity whose same-speaker pauses
        are filled.
    prediction : Fraction
        Length of the region before an offset (or before a backchannel) for prediction.
    max_bc, bc_silence : Fraction
        Longest backchannel and least own silence on both sides.
    negative_left, negative_right : Fraction
        Margins inside a stretch of one speaker from which backchannel negatives are taken.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    rate: Fraction = Fraction(50)
    min_context: Fraction = Fraction(3)
    pad: Fraction = Fraction(1, 20)
    region: Fraction = Fraction(1, 5)
    pre: Fraction = Fraction(1)
    post: Fraction = Fraction(1)
    prediction: Fraction = Fraction(1, 2)
    max_bc: Fraction = Fraction(1)
    bc_silence: Fraction = Fraction(1)
    negative_left: Fraction = Fraction(1)
    negative_right: Fraction = Fraction(2)

    def __post_init__(self) -> None:
        for name in self.__slots__:
            value = getattr(self, name)
            if not isinstance(value, Fraction) or value < 0:
                raise UsageError("FB612", f"{name} is {value!r}; it must be a Fraction, 0 or more")
        if self.frames(self.region) < 1 or self.frames(self.prediction) < 1:
            raise UsageError("FB612", f"a scored region is shorter than a frame at {self.rate} Hz")

    def frames(self, seconds: Fraction) -> int:
        """Return whole frames in a duration, truncated."""
        return int(seconds * self.rate)


class VapEvent(NamedTuple):
    """One region: whose probability is read in it, and where."""

    kind: VapKind
    role: Role
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VapEvents:
    """Regions of one session, ordered by kind, then start.

    Parameters
    ----------
    roles : tuple of two Roles
    kind : int64 array (n,)
        Index into ``KINDS``.
    role : int64 array (n,)
        Index into ``roles``, whose score is read. Around a silence, the one who did not speak
        before it: high scores mean a shift, for shifts, holds and both kinds of prediction. For
        backchannels and their negatives, the listener.
    start, end : int64 arrays (n,)
        Frames, half-open. For shift and hold the scored region, for a backchannel all of it, for
        a backchannel negative the whole stretch in which a region may be placed.
    """

    roles: tuple[Role, Role]
    kind: Ints
    role: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.kind)

    def of(self, *kinds: VapKind) -> VapEvents:
        """Return the events of some kinds."""
        return self.where(np.isin(self.kind, [KINDS.index(k) for k in kinds]))

    def where(self, mask: Bools | Ints) -> VapEvents:
        """Return the events selected by a mask, or by their places in this order."""
        return VapEvents(
            roles=self.roles,
            kind=self.kind[mask],
            role=self.role[mask],
            start=self.start[mask],
            end=self.end[mask],
        )

    def rows(self) -> list[VapEvent]:
        """Return the events as named rows."""
        return [
            VapEvent(KINDS[k], self.roles[r], s, e)
            for k, r, s, e in zip(
                self.kind.tolist(),
                self.role.tolist(),
                self.start.tolist(),
                self.end.tolist(),
                strict=True,
            )
        ]


def vap_events(vad: Mapping[Role, ArrayLike], rules: VapRules) -> VapEvents:
    """Return the ``vap-1s`` events of a two-channel session.

    Parameters
    ----------
    vad : mapping of Role to array-like (T,)
        Binary activity at ``rules.rate``.
    rules : VapRules
        Parameters.

    Returns
    -------
    VapEvents

    Raises
    ------
    DataError
        ``FB202``, ``FB610`` or ``FB611`` for tracks that cannot be read.

    Notes
    -----
    Source: voice activity projection (Ekstedt and Skantze), released event code. A silence
    between two one-speaker stretches is a *hold* if both are the same speaker's and a *shift* if
    not; its start lies after the minimum context, it lasts ``pad + region``, and for ``pre``
    before and ``post`` after it one speaker alone is active once same-speaker pauses are filled.
    A shift whose last stretch before the silence has at least ``prediction`` gives a
    shift-prediction region before the offset; a hold gives its negative. A *backchannel* is own
    activity (pauses filled) of at most ``max_bc`` with own silence of ``bc_silence`` around it
    inside the session; its prediction region lies before it.

    Deviations: the whole session is read at once, without the source's 20 s windows; nothing is
    sampled or balanced here (see :func:`equal_counts`); the scored region of a shift or hold is
    ``region`` long, where the source reads the whole silence.
    """
    tracks = check_frames(vad)
    roles = tuple(tracks)
    activity = np.stack([tracks[role] for role in roles]).T
    silences = _silences(_states(activity))
    filled = _fill(activity, silences)
    states = _states(filled)
    parts = _shifts_and_holds(silences, states, rules)
    for side in range(2):
        parts += _backchannels(filled[:, side], side, rules)
        parts.append(_negatives(states, side, rules))
    table = np.concatenate([np.empty((0, 4), dtype=np.int64), *parts])
    table = table[np.lexsort((table[:, 1], table[:, 2], table[:, 0]))]
    return VapEvents(
        roles=(roles[0], roles[1]),
        kind=table[:, 0],
        role=table[:, 1],
        start=table[:, 2],
        end=table[:, 3],
    )


def equal_counts(
    events: VapEvents, *, keep: VapKind, reduce: VapKind, rng: np.random.Generator
) -> VapEvents:
    """Return the events with ``reduce`` sampled down to the number of ``keep`` (never up).

    Parameters
    ----------
    events : VapEvents
    keep : VapKind
        The kind whose number is matched.
    reduce : VapKind
        The kind that is sampled down.
    rng : numpy.random.Generator
        Source of the sample, without replacement.
    """
    n = int((events.kind == KINDS.index(keep)).sum())
    index = np.flatnonzero(events.kind == KINDS.index(reduce))
    mask = np.ones(len(events), dtype=np.bool_)
    if len(index) > n:
        mask[rng.choice(index, size=len(index) - n, replace=False)] = False
    return events.where(mask)


def region_scores(values: Floats, events: VapEvents) -> Floats:
    """Return the mean value over each event's region, NaN where a value in it is undefined.

    Parameters
    ----------
    values : float64 array (T, 2)
        A score per frame for each of ``events.roles``, for example ``p_now``.
    events : VapEvents
        Regions inside ``[0, T)``, none empty.

    Returns
    -------
    float64 array (n,)
        One score per event. Concatenate :func:`region_frames` for the source's one per frame.
    """
    frames = region_frames(values, events)
    return np.asarray([part.mean() for part in frames], dtype=np.float64)


def region_frames(values: Floats, events: VapEvents) -> list[Floats]:
    """Return the values of each event's region for its role.

    Raises
    ------
    DataError
        ``FB615`` when a region leaves the array.
    """
    if values.ndim != 2 or values.shape[1] != 2:
        raise DataError("FB615", f"scores have shape {values.shape}, not (T, 2)")
    if len(events) and int(events.end.max()) > len(values):
        raise DataError(
            "FB615", f"a region ends at frame {int(events.end.max())}, scores at {len(values)}"
        )
    return [
        values[s:e, r]
        for s, e, r in zip(
            events.start.tolist(), events.end.tolist(), events.role.tolist(), strict=True
        )
    ]


_NOBODY, _BOTH, _EDGE = 2, 3, 4
_STATE_OF_CODE = np.array([_NOBODY, 0, 1, _BOTH], dtype=np.int64)


class _States(NamedTuple):
    """Stretches of constant state: a speaker alone (0 or 1), nobody or both."""

    stretches: Runs
    state: Ints


class _Silences(NamedTuple):
    """Silences, the states on both sides, and the length of the stretch before each."""

    runs: Runs
    before: Ints
    after: Ints
    last: Ints


def _states(activity: Bools) -> _States:
    code = activity[:, 0].view(np.int8) | (activity[:, 1].view(np.int8) << np.int8(1))
    inner = np.flatnonzero(code[1:] != code[:-1]) + 1
    start = np.concatenate([[0], inner])[: len(code)].astype(np.int64)
    end = np.append(inner, len(code))[: len(code)].astype(np.int64)
    return _States(Runs(start=start, end=end), _STATE_OF_CODE[code[start]])


def _silences(states: _States) -> _Silences:
    stretches, state = states
    index = np.flatnonzero(state == _NOBODY)
    padded = np.concatenate([[_EDGE], state, [_EDGE]])
    length = np.concatenate([[0], stretches.length])
    return _Silences(
        stretches.where(state == _NOBODY), padded[index], padded[index + 2], length[index]
    )


def _fill(activity: Bools, silences: _Silences) -> Bools:
    out = activity.copy(order="F")
    for side in range(2):
        own = (silences.before == side) & (silences.after == side)
        out[:, side] |= paint(silences.runs.where(own), len(activity))
    return out


def _table(kind: VapKind, role: Ints | int, start: Ints, end: Ints) -> Ints:
    out = np.empty((len(start), 4), dtype=np.int64)
    out[:, 0] = KINDS.index(kind)
    out[:, 1], out[:, 2], out[:, 3] = role, start, end
    return out


def _shifts_and_holds(silences: _Silences, filled: _States, rules: VapRules) -> list[Ints]:
    silence, before, after, last = silences
    pre, post = rules.frames(rules.pre), rules.frames(rules.post)
    context, ahead = rules.frames(rules.min_context), rules.frames(rules.prediction)
    keep = (before < 2) & (after < 2)
    keep &= silence.start >= context
    keep &= silence.length >= rules.frames(rules.pad + rules.region)
    silence, before, after, last = silence.where(keep), before[keep], after[keep], last[keep]
    stretches, state = filled
    left = np.searchsorted(stretches.start, silence.start - 1, side="right") - 1
    right = np.searchsorted(stretches.start, silence.end, side="right") - 1
    keep = (state[left] == before) & (silence.start - stretches.start[left] >= pre)
    keep &= (state[right] == after) & (stretches.end[right] - silence.end >= post)
    silence, before, after, last = silence.where(keep), before[keep], after[keep], last[keep]
    shift = before != after
    start = silence.start - ahead
    foreseen = (last >= ahead) & (start >= context)
    low = silence.start + rules.frames(rules.pad)
    high = low + rules.frames(rules.region)
    asked = 1 - before
    out = []
    for mask, event, prediction in (
        (shift, VapKind.SHIFT, VapKind.SHIFT_PREDICTION),
        (~shift, VapKind.HOLD, VapKind.SHIFT_PREDICTION_NEGATIVE),
    ):
        out.append(_table(event, asked[mask], low[mask], high[mask]))
        mask = mask & foreseen
        out.append(_table(prediction, asked[mask], start[mask], silence.start[mask]))
    return out


def _backchannels(own: Bools, side: int, rules: VapRules) -> list[Ints]:
    frames = len(own)
    found = runs(own)
    quiet = rules.frames(rules.bc_silence)
    context = rules.frames(rules.min_context)
    before = found.start - np.concatenate([[0], found.end[:-1]])[: len(found)]
    after = np.concatenate([found.start[1:], [frames]])[: len(found)] - found.end
    bc = found.where(
        (found.length <= rules.frames(rules.max_bc))
        & (before >= max(quiet, 1))
        & (after >= max(quiet, 1))
        & (found.start >= context)
    )
    start = bc.start - rules.frames(rules.prediction)
    early = start >= context
    return [
        _table(VapKind.BACKCHANNEL, side, bc.start, bc.end),
        _table(VapKind.BACKCHANNEL_PREDICTION, side, start[early], bc.start[early]),
    ]


def _negatives(states: _States, listener: int, rules: VapRules) -> Ints:
    """Return where the other speaker alone goes on, far from both ends of the stretch."""
    alone = states.stretches.where(states.state == 1 - listener)
    left, right = rules.frames(rules.negative_left), rules.frames(rules.negative_right)
    start = np.maximum(alone.start + left, rules.frames(rules.min_context))
    end = alone.end - right
    room = (alone.length >= left + right) & (end - start >= rules.frames(rules.prediction))
    return _table(VapKind.BACKCHANNEL_PREDICTION_NEGATIVE, listener, start[room], end[room])
