"""Labelled clips: is the user's turn complete? One recording at a time, without a dialogue.

Two questions are scored from one run. *Labels*: is the clip's own label (complete, incomplete,
backchannel, wait) answered, over the labels that the system can say. *End*: is it judged complete
or not, over complete and incomplete clips, and over all clips, where a backchannel and a request
to wait count as not complete. Scored systems get an AUC beside each end accuracy.

Source
------
The label set and the accuracy per label are those of the Easy Turn test set; the end question is
ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.vocab import MissingPolicy, Outcome
from floorbench.datasets.clips import LABELS
from floorbench.errors import DataError, Place, UsageError, did_you_mean
from floorbench.metrics.base import INVALID, OK, DueItem, Measure, Scored
from floorbench.metrics.classification import accuracy, class_accuracy, macro_accuracy
from floorbench.metrics.inputs import check_choice
from floorbench.metrics.ranking import auc
from floorbench.tasks import labelmaps
from floorbench.tasks.labelmaps import TABLES, label_map, native_label
from floorbench.tasks.units import (
    Units,
    coverage,
    language_of,
    names,
    no_cover,
    number_or_none,
    outcome_code,
    without_unscored,
)

VERSION = "1"
ENDS = ("complete", "other")
CLIP_SETS = {"complete+incomplete": LABELS[:2], "all": LABELS}


class ClipsTask:
    """The clips protocol.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        How abstained, invalid, failed, timed-out and absent predictions enter accuracies.
    threshold : float or None
        For scored systems: complete when the score is greater than this. ``None`` keeps the label
        that the system gave.
    languages : sequence of str
        Languages that the data may have; ``und`` is an unnamed one.

    Raises
    ------
    UsageError
        ``FB103`` for a value outside these.
    """

    def __init__(
        self,
        *,
        missing: str = "wrong",
        threshold: float | None = None,
        languages: Sequence[str] = ("und", "zh", "en"),
    ) -> None:
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._threshold = number_or_none("threshold", threshold)
        self._languages = names("languages", languages)
        self.spec = TaskSpec(
            name="clips",
            version=VERSION,
            labels=LABELS,
            parameters={
                "missing": self._missing,
                "threshold": threshold,
                "languages": list(self._languages),
                "label_maps": labelmaps.VERSION,
                "cluster": "given, else sample",
                "strata": "label x source, joined, strata of one collapsed",
            },
            source="Easy Turn test set; ours",
        )

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the only condition.

        Raises
        ------
        UsageError
            ``FB223`` for a stream.
        """
        if system.streaming_step is not None:
            raise UsageError(
                "FB223",
                f"'{system.name}' streams; clips ask for one answer each",
                hint="cut whole turns with `floorbench data cut --turns` and run the task turns",
            )
        return self.spec.conditions

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Return the clip and its transcript, if there is one."""
        if condition not in self.spec.conditions:
            raise DataError("FB222", f"there is no condition '{condition}'")
        return sample.observation

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether the system declares the clip's language (an unnamed one always)."""
        language = self._language(sample)
        return language == "und" or system.languages is None or language in system.languages

    def gold(self, sample: Sample) -> Decision:
        """Return the clip's label."""
        return Decision(label=_gold(sample))

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere, or return ``None``."""
        label = decision.label
        if decision.outcome is not Outcome.OK or (label is None and decision.scores):
            return None
        if label is None:
            return "neither a label nor a score"
        if label in LABELS or any(t.native(label) is not None for t in TABLES.values()):
            return None
        near = did_you_mean(label, LABELS)
        return f"unknown label '{label}'" + (f"; did you mean '{near}'?" if near else "")

    def unread(self, decision: Decision, system: SystemSpec) -> str | None:
        """Say why a known label means nothing from this system, or return ``None``."""
        return labelmaps.unread(decision.label, LABELS, system)

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return one unit per clip and trial.

        Columns: ``gold`` and ``predicted`` clip labels, ``gold_end`` and ``predicted_end``,
        ``language``, ``outcome``, ``score`` (NaN without one).
        """
        units = Units(
            vocab={
                "gold": LABELS,
                "predicted": LABELS,
                "gold_end": ENDS,
                "predicted_end": ENDS,
                "language": self._languages,
            },
            numbers=("score",),
        )
        for sample, condition, _, prediction in items:
            if not self.due(sample, system):
                continue
            gold = _gold(sample)
            outcome, label, score = self._said(prediction, system)
            units.add(
                sample,
                condition,
                outcome=outcome,
                labels={
                    "gold": gold,
                    "predicted": label,
                    "gold_end": _end(gold),
                    "predicted_end": None if label is None else _end(label),
                    "language": self._language(sample),
                },
                numbers={"score": float("nan") if score is None else score},
            )
        return {"sample": units.scored()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return accuracies per label, end accuracies and AUCs, per language."""
        out: list[Measure] = []
        units = scored["sample"]
        for code, language in enumerate(self._languages):
            here = units.where(units.column("language") == code)
            if len(here):
                out += self._labels(here, {"language": language}, system)
                out += self._ends(here, {"language": language}, system)
        return out

    # ---- helpers -----------------------------------------------------------------------------

    def _said(
        self, prediction: Prediction | None, system: SystemSpec
    ) -> tuple[int, str | None, float | None]:
        outcome = outcome_code(prediction)
        if prediction is None or outcome != OK:
            return outcome, None, None
        decision = prediction.decision
        score = decision.scores.get(system.score) if system.score is not None else None
        if system.label_map is None:
            label = decision.label if decision.label in LABELS else None
        else:
            table = label_map(system.label_map)
            native = native_label(decision, table, score=score, threshold=self._threshold)
            label = table.clips.get(native) if native is not None else None
        return OK if label is not None else INVALID, label, score

    def _labels(
        self, units: Scored, where: Mapping[str, str], system: SystemSpec
    ) -> Iterator[Measure]:
        said = _sayable(system)
        for code, label in enumerate(LABELS):
            of_label = units.where(units.column("gold") == code)
            declared = label in said
            yield Measure(
                metric=class_accuracy(label=label, missing=self._missing),
                slice={**where, "label": label},
                scored=of_label,
                coverage=coverage(of_label) if declared else no_cover(),
                undeclared=None if declared else f"{system.name} does not declare {label}",
                headline=True,
            )
        if said:
            own = units.where(np.isin(units.column("gold"), [LABELS.index(s) for s in said]))
            yield Measure(
                metric=macro_accuracy(labels=said, missing=self._missing),
                slice={**where, "labels": "+".join(said)},
                scored=own,
                coverage=coverage(own),
                headline=True,
            )

    def _ends(
        self, units: Scored, where: Mapping[str, str], system: SystemSpec
    ) -> Iterator[Measure]:
        both = units.column("gold") < len(CLIP_SETS["complete+incomplete"])
        for name, labels in CLIP_SETS.items():
            printed = name != "all" or not both.all()  # without other clips it is the same cell
            chosen = units.where(np.isin(units.column("gold"), [LABELS.index(s) for s in labels]))
            cell = {**where, "clips": name}
            yield Measure(
                metric=accuracy(gold="gold_end", predicted="predicted_end", missing=self._missing),
                slice=cell,
                scored=chosen,
                coverage=coverage(chosen),
                headline=printed,
            )
            if system.score is None:
                continue
            ranked = without_unscored(chosen)
            yield Measure(
                metric=auc(positive="complete"),
                slice=cell,
                scored=ranked,
                coverage=coverage(ranked),
                headline=printed,
            )
            if (ranked.column("outcome") != OK).any():
                yield Measure(
                    metric=auc(positive="complete", missing="drop"),
                    slice={**cell, "items": "answered"},
                    scored=ranked,
                    coverage=coverage(ranked),
                    note="answered items only",
                )

    def _language(self, sample: Sample) -> str:
        return language_of(sample, self._languages)


def _sayable(system: SystemSpec) -> tuple[str, ...]:
    """Return the clip labels that a system can answer."""
    if system.label_map is None:
        said = set(system.labels) if system.labels is not None else set(LABELS)
    else:
        table = label_map(system.label_map)
        natives = system.labels if system.labels is not None else tuple(table.clips)
        said = {table.clips.get(table.native(label) or "", "") for label in natives}
    return tuple(label for label in LABELS if label in said)


def _gold(sample: Sample) -> str:
    label = sample.target.get("label")
    if label not in LABELS:
        raise DataError("FB213", f"{label!r} is not a clip label", where=Place(item=sample.id))
    return str(label)


def _end(label: str) -> str:
    return "complete" if label == "complete" else "other"
