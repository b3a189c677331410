"""The floor: IPUs, gaps, pauses, overlaps, holds, shifts, backchannels and interruptions.

Everything is derived from two channels of sorted speech spans in integer ticks by searches over
sorted edges; equal times are equal, and shifting a session shifts its events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.time import Ticks
from floorbench.core.vocab import Role
from floorbench.errors import UsageError
from floorbench.events.spans import Bools, Ints, check_spans, merge_gaps, two_roles

_FAR = np.iinfo(np.int64).max // 4


class StretchKind(StrEnum):
    """Kinds of silence and overlap, by who spoke alone before and after."""

    GAP = "gap"
    PAUSE = "pause"
    OVERLAP_BETWEEN = "overlap_between"
    OVERLAP_WITHIN = "overlap_within"
    EDGE = "edge"


STRETCH_KINDS = tuple(StretchKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorRules:
    """Thresholds in ticks. The field has no agreed values, so none has a default.

    Parameters
    ----------
    min_gap : int
        Own silences shorter than this do not end an IPU.
    max_backchannel : int
        Longest backchannel.
    backchannel_silence : int
        Least own silence before and after a backchannel; the session's edges do not limit it.
    interruption_overlap : int
        Least time an interruption overlaps the turn that it ends; shorter ones are overlapped
        shifts. At least 1.
    backchannels : {"keep", "exclude"}
        Whether backchannels count as speech for gaps, pauses, overlaps, holds and shifts, or are
        left out first because they do not take the floor.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    min_gap: Ticks
    max_backchannel: Ticks
    backchannel_silence: Ticks
    interruption_overlap: Ticks
    backchannels: Literal["keep", "exclude"]

    def __post_init__(self) -> None:
        for name in ("min_gap", "max_backchannel", "backchannel_silence"):
            if getattr(self, name) < 0:
                raise UsageError("FB612", f"{name} is {getattr(self, name)}; it must be 0 or more")
        if self.interruption_overlap < 1:
            raise UsageError(
                "FB612", f"interruption_overlap is {self.interruption_overlap}; it is at least 1"
            )
        if self.backchannels not in ("keep", "exclude"):
            raise UsageError(
                "FB612", f"backchannels is '{self.backchannels}'; it is keep or exclude"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ipus:
    """Inter-pausal units of both channels, ordered by start, then role.

    Parameters
    ----------
    start, end : int64 arrays (n,)
        Ticks.
    role : int64 array (n,)
        Index into ``Floor.roles``.
    backchannel, interruption : bool arrays (n,)
        Never both.
    """

    start: Ints
    end: Ints
    role: Ints
    backchannel: Bools
    interruption: Bools

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretches:
    """Silences or overlaps in order.

    Parameters
    ----------
    start, end : int64 arrays (n,)
        Ticks.
    kind : int64 array (n,)
        Index into ``STRETCH_KINDS``: a gap or a between-speaker overlap if different speakers
        spoke alone before and after, a pause or a within-speaker overlap if the same one did,
        ``edge`` if nobody spoke alone on one side.
    before, after : int64 arrays (n,)
        Index into ``Floor.roles`` of who spoke alone before and after; -1 for nobody.
    """

    start: Ints
    end: Ints
    kind: Ints
    before: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.start)

    def count(self, kind: StretchKind) -> int:
        """Return how many are of a kind."""
        return int((self.kind == STRETCH_KINDS.index(kind)).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Transitions:
    """Holds and shifts: from one IPU to the next one that has the floor, in order.

    Parameters
    ----------
    offset, onset : int64 arrays (n,)
        End of the IPU before and start of the IPU after, in ticks.
    before, after : int64 arrays (n,)
        Index into ``Floor.roles``.
    """

    offset: Ints
    onset: Ints
    before: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.offset)

    @property
    def shift(self) -> Bools:
        """Where the speaker changes; elsewhere it is a hold."""
        out: Bools = self.before != self.after
        return out

    @property
    def fto(self) -> Ints:
        """Floor-transfer offset in ticks: onset minus offset, negative in overlap."""
        return self.onset - self.offset


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Floor:
    """Who had the floor in one session, and how it moved.

    Parameters
    ----------
    roles : (Role, Role)
        The two channels, in the order of the codes below.
    ipus : Ipus
        Inter-pausal units of both channels.
    silences, overlaps : Stretches
        Where nobody speaks (gaps and pauses), and where both do.
    transitions : Transitions
        Every change and non-change of the floor, with its floor transfer offset.
    rules : FloorRules
        The thresholds that this was made with.
    """

    roles: tuple[Role, Role]
    ipus: Ipus
    silences: Stretches
    overlaps: Stretches
    transitions: Transitions
    rules: FloorRules


