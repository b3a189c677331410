"""Scoring units of the within-turn TRP task, row by row."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.core.sample import Sample
from floorbench.events.trp import TrpRules, consensus
from floorbench.metrics.base import OK, Bools, Ints, Scored
from floorbench.metrics.slots import NO_YES
from floorbench.tasks.trp_gold import Gold, Turn, seconds
from floorbench.tasks.units import Units, with_columns

NUMBERS = ("proportion", "time", "score")


class Rows:
    """Gathers slots and everything about their stimuli that measures read."""

    def __init__(self, gold: Gold) -> None:
        self._gold = gold
        self._rows: list[tuple[Sample, str, int, int, str | None, float | None]] = []

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
        self._rows.append((sample, condition, trial, outcome, label, score))

    def scored(self) -> dict[str, Scored]:
        """Return the units by kind; ``listener`` and ``repeat`` only where there are any."""
        turns: dict[str, Turn] = {}
        firsts: dict[str, Sample] = {}
        for row in self._rows:
            name = str(row[0].target["stimulus"])
            if name not in turns:
                turns[name], firsts[name] = self._gold.turn(row[0]), row[0]
        lists = tuple(sorted({s.tags["list"] for s in firsts.values()}))
        conditions = tuple(sorted({row[1] for row in self._rows}))
        units = self._slots(turns, lists, conditions)
        if not self._rows:
            return {"slot": units}
        return {
            "slot": units,
            "listener": _listeners(units, turns, self._gold.rules),
            "repeat": _repeats(units),
        }

    def _slots(
        self, turns: dict[str, Turn], lists: tuple[str, ...], conditions: tuple[str, ...]
    ) -> Scored:
        people = list(dict.fromkeys(p for turn in turns.values() for p in turn.listeners))
        place = {p: i for i, p in enumerate(people)}
        number = {name: i for i, name in enumerate(turns)}
        wide = {name: _wide(turn, place) for name, turn in turns.items()}
        units = _units(lists, conditions)
        whole: dict[str, list[int]] = {name: [] for name in ("stimulus", "slot", "trial")}
        flags: dict[str, list[bool]] = {name: [] for name in ("pause", "mark", "final")}
        strays: list[tuple[int, int, int]] = []
        responses = []
        for sample, condition, trial, outcome, label, score in self._rows:
            name, slot = str(sample.target["stimulus"]), int(sample.target["slot"]) - 1
            turn = turns[name]
            units.add(
                sample,
                condition,
                outcome=outcome,
                labels={
                    "gold": NO_YES[int(turn.labels.positive[slot])],
                    "predicted": label,
                    "list": sample.tags["list"],
                    "condition": condition,
                },
                numbers={
                    "proportion": float(turn.labels.proportion[slot]),
                    "time": seconds(int(turn.labels.start[slot])),
                    "score": float("nan") if score is None else score,
                },
            )
            whole["stimulus"].append(number[name])
            whole["slot"].append(slot)
            whole["trial"].append(trial)
            flags["pause"].append(bool(turn.pause[slot]))
            flags["mark"].append(bool(turn.mark[slot]))
            flags["final"].append(slot == len(turn.labels) - 1)
            first = slot == 0 and trial == 0
            labels = turn.labels
            strays.append((labels.before, labels.after, labels.empty_slots) if first else (0, 0, 0))
            responses.append(wide[name][slot])
        table = np.array(responses, dtype=np.int64).reshape(len(self._rows), len(people))
        return with_columns(
            units.scored(),
            **{name: np.array(values, dtype=np.int64) for name, values in whole.items()},
            **{name: np.array(values, dtype=np.bool_) for name, values in flags.items()},
            strays=np.array(strays, dtype=np.int64).reshape(len(self._rows), 3),
            responses=table,
        )


def _units(lists: tuple[str, ...], conditions: tuple[str, ...]) -> Units:
    return Units(
        vocab={"gold": NO_YES, "predicted": NO_YES, "list": lists, "condition": conditions},
        numbers=NUMBERS,
    )


def _wide(turn: Turn, place: dict[str, int]) -> Ints:
    """Spread a stimulus' responses over all listeners; -1 for those who did not hear it."""
    out = np.full((len(turn.labels), len(place)), -1, dtype=np.int64)
    out[:, [place[p] for p in turn.listeners]] = turn.responses
    return out


def _listeners(slots: Scored, turns: Mapping[str, Turn], rules: TrpRules) -> Scored:
    """Return every listener against the consensus of the others; ``trial`` tells them apart.

    Each listener is one pass over the stimulus with weight 1 / listeners, so that stimuli weigh
    by their slots, as everywhere. The consensus is taken by the same rule from one listener less;
    a stimulus with a single listener has no others and is left out.
    """
    once = slots.where(_first_passes(slots))
    parts: dict[str, list[NDArray[Any]]] = defaultdict(list)
    for number, turn in enumerate(turns.values()):
        heard = len(turn.listeners)
        rows = np.flatnonzero(once.column("stimulus") == number)
        if heard < 2:
            continue
        at = once.column("slot")[rows]
        for column in range(heard):
            own = turn.responses[:, column]
            others = turn.labels.responders - own
            gold = consensus(others, heard=heard - 1, rules=rules)
            if rules.final_slot == "always":
                gold[-1] = True
            parts["rows"].append(rows)
            parts["gold"].append(gold[at].astype(np.int64))
            parts["predicted"].append(own[at])
            parts["proportion"].append(others[at] / (heard - 1))
            parts["trial"].append(np.full(len(rows), column))
            parts["weight"].append(np.full(len(rows), 1.0 / heard))
    if not parts:
        return once.where(np.zeros(len(once), dtype=np.bool_))
    joined = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    rows = joined.pop("rows")
    weight = joined.pop("weight")
    kept = {name: once.column(name)[rows] for name in ("stimulus", "slot", "list", "time")}
    return Scored(
        cluster=once.cluster[rows],
        clusters=once.clusters,
        strata=once.strata,
        weight=weight,
        columns={**kept, **joined, "outcome": np.full(len(rows), OK, dtype=np.int64)},
        vocab={name: once.vocab[name] for name in ("gold", "predicted", "list")},
    )


def _first_passes(slots: Scored) -> Bools:
    """Return a mask that takes every slot of every stimulus once."""
    keys = np.stack([slots.column("stimulus"), slots.column("slot")])
    _, first = np.unique(keys, axis=1, return_index=True)
    mask = np.zeros(len(slots), dtype=np.bool_)
    mask[first] = True
    return mask


def _repeats(slots: Scored) -> Scored:
    """Return one case per prefix and condition: how many trials said no and yes."""
    counts: dict[tuple[str, int], Counter[int]] = {}
    row_of: dict[tuple[str, int], int] = {}
    units = slots.units or ()
    for row, (unit, condition) in enumerate(
        zip(units, slots.column("condition").tolist(), strict=True)
    ):
        key = (unit, condition)
        row_of.setdefault(key, row)
        if slots.column("outcome")[row] == OK:
            counts.setdefault(key, Counter())[int(slots.column("predicted")[row])] += 1
    rows = np.array(list(row_of.values()), dtype=np.int64)
    mask = np.zeros(len(slots), dtype=np.bool_)
    mask[rows] = True
    cases = slots.where(mask)
    table = [[counts.get(key, Counter())[code] for code in range(len(NO_YES))] for key in row_of]
    return replace(
        with_columns(cases, counts=np.array(table, dtype=np.int64).reshape(len(rows), 2)),
        weight=np.ones(len(rows)),
    )
