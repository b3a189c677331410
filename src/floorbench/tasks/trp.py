"""Within-turn TRPs: after which words of a turn could a listener respond?

Every prefix of every stimulus is one yes-or-no question; what the listeners did decides. A sample
is one prefix, so a run that was interrupted goes on with the next prefix, and prefixes of a turn
come one after the other, so a model that keeps what it has read reads a turn once.

Conditions: ``expert`` gives the theory, ``participant`` the listeners' instruction; systems that
read no instruction are asked once, under ``none``, and their cells stand under every condition.

Source
------
Within-turn TRP prediction (2024), sections 4 and 5; the labels are described in
:mod:`floorbench.events.trp`.

Deviations
----------
The published prompts, temperature and number of repeats are unknown; the texts here are own ones.
``kappa_true`` of the paper cannot be recovered and is not printed under that name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Question, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.time import to_ticks
from floorbench.core.vocab import MissingPolicy, Outcome
from floorbench.errors import DataError, UsageError
from floorbench.events.trp import TrpRules
from floorbench.metrics.base import INVALID, OK, DueItem, Measure, Scored
from floorbench.metrics.inputs import check_choice
from floorbench.metrics.slots import NO_YES
from floorbench.tasks.trp_cells import Cells
from floorbench.tasks.trp_gold import Gold, check_rules, fraction, slot_of
from floorbench.tasks.trp_units import Rows
from floorbench.tasks.units import ScoreReading, number_or_none, outcome_code

VERSION = "1"
UNPROMPTED = "none"
PROMPTED = ("expert", "participant")
PROMPTS = Path(__file__).parent / "prompts"
VERSIONS = tuple(
    sorted(p.name.removeprefix("trp-") for p in PROMPTS.iterdir() if p.name.startswith("trp-"))
)
NO, YES = NO_YES


class TrpTask:
    """The within-turn TRP protocol.

    Parameters
    ----------
    tau : float or str
        A slot is a TRP if more than this share of the listeners responded in it.
    rule : {'fixed', 'adaptive'}
        ``adaptive``: more than ``k`` standard deviations above the mean of the stimulus' non-zero
        proportions, instead of ``tau``.
    k : float or str
    tail : float
        Seconds after the turn that belong to the last slot.
    final_slot : {'observed', 'always', 'drop'}
        What becomes of the slot after the last word: labelled like the others, always a TRP, or
        left out when scored. Systems are asked about it all the same.
    h : int
        Half-width of the window of the headline measures; 1, 2 and 3 are always computed.
    threshold : float or None
        For scored systems: yes iff the score is at least this, and an answer without a score is
        invalid. ``None`` keeps the label that the system gave with its own threshold.
    pause : float
        Shortest silence, in seconds, that the pause-rule baseline answers.
    missing : {'wrong', 'drop'}
    prompt : str
        Version of the instructions.

    Raises
    ------
    UsageError
        ``FB103`` or ``FB612`` for values outside these.
    """

    score_reading = ScoreReading(unit="slot", positive=YES, inclusive=True)

    def __init__(
        self,
        *,
        tau: float | str = 0.3,
        rule: str = "fixed",
        k: float | str = 0.05,
        tail: float = 1.0,
        final_slot: str = "observed",
        h: int = 2,
        threshold: float | None = None,
        pause: float = 0.2,
        missing: str = "wrong",
        prompt: str = "v1",
    ) -> None:
        self._rules = check_rules(tau=tau, rule=rule, k=k, tail=tail, final_slot=final_slot, h=h)
        self.panel_rules = self._rules
        shortest = to_ticks(fraction("pause", pause))
        if shortest < 0:
            raise UsageError("FB103", f"pause={pause} is below 0")
        self._gold = Gold(self._rules, pause=shortest)
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._threshold = number_or_none("threshold", threshold)
        self._h = h
        self._prompt = prompt
        self.spec = TaskSpec(
            name="trp",
            version=VERSION,
            labels=NO_YES,
            conditions=(UNPROMPTED, *PROMPTED),
            parameters={
                "rule": rule,
                "tau": str(self._rules.tau) if rule == "fixed" else None,
                "k": str(self._rules.k) if rule == "adaptive" else None,
                "tail": tail,
                "final_slot": final_slot,
                "h": h,
                "threshold": threshold,
                "pause": pause,
                "missing": missing,
                "prompt": prompt,
                "prompts": instruction_hashes(prompt),
                "cluster": "conversation, else stimulus; conditional on the panel",
            },
            source="within-turn TRP prediction (2024)",
        )

    @property
    def rules(self) -> TrpRules:
        """How responses become labels."""
        return self._rules

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the conditions that make a difference to a system."""
        if "question" in system.modalities:
            return PROMPTED
        if system.context == "full":  # predictions made elsewhere claim everything
            return self.spec.conditions
        return (UNPROMPTED,)

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Return the words so far and, where the condition has one, the instruction."""
        if condition == UNPROMPTED:
            return sample.observation
        if condition not in PROMPTED:
            raise DataError("FB222", f"there is no condition '{condition}'")
        question = Question(text=instruction(condition, self._prompt), answers=(YES, NO))
        return replace(sample.observation, question=question)

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether the system declares the language.

        The last slot is always asked for, so that ``final_slot`` is a matter of scoring alone.
        """
        return system.languages is None or sample.observation.language in system.languages

    def _dropped(self, sample: Sample) -> bool:
        last = slot_of(sample)[1] == len(sample.target["turn"]["words"])
        return last and self._rules.final_slot == "drop"

    def gold(self, sample: Sample) -> Decision:
        """Return the consensus label of the slot; its score is the proportion.

        A last slot that ``final_slot='drop'`` leaves out has none: ``abstained``.
        """
        if self._dropped(sample):
            return Decision(outcome=Outcome.ABSTAINED, reason="final_slot=drop leaves it out")
        labels = self._gold.turn(sample).labels
        slot = slot_of(sample)[1] - 1
        share = float(labels.proportion[slot])
        return Decision(label=NO_YES[int(labels.positive[slot])], scores={"proportion": share})

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere, or return ``None``."""
        if decision.outcome is not Outcome.OK or decision.label in NO_YES:
            return None
        if decision.label is None:
            said = decision.scores or one_word(decision.raw) is not None
            return None if said else "neither a label nor a score"
        return f"label '{decision.label}' is neither yes nor no"

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return one ``slot`` unit per prefix, condition and trial.

        Columns: those of :mod:`floorbench.metrics.slots`, ``condition``, ``score`` (NaN without
        one), ``pause``, ``mark`` and ``final`` (flags of the slot), ``strays`` (onsets before and
        after all slots and the empty slots of a stimulus, on its first row).
        """
        rows = Rows(self._gold, self.spec.conditions)
        for sample, condition, trial, prediction in items:
            if self.due(sample, system) and not self._dropped(sample):
                outcome, label, score = self._said(prediction, system)
                rows.add(sample, condition, trial, outcome=outcome, label=label, score=score)
        return {"slot": rows.scored()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return the cells of every condition, the listeners' and the baselines'."""
        return Cells(
            slots=scored["slot"],
            rules=self._rules,
            conditions=self.spec.conditions,
            everywhere=UNPROMPTED,
            ranked=system.score is not None
            or bool(np.isfinite(scored["slot"].column("score")).any()),
            missing=self._missing,
            h=self._h,
        ).all()

    def _said(
        self, prediction: Prediction | None, system: SystemSpec
    ) -> tuple[int, str | None, float | None]:
        outcome = outcome_code(prediction)
        if prediction is None or outcome != OK:
            return outcome, None, None
        decision = prediction.decision
        score = score_of(decision, system)
        threshold = self._threshold
        if threshold is None and decision.label is None and score is not None:
            threshold = system.threshold
        if threshold is None:
            label = one_word(decision.raw) if decision.label is None else decision.label
            label = label if label in NO_YES else None
        elif score is None:
            label = None
        else:
            label = YES if score >= threshold else NO
        return OK if label is not None else INVALID, label, score


def score_of(decision: Decision, system: SystemSpec) -> float | None:
    """Return the score that a system declares, or the only one of predictions made elsewhere."""
    if system.score is not None:
        return decision.scores.get(system.score)
    elsewhere = system.context == "full" and len(decision.scores) == 1
    return next(iter(decision.scores.values())) if elsewhere else None


def one_word(raw: str | None) -> str | None:
    """Read an answer that came as text: *yes* or *no*, whatever its case and final mark.

    Examples
    --------
    >>> one_word(" Yes."), one_word("no"), one_word("yes and no"), one_word(None)
    ('yes', 'no', None, None)
    """
    word = (raw or "").strip().rstrip(".!").casefold()
    return word if word in NO_YES else None


@cache
def instruction(condition: str, version: str) -> str:
    """Return the instruction of a condition."""
    return (_folder(version) / f"{condition}.txt").read_text(encoding="utf-8").strip()


def instruction_hashes(version: str) -> dict[str, str]:
    """Return the SHA-256 of every instruction of a version (``FB103`` for an unknown one)."""
    files = sorted(_folder(version).iterdir())
    return {f.name: hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


def _folder(version: str) -> Path:
    if version not in VERSIONS:
        raise UsageError("FB103", f"prompt='{version}' is not one of {', '.join(VERSIONS)}")
    return PROMPTS / f"trp-{version}"
