"""Every cell of CoDeTT's result, from scoring units."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from floorbench.core.score import Coverage
from floorbench.core.spec import SystemSpec
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import (
    ACTIONS,
    BY_LABEL,
    IDLE,
    INTENTS,
    LABELS,
    STATE_OF,
    STATES,
    TAXONOMY,
    actions_of,
    labels_of,
)
from floorbench.metrics.base import (
    INVALID,
    OK,
    Bools,
    Declared,
    Ints,
    Measure,
    Metric,
    Scored,
)
from floorbench.metrics.classification import (
    accuracy,
    action_average,
    average_all4,
    class_accuracy,
    macro_accuracy,
    scenario_accuracy,
    smr,
)
from floorbench.metrics.kinds import Additive
from floorbench.metrics.ranking import auc
from floorbench.tasks.codett_answers import Capability
from floorbench.tasks.units import coverage, no_cover, without_unscored

# Is a turn over? The two scenarios that most detectors were made to tell apart.
TURN_ENDS = ("SystemIdle_Takeover_Completion", "SystemIdle_Dismiss_Incomplete")


class Parts(NamedTuple):
    """Units by gold action and by gold label, selected once for both stages."""

    actions: Mapping[str, Scored]
    labels: Mapping[str, Scored]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """Builds the cells of one result.

    Parameters
    ----------
    scored : Scored
        All sample units of the run.
    system : SystemSpec
    declared : Capability
    languages : tuple of str
        Languages of the task, never pooled.
    conditions : tuple of str
    missing : {'wrong', 'drop'}
    """

    scored: Scored
    system: SystemSpec
    declared: Capability
    languages: tuple[str, ...]
    conditions: tuple[str, ...]
    missing: str

    def all(self) -> list[Measure]:
        """Return every cell, by language, condition and stage."""
        out: list[Measure] = []
        for language in self.languages:
            for condition in self.conditions:
                where = {"language": language, "condition": condition}
                units = self._select(language=language, condition=condition)
                parts = Parts(
                    parts_by(units, "gold", ACTIONS), parts_by(units, "gold_intent", LABELS)
                )
                if self.declared.languages is not None and language not in self.declared.languages:
                    out += self._actions(
                        units, parts, where, f"{self.system.name} does not declare {language}"
                    )
                elif len(units):
                    out += self._actions(units, parts, where, None)
                    out += self._states(units, where)
                    out += self._ranked(units, where)
                    out += self._intents(units, parts, where)
                    out += self._baselines(units, where)
        return out

    # ---- stage 1 -----------------------------------------------------------------------------

    def _actions(
        self, units: Scored, parts: Parts, where: Mapping[str, str], no_language: str | None
    ) -> Iterator[Measure]:
        note = _history_note(units, where["condition"])
        for action in ACTIONS:
            yield self._cell(
                class_accuracy(label=action, missing=self.missing),
                parts.actions[action],
                {**where, "action": action},
                undeclared=no_language or self._no_action(action),
                headline=True,
            )
        actions = self.declared.actions
        for intent in INTENTS:
            yield self._cell(
                class_accuracy(label=intent.action, missing=self.missing),
                parts.labels[intent.label],
                {**where, "action": intent.action, "scenario": intent.scenario},
                undeclared=no_language or self._no_action(intent.action),
            )
        undeclared = no_language or (None if actions else f"{self.system.name} declares no action")
        yield self._cell(
            macro_accuracy(labels=actions or ACTIONS, missing=self.missing),
            units,
            {**where, "actions": "+".join(actions)},
            undeclared=undeclared,
            note=note,
            headline=True,
        )
        yield self._cell(
            all_four(actions or ACTIONS, missing=self.missing),
            units,
            where,
            undeclared=undeclared,
            note=None if len(actions) == len(ACTIONS) else "unsupported actions count as wrong",
            headline=True,
            others_wrong=partial(all_four, missing=self.missing),
        )
        yield self._cell(accuracy(missing=self.missing), units, where, undeclared=undeclared)

    def _states(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        for state, part in parts_by(units, "state", STATES).items():
            possible = [a for a in actions_of(state) if a in self.declared.actions]
            yield self._cell(
                accuracy(missing=self.missing),
                part,
                {**where, "state": state},
                undeclared=None if possible else f"{self.system.name} does not declare {state}",
            )

    def _ranked(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        if self.system.score is None or "Takeover" not in self.declared.actions:
            return
        idle = units.where(units.column("state") == STATES.index(IDLE))
        rank = {**where, "state": IDLE, "positive": "Takeover"}
        yield from self._areas(idle, rank, headline=True)
        ends = [LABELS.index(label) for label in TURN_ENDS]
        pair = idle.where(np.isin(idle.column("gold_intent"), ends))
        scenarios = "+".join(BY_LABEL[label].scenario for label in TURN_ENDS)
        yield from self._areas(pair, {**rank, "scenarios": scenarios}, headline=False)

    def _areas(
        self, units: Scored, where: Mapping[str, str], *, headline: bool
    ) -> Iterator[Measure]:
        """AUC over all items; where some have no score it is undefined, and the one over the
        answered items, so labelled, takes its place in the table."""
        scores = without_unscored(units)
        whole = not (scores.column("outcome") != OK).any()
        yield self._cell(auc(positive="Takeover"), scores, where, headline=headline and whole)
        if not whole:
            yield self._cell(
                auc(positive="Takeover", missing="drop"),
                scores,
                {**where, "items": "answered"},
                note="answered items only",
                headline=headline,
            )

    # ---- stage 2 -----------------------------------------------------------------------------

    def _intents(self, units: Scored, parts: Parts, where: Mapping[str, str]) -> Iterator[Measure]:
        if not self.declared.intents:
            return
        named = bool((self.scored.column("predicted_intent") >= 0).any())
        silent = None if named else "no answer names a scenario"
        columns = {"gold": "gold_intent", "predicted": "predicted_intent"}
        for intent in INTENTS:
            yield self._cell(
                scenario_accuracy(label=intent.label, missing=self.missing),
                intent_units(parts.labels[intent.label]),
                {**where, "action": intent.action, "scenario": intent.scenario},
                undeclared=self._no_action(intent.action) or silent,
            )
        for action in ACTIONS:
            of_action = intent_units(parts.actions[action])
            undeclared = self._no_action(action) or silent
            cell = {**where, "action": action}
            yield self._cell(
                action_average(scenarios=labels_of(action), missing=self.missing),
                of_action,
                cell,
                undeclared=undeclared,
                headline=True,
            )
            misaligned = smr(action=action)
            right = int(misaligned.rows(of_action).totals()[1])
            yield self._cell(
                misaligned,
                of_action,
                cell,
                undeclared=undeclared,
                note=f"{counted(right, 'item')} with the right action",
                headline=True,
            )
        yield self._cell(
            accuracy(**columns, missing=self.missing),
            intent_units(units),
            {**where, "stage": "intent"},
            undeclared=silent,
        )

    # ---- baselines ---------------------------------------------------------------------------

    def _baselines(self, units: Scored, where: Mapping[str, str]) -> Iterator[Measure]:
        present = [a for a in ACTIONS if (units.column("gold") == ACTIONS.index(a)).any()]
        answered = np.full(len(units), OK)
        for name, analytic, said in (
            ("best constant per state", "50.00", constant_per_state(units)),
            ("state-blind constant", "25.00", constant_everywhere(units)),
        ):
            yield Measure(
                metric=macro_accuracy(labels=present, missing=self.missing),
                slice={**where, "baseline": name, "actions": "+".join(present)},
                scored=units.with_columns(predicted=said, outcome=answered),
                coverage=Coverage(expected=len(units), ok=len(units)),
                note=f"{analytic} over all four actions, by arithmetic",
                headline=True,
            )

    # ---- helpers -----------------------------------------------------------------------------

    def _select(self, **values: str) -> Scored:
        mask = np.ones(len(self.scored), dtype=np.bool_)
        for column, value in values.items():
            mask &= self.scored.column(column) == self.scored.code(column, value)
        return self.scored.where(mask)

    def _no_action(self, action: str) -> str | None:
        if action in self.declared.actions:
            return None
        state = STATE_OF[action]
        what = action if any(a in self.declared.actions for a in TAXONOMY[state]) else state
        return f"{self.system.name} does not declare {what}"

    def _cell(
        self,
        metric: Metric,
        units: Scored,
        where: Mapping[str, str],
        *,
        undeclared: str | None = None,
        note: str | None = None,
        headline: bool = False,
        others_wrong: Callable[[Sequence[str]], Metric] | None = None,
    ) -> Measure:
        asked = tuple(
            action
            for action in self.declared.actions
            if where.get("action", action) == action
            and where.get("state", STATE_OF[action]) == STATE_OF[action]
        )
        return Measure(
            metric=metric,
            slice=dict(where),
            scored=units,
            coverage=no_cover() if undeclared is not None else coverage(units),
            undeclared=undeclared,
            note=note,
            headline=headline,
            declared=Declared(column="gold", labels=asked, others_wrong=others_wrong),
        )


def parts_by(units: Scored, column: str, names: Sequence[str]) -> dict[str, Scored]:
    """Return the units of each name of a coded column."""
    codes = units.column(column)
    return {name: units.where(codes == i) for i, name in enumerate(names)}


def all_four(supported: Sequence[str], *, missing: str) -> Additive:
    """Mean accuracy over all four actions, where unsupported ones are 0 by definition.

    The units of unsupported actions are not asked of the system, so they need no rows: the mean
    over the supported actions is scaled by their share of the four. Where two systems are
    compared, ``supported`` is what either of them supports.

    Undefined
    ---------
    A supported action has no unit.
    """
    over_supported = average_all4(labels=supported, missing=missing)
    share = len(supported) / len(ACTIONS)
    return replace(
        over_supported,
        spec=average_all4(labels=ACTIONS, missing=missing).spec,
        of_totals=lambda totals: over_supported.of_totals(totals) * share,
    )


def intent_units(units: Scored) -> Scored:
    """Return units in which an answer without a scenario is an invalid answer."""
    bare = (units.column("outcome") == OK) & (units.column("predicted_intent") < 0)
    return units.with_columns(outcome=np.where(bare, INVALID, units.column("outcome")))


def constant_per_state(units: Scored) -> Ints:
    """Return, per unit, the most frequent gold action of its state."""
    said = np.zeros(len(units), dtype=np.int64)
    for state in STATES:
        here = units.column("state") == STATES.index(state)
        said[here] = _most_frequent(units, here)
    return said


def constant_everywhere(units: Scored) -> Ints:
    """Return, per unit, the most frequent gold action of all units."""
    everywhere = np.ones(len(units), dtype=np.bool_)
    return np.full(len(units), _most_frequent(units, everywhere), dtype=np.int64)


def _most_frequent(units: Scored, where: Bools) -> int:
    counts = np.bincount(
        units.column("gold")[where], weights=units.weight[where], minlength=len(ACTIONS)
    )
    return int(np.argmax(counts))


def _history_note(units: Scored, condition: str) -> str | None:
    """Say how many items had less history than asked for and how many turns lacked audio."""
    short = int(units.column("short").sum()) if len(units) else 0
    absent = int(units.column("absent").sum()) if len(units) else 0
    parts = []
    if short:
        parts.append(
            f"{short} of {counted(len(units), 'item')} have fewer than {condition[1:]} user turns"
        )
    if absent:
        parts.append(f"{counted(absent, 'history turn')} without audio")
    return "; ".join(parts) or None
