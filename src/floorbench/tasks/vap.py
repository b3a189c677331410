"""The protocol ``vap-1s``: shift and hold, shift prediction and backchannel prediction at 50 Hz.

A sample is a session; a system answers with scores for every frame, at any rate of its own. Each
event is one unit with one score, the mean over its region of what was known in each frame there:
``p_now`` of the asked channel for shift against hold, ``p_future`` before an offset, ``bc`` (else
``p_now``) of the listener before a backchannel. Thresholds are chosen on validation.

Source
------
Voice activity projection (Ekstedt and Skantze), with the parameters of DualTurn's comparison.
Deviations: one score an event instead of one a frame; nothing is balanced unless asked; a
negative of backchannel prediction is read in the middle of its stretch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.vocab import MissingPolicy, Role
from floorbench.errors import UsageError
from floorbench.events.spans import Bools, Floats
from floorbench.events.traces import column, make_trace, on_grid, shares
from floorbench.events.vap import (
    VapEvents,
    VapKind,
    VapRules,
    equal_counts,
    region_scores,
    vap_events,
)
from floorbench.metrics.base import OK, DueItem, Measure, Scored
from floorbench.metrics.fscore import balanced_accuracy, f_score, weighted_f1
from floorbench.metrics.inputs import check_choice
from floorbench.metrics.ranking import auc, eer
from floorbench.tasks.dualturn_measures import at_threshold, cell, halves
from floorbench.tasks.frame_units import (
    CLUSTERS,
    ROLES,
    EventUnits,
    SessionTask,
    activity,
    outcome_of,
)
from floorbench.tasks.marks import Mark, Marks

VERSION = "1"
QUESTIONS: Mapping[str, tuple[VapKind, VapKind]] = {
    "shift_hold": (VapKind.SHIFT, VapKind.HOLD),
    "shift_prediction": (VapKind.SHIFT_PREDICTION, VapKind.SHIFT_PREDICTION_NEGATIVE),
    "backchannel_prediction": (
        VapKind.BACKCHANNEL_PREDICTION,
        VapKind.BACKCHANNEL_PREDICTION_NEGATIVE,
    ),
}
"""Question to the kinds of its positive and negative events."""
LABELS = ("yes", "no")
SILENCE_RULE = (
    "one speaker alone for 1 s before the silence and after it; read from 0.05 to 0.25 s into it"
)
BEFORE_RULE = "read in the 0.5 s before the silence of a shift (or of a hold)"
RULES = {
    VapKind.SHIFT: f"the speaker after the silence is another: {SILENCE_RULE}",
    VapKind.HOLD: f"the speaker after the silence is the same: {SILENCE_RULE}",
    VapKind.SHIFT_PREDICTION: f"a shift follows: {BEFORE_RULE}",
    VapKind.SHIFT_PREDICTION_NEGATIVE: f"a hold follows: {BEFORE_RULE}",
    VapKind.BACKCHANNEL_PREDICTION: "the 0.5 s before a sound of at most 1 s with 1 s of own "
    "silence on both sides",
    VapKind.BACKCHANNEL_PREDICTION_NEGATIVE: "0.5 s in the middle of a stretch in which the other "
    "speaks alone",
}


class VapTask(SessionTask):
    """The protocol ``vap-1s``.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        How sessions without a usable answer enter label figures.
    equal_hold_shift : bool
        Sample holds of a session down to the number of its shifts.
    seed : int
        Of that sampling.
    cluster : {'session', 'speaker'}
        What the bootstrap resamples: sessions, or groups of sessions that share speakers, as a
        check of how much rests on speakers who are heard more than once.
    """

    def __init__(
        self,
        *,
        missing: str = "wrong",
        equal_hold_shift: bool = False,
        seed: int = 0,
        cluster: str = "session",
    ) -> None:
        if not isinstance(seed, int) or seed < 0:
            raise UsageError("FB103", f"seed={seed!r} is not a whole number, 0 or more")
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._cluster = check_choice("cluster", cluster, CLUSTERS)
        self._equal, self._seed = equal_hold_shift, seed
        self.rules = VapRules()
        self.spec = TaskSpec(
            name="vap-1s",
            version=VERSION,
            labels=tuple(QUESTIONS),
            parameters={
                "missing": missing,
                "equal_hold_shift": equal_hold_shift,
                "seed": seed,
                **{name: str(getattr(self.rules, name)) for name in VapRules.__slots__},
                "score": "mean over the region, one per event",
                "cluster": cluster,
                "strata": "none",
            },
            source="voice activity projection (Ekstedt and Skantze); DualTurn (arXiv 2603.08216)",
        )

    def gold(self, sample: Sample) -> Decision:
        """Return a trace that holds the answers in the regions of the events."""
        vad = activity(sample.observation, rate=self.rules.rate)
        frames = len(vad[ROLES[0]])
        columns = {column(s, r): np.full(frames, 0.5) for s in ("p_now", "p_future") for r in ROLES}
        columns |= {column("bc", role): np.zeros(frames) for role in ROLES}
        events = self._events(sample, vad)
        for question, (yes, _) in QUESTIONS.items():
            for event in _regions(events, question, self.rules).rows():
                signal = _signal_of(question, columns)
                value = float(event.kind is yes)
                columns[column(signal, event.role)][event.start : event.end] = value
        return Decision(
            trace=make_trace(
                np.stack(list(columns.values()), axis=1),
                columns=list(columns),
                rate=self.rules.rate,
            )
        )

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return one unit per event, by question: ``gold``, ``score``, ``split``, ``outcome``."""
        units = {
            question: EventUnits(
                vocab={"gold": LABELS}, columns={"score": 0}, cluster=self._cluster
            )
            for question in QUESTIONS
        }
        for item in items:
            if self.due(item.sample, system):
                self._add(units, item)
        return {question: found.scored() for question, found in units.items()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return AUC, EER, balanced accuracy and F1 of each question."""
        return [m for q in QUESTIONS for m in self._cells(q, scored[q])]

    def marks(self, sample: Sample) -> Mapping[str, Marks]:
        """Return the regions of each question, in the order of a session's units."""
        rate = float(self.rules.rate)
        events = self._events(sample, activity(sample.observation, rate=self.rules.rate))
        out = {}
        for question, (yes, no) in QUESTIONS.items():
            found = _ordered(_regions(events, question, self.rules), yes)
            names = {label: _said(kind) for label, kind in zip(LABELS, (yes, no), strict=True)}
            out[question] = Marks(
                title=question.replace("_", " "),
                where={"question": question},
                names=names,
                marks=tuple(
                    Mark(
                        time=e.start / rate,
                        end=e.end / rate,
                        role=e.role,
                        label=_said(e.kind),
                        rule=RULES[e.kind],
                    )
                    for e in found.rows()
                ),
            )
        return out

    # ---- helpers -----------------------------------------------------------------------------

    def _cells(self, question: str, units: Scored) -> Iterator[Measure]:
        validation, test = halves(units)
        where = {"question": question}
        yield cell(auc(positive="yes"), where, test, headline=True)
        yield cell(eer(positive="yes"), where, test)
        said, why = at_threshold(
            validation, test, "score", objective="balanced_accuracy", positive="yes"
        )
        for metric in (
            balanced_accuracy(label="yes", missing=self._missing),
            f_score(label="yes", missing=self._missing),
            weighted_f1(labels=LABELS, missing=self._missing),
        ):
            yield cell(metric, where, said, undeclared=why, headline=True)

    def _events(self, sample: Sample, vad: Mapping[Role, Bools]) -> VapEvents:
        events = vap_events(vad, self.rules)
        if self._equal:
            key = codec.encode([self._seed, sample.id])
            rng = np.random.default_rng(np.frombuffer(key, dtype=np.uint8))
            events = equal_counts(events, keep=VapKind.SHIFT, reduce=VapKind.HOLD, rng=rng)
        return events

    def _add(self, units: Mapping[str, EventUnits], item: DueItem) -> None:
        sample, prediction = item.sample, item.prediction
        vad = activity(sample.observation, rate=self.rules.rate)
        events = self._events(sample, vad)
        outcome = outcome_of(prediction, sample)
        columns: Mapping[str, Floats] | None = None
        if prediction is not None and outcome == OK and prediction.decision.trace is not None:
            frames = len(vad[ROLES[0]])
            columns = on_grid(prediction.decision.trace, frames=frames, rate=self.rules.rate)
        for question, (yes, _) in QUESTIONS.items():
            here = _regions(events, question, self.rules)
            positive = here.of(yes)
            gold = np.concatenate([np.zeros(len(positive)), np.ones(len(here) - len(positive))])
            ordered = _ordered(here, yes)
            values: dict[str, Floats] = {"gold": gold}
            if columns is not None:
                values["score"] = region_scores(_asked(columns, question), ordered)
            units[question].add(
                sample, item.condition, item.trial, outcome=outcome, size=len(here), values=values
            )


def _ordered(events: VapEvents, first: VapKind) -> VapEvents:
    """Return the events with one kind before the others."""
    return events.where(np.argsort(events.kind != _code(first), kind="stable"))


def _said(kind: VapKind) -> str:
    text = kind.value.removesuffix("_negative").replace("_", " ")
    return f"no {text}" if kind.value.endswith("_negative") else text


def _code(kind: VapKind) -> int:
    return list(VapKind).index(kind)


def _regions(events: VapEvents, question: str, rules: VapRules) -> VapEvents:
    """Return the events of a question; a negative stretch becomes a region in its middle."""
    here = events.of(*QUESTIONS[question])
    if question != "backchannel_prediction":
        return here
    length = rules.frames(rules.prediction)
    long = here.kind == _code(VapKind.BACKCHANNEL_PREDICTION_NEGATIVE)
    middle = (here.start + here.end - length) // 2
    return VapEvents(
        roles=here.roles,
        kind=here.kind,
        role=here.role,
        start=np.where(long, middle, here.start),
        end=np.where(long, middle + length, here.end),
    )


def _signal_of(question: str, columns: Mapping[str, object]) -> str:
    if question == "backchannel_prediction":
        return "bc" if all(column("bc", r) in columns for r in ROLES) else "p_now"
    return "p_future" if question == "shift_prediction" else "p_now"


def _asked(columns: Mapping[str, Floats], question: str) -> Floats:
    """Return the score per frame of both channels that a question reads; halves without one."""
    name = _signal_of(question, columns)
    frames = len(next(iter(columns.values())))
    if name == "bc":
        return np.stack([columns[column("bc", r)] for r in ROLES], axis=1)
    found = shares(columns, name, ROLES)
    return found if found is not None else np.full((frames, 2), 0.5)