def floor(speech: Mapping[Role, ArrayLike], rules: FloorRules) -> Floor:
    """Return IPUs, silences, overlaps and transitions of a two-channel session.

    Parameters
    ----------
    speech : mapping of Role to array-like (n, 2)
        Speech of exactly two channels in ticks, each sorted by start; spans of one channel may
        overlap (their union counts), a silent channel is empty.
    rules : FloorRules
        Thresholds.

    Returns
    -------
    Floor

    Raises
    ------
    DataError
        ``FB202``, ``FB610`` or ``FB611`` for spans that cannot be read or a missing channel.

    Notes
    -----
    Source: the communicative states of conversation analysis and speech timing research (gaps and
    between-speaker overlaps at speaker changes, pauses and within-speaker overlaps otherwise).

    - Silence before the first and after the last speech is not listed.
    - Backchannel: an IPU of at most ``max_backchannel`` with ``backchannel_silence`` around it,
      where the other channel was the last to speak before it and is the next to speak after it.
    - Interruption: an IPU, not a backchannel, that starts strictly inside an IPU of the other
      channel that is no backchannel, outlasts it, and overlaps it by ``interruption_overlap``.
    - Transition: between two successive stretches of one speaker alone that belong to different
      IPUs.
    """
    roles = two_roles(speech)
    per_role = [
        merge_gaps(check_spans(speech[role], name=role), below=max(rules.min_gap, 1))
        for role in roles
    ]
    short = [_backchannels(per_role[i], per_role[1 - i], rules) for i in range(2)]
    cut = [
        _interruptions(per_role[i], short[i], per_role[1 - i][~short[1 - i]], rules)
        for i in range(2)
    ]
    if rules.backchannels == "keep":
        active = per_role
    else:
        active = [spans[~bc] for spans, bc in zip(per_role, short, strict=True)]
    silences, overlaps, transitions = _states(active)
    return Floor(
        roles=roles,
        ipus=_ipus(per_role, short, cut),
        silences=silences,
        overlaps=overlaps,
        transitions=transitions,
        rules=rules,
    )


def _ipus(per_role: list[Ints], short: list[Bools], cut: list[Bools]) -> Ipus:
    spans = np.concatenate(per_role)
    role = np.repeat(np.arange(2), [len(s) for s in per_role])
    order = np.lexsort((role, spans[:, 0]))
    return Ipus(
        start=spans[order, 0],
        end=spans[order, 1],
        role=role[order],
        backchannel=np.concatenate(short)[order],
        interruption=np.concatenate(cut)[order],
    )


def _backchannels(own: Ints, other: Ints, rules: FloorRules) -> Bools:
    start, end = own[:, 0], own[:, 1]
    own_before = np.concatenate([[-_FAR], end[:-1]])[: len(own)]
    own_after = np.concatenate([start[1:], [_FAR]])[: len(own)]
    earlier = np.searchsorted(other[:, 0], start, side="left") - 1
    heard = np.minimum(np.append(other[:, 1], -_FAR)[earlier], start)
    later = np.searchsorted(other[:, 1], end, side="right")
    follows = np.maximum(np.append(other[:, 0], _FAR)[later], end)
    out: Bools = (
        (end - start <= rules.max_backchannel)
        & (start - own_before >= rules.backchannel_silence)
        & (own_after - end >= rules.backchannel_silence)
        & (heard > own_before)
        & (follows < own_after)
    )
    return out & (earlier >= 0) & (later < len(other))


def _interruptions(own: Ints, short: Bools, turns: Ints, rules: FloorRules) -> Bools:
    index = np.searchsorted(turns[:, 0], own[:, 0], side="left") - 1
    until = np.append(turns[:, 1], -_FAR)[index]
    out: Bools = (
        (index >= 0)
        & (until - own[:, 0] >= rules.interruption_overlap)
        & (until < own[:, 1])
        & ~short
    )
    return out


def _states(active: list[Ints]) -> tuple[Stretches, Stretches, Transitions]:
    """Cut the session where anybody starts or stops and read the states between the cuts."""
    edges = np.unique(np.concatenate([spans.ravel() for spans in active]))
    start, end = edges[:-1], edges[1:]
    on = [
        np.searchsorted(spans[:, 0], start, side="right")
        > np.searchsorted(spans[:, 1], start, side="right")
        for spans in active
    ]
    alone = on[0] ^ on[1]
    speaker = np.where(on[1], 1, 0)
    solo = np.flatnonzero(alone)
    who = speaker[solo]
    first, second = solo[:-1], solo[1:]
    ipu = np.zeros(len(solo), dtype=np.int64)
    offset = np.zeros(len(solo), dtype=np.int64)
    onset = np.zeros(len(solo), dtype=np.int64)
    for side, spans in enumerate(active):
        mine = who == side
        ipu[mine] = np.searchsorted(spans[:, 0], start[solo[mine]], side="right") - 1
        onset[mine] = spans[ipu[mine], 0]
        offset[mine] = spans[ipu[mine], 1]
    moved = (who[:-1] != who[1:]) | (ipu[:-1] != ipu[1:])
    transitions = Transitions(
        offset=offset[:-1][moved],
        onset=onset[1:][moved],
        before=speaker[first][moved],
        after=speaker[second][moved],
    )

    def listed(index: Ints, same: StretchKind, different: StretchKind) -> Stretches:
        position = np.searchsorted(solo, index)
        before = np.concatenate([[-1], who])[position]
        after = np.append(who, -1)[position]
        kind = np.select(
            [(before < 0) | (after < 0), before == after],
            [STRETCH_KINDS.index(StretchKind.EDGE), STRETCH_KINDS.index(same)],
            STRETCH_KINDS.index(different),
        )
        return Stretches(start=start[index], end=end[index], kind=kind, before=before, after=after)

    nobody = np.flatnonzero(~(on[0] | on[1]))
    both = np.flatnonzero(on[0] & on[1])
    return (
        listed(nobody, StretchKind.PAUSE, StretchKind.GAP),
        listed(both, StretchKind.OVERLAP_WITHIN, StretchKind.OVERLAP_BETWEEN),
        transitions,
    )
