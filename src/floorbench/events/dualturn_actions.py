"""DualTurn's five agent actions: the events on which an agent decides, with their gold labels.

ST start-talking, CL continue-listening, SL start-listening, CT continue-talking, BC backchannel.
The BC *event* of this module and the BC *track* of :mod:`floorbench.events.dualturn` follow
different rules and are never mixed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.vocab import Role
from floorbench.errors import UsageError
from floorbench.events.dualturn import EventRow
from floorbench.events.frames import Runs, check_frames, close_gaps, runs
from floorbench.events.spans import Bools, Ints, channel

ACTIONS = ("ST", "CL", "SL", "CT", "BC")
RULES = (
    "ST_started",
    "ST_overlapping",
    "CL_resumed",
    "incoming_long",
    "incoming_short",
    "vocalisation",
    "CL_negative",
)
_FAR = np.iinfo(np.int64).max // 4


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRules:
    """Thresholds of the action events, in frames of 80 ms.

    Parameters
    ----------
    min_gap : int
        Own gaps of at most this many frames are closed first. No default.
    min_session : int
        Shorter sessions are dropped and counted.
    min_user : int
        Shortest user segment whose end is an event.
    tail : int
        Offsets (and backchannel midpoints) in the last ``tail`` frames are skipped, and
        backchannel midpoints in the first ``tail``.
    agent_within, user_within : int
        Look-ahead for the agent (4 s) and for the user's resumption (2 s).
    min_overlap, long_overlap, max_overlap : int
        Incoming runs shorter than ``min_overlap`` are ignored, from ``long_overlap`` on they are
        SL; runs are counted up to ``max_overlap``.
    min_bc, max_bc, bc_margin : int
        Length of a backchannel event and the frames around it in which the user must be active
        for more than half of the time.
    bc_lead : int
        The backchannel is to be foreseen this many frames before its start.
    port_compat : bool
        Reproduce the public port: every overlap onset counts once for each incoming channel, a
        backchannel also counts as CT, and one random CL negative is added per backchannel.
    negative_distance, negative_edge : int
        Least distance of such a negative from a backchannel and from the session's edges.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    min_gap: int
    min_session: int = 500
    min_user: int = 4
    tail: int = 5
    agent_within: int = 50
    user_within: int = 25
    min_overlap: int = 2
    long_overlap: int = 12
    max_overlap: int = 60
    min_bc: int = 2
    max_bc: int = 11
    bc_margin: int = 3
    bc_lead: int = 2
    port_compat: bool = False
    negative_distance: int = 15
    negative_edge: int = 50

    def __post_init__(self) -> None:
        for name in self.__slots__:
            if getattr(self, name) < 0:
                raise UsageError("FB612", f"{name} is {getattr(self, name)}; it must be 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ActionEvents:
    """Action events of one session seen from one agent, in order of frame.

    Parameters
    ----------
    agent : Role
        Whose actions are asked for.
    user : Role
        The other channel.
    frame : int64 array (n,)
        User offset (the frame after the last speech frame), overlap onset, or start of the
        vocalisation.
    anchor : int64 array (n,)
        Where a predictor is read: ``frame``, or ``bc_lead`` frames before it for BC. May be
        negative for a vocalisation at the very start.
    label : int64 array (n,)
        Index into ``ACTIONS``.
    rule : int64 array (n,)
        Index into ``RULES``.
    by_agent : bool array (n,)
        Whether the agent decides. False only for an overlap in which the agent comes in while
        the user speaks and which is no backchannel: there the user is the listening side. Keep
        ``by_agent`` rows to score the agent; taking each channel as agent in turn then counts
        every overlap onset once as SL or CT.
    run : int64 array (n,)
        Frames of the incoming run (capped), 0 where there is none.
    dropped : bool
        The session was too short; there are no events.
    simultaneous : int
        Overlap onsets in which both channels start in the same frame: nobody is the current
        speaker, so they are counted and give no event (with ``port_compat`` they give two).
    negatives_short : int
        Random negatives that could not be placed (``port_compat``).
    """

    agent: Role
    user: Role
    frame: Ints
    anchor: Ints
    label: Ints
    rule: Ints
    by_agent: Bools
    run: Ints
    dropped: bool
    simultaneous: int
    negatives_short: int

    def __len__(self) -> int:
        return len(self.frame)

    def count(self, label: str) -> int:
        """Return the number of events of the agent with a label."""
        return int((self.by_agent & (self.label == ACTIONS.index(label))).sum())

    def rows(self, session: str) -> list[EventRow]:
        """Return the events as lines of an event table; ``role`` is who decides."""
        return [
            EventRow(
                session,
                self.agent if self.by_agent[i] else self.user,
                int(self.frame[i]),
                ACTIONS[self.label[i]],
                RULES[self.rule[i]],
            )
            for i in range(len(self))
        ]


def agent_actions(
    vad: Mapping[Role, ArrayLike],
    rules: ActionRules,
    *,
    agent: Role,
    rng: np.random.Generator | None = None,
) -> ActionEvents:
    """Return the action events of a two-channel session.

    Parameters
    ----------
    vad : mapping of Role to array-like (T,)
        Binary activity of exactly two channels at 12.5 Hz.
    rules : ActionRules
        Thresholds.
    agent : Role
        The channel that is asked to act; the other one is the user.
    rng : numpy Generator or None
        Source of the random negatives; needed with ``port_compat`` and refused without.

    Returns
    -------
    ActionEvents

    Raises
    ------
    DataError
        ``FB202``, ``FB610`` or ``FB611`` for tracks that cannot be read or an absent role.
    UsageError
        ``FB612`` when ``rng`` is missing or not used.

    Notes
    -----
    Source: DualTurn (arXiv 2603.08216), five actions; the extraction in frames follows the
    released kit.

    - User offset ``end`` of a user segment ``[start, end)``: frames ``end + 1 .. end + 50`` are
      read in order, agent before user: the agent active gives ST (``ST_overlapping`` if its run
      began before ``end``, else ``ST_started``), the user active within 25 frames gives CL, a
      later return is passed over, nothing gives no event.
    - Overlap onset: the whole run of the incoming channel decides between SL and CT.
    - BC: a short agent segment with the user active in more than half of the frames around it.

    Deviations: each overlap onset is one event, and an agent onset that meets the BC rule is BC
    only; the released kit counts both (``port_compat``).
    """
    if rules.port_compat != (rng is not None):
        what = "needs" if rules.port_compat else "must be set to use"
        raise UsageError("FB612", f"port_compat {what} a random generator")
    tracks = {
        role: close_gaps(track, min_gap=rules.min_gap) for role, track in check_frames(vad).items()
    }
    own = channel(tracks, agent)
    user = next(role for role in tracks if role is not agent)
    frames = len(own)
    dropped = frames < rules.min_session
    parts: list[_Part] = []
    simultaneous = short = 0
    if not dropped:
        agent_runs, user_runs = runs(own), runs(tracks[user])
        bc = _bc_runs(agent_runs, tracks[user], rules)
        parts.append(_offsets(agent_runs, user_runs, frames, rules))
        parts.append(_backchannels(bc, rules))
        overlaps, simultaneous = _overlaps(own, tracks[user], agent_runs, user_runs, bc, rules)
        parts += overlaps
        if rng is not None:
            negatives, short = _negatives(own, tracks[user], bc, rules, rng)
            parts.append(negatives)
    table = np.concatenate([np.empty((0, 6), dtype=np.int64), *parts])
    table = table[np.lexsort((table[:, 3], table[:, 0]))]
    return ActionEvents(
        agent=agent,
        user=user,
        frame=table[:, 0],
        anchor=table[:, 1],
        label=table[:, 2],
        rule=table[:, 3],
        by_agent=table[:, 4].astype(np.bool_),
        run=table[:, 5],
        dropped=dropped,
        simultaneous=simultaneous,
        negatives_short=short,
    )


_Part = Ints  # columns: frame, anchor, label, rule, by_agent, run


def _part(
    frame: Ints, label: str, rule: str, *, lead: int = 0, by_agent: bool = True, run: Ints | int = 0
) -> _Part:
    out = np.empty((len(frame), 6), dtype=np.int64)
    out[:, 0] = frame
    out[:, 1] = frame - lead
    out[:, 2] = ACTIONS.index(label)
    out[:, 3] = RULES.index(rule)
    out[:, 4] = by_agent
    out[:, 5] = run
    return out


def _offsets(agent: Runs, user: Runs, frames: int, rules: ActionRules) -> _Part:
    """Label the ends of the user's segments."""
    next_user = np.append(user.start[1:], _FAR)[: len(user)]
    keep = (user.length >= rules.min_user) & (user.end < frames - rules.tail)
    end, next_user = user.end[keep], next_user[keep]
    index = np.searchsorted(agent.end, end + 1, side="right")
    start = np.append(agent.start, _FAR)[index]
    to_agent = np.maximum(start, end + 1) - end
    to_user = next_user - end
    resumed = (to_user <= rules.user_within) & (to_user < to_agent)
    talked = ~resumed & (to_agent <= rules.agent_within)
    over = talked & (start < end)
    return np.concatenate(
        [
            _part(end[talked & ~over], "ST", "ST_started"),
            _part(end[over], "ST", "ST_overlapping"),
            _part(end[resumed], "CL", "CL_resumed"),
        ]
    )


def _bc_runs(agent: Runs, user: Bools, rules: ActionRules) -> Runs:
    """Return the agent's segments that are backchannel events."""
    frames = len(user)
    total = np.concatenate([[0], np.cumsum(user, dtype=np.int64)])
    low = np.maximum(agent.start - rules.bc_margin, 0)
    high = np.minimum(agent.end + rules.bc_margin, frames)
    middle = (agent.start + agent.end) // 2
    return agent.where(
        (agent.length >= rules.min_bc)
        & (agent.length <= rules.max_bc)
        & (2 * (total[high] - total[low]) > high - low)
        & (middle >= rules.tail)
        & (middle < frames - rules.tail)
    )


def _backchannels(bc: Runs, rules: ActionRules) -> _Part:
    return _part(bc.start, "BC", "vocalisation", lead=rules.bc_lead, run=bc.length)


def _overlaps(
    own: Bools, other: Bools, agent: Runs, user: Runs, bc: Runs, rules: ActionRules
) -> tuple[list[_Part], int]:
    """Label the overlap onsets."""
    onset = runs(own & other).start
    by_user = np.isin(onset, user.start)
    by_agent = np.isin(onset, agent.start)
    both = by_user & by_agent
    if rules.port_compat:
        return [
            *_incoming(onset, user, rules, by_agent=True),
            *_incoming(onset, agent, rules, by_agent=True),
        ], int(both.sum())
    return [
        *_incoming(onset[by_user & ~both], user, rules, by_agent=True),
        *_incoming(
            onset[by_agent & ~both & ~np.isin(onset, bc.start)], agent, rules, by_agent=False
        ),
    ], int(both.sum())


def _incoming(onset: Ints, incoming: Runs, rules: ActionRules, *, by_agent: bool) -> list[_Part]:
    index = np.searchsorted(incoming.end, onset, side="right")
    length = np.minimum(np.append(incoming.end, 0)[index] - onset, rules.max_overlap)
    long = length >= rules.long_overlap
    brief = ~long & (length >= rules.min_overlap)
    return [
        _part(onset[long], "SL", "incoming_long", by_agent=by_agent, run=length[long]),
        _part(onset[brief], "CT", "incoming_short", by_agent=by_agent, run=length[brief]),
    ]


def _negatives(
    own: Bools, other: Bools, bc: Runs, rules: ActionRules, rng: np.random.Generator
) -> tuple[_Part, int]:
    """Draw frames in which the user speaks alone, far from backchannels."""
    frames = len(own)
    near = np.zeros(frames + 1, dtype=np.int64)
    np.add.at(near, np.maximum(bc.start - rules.negative_distance + 1, 0), 1)
    np.add.at(near, np.minimum(bc.end + rules.negative_distance - 1, frames), -1)
    free = other & ~own & (np.cumsum(near)[:frames] == 0)
    free[: rules.negative_edge] = False
    free[max(frames - rules.negative_edge, 0) :] = False
    candidates = np.flatnonzero(free)
    wanted = len(bc)
    drawn = rng.choice(candidates, size=min(wanted, len(candidates)), replace=False)
    return _part(np.sort(drawn), "CL", "CL_negative"), wanted - len(drawn)
