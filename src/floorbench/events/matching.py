"""One-to-one matching of predicted to reference events, and turn ends scored by spans.

All times are integer ticks and window edges are inclusive: adding a constant to every time changes
nothing, and 1.0 s against 1.5 s with a tolerance of 0.5 s is a match.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike

from floorbench.core.time import Ticks
from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.events.spans import Bools, Ints, check_disjoint, check_spans, check_ticks, inside


class PositiveClass(StrEnum):
    """What became of a positive reference event."""

    HIT = "hit"
    MISS = "miss"
    EXCLUDED = "excluded"


class NegativeClass(StrEnum):
    """What became of a negative reference span."""

    FALSE_POSITIVE = "false_positive"
    CORRECT_REJECTION = "correct_rejection"
    EXCLUDED = "excluded"


class PredictedClass(StrEnum):
    """What became of a prediction."""

    HIT = "hit"
    FALSE_POSITIVE = "false_positive"
    REPEAT = "repeat"
    OUTSIDE = "outside"
    EXCLUDED = "excluded"


POSITIVE_CLASSES = tuple(PositiveClass)
NEGATIVE_CLASSES = tuple(NegativeClass)
PREDICTED_CLASSES = tuple(PredictedClass)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Where a prediction may lie around a reference time ``r``: ``[r - before, r + after]``.

    Ticks, inclusive, 0 or more; no defaults, because the window decides the score.

    Raises
    ------
    UsageError
        ``FB612`` for a negative one.
    """

    before: Ticks
    after: Ticks

    def __post_init__(self) -> None:
        if self.before < 0 or self.after < 0:
            raise UsageError(
                "FB612", f"window [-{self.before}, +{self.after}] ticks; both are 0 or more"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Pairs:
    """A one-to-one matching; arrays of equal length in order of time."""

    reference: Ints
    predicted: Ints

    def __len__(self) -> int:
        return len(self.reference)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Matching:
    """Result of :func:`match_events`; every event has exactly one class.

    Parameters
    ----------
    pairs : Pairs
        Indices into the given references and predictions.
    offset : int64 array (len(pairs),)
        Prediction minus reference, in ticks, signed.
    positive : int64 array (n,)
        Index into ``POSITIVE_CLASSES`` per positive reference.
    negative : int64 array (k,)
        Index into ``NEGATIVE_CLASSES`` per negative span.
    predicted : int64 array (m,)
        Index into ``PREDICTED_CLASSES`` per prediction.
    """

    pairs: Pairs
    offset: Ints
    positive: Ints
    negative: Ints
    predicted: Ints

    def positives(self, kind: PositiveClass) -> int:
        """Return the number of positive references of a class."""
        return int((self.positive == POSITIVE_CLASSES.index(kind)).sum())

    def negatives(self, kind: NegativeClass) -> int:
        """Return the number of negative spans of a class."""
        return int((self.negative == NEGATIVE_CLASSES.index(kind)).sum())

    def predictions(self, kind: PredictedClass) -> int:
        """Return the number of predictions of a class."""
        return int((self.predicted == PREDICTED_CLASSES.index(kind)).sum())


def match_events(
    reference: ArrayLike,
    predicted: ArrayLike,
    *,
    window: Window,
    negatives: ArrayLike = (),
    excluded: ArrayLike = (),
) -> Matching:
    """Match predicted times to positive reference times and judge negative spans.

    Parameters
    ----------
    reference, predicted : array-like (n,), (m,)
        Times in ticks, in any order.
    window : Window
        Where a prediction may lie around its reference.
    negatives : array-like (k, 2)
        Spans in ticks in which nothing should be predicted; sorted, disjoint.
    excluded : array-like (l, 2)
        Disputed spans in ticks; sorted, disjoint.

    Returns
    -------
    Matching

    Raises
    ------
    DataError
        ``FB202`` or ``FB610`` for times or spans that cannot be read.

    Notes
    -----
    The matching has as many pairs as possible; among those the least total absolute offset; among
    those the earliest predictions, then references, compared pair by pair in order of time.

    Spans are half-open. Predictions and positives in an excluded span are taken out first, for
    and against; a negative span is excluded if excluded spans cover all of it. A prediction that
    is not matched counts against the negative span that holds it, once per span (``repeat``
    afterwards); outside every span it is ``outside``.
    """
    times = check_ticks(reference, name="reference")
    guesses = check_ticks(predicted, name="predicted")
    quiet = check_disjoint(check_spans(negatives, name="negatives"), name="negatives")
    out = check_disjoint(check_spans(excluded, name="excluded"), name="excluded")

    open_times = np.flatnonzero(inside(times, out) < 0)
    open_guesses = np.flatnonzero(inside(guesses, out) < 0)
    open_times = open_times[np.argsort(times[open_times], kind="stable")]
    open_guesses = open_guesses[np.argsort(guesses[open_guesses], kind="stable")]
    t, g = times[open_times], guesses[open_guesses]
    found = best_pairs(
        t,
        g,
        low=np.searchsorted(t, g - window.after, side="left"),
        high=np.searchsorted(t, g + window.before, side="right"),
    )
    pairs = Pairs(reference=open_times[found.reference], predicted=open_guesses[found.predicted])

    positive = np.full(len(times), POSITIVE_CLASSES.index(PositiveClass.EXCLUDED), dtype=np.int64)
    positive[open_times] = POSITIVE_CLASSES.index(PositiveClass.MISS)
    positive[pairs.reference] = POSITIVE_CLASSES.index(PositiveClass.HIT)

    kind = np.full(len(guesses), PREDICTED_CLASSES.index(PredictedClass.EXCLUDED), dtype=np.int64)
    kind[open_guesses] = PREDICTED_CLASSES.index(PredictedClass.OUTSIDE)
    kind[pairs.predicted] = PREDICTED_CLASSES.index(PredictedClass.HIT)
    free = open_guesses[kind[open_guesses] == PREDICTED_CLASSES.index(PredictedClass.OUTSIDE)]
    span = inside(guesses[free], quiet)
    free, span = free[span >= 0], span[span >= 0]
    hit, first = np.unique(span, return_index=True)
    kind[free] = PREDICTED_CLASSES.index(PredictedClass.REPEAT)
    kind[free[first]] = PREDICTED_CLASSES.index(PredictedClass.FALSE_POSITIVE)

    negative = np.full(
        len(quiet), NEGATIVE_CLASSES.index(NegativeClass.CORRECT_REJECTION), dtype=np.int64
    )
    negative[_covered(quiet, out)] = NEGATIVE_CLASSES.index(NegativeClass.EXCLUDED)
    negative[hit] = NEGATIVE_CLASSES.index(NegativeClass.FALSE_POSITIVE)
    return Matching(
        pairs=pairs,
        offset=guesses[pairs.predicted] - times[pairs.reference],
        positive=positive,
        negative=negative,
        predicted=kind,
    )


def best_pairs(reference: Ints, predicted: Ints, *, low: Ints, high: Ints) -> Pairs:
    """Return the maximum matching with the least total distance, earliest among equals.

    Parameters
    ----------
    reference, predicted : int64 arrays (n,), (m,)
        Sorted times.
    low, high : int64 arrays (m,)
        Prediction ``i`` may take references ``low[i] .. high[i] - 1``; both non-decreasing.

    Notes
    -----
    With such ranges an optimal matching never crosses, so the events fall into groups that no
    range links, and each group is solved by a recurrence over its predictions whose rows are
    running maxima. Time and memory grow with the product of a group's two sizes.
    """
    usable = np.flatnonzero(low < high)
    pairs: list[tuple[int, int]] = []
    if len(usable):
        reach = high[usable]
        cut = np.flatnonzero(low[usable][1:] >= reach[:-1]) + 1
        for group in np.split(usable, cut):
            _solve(reference, predicted, low, high, group, pairs)
    table = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    return Pairs(reference=table[:, 1], predicted=table[:, 0])


def _solve(
    reference: Ints,
    predicted: Ints,
    low: Ints,
    high: Ints,
    group: Ints,
    pairs: list[tuple[int, int]],
) -> None:
    """Append the group's pairs (prediction, reference) in order."""
    base, top = int(low[group[0]]), int(high[group[-1]])
    n, m = len(group), top - base
    if n == 1 and m == 1:
        pairs.append((int(group[0]), base))
        return
    times, lows, highs = reference[base:top], low[group] - base, high[group] - base
    guesses = predicted[group]
    # One pair is worth more than all distances together, so the key orders by number, then cost.
    worst = max(
        int(np.abs(guesses - times[lows]).max()), int(np.abs(guesses - times[highs - 1]).max())
    )
    pair = min(n, m) * worst + 1
    if pair * min(n, m) >= np.iinfo(np.int64).max:
        raise DataError(
            "FB610",
            f"{counted(n, 'prediction')} and {m} references lie too close together to be matched",
        )
    best = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        a, b = int(lows[i]), int(highs[i])
        row = best[i + 1].copy()
        gain = pair - np.abs(guesses[i] - times[a:b]) + best[i + 1, a + 1 : b + 1]
        np.maximum(row[a:b], gain, out=row[a:b])
        row[:b] = np.maximum.accumulate(row[:b][::-1])[::-1]
        best[i] = row
    i = j = 0
    while best[i, j]:
        a, b = max(int(lows[i]), j), int(highs[i])
        if a < b:
            gain = pair - np.abs(guesses[i] - times[a:b]) + best[i + 1, a + 1 : b + 1]
            take = np.flatnonzero(gain == best[i, j])
            if len(take):
                pairs.append((int(group[i]), base + a + int(take[0])))
                j = a + int(take[0]) + 1
        i += 1


def _covered(spans: Ints, cover: Ints) -> Bools:
    """Tell which spans lie inside the union of the covering ones."""
    if len(cover) == 0:
        return np.zeros(len(spans), dtype=np.bool_)
    total = np.concatenate([[0], np.cumsum(cover[:, 1] - cover[:, 0])])

    def until(time: Ints) -> Ints:
        index = np.searchsorted(cover[:, 0], time, side="right")
        rest = np.maximum(cover[np.maximum(index - 1, 0), 1] - time, 0)
        return total[index] - np.where(index > 0, rest, 0)

    length = spans[:, 1] - spans[:, 0]
    out: Bools = (length > 0) & (until(spans[:, 1]) - until(spans[:, 0]) == length)
    return out


class TurnEndClass(StrEnum):
    """What became of a reference turn's end."""

    HIT = "hit"
    EARLY = "early"
    LATE = "late"
    MISSED = "missed"


TURN_END_CLASSES = tuple(TurnEndClass)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TurnEnds:
    """Result of :func:`match_turn_ends`.

    Parameters
    ----------
    pairs : Pairs
        Indices of matched turns.
    offset : int64 array (len(pairs),)
        Predicted end minus reference end, in ticks, signed; an early cut of 1 s is -1,000,000.
    reference : int64 array (n,)
        Index into ``TURN_END_CLASSES`` per reference turn.
    fragments : int64 array
        Predicted turns without a partner that overlap a reference turn.
    false_alarms : int64 array
        Predicted turns that overlap no reference turn.
    """

    pairs: Pairs
    offset: Ints
    reference: Ints
    fragments: Ints
    false_alarms: Ints

    def count(self, kind: TurnEndClass) -> int:
        """Return the number of reference turns of a class."""
        return int((self.reference == TURN_END_CLASSES.index(kind)).sum())


def match_turn_ends(reference: ArrayLike, predicted: ArrayLike, *, collar: Ticks) -> TurnEnds:
    """Score the ends of predicted turns against those of reference turns.

    Parameters
    ----------
    reference, predicted : array-like (n, 2), (m, 2)
        Turns in ticks, none empty; each list sorted and disjoint.
    collar : int
        Ticks, inclusive: an end at most this far away is a hit.

    Returns
    -------
    TurnEnds

    Raises
    ------
    DataError
        ``FB202`` or ``FB610`` for turns that cannot be read.

    Notes
    -----
    A predicted turn can belong to a reference turn that it overlaps. As many turns as possible are
    matched one to one, with the least total distance of the ends. A matched end is a hit, early
    or late; a reference turn without a partner is missed, a turn stepped over by a long predicted
    one included. Nothing is obtained by subtracting counts.
    """
    if collar < 0:
        raise UsageError("FB612", f"collar is {collar} ticks; it must be 0 or more")
    turns = check_disjoint(check_spans(reference, name="reference"), name="reference")
    guesses = check_disjoint(check_spans(predicted, name="predicted"), name="predicted")
    for name, spans in (("reference", turns), ("predicted", guesses)):
        empty = np.flatnonzero(spans[:, 0] == spans[:, 1])
        if len(empty):
            raise DataError("FB610", f"turn {int(empty[0])} of '{name}' is empty")
    low = np.searchsorted(turns[:, 1], guesses[:, 0], side="right")
    high = np.searchsorted(turns[:, 0], guesses[:, 1], side="left")
    pairs = best_pairs(turns[:, 1], guesses[:, 1], low=low, high=high)
    offset = guesses[pairs.predicted, 1] - turns[pairs.reference, 1]
    kind = np.full(len(turns), TURN_END_CLASSES.index(TurnEndClass.MISSED), dtype=np.int64)
    kind[pairs.reference] = np.select(
        [np.abs(offset) <= collar, offset < 0],
        [TURN_END_CLASSES.index(TurnEndClass.HIT), TURN_END_CLASSES.index(TurnEndClass.EARLY)],
        TURN_END_CLASSES.index(TurnEndClass.LATE),
    )
    free = np.setdiff1d(np.arange(len(guesses)), pairs.predicted)
    touches = low[free] < high[free]
    return TurnEnds(
        pairs=pairs,
        offset=offset,
        reference=kind,
        fragments=free[touches],
        false_alarms=free[~touches],
    )
