"""Within-turn TRPs: from listeners' responses to slots, proportions and consensus labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.time import TICKS_PER_SECOND, Ticks
from floorbench.errors import DataError, UsageError
from floorbench.events.spans import Bools, Floats, Ints, check_ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class TrpRules:
    """Parameters of the consensus labels.

    Parameters
    ----------
    rule : {"fixed", "adaptive"}
        ``fixed``: a slot is a TRP if its proportion exceeds ``tau``. ``adaptive``: if it exceeds
        the mean of the stimulus' non-zero proportions by more than ``k`` population standard
        deviations of them.
    tau : Fraction
        Threshold, strict, in [0, 1].
    k : Fraction
        Number of standard deviations, 0 or more.
    tail : int
        Ticks after the turn's end that still belong to the last slot.
    final_slot : {"observed", "always", "drop"}
        The slot after the last word: labelled like the others, always a TRP, or left out.
    half_window : int
        Slots on either side of a slot that enter its density.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    rule: Literal["fixed", "adaptive"] = "fixed"
    tau: Fraction = Fraction(3, 10)
    k: Fraction = Fraction(1, 20)
    tail: Ticks = TICKS_PER_SECOND
    final_slot: Literal["observed", "always", "drop"] = "observed"
    half_window: int = 2

    def __post_init__(self) -> None:
        for name in ("tau", "k"):
            if not isinstance(getattr(self, name), Fraction):
                raise UsageError(
                    "FB612",
                    f"{name} is {getattr(self, name)!r}, not a Fraction",
                    hint="Read it with floorbench.core.time.exact, so that 0.3 is three tenths.",
                )
        if not 0 <= self.tau <= 1:
            raise UsageError("FB612", f"tau is {self.tau}; it lies in [0, 1]")
        if self.k < 0 or self.tail < 0 or self.half_window < 0:
            raise UsageError("FB612", "k, tail and half_window must be 0 or more")
        if self.rule not in ("fixed", "adaptive"):
            raise UsageError("FB612", f"rule is '{self.rule}'; it is fixed or adaptive")
        if self.final_slot not in ("observed", "always", "drop"):
            raise UsageError(
                "FB612", f"final_slot is '{self.final_slot}'; it is observed, always or drop"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TrpLabels:
    """Consensus labels of one stimulus with ``n`` slots.

    Parameters
    ----------
    start, end : int64 arrays (n,)
        Slot edges in **half ticks** (midpoints of words are exact that way).
    responders : int64 array (n,)
        Participants with at least one onset in the slot.
    heard : int
        Participants who heard the stimulus, silent ones included; always positive.
    positive : bool array (n,)
        Whether the panel agreed on a TRP.
    window_sum : int64 array (n,)
        Sum of ``responders`` over the slot's window, clipped at the turn's edges.
    window_people : int64 array (n,)
        Participants with an onset in the window.
    onsets : int
        All onsets given; equal to the sum of the next five and of ``responders``.
    repeats : int
        Further onsets of a participant in a slot already counted.
    before, after : int
        Onsets before the first midpoint, and at or after the end of the last slot.
    final_dropped, final_repeats : int
        Participants in, and repeats in, a last slot that ``drop`` leaves out.
    empty_slots : int
        Slots of length 0, kept (equal midpoints, or a next turn that starts before the last one).
    no_response : bool
        ``adaptive`` found no non-zero proportion and therefore no positives.
    """

    start: Ints
    end: Ints
    responders: Ints
    heard: int
    positive: Bools
    window_sum: Ints
    window_people: Ints
    onsets: int
    repeats: int
    before: int
    after: int
    final_dropped: int
    final_repeats: int
    empty_slots: int
    no_response: bool

    def __post_init__(self) -> None:
        parts = (self.repeats, self.before, self.after, self.final_dropped, self.final_repeats)
        if int(self.responders.sum()) + sum(parts) != self.onsets:
            raise AssertionError("onset classes do not add up")

    def __len__(self) -> int:
        return len(self.start)

    @property
    def proportion(self) -> Floats:
        """Share of the participants who heard the stimulus that responded in each slot."""
        return self.responders / self.heard

    def density(self, kind: Literal["sum", "people"] = "sum") -> Floats:
        """Return each slot's density.

        ``sum``: sum of the proportions over the window, may exceed 1. ``people``: share of
        participants with a response in the window.
        """
        return (self.window_sum if kind == "sum" else self.window_people) / self.heard


def trp_labels(
    words: ArrayLike,
    responses: Mapping[str, ArrayLike],
    *,
    roster: Iterable[str],
    turn_end: Ticks,
    next_turn: Ticks | None,
    rules: TrpRules,
) -> TrpLabels:
    """Return the consensus labels of one stimulus.

    Parameters
    ----------
    words : array-like (N, 2)
        Start and end of every word in ticks, in the order spoken; ``N`` is at least 1.
    responses : mapping of str to array-like (m,)
        Onsets in ticks by participant. Order does not matter. Responses to the original and the
        reversed list are merged by the caller.
    roster : iterable of str
        Everybody who heard the stimulus; those without an entry in ``responses`` were silent.
    turn_end : int
        End of the turn in ticks.
    next_turn : int or None
        Start of the next turn in ticks, if there is one.
    rules : TrpRules
        Parameters.

    Returns
    -------
    TrpLabels

    Raises
    ------
    DataError
        ``FB613`` for no words, an empty or repeated roster, a respondent who is not on it or
        midpoints that go back; ``FB610`` or ``FB202`` for times that are no whole ticks.

    Notes
    -----
    Source: within-turn TRP prediction (2024), section 4.2. With midpoints ``m``, slot ``i`` is
    ``[m_i, m_{i+1})`` and the last one ``[m_N, min(turn_end + tail, next_turn))``; an onset
    belongs to the last slot that begins at or before it. Comparisons are exact: 18 of 60 does not
    exceed three tenths. The adaptive test is ``p > mu and (p - mu)^2 > k^2 var`` over non-zero
    proportions.

    Deviations: the paper speaks of the proportion of responses; the share of participants is used
    here, which the arithmetic of its Table 2 supports. A participant counts once per slot.
    """
    names = list(roster)
    if not names:
        raise DataError("FB613", "the roster is empty: nobody heard the stimulus")
    if len(set(names)) != len(names):
        raise DataError("FB613", "the roster names a participant twice")
    strange = [name for name in responses if name not in set(names)]
    if strange:
        raise DataError("FB613", f"participant '{strange[0]}' responded but is not on the roster")

    middle = _midpoints(words)
    limit = turn_end + rules.tail
    if next_turn is not None:
        limit = min(limit, next_turn)
    end = np.append(middle[1:], max(2 * limit, int(middle[-1])))

    onset, person = _flatten(responses, names)
    slot = np.searchsorted(middle, 2 * onset, side="right") - 1
    before = slot < 0
    after = ~before & (2 * onset >= end[-1])
    kept = ~before & ~after
    slots = len(middle)
    cells = np.unique(person[kept] * slots + slot[kept])
    responders = np.bincount(cells % slots, minlength=slots).astype(np.int64)
    repeated = (np.bincount(slot[kept], minlength=slots) - responders).astype(np.int64)

    final_dropped = final_repeats = 0
    if rules.final_slot == "drop":
        final_dropped, final_repeats = int(responders[-1]), int(repeated[-1])
        cells = cells[cells % slots != slots - 1]
        middle, end = middle[:-1], end[:-1]
        responders, repeated = responders[:-1], repeated[:-1]

    positive = consensus(responders, heard=len(names), rules=rules)
    if rules.final_slot == "always":
        positive[-1] = True
    return TrpLabels(
        start=middle,
        end=end,
        responders=responders,
        heard=len(names),
        positive=positive,
        window_sum=_window_sum(responders, rules.half_window),
        window_people=_window_people(cells // slots, cells % slots, len(middle), rules.half_window),
        onsets=len(onset),
        repeats=int(repeated.sum()),
        before=int(before.sum()),
        after=int(after.sum()),
        final_dropped=final_dropped,
        final_repeats=final_repeats,
        empty_slots=int((middle == end).sum()),
        no_response=rules.rule == "adaptive" and not responders.any(),
    )


def consensus(responders: Ints, *, heard: int, rules: TrpRules) -> Bools:
    """Return which slots the panel agreed on, by the threshold rule alone.

    Parameters
    ----------
    responders : int64 array (n,)
        Participants with a response, per slot.
    heard : int
        Participants who heard the stimulus, positive.
    rules : TrpRules
        ``rule``, ``tau`` and ``k`` are used; ``final_slot`` is not.
    """
    if rules.rule == "fixed":
        # The least whole count that exceeds tau * heard.
        fixed: Bools = responders >= int(rules.tau * heard // 1) + 1
        return fixed
    counts = responders[responders > 0].tolist()
    n, total = len(counts), sum(counts)
    # Times n * heard: p - mu becomes n * c - total, var becomes n * sum(c^2) - total^2.
    spread = rules.k**2 * (n * sum(c * c for c in counts) - total * total)
    passed = [c for c in set(counts) if n * c > total and (n * c - total) ** 2 > spread]
    adaptive: Bools = np.isin(responders, np.asarray(passed, dtype=np.int64))
    return adaptive


def _midpoints(words: ArrayLike) -> Ints:
    array = np.asarray(words)
    if array.size == 0:
        raise DataError("FB613", "the stimulus has no words")
    if array.ndim != 2 or array.shape[1] != 2:
        raise DataError("FB613", f"word times have shape {array.shape}, not (N, 2)")
    times = check_ticks(array.ravel(), name="words").reshape(array.shape)
    if (times[:, 1] < times[:, 0]).any():
        row = int(np.flatnonzero(times[:, 1] < times[:, 0])[0])
        raise DataError("FB613", f"word {row} ends before it starts")
    middle: Ints = times.sum(axis=1)
    if (np.diff(middle) < 0).any():
        row = int(np.flatnonzero(np.diff(middle) < 0)[0]) + 1
        raise DataError("FB613", f"the midpoint of word {row} lies before that of word {row - 1}")
    return middle


def _flatten(responses: Mapping[str, ArrayLike], names: list[str]) -> tuple[Ints, Ints]:
    number = {name: i for i, name in enumerate(names)}
    times = [check_ticks(onsets, name=name) for name, onsets in responses.items()]
    people = [
        np.full(len(onsets), number[name], dtype=np.int64)
        for name, onsets in zip(responses, times, strict=True)
    ]
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *times]), np.concatenate([empty, *people])


def _window_sum(values: Ints, half: int) -> Ints:
    total = np.concatenate([[0], np.cumsum(values)])
    index = np.arange(len(values))
    low, high = np.maximum(index - half, 0), np.minimum(index + half + 1, len(values))
    out: Ints = total[high] - total[low]
    return out


def _window_people(person: Ints, slot: Ints, slots: int, half: int) -> Ints:
    """Count people per window: each one covers the slots within ``half`` of a response."""
    step = np.zeros(slots + 1, dtype=np.int64)
    low, high = np.maximum(slot - half, 0), np.minimum(slot + half + 1, slots)
    # Cells are sorted by person, then slot: cut what the previous response already covers.
    same = np.zeros(len(slot), dtype=np.bool_)
    same[1:] = person[1:] == person[:-1]
    previous = np.concatenate([[0], high[:-1]])[: len(high)]
    low = np.where(same, np.maximum(low, previous), low)
    np.add.at(step, low, 1)
    np.add.at(step, high, -1)
    out: Ints = np.cumsum(step)[:slots]
    return out
