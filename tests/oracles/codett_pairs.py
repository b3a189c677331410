"""Two systems on CoDeTT's average over all four actions, one item and one draw at a time.

Written from the definition: an item whose action a system does not declare is wrong for it; an
action that neither declares adds 0 to both averages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from oracles.codett_scores import ACTIONS, MISSING, Row, action_of


def as_asked(row: Row, declared: Sequence[str]) -> Row:
    """Return a row as it counts for a system: no answer where it declares nothing."""
    if action_of(row.gold) in declared:
        return row
    return Row(row.gold, None, "unsupported")


def average(rows: Sequence[Row], either: Sequence[str], missing: str) -> float | None:
    """Mean over the four actions; ``either`` are those that one of the two systems declares."""
    total = 0.0
    for action in ACTIONS:
        if action not in either:
            continue
        hits = kept = 0
        for row in rows:
            if action_of(row.gold) != action:
                continue
            if missing == "drop" and row.outcome in MISSING:
                continue
            kept += 1
            if row.said is not None and action_of(row.said) == action:
                hits += 1
        if kept == 0:
            return None
        total += hits / kept
    return total / 4


def by_dialogue(
    items: Mapping[str, Sequence[tuple[Row, Row]]],
    declared: tuple[Sequence[str], Sequence[str]],
) -> dict[str, tuple[list[Row], list[Row]]]:
    """Return both systems' rows per dialogue, without items and dialogues that neither declares."""
    out: dict[str, tuple[list[Row], list[Row]]] = {}
    for dialogue, pairs in items.items():
        left, right = [], []
        for first, second in pairs:
            action = action_of(first.gold)
            if action in declared[0] or action in declared[1]:
                left.append(as_asked(first, declared[0]))
                right.append(as_asked(second, declared[1]))
        if left:
            out[dialogue] = (left, right)
    return out


def difference(
    rows: Sequence[tuple[list[Row], list[Row]]], either: Sequence[str], missing: str
) -> float:
    """A - B over some dialogues, repeated ones counted again; NaN where one is undefined."""
    first = average([r for a, _ in rows for r in a], either, missing)
    second = average([r for _, b in rows for r in b], either, missing)
    return np.nan if first is None or second is None else first - second
