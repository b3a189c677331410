"""CoDeTT: what should the system do now, and why? Four actions, fourteen labels.

Both stages come from one run. Stage 1 scores the action; stage 2 scores the full label (state,
action, scenario) of systems that answer with one, and the action is the parent of the answered
label. The state is given, never predicted. Languages are never pooled.

Conditions ``h0 h1 h3 h5`` are history lengths in user turns (see
:mod:`floorbench.tasks.history`); systems without context run ``h0`` only.

Source
------
CoDeTT, sections 3 and 4. That stage 1 accuracy is micro over items, and that in the published
runs both stages come from one inference, is derived from the published tables.

Deviations
----------
Answers that cannot be read count as wrong by default; the released scripts drop them
(``missing="drop"``). Exactly H user turns keep the dialogue from the first of them on; a system
turn before it is used only when the whole past is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.vocab import MissingPolicy, ParserMode
from floorbench.datasets.codett_labels import ACTIONS, BY_LABEL, LABELS, STATES
from floorbench.errors import DataError, Place
from floorbench.metrics.base import DueItem, Measure, Scored
from floorbench.metrics.inputs import check_choice
from floorbench.tasks import labelmaps
from floorbench.tasks.codett_answers import capability, meaning, problem_of
from floorbench.tasks.codett_cells import Cells
from floorbench.tasks.history import VIEWS, WITHOUT_HISTORY, History, trailing, view_for, viewed
from floorbench.tasks.parsing import Stage
from floorbench.tasks.prompting import LANGUAGES, codett_question, prompt_hashes
from floorbench.tasks.units import Units, language_of, names, number_or_none

VERSION = "1"
HISTORY = (0, 1, 3, 5)


class CodettTask:
    """The CoDeTT protocol.

    Parameters
    ----------
    stage : {'intent', 'action'}
        What prompted systems are asked for. ``intent`` gives both stages from one answer;
        ``action`` gives stage 1 only and accepts an action alone.
    parser : {'strict', 'lenient'}
        How text answers are read (:mod:`floorbench.tasks.parsing`).
    missing : {'wrong', 'drop'}
        How abstained, invalid, failed, timed-out and absent predictions enter accuracies.
    threshold : float or None
        For scored systems: the label is the positive one when the score is greater than this; a
        decision without a score keeps its label. ``None`` keeps every label.
    view : {'auto', 'audio', 'text', 'both'}
        Form of the turns. ``audio`` is the published audio protocol: user turns as audio, system
        turns as text. ``auto`` chooses by what the system takes, and shows both where that is
        not known.
    prompt : str
        Version of the question's texts.
    prompt_language : {'sample', 'en', 'zh'}
        Language of the question: the sample's, or one for all.
    languages : sequence of str
        Languages that the data may have.

    Raises
    ------
    UsageError
        ``FB103`` for a value outside these.
    """

    def __init__(
        self,
        *,
        stage: str = "intent",
        parser: str = "strict",
        missing: str = "wrong",
        threshold: float | None = None,
        view: str = "auto",
        prompt: str = "v1",
        prompt_language: str = "sample",
        languages: Sequence[str] = ("zh", "en"),
    ) -> None:
        self._stage = cast(Stage, check_choice("stage", stage, ("intent", "action")))
        self._mode = ParserMode(check_choice("parser", parser, tuple(ParserMode)))
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._view = check_choice("view", view, ("auto", *VIEWS))
        self._prompt_language = check_choice(
            "prompt_language", prompt_language, ("sample", *LANGUAGES)
        )
        self._prompt = prompt
        self._threshold = number_or_none("threshold", threshold)
        self._languages = names("languages", languages)
        self.spec = TaskSpec(
            name="codett",
            version=VERSION,
            labels=LABELS,
            conditions=tuple(f"h{n}" for n in HISTORY),
            parameters={
                "stage": self._stage,
                "parser": self._mode.value,
                "missing": self._missing,
                "threshold": threshold,
                "view": self._view,
                "prompt": prompt,
                "prompt_language": self._prompt_language,
                "prompt_files": prompt_hashes(prompt),
                "languages": list(self._languages),
                "label_maps": labelmaps.VERSION,
                "cluster": "dialogue, else history, else sample",
                "strata": "language x label x source, joined, strata of one collapsed",
            },
            source="CoDeTT (2026), sections 3-4",
        )

    # ---- what a system sees ------------------------------------------------------------------

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the history lengths to run: all, or ``h0`` for a system without context."""
        if system.context in WITHOUT_HISTORY:
            return self.spec.conditions[:1]
        return self.spec.conditions

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Narrow a sample to one history length and, where the system is known, to its view."""
        shown = sample.observation
        view = self._view
        if view == "auto":
            view = view_for(system.modalities) if system is not None else "both"
        language = self._prompt_language
        if language == "sample":
            language = shown.language if shown.language in LANGUAGES else LANGUAGES[0]
        question = codett_question(
            state=str(shown.state), stage=self._stage, language=language, version=self._prompt
        )
        kept = self._history(sample, condition).turns
        return viewed(replace(shown, turns=kept, question=question), view)

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether the system declares the sample's action, state and language."""
        return capability(system, stage=self._stage).covers(
            _gold(sample)[0], self._language(sample)
        )

    def gold(self, sample: Sample) -> Decision:
        """Return the full gold label (its action alone when only actions are asked for)."""
        action, label = _gold(sample)
        return Decision(label=label if self._stage == "intent" else action)

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere, or return ``None``."""
        return problem_of(
            decision, state=str(sample.observation.state), stage=self._stage, mode=self._mode
        )

    def unread(self, decision: Decision, system: SystemSpec) -> str | None:
        """Say why a known label means nothing from this system, or return ``None``."""
        return labelmaps.unread(decision.label, (*ACTIONS, *LABELS), system)

    # ---- scoring -----------------------------------------------------------------------------

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return one unit per sample, condition and trial in the system's capability.

        Columns: ``gold`` and ``predicted`` actions, ``gold_intent`` and ``predicted_intent``,
        ``state``, ``language``, ``condition``, ``outcome``; ``score`` (NaN without one);
        ``short`` (1 when the dialogue has less history than asked for), ``absent`` (history turns
        without audio), ``relaxed`` (1 when only the lenient parser could read the answer).
        """
        declared = capability(system, stage=self._stage)
        units = Units(
            vocab={
                "gold": ACTIONS,
                "predicted": ACTIONS,
                "gold_intent": LABELS,
                "predicted_intent": LABELS,
                "state": STATES,
                "language": self._languages,
                "condition": self.spec.conditions,
            },
            numbers=("score", "short", "absent", "relaxed"),
        )
        for sample, condition, _, prediction in items:
            action, label = _gold(sample)
            language = self._language(sample)
            if not declared.covers(action, language):
                continue
            history = self._history(sample, condition)
            state = str(sample.observation.state)
            said = meaning(
                prediction,
                state=state,
                system=system,
                stage=self._stage,
                mode=self._mode,
                threshold=self._threshold,
            )
            units.add(
                sample,
                condition,
                outcome=said.outcome,
                labels={
                    "gold": action,
                    "predicted": said.action,
                    "gold_intent": label,
                    "predicted_intent": said.intent,
                    "state": state,
                    "language": language,
                    "condition": condition,
                },
                numbers={
                    "score": float("nan") if said.score is None else said.score,
                    "short": float(history.short),
                    "absent": float(history.absent),
                    "relaxed": float(said.relaxed),
                },
            )
        return {"sample": units.scored()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return stage 1, states, ranking, stage 2 and baselines, per language and condition."""
        return Cells(
            scored=scored["sample"],
            system=system,
            declared=capability(system, stage=self._stage),
            languages=self._languages,
            conditions=self.conditions(system),
            missing=self._missing,
        ).all()

    # ---- helpers -----------------------------------------------------------------------------

    def _history(self, sample: Sample, condition: str) -> History:
        if condition not in self.spec.conditions:
            raise DataError(
                "FB222",
                f"there is no condition '{condition}'",
                where=Place(item=sample.id),
                hint=f"conditions: {', '.join(self.spec.conditions)}",
            )
        return trailing(sample.observation.turns, int(condition[1:]))

    def _language(self, sample: Sample) -> str:
        return language_of(sample, self._languages)


def _gold(sample: Sample) -> tuple[str, str]:
    label = sample.target.get("label")
    if label not in BY_LABEL:
        raise DataError(
            "FB213", f"gold label {label!r} is none of CoDeTT's", where=Place(item=sample.id)
        )
    return BY_LABEL[label].action, str(label)
