"""What a TRP score is worth: trivial policies, rules, and one listener against the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from floorbench.events.trp import TrpRules, consensus
from floorbench.metrics.base import OK, Bools, Scored
from floorbench.metrics.slots import NO_YES

YES = NO_YES.index("yes")
LINEAR = ("slot_precision", "slot_recall", "slot_f", "kappa_all")
"""Measures of summed counts, for which a mixture of always and never is a random guesser."""


def one_pass(slots: Scored) -> Scored:
    """Return every slot of every stimulus once, whatever was asked how often, with weight 1."""
    keys = np.stack([slots.column("stimulus"), slots.column("slot")])
    _, first = np.unique(keys, axis=1, return_index=True)
    mask = np.zeros(len(slots), dtype=np.bool_)
    mask[first] = True
    once = slots.where(mask)
    return replace(once, weight=np.ones(len(once)))


def baselines(slots: Scored, rules: TrpRules) -> dict[str, Scored]:
    """Return the answers of every baseline on the slots of a run, by name.

    ``never`` and ``always``; ``pause`` answers where a silence follows the word, ``punctuation``
    where a transcriber put a sentence-final mark: both look further ahead than a system may.
    ``random`` guesses at the prevalence, in expectation; ``listener`` is each listener against
    the consensus of the others.
    """
    once = one_pass(slots)
    n = len(once)
    said = {
        "never": np.zeros(n, dtype=np.bool_),
        "always": np.ones(n, dtype=np.bool_),
        "pause": once.column("pause"),
        "punctuation": once.column("mark"),
    }
    out = {name: answering(once, yes) for name, yes in said.items()}
    out["random"] = random_guess(once)
    out["listener"] = held_out(once, rules)
    return out


def answering(units: Scored, said: Bools) -> Scored:
    """Return the units with other answers, all of them given."""
    return units.with_columns(
        predicted=said.astype(np.int64),
        outcome=np.full(len(units), OK, dtype=np.int64),
    )


def random_guess(once: Scored) -> Scored:
    """Return random answers at the prevalence, in expectation: always and never, weighted.

    Sums of counts over slots are then exactly those that a guesser expects. Measures of
    neighbourhoods and distances are not linear in the answers, so for them this is no guesser.
    """
    share = float((once.column("gold") == YES).mean()) if len(once) else 0.0
    both = _taken(once, np.concatenate([np.arange(len(once))] * 2))
    said = np.repeat([True, False], len(once))
    weighted = replace(both, weight=np.repeat([share, 1.0 - share], len(once)))
    return answering(weighted, said).with_columns(trial=np.repeat([0, 1], len(once)))


def held_out(once: Scored, rules: TrpRules) -> Scored:
    """Return every listener against the consensus of the others; ``trial`` tells them apart.

    Each listener is one pass over the stimulus with weight 1 / listeners, so that stimuli weigh
    by their slots, as everywhere. The consensus is taken by the same rule from one listener less;
    a stimulus with a single listener has no others and is left out.
    """
    parts: dict[str, list[NDArray[np.generic]]] = {
        name: [] for name in ("rows", "gold", "predicted", "proportion", "trial", "weight")
    }
    responses = once.column("responses")
    for code in np.unique(once.column("stimulus")).tolist():
        rows = np.flatnonzero(once.column("stimulus") == code)
        people = np.flatnonzero((responses[rows] >= 0).all(axis=0))
        others_heard = len(people) - 1
        if others_heard < 1:
            continue
        for person in people.tolist():
            own = responses[rows, person]
            others = responses[np.ix_(rows, people)].sum(axis=1) - own
            gold = consensus(others, heard=others_heard, rules=rules)
            if rules.final_slot == "always":
                gold |= once.column("final")[rows]
            parts["rows"].append(rows)
            parts["gold"].append(gold.astype(np.int64))
            parts["predicted"].append(own)
            parts["proportion"].append(others / others_heard)
            parts["trial"].append(np.full(len(rows), person))
            parts["weight"].append(np.full(len(rows), 1.0 / len(people)))
    if not parts["rows"]:
        return once.where(np.zeros(len(once), dtype=np.bool_))
    joined = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    rows, weight = joined.pop("rows").astype(np.int64), joined.pop("weight").astype(np.float64)
    answered = np.full(len(rows), OK, dtype=np.int64)
    return replace(_taken(once, rows), weight=weight).with_columns(**joined, outcome=answered)


def _taken(units: Scored, rows: NDArray[np.int64]) -> Scored:
    """Return some rows, in any order and as often as wanted, without what baselines do not read."""
    left = ("responses", "strays")
    return Scored(
        cluster=units.cluster[rows],
        clusters=units.clusters,
        strata=units.strata,
        weight=units.weight[rows],
        columns={name: v[rows] for name, v in units.columns.items() if name not in left},
        vocab=units.vocab,
    )


def repeats(slots: Scored) -> Scored:
    """Return one case per prefix and condition: how many trials said no and yes (``counts``)."""
    names = ("stimulus", "slot", "condition")
    keys = np.stack([slots.column(name) for name in names])
    _, first, place = np.unique(keys, axis=1, return_index=True, return_inverse=True)
    place = place.reshape(-1)
    counts = np.zeros((len(first), len(NO_YES)), dtype=np.int64)
    answered = (slots.column("outcome") == OK) & (slots.column("predicted") >= 0)
    np.add.at(counts, (place[answered], slots.column("predicted")[answered]), 1)
    cases = _taken(slots, first)
    return replace(cases, weight=np.ones(len(first))).with_columns(counts=counts)
