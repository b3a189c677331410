"""Scoring units of the within-turn TRP task, row by row."""

from __future__ import annotations

import hashlib

import numpy as np

from floorbench.core.sample import Sample
from floorbench.metrics.base import Ints, Scored
from floorbench.metrics.slots import NO_YES
from floorbench.tasks.trp_gold import Gold, Turn, seconds, slot_of
from floorbench.tasks.units import Units

WHOLE = ("stimulus", "slot", "trial")
FLAGS = ("pause", "mark", "final")


class Rows:
    """Gathers slots and everything about their stimuli that measures read.

    Stimuli are coded by a hash of their name, and lists and listeners by their place in the whole
    set, so that shards of a run agree without knowing each other.

    Parameters
    ----------
    gold : Gold
    conditions : tuple of str
        All conditions of the task.
    """

    def __init__(self, gold: Gold, conditions: tuple[str, ...]) -> None:
        self._gold = gold
        self._conditions = conditions
        self._units: Units | None = None
        self._whole: dict[str, list[int]] = {name: [] for name in WHOLE}
        self._flags: dict[str, list[bool]] = {name: [] for name in FLAGS}
        self._strays: list[tuple[int, int, int]] = []
        self._responses: list[Ints] = []

    def add(
        self,
        sample: Sample,
        condition: str,
        trial: int,
        *,
        outcome: int,
        label: str | None,
        score: float | None,
    ) -> None:
        """Append one answered (or unanswered) slot."""
        turn = self._gold.turn(sample)
        name, number = slot_of(sample)
        slot, labels = number - 1, turn.labels
        if self._units is None:
            self._units = self._empty(turn.lists)
        self._units.add(
            sample,
            condition,
            outcome=outcome,
            labels={
                "gold": NO_YES[int(labels.positive[slot])],
                "predicted": label,
                "list": sample.tags["list"],
                "condition": condition,
            },
            numbers={
                "proportion": float(labels.proportion[slot]),
                "time": seconds(int(labels.start[slot])),
                "score": float("nan") if score is None else score,
            },
        )
        for column, value in zip(WHOLE, (stimulus_code(name), slot, trial), strict=True):
            self._whole[column].append(value)
        for column, flag in zip(FLAGS, flags_of(turn, slot), strict=True):
            self._flags[column].append(flag)
        first = slot == 0 and trial == 0
        strays = (labels.before, labels.after, labels.empty_slots)
        self._strays.append(strays if first else (0, 0, 0))
        self._responses.append(turn.responses[slot])

    def scored(self) -> Scored:
        """Return the units as columns."""
        units = (self._units or self._empty(())).scored()
        n = len(units)
        people = len(self._responses[0]) if n else 0
        return units.with_columns(
            **{name: np.array(v, dtype=np.int64) for name, v in self._whole.items()},
            **{name: np.array(v, dtype=np.bool_) for name, v in self._flags.items()},
            strays=np.array(self._strays, dtype=np.int64).reshape(n, 3),
            responses=np.array(self._responses, dtype=np.int64).reshape(n, people),
        )

    def _empty(self, lists: tuple[str, ...]) -> Units:
        return Units(
            vocab={
                "gold": NO_YES,
                "predicted": NO_YES,
                "list": lists,
                "condition": self._conditions,
            },
            numbers=("proportion", "time", "score"),
        )


def flags_of(turn: Turn, slot: int) -> tuple[bool, bool, bool]:
    """Return whether a pause, a sentence-final mark, and the end of the turn follow a slot."""
    return bool(turn.pause[slot]), bool(turn.mark[slot]), slot == len(turn.labels) - 1


def stimulus_code(name: str) -> int:
    """Return a code that depends on the stimulus' name alone."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=7).digest())
