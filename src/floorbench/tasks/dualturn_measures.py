"""Cells of ``dualturn-4s``: probes and thresholds are fitted on validation, figures are of test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from floorbench.core.words import counted
from floorbench.events.dualturn_actions import ACTIONS
from floorbench.events.dualturn_words import WORD_LABELS
from floorbench.metrics.base import OK, Measure, Metric, Scored
from floorbench.metrics.fscore import (
    always_f1,
    balanced_accuracy,
    chance_f1,
    f_score,
    precision,
    recall,
    weighted_f1,
)
from floorbench.metrics.ranking import auc, auc_macro, eer
from floorbench.metrics.thresholds import choose
from floorbench.tasks.dualturn_features import (
    ACTION_FEATURES,
    OFFSETS,
    WORD_FEATURES,
    offset_column,
)
from floorbench.tasks.frame_units import split_of
from floorbench.tasks.readout import fit_readout
from floorbench.tasks.units import coverage, no_cover

DECIDED = (0, 3, 6)
"""Offsets, in frames, at which the hand-over is decided: at the end, 0.24 s and 0.48 s later."""
HEADLINE_OFFSETS = (-3, 0, 3, 6)
NOT_FITTED = "no answered validation sessions to fit on"


def halves(scored: Scored) -> tuple[Scored, Scored]:
    """Return validation and test units; without splits all units are test units."""
    validation = scored.where(split_of(scored, ("validation",)))
    test = scored.where(split_of(scored, ("test", "")))
    return validation, test


def cell(
    metric: Metric,
    where: Mapping[str, str],
    units: Scored,
    *,
    undeclared: str | None = None,
    note: str | None = None,
    headline: bool = False,
) -> Measure:
    """Return one cell; an undeclared one has no coverage."""
    return Measure(
        metric=metric,
        slice=where,
        scored=units,
        coverage=no_cover() if undeclared else coverage(units),
        undeclared=undeclared,
        note=note,
        headline=headline,
    )


def without_actions(actions: Scored, ends: Scored) -> str | None:
    """Say how many test sessions with turn ends have no action, or return ``None``."""
    (_, asked), (_, there) = halves(actions), halves(ends)
    left = len(set(there.units or ()) - set(asked.units or ()))
    if not left:
        return None
    return f"{counted(left, 'test session')} without actions (shorter than 500 frames, or none)"


def support(units: Scored, labels: Sequence[str]) -> str:
    """Return how many gold units each label has, absent and failed answers included."""
    codes = units.column("gold")
    counts = ((codes == units.code("gold", label)).sum() for label in labels)
    told = ", ".join(f"{label} {int(n)}" for label, n in zip(labels, counts, strict=True))
    return f"gold labels in the test part: {told}"


def action_measures(scored: Scored, *, missing: str, note: str | None = None) -> Iterator[Measure]:
    """Yield wF1 and per-class figures of the five actions, with chance values for BC."""
    validation, test = halves(scored)
    said, why = predicted_by_probe(validation, test, ACTIONS, ACTION_FEATURES)
    where = {"events": "actions"}
    gold = np.where(test.column("outcome") == OK, test.column("gold"), -1)
    prevalent = test.with_columns(predicted=gold)  # prevalence does not depend on the answers
    yield cell(
        weighted_f1(labels=ACTIONS, missing=missing), where, said, undeclared=why,
        note="; ".join(n for n in (note, support(test, ACTIONS)) if n), headline=True,
    )  # fmt: skip
    for label in ACTIONS:
        here = {**where, "class": label}
        for make in (precision, recall, f_score):
            yield cell(
                make(label=label, missing=missing), here, said, undeclared=why, headline=True
            )
        for make in (chance_f1, always_f1):
            yield cell(
                make(label=label, missing=missing),
                {**here, "baseline": "from prevalence"},
                prevalent,
                headline=label == "BC",
            )


def word_measures(scored: Scored, *, undeclared: str | None) -> Iterator[Measure]:
    """Yield AUC and EER of C, B and T against the rest, without and with a probe."""
    validation, test = halves(scored)
    readings = {"heuristic": (test, undeclared)}
    if undeclared is None:
        readings["probe"] = scored_by_probe(validation, test, WORD_LABELS, WORD_FEATURES)
    else:
        readings["probe"] = (test, undeclared)
    for reading, (units, why) in readings.items():
        where = {"events": "words", "reading": reading}
        for label in WORD_LABELS:
            here = {**where, "class": label}
            yield cell(
                auc(positive=label, score="scores"), here, units, undeclared=why, headline=True
            )
            yield cell(eer(positive=label, score="scores"), here, units, undeclared=why)
        yield cell(
            auc_macro(labels=WORD_LABELS), where, units, undeclared=why,
            note=support(test, WORD_LABELS) if undeclared is None else None, headline=True,
        )  # fmt: skip


def end_measures(scored: Scored, *, missing: str) -> Iterator[Measure]:
    """Yield AUC and F1 of EOT against HOLD along the time axis, and balanced accuracies."""
    validation, test = halves(scored)
    for offset in OFFSETS:
        name = offset_column(offset)
        where = {"events": "turn ends", "at": f"{offset * 80:+d} ms"}
        yield cell(
            auc(positive="EOT", score=name), where, test, note=support(test, ("EOT", "HOLD")),
            headline=offset in HEADLINE_OFFSETS,
        )  # fmt: skip
        said, why = at_threshold(validation, test, name, objective="f_score")
        yield cell(
            f_score(label="EOT", missing=missing), where, said, undeclared=why,
            headline=offset in HEADLINE_OFFSETS,
        )  # fmt: skip
        if offset in DECIDED:
            said, why = at_threshold(validation, test, name, objective="balanced_accuracy")
            yield cell(
                balanced_accuracy(label="EOT", missing=missing), where, said, undeclared=why,
                headline=True,
            )  # fmt: skip


def at_threshold(
    validation: Scored, test: Scored, score: str, *, objective: str, positive: str = "EOT"
) -> tuple[Scored, str | None]:
    """Return test units answered at the threshold that is best on validation, or why not."""
    answered = validation.column("outcome") == OK
    if len(np.unique(validation.column("gold")[answered])) < 2:
        return test, NOT_FITTED
    point = choose(validation, positive=positive, objective=objective, score=score)
    code = test.vocab["gold"].index(positive)
    values = np.nan_to_num(test.column(score), nan=-np.inf)
    answered = test.column("outcome") == OK
    label = np.where(values >= point.threshold, code, 1 - code)
    return test.with_columns(predicted=np.where(answered, label, -1).astype(np.int64)), None


def predicted_by_probe(
    validation: Scored, test: Scored, labels: tuple[str, ...], features: tuple[str, ...]
) -> tuple[Scored, str | None]:
    """Return test units with the probe's label in ``predicted``, or why there is no probe."""
    chances, why = _probe(validation, test, labels, features)
    if chances is None:
        return test, why
    answered = test.column("outcome") == OK
    label = np.where(answered, chances.argmax(axis=1), -1).astype(np.int64)
    return test.with_columns(predicted=label), None


def scored_by_probe(
    validation: Scored, test: Scored, labels: tuple[str, ...], features: tuple[str, ...]
) -> tuple[Scored, str | None]:
    """Return test units with the probe's probabilities in ``scores``, or why there is none."""
    chances, why = _probe(validation, test, labels, features)
    if chances is None:
        return test, why
    answered = (test.column("outcome") == OK)[:, None]
    return test.with_columns(scores=np.where(answered, chances, np.nan)), None


def _probe(
    validation: Scored, test: Scored, labels: tuple[str, ...], features: tuple[str, ...]
) -> tuple[np.ndarray | None, str | None]:
    use = validation.where(validation.column("outcome") == OK)
    gold = use.column("gold")
    if len(np.unique(gold)) < 2:
        return None, NOT_FITTED
    model = fit_readout(use.column("features"), gold, labels=labels, features=features)
    found = model.probabilities(np.nan_to_num(test.column("features"), nan=0.0))
    chances = np.zeros((len(test), len(labels)))
    for column, label in enumerate(model.labels):
        chances[:, labels.index(label)] = found[:, column]
    return chances, None
