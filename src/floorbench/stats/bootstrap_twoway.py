"""Two-way bootstrap: stimuli and participants are both drawn again.

Consensus labels come from a panel. A bootstrap over stimuli alone is conditional on that panel;
this one also draws participants, recomputes the labels in every draw, and reports how often a
label flips. All models share the panel draw, so their differences can be read off draw by draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import Bools, Floats, Ints
from floorbench.stats.bootstrap import DRAWS, MEMORY, Draws, check_draws, draw_weights

LabelRule = Callable[[Ints], NDArray[np.bool_]]
"""Map how often each participant is drawn ``(draws, participants)`` to labels
``(draws, slots)``. The counts are whole numbers, so that exact thresholds stay exact."""

LabelledEvaluator = Callable[[Floats, NDArray[np.bool_]], Floats]
"""Map stimulus weights ``(draws, stimuli)`` and labels ``(draws, slots)`` to values
``(draws,)``; NaN where undefined."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TwoWay:
    """Result of a two-way bootstrap.

    Parameters
    ----------
    models : mapping of str to Draws
        Without a jackknife, so that their interval is the percentile interval.
    flips : float64 array (draws,)
        Share of slots whose label differs from the label of the full panel.
    stimuli, participants : int
    """

    models: Mapping[str, Draws]
    flips: Floats
    stimuli: int
    participants: int

    @property
    def flip_rate(self) -> float | None:
        """Mean share of flipped labels; ``None`` without slots."""
        return None if np.isnan(self.flips).any() else float(self.flips.mean())

    def difference(self, a: str, b: str) -> Draws:
        """Return A - B draw by draw, on the shared stimuli and panels."""
        left, right = self.models[a], self.models[b]
        return _draws(left.point - right.point, left.values - right.values, left)


def bootstrap_twoway(
    labels: LabelRule,
    models: Mapping[str, LabelledEvaluator],
    *,
    stimulus_list: Ints,
    participant_list: Ints,
    draws: int = DRAWS,
    seed: int,
    stream: str = "twoway",
    slots: int,
    memory: int = MEMORY,
) -> TwoWay:
    """Draw stimuli and participants, each within its list, and evaluate every model.

    Parameters
    ----------
    labels : LabelRule
        Recomputes the consensus for a panel; called once per portion and shared by all models.
    models : mapping of str to LabelledEvaluator
    stimulus_list : int64 array (stimuli,)
        Code of the list of each stimulus.
    participant_list : int64 array (participants,)
        Code of the list that each participant heard.
    draws, seed, stream
        As in :func:`floorbench.stats.bootstrap.bootstrap`; stimuli and participants have a
        stream each.
    slots : int
        Slots of all stimuli.
    memory : int
        Bytes that one portion may take.

    Raises
    ------
    DataError
        ``FB651`` when a list has stimuli and no participant, or the reverse; ``FB652`` when a
        callback returns an array of the wrong shape.
    UsageError
        ``FB650`` for numbers out of range.

    Undefined
    ---------
    A value that is not finite becomes NaN and is counted. The flip rate without slots is
    undefined.

    Source
    ------
    Independent resampling of rows and columns: A. B. Owen (2007), Annals of Applied Statistics
    1: 386-411 (the pigeonhole bootstrap), there shown to overstate the variance rather than
    understate it. There is no settled acceleration for two ways, hence no BCa.
    """
    check_draws(draws)
    if slots < 0:
        raise UsageError("FB650", f"{counted(slots, 'slot')}")
    odd = np.setxor1d(stimulus_list, participant_list)
    if len(odd):
        raise DataError("FB651", f"list {int(odd[0])} lacks stimuli or participants")
    people_whole = np.ones((1, len(participant_list)), dtype=np.int64)
    whole = _labels(labels, people_whole, slots)
    ones = np.ones((1, len(stimulus_list)))
    points = {name: float(_values(name, f, ones, whole)[0]) for name, f in models.items()}
    values = {name: np.empty(draws) for name in models}
    flips = np.full(draws, np.nan)
    # Both weights and the labels of a draw live at once, so both streams are cut alike.
    width = len(stimulus_list) + len(participant_list) + slots
    rows = max(1, memory // (32 * max(1, width)))
    stimuli, people = (
        draw_weights(
            codes, draws=draws, seed=seed, stream=f"{stream}/{way}",
            memory=rows * 32 * max(1, len(codes)),
        )
        for way, codes in (("stimuli", stimulus_list), ("participants", participant_list))
    )  # fmt: skip
    start = 0
    for chosen, panel in zip(stimuli, people, strict=True):
        end = start + len(chosen)
        drawn = _labels(labels, panel.astype(np.int64), slots)
        if slots:
            flips[start:end] = (drawn != whole).mean(axis=1)
        for name, evaluate in models.items():
            values[name][start:end] = _values(name, evaluate, chosen, drawn)
        start = end
    sizes = [np.unique(c, return_counts=True)[1] for c in (stimulus_list, participant_list)]
    like = Draws(
        point=np.nan,
        values=np.empty(0),
        clusters=min(len(stimulus_list), len(participant_list)),
        strata=sum(len(counts) for counts in sizes),
        singletons=sum(int((counts == 1).sum()) for counts in sizes),
        unit="stimuli or participants",
    )
    return TwoWay(
        models={name: _draws(points[name], values[name], like) for name in models},
        flips=flips,
        stimuli=len(stimulus_list),
        participants=len(participant_list),
    )


def _draws(value: float, values: Floats, like: Draws) -> Draws:
    return Draws(
        point=value,
        values=values,
        clusters=like.clusters,
        strata=like.strata,
        singletons=like.singletons,
        unit=like.unit,
    )


def _labels(rule: LabelRule, people: Ints, slots: int) -> Bools:
    found = np.asarray(rule(people))
    if found.shape != (len(people), slots) or found.dtype != np.bool_:
        raise DataError(
            "FB652",
            f"the label rule returned {found.dtype} {found.shape} "
            f"for {counted(len(people), 'draw')} of "
            f"{counted(slots, 'slot')}",
        )
    return found


def _values(name: str, evaluate: LabelledEvaluator, stimuli: Floats, labels: Bools) -> Floats:
    values = np.asarray(evaluate(stimuli, labels), dtype=np.float64)
    if values.shape != (len(stimuli),):
        raise DataError(
            "FB652",
            f"the evaluator '{name}' returned shape "
            f"{values.shape} for {counted(len(stimuli), 'draw')}",
        )
    return np.where(np.isfinite(values), values, np.nan)
