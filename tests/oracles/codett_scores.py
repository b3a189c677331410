"""CoDeTT's numbers by plain counting, written from their definitions and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

ACTIONS = ("Maintain", "StopandListen", "Takeover", "Dismiss")
MISSING = {"abstained", "invalid", "failed", "timeout", "absent"}


class Row(NamedTuple):
    """Gold label, answered label (``None`` when there is none) and outcome."""

    gold: str
    said: str | None
    outcome: str


def action_of(label: str) -> str:
    """Return the middle of ``State_Action_Scenario``."""
    return label.split("_")[1]


def kept(rows: Sequence[Row], missing: str) -> list[Row]:
    """Return the rows in the denominator."""
    return [r for r in rows if missing == "wrong" or r.outcome not in MISSING]


def share(hits: int, of: int) -> float | None:
    """Return a ratio, or ``None``."""
    return hits / of if of else None


def action_accuracy(rows: Sequence[Row], action: str, missing: str) -> float | None:
    """Share of an action's samples answered with that action."""
    mine = [r for r in kept(rows, missing) if action_of(r.gold) == action]
    hits = sum(r.said is not None and action_of(r.said) == action for r in mine)
    return share(hits, len(mine))


def average(rows: Sequence[Row], missing: str) -> float | None:
    """Unweighted mean over the four actions."""
    values = [action_accuracy(rows, a, missing) for a in ACTIONS]
    known = [v for v in values if v is not None]
    return sum(known) / 4 if len(known) == 4 else None


def scenario_accuracy(rows: Sequence[Row], label: str, missing: str) -> float | None:
    """Share of a label's samples answered with exactly that label."""
    mine = [r for r in kept(rows, missing) if r.gold == label]
    return share(sum(r.said == label for r in mine), len(mine))


def smr(rows: Sequence[Row], action: str) -> float | None:
    """Right action, wrong reason."""
    right = [
        r
        for r in rows
        if action_of(r.gold) == action and r.said is not None and action_of(r.said) == action
    ]
    return share(sum(r.said != r.gold for r in right), len(right))
