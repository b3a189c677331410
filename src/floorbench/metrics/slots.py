"""Slots of stimuli: grouping, neighbourhoods and distances, for the within-turn TRP family.

Columns of *slot units*
    ``gold`` and ``predicted`` (codes into ``vocab["gold"] == ("no", "yes")``; predicted -1 for
    no answer), ``outcome``, ``stimulus`` (integer), ``slot`` (index within the stimulus), and, by
    metric: ``trial`` (integer, absent means 0), ``list`` (codes), ``time`` (seconds),
    ``proportion`` (share of listeners who responded in the slot), ``responses`` ``(n, people)``
    with 1 for a response, 0 for none and -1 for a participant who did not hear the stimulus.

A stimulus is grouped by (cluster, stimulus, trial): trials are separate passes, and a stimulus
never spans clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from floorbench.errors import DataError
from floorbench.metrics.base import Bools, Floats, Ints, Scored
from floorbench.metrics.inputs import Labels, check_missing, fail_at, integers, vocabulary
from floorbench.metrics.inputs import labels as read_labels

NO_YES = ("no", "yes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stimulus:
    """One pass over one stimulus.

    Parameters
    ----------
    rows : int64 array (m,)
        Rows of the scored units, in the order of the slots.
    slot : int64 array (m,)
        Slot indices, increasing.
    gold, predicted, kept : bool arrays (m,)
        Consensus-positive slots (a property of the stimulus, whatever was answered), slots with
        a positive answer (no answer is none), and slots that count under the missing policy.
    """

    rows: Ints
    slot: Ints
    gold: Bools
    predicted: Bools
    kept: Bools


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Slots:
    """Checked slot units and their stimuli."""

    labels: Labels
    stimuli: tuple[Stimulus, ...]

    def __iter__(self) -> Iterator[Stimulus]:
        return iter(self.stimuli)


def read_slots(scored: Scored, *, missing: str) -> Slots:
    """Return checked slots grouped by stimulus and trial.

    Raises
    ------
    DataError
        ``FB625`` for a repeated slot or a label set other than no, yes.
    """
    check_missing(missing)
    if vocabulary(scored, "gold") != NO_YES:
        raise DataError(
            "FB625", f"slots are labelled no or yes, not {', '.join(scored.vocab['gold'])}"
        )
    labels = read_labels(scored, missing=missing)
    slot = integers(scored, "slot")
    stimulus = integers(scored, "stimulus")
    trial = integers(scored, "trial", default=0)
    order = np.lexsort((slot, trial, stimulus, scored.cluster))
    keys = np.stack([scored.cluster[order], stimulus[order], trial[order]])
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
    repeated = np.zeros(len(order), dtype=np.bool_)
    repeated[order[1:]] = ~new[1:] & (slot[order[1:]] == slot[order[:-1]])
    fail_at(scored, repeated, "FB625", "row {row} repeats a slot of its stimulus and trial")
    uneven = np.zeros(len(order), dtype=np.bool_)
    uneven[order[1:]] = ~new[1:] & (scored.weight[order[1:]] != scored.weight[order[:-1]])
    fail_at(scored, uneven, "FB625", "row {row} has another weight than its stimulus and trial")
    starts = np.flatnonzero(new)
    gold = labels.gold == 1
    said = labels.predicted == 1
    return Slots(
        labels=labels,
        stimuli=tuple(
            Stimulus(
                rows=rows,
                slot=slot[rows],
                gold=gold[rows],
                predicted=said[rows],
                kept=labels.kept[rows],
            )
            for rows in np.split(order, starts[1:])
            if len(rows)
        ),
    )


def nearest(at: Ints, targets: Ints) -> Ints:
    """Return, for each position, the index of the nearest target; ties go to the earlier.

    Parameters
    ----------
    at : int64 array (m,)
    targets : int64 array (t,)
        Increasing, at least one.

    Examples
    --------
    >>> nearest(np.array([1, 5, 6]), np.array([3, 7])).tolist()
    [0, 0, 1]
    """
    right = np.clip(np.searchsorted(targets, at, side="left"), 0, len(targets) - 1)
    left = np.maximum(right - 1, 0)
    nearer_left = np.abs(at - targets[left]) <= np.abs(targets[right] - at)
    chosen: Ints = np.where(nearer_left, left, right)
    return chosen


def within(at: Ints, targets: Ints, h: int) -> Bools:
    """Return whether any target lies within h slots, window edges included."""
    if not len(targets):
        return np.zeros(len(at), dtype=np.bool_)
    close: Bools = np.abs(targets[nearest(at, targets)] - at) <= h
    return close


def window_sums(slot: Ints, values: Floats, centres: Ints, h: int) -> Floats:
    """Return sums of ``values`` over the slots within h of each centre, clipped at the edges.

    Parameters
    ----------
    slot : int64 array (m,)
        Increasing slot indices.
    values : float64 array (m,)
    centres : int64 array (c,)
        Slot indices.
    h : int
        Half-width, so that the window holds up to 2 h + 1 slots.
    """
    low = np.searchsorted(slot, centres - h, side="left")
    high = np.searchsorted(slot, centres + h, side="right")
    return np.array(
        [values[a:b].sum() for a, b in zip(low.tolist(), high.tolist(), strict=True)],
        dtype=np.float64,
    )
