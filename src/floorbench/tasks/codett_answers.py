"""From a system's own words to CoDeTT's labels, and what a system can be asked at all."""

from __future__ import annotations

from typing import NamedTuple

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, ParserMode
from floorbench.datasets.codett_labels import ACTIONS, BY_LABEL, LABELS, STATE_OF
from floorbench.errors import UsageError, did_you_mean
from floorbench.metrics.base import INVALID, OK
from floorbench.tasks.labelmaps import TABLES, LabelMap, label_map, native_label
from floorbench.tasks.parsing import Stage, parse_answer
from floorbench.tasks.units import outcome_code


class Capability(NamedTuple):
    """What a system declares, in the task's terms."""

    actions: tuple[str, ...]
    intents: bool
    languages: tuple[str, ...] | None

    def covers(self, action: str, language: str) -> bool:
        """Tell whether a cell is declared."""
        return action in self.actions and (self.languages is None or language in self.languages)


class Meaning(NamedTuple):
    """A prediction in the task's labels; ``outcome`` is a code of ``OUTCOMES``."""

    outcome: int
    action: str | None = None
    intent: str | None = None
    score: float | None = None
    relaxed: bool = False


def capability(system: SystemSpec, *, stage: Stage) -> Capability:
    """Return what a system declares.

    Actions come from its native labels through its label map, or from task labels it names
    itself, cut down to the states it declares. Scenarios are asked only of systems that answer in
    task labels.

    Raises
    ------
    UsageError
        ``FB221`` for an unknown label map or a declared label that means nothing here.
    """
    table = label_map(system.label_map) if system.label_map is not None else None
    actions: set[str] = set()
    intents = table is None and stage == "intent" and system.labels is None
    for label in system.labels if system.labels is not None else _all_labels(table):
        native = table.native(label) if table is not None else None
        action = table.actions.get(native) if table is not None and native is not None else None
        if action is not None:
            actions.add(action)
        elif label in ACTIONS:
            actions.add(label)
        elif label in BY_LABEL:
            actions.add(BY_LABEL[label].action)
            intents = stage == "intent"
        else:
            raise UsageError(
                "FB221", f"system '{system.name}' declares label '{label}', which has no meaning"
            )
    return Capability(
        actions=tuple(
            a
            for a in ACTIONS
            if a in actions and (system.states is None or STATE_OF[a] in system.states)
        ),
        intents=intents,
        languages=system.languages,
    )


def _all_labels(table: LabelMap | None) -> tuple[str, ...]:
    return ACTIONS if table is None else tuple(table.actions)


def meaning(
    prediction: Prediction | None,
    *,
    state: str,
    system: SystemSpec,
    stage: Stage,
    mode: ParserMode,
    threshold: float | None,
) -> Meaning:
    """Return what a prediction says in task labels.

    Order: a score against the threshold (when one is set), the native label through the system's
    label map, a task label as it is, the raw answer through the parser. An ``ok`` decision
    without a usable label is ``invalid``.
    """
    outcome = outcome_code(prediction)
    if prediction is None or outcome != OK:
        return Meaning(outcome)
    decision = prediction.decision
    score = decision.scores.get(system.score) if system.score is not None else None
    if system.label_map is not None:
        table = label_map(system.label_map)
        native = native_label(decision, table, score=score, threshold=threshold)
        action = table.actions.get(native) if native is not None else None
        return Meaning(OK if action is not None else INVALID, action, None, score)
    if decision.label in ACTIONS:
        return Meaning(OK, decision.label, None, score)
    if decision.label in BY_LABEL:
        intent = BY_LABEL[decision.label]
        if intent.state != state:
            return Meaning(INVALID, score=score)
        return Meaning(OK, intent.action, intent.label, score)
    answer = parse_answer(
        decision.raw if decision.raw is not None else decision.label or "",
        state=state,
        stage=stage,
        mode=mode,
    )
    if answer.action is None:
        return Meaning(INVALID, score=score)
    label = answer.intent.label if answer.intent is not None else None
    return Meaning(OK, answer.action, label, score, answer.relaxed)


def problem_of(decision: Decision, *, state: str, stage: Stage, mode: ParserMode) -> str | None:
    """Say what is wrong with a decision made elsewhere, or return ``None``."""
    if decision.outcome is not Outcome.OK or (decision.label is None and decision.scores):
        return None
    label = decision.label
    if label is None and decision.raw is None:
        return "neither a label nor a raw answer nor a score"
    if label is not None:
        if label in ACTIONS or any(t.native(label) is not None for t in TABLES.values()):
            return None
        if label in BY_LABEL:
            own = BY_LABEL[label].state
            return None if own == state else f"label '{label}' belongs to {own}, not {state}"
    text = decision.raw if decision.raw is not None else label or ""
    answer = parse_answer(text, state=state, stage=stage, mode=mode)
    if answer.problem is None:
        return None
    if label is None:
        return f"the raw answer is not readable ({mode.value}): {answer.problem}"
    near = did_you_mean(label, (*ACTIONS, *LABELS))
    return f"unknown label '{label}'" + (f"; did you mean '{near}'?" if near else "")
