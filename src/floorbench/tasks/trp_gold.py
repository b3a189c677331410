"""Consensus labels of the stimuli that a run touches, computed once each."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from floorbench.core.sample import Sample
from floorbench.core.time import TICKS_PER_SECOND, exact, to_ticks
from floorbench.errors import DataError, Place, UsageError
from floorbench.events.trp import TrpLabels, TrpRules, trp_labels
from floorbench.metrics.base import Bools, Ints
from floorbench.metrics.inputs import check_choice

SENTENCE_FINAL = frozenset(".?!")


class Turn(NamedTuple):
    """What is known about one stimulus, slot by slot.

    Parameters
    ----------
    labels : TrpLabels
    responses : int64 array (slots, everyone)
        1 for a response in the slot, 0 for none, -1 for a listener who did not hear the
        stimulus; one column for every listener of the set.
    lists : tuple of str
        All lists of the set.
    pause : bool array (slots,)
        Whether a silence of at least the declared length follows the slot's word.
    mark : bool array (slots,)
        Whether the transcriber put a sentence-final mark after the word.
    """

    labels: TrpLabels
    responses: Ints
    lists: tuple[str, ...]
    pause: Bools
    mark: Bools


class Gold:
    """Turns samples into consensus labels.

    Parameters
    ----------
    rules : TrpRules
    pause : int
        Shortest silence, in ticks, that the pause rule answers.
    """

    def __init__(self, rules: TrpRules, *, pause: int) -> None:
        self.rules = rules
        self._pause = pause
        self._turns: dict[str, tuple[object, Turn]] = {}

    def turn(self, sample: Sample) -> Turn:
        """Return the labels of the sample's stimulus.

        Raises
        ------
        DataError
            ``FB235`` when nobody's responses are known, ``FB613`` when they make no labels.
        """
        name, given = slot_of(sample)[0], sample.target["turn"]
        known = self._turns.get(name)
        if known is not None and known[0] is given:
            return known[1]
        if given["roster"] is None:
            raise DataError(
                "FB235", "the stimuli carry no listeners' responses", where=Place(item=name)
            )
        try:
            turn = self._build(given)
        except DataError as error:
            raise DataError(
                error.code, error.what, where=Place(item=name), hint=error.hint
            ) from None
        self._turns[name] = (given, turn)
        return turn

    def _build(self, given: Mapping[str, Any]) -> Turn:
        labels = trp_labels(
            given["words"],
            given["onsets"],
            roster=given["roster"],
            turn_end=given["turn_end"],
            next_turn=given["next_turn"],
            rules=self.rules,
        )
        slots = len(labels)
        column = {person: n for n, person in enumerate(given["everyone"])}
        responses = np.full((slots, len(column)), -1, dtype=np.int64)
        responses[:, [column[person] for person in given["roster"]]] = 0
        for person, onsets in given["onsets"].items():
            twice = 2 * np.asarray(onsets, dtype=np.int64)
            slot = np.searchsorted(labels.start, twice, side="right") - 1
            inside = slot >= 0
            if slots:
                inside &= twice < labels.end[-1]
            responses[slot[inside], column[person]] = 1
        words = np.asarray(given["words"], dtype=np.int64)
        following = np.append(words[1:, 0], given["turn_end"] + self.rules.tail)
        if given["next_turn"] is not None:
            following[-1] = min(int(following[-1]), given["next_turn"])
        silence = (following - words[:, 1])[:slots]
        marks = [bool(SENTENCE_FINAL & set(mark)) for mark in given["marks"]]
        return Turn(
            labels=labels,
            responses=responses,
            lists=tuple(given["lists"]),
            pause=silence >= self._pause,
            mark=np.array(marks, dtype=np.bool_)[:slots],
        )


def slot_of(sample: Sample) -> tuple[str, int]:
    """Return a sample's stimulus and the number of its slot, from 1."""
    stimulus, slot = sample.target["slot"]
    return str(stimulus), int(slot)


def check_rules(
    *,
    tau: Any,
    rule: str,
    k: Any,
    tail: Any,
    final_slot: str,
    h: int,
) -> TrpRules:
    """Return the rules of the consensus from a task's parameters.

    Raises
    ------
    UsageError
        ``FB103`` for what is no number or no known word, ``FB612`` out of range.
    """
    if isinstance(h, bool) or not isinstance(h, int):
        raise UsageError("FB103", f"h={h!r} is not a whole number of slots")
    kind = check_choice("rule", rule, ("fixed", "adaptive"))
    last = check_choice("final_slot", final_slot, ("observed", "always", "drop"))
    return TrpRules(
        rule="adaptive" if kind == "adaptive" else "fixed",
        tau=fraction("tau", tau),
        k=fraction("k", k),
        tail=to_ticks(fraction("tail", tail)),
        final_slot="always" if last == "always" else "drop" if last == "drop" else "observed",
        half_window=h,
    )


def fraction(name: str, value: Any) -> Fraction:
    """Return a parameter as an exact number (``FB103`` when it is none)."""
    try:
        return exact(value)
    except (DataError, UsageError):
        raise UsageError("FB103", f"{name}={value!r} is not a number") from None


def seconds(half_ticks: int) -> float:
    """Return half ticks as seconds."""
    return half_ticks / (2 * TICKS_PER_SECOND)
