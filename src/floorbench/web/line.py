"""The time line of one item: activity, words, events with their rules, answers, frame scores.

One shape for all tasks: a clip has a few gold events and a decision, a session of many minutes
hundreds of events and scores in every frame. :mod:`floorbench.web.span` sends parts of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from floorbench.core.prediction import PredictionKey, Trace
from floorbench.core.sample import Sample
from floorbench.errors import FloorbenchError, UsageError
from floorbench.events.spans import Floats
from floorbench.events.traces import rate_of, trace_problem, trace_values
from floorbench.metrics.base import OK, Measure
from floorbench.tasks.marks import Marked, Marks
from floorbench.web.gold import gold_events
from floorbench.web.index import NOT_DUE, Group, RunView

LONGEST_TEXT = 200
SILENCE = "[silence]"
"""A token that says what the activity says already."""
UNDECIDED, WRONG, RIGHT = -1, 0, 1


class Event(NamedTuple):
    """A gold event; ``role`` is empty and ``rule`` ``None`` where the data say no more."""

    time: float
    end: float | None
    role: str
    label: str
    rule: str | None


class Reading(NamedTuple):
    """What a run's scores say of every event of a kind, read in one way.

    ``predicted`` holds labels (``None`` for no usable answer), ``right`` 1 or 0; both are empty
    where ``reason`` says why there is nothing.
    """

    name: str
    predicted: list[str | None]
    right: NDArray[np.int8]
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Events of one kind in order of time, and each run's readings of them."""

    title: str
    events: list[Event]
    readings: list[list[Reading]]


class Scores(NamedTuple):
    """A run's scores per frame: ``values`` (T, k), each row known at ``first + t * step``."""

    columns: tuple[str, ...]
    values: Floats
    first: float
    step: float
    look_ahead: float


class TimeLine:
    """Everything that stands on the time line of an item, read once."""

    def __init__(self, group: Group, key: PredictionKey) -> None:
        row = group.row(key)
        self._sample = sample = group.samples[row]
        self._key = key
        self.runs = group.runs
        shown = sample.observation
        self.activity = {
            str(role): np.array([(s.start, s.end) for s in spans], dtype=np.float64).reshape(-1, 2)
            for role, spans in shown.activity.items()
        }
        timed = [w for w in shown.words if w.span is not None and w.text.lower() != SILENCE]
        self.words = sorted(
            ((w.span.start, w.span.end, str(w.role), w.text[:LONGEST_TEXT])
             for w in timed if w.span is not None),
        )  # fmt: skip
        self.kinds = self._kinds(group, sample)
        self.scores = [_scores(run, row) for run in group.runs]
        self.said = [_said(run, row) for run in group.runs]
        self.cutoff = shown.cutoff
        self.seconds = self._length(sample)

    def _length(self, sample: Sample) -> float:
        ends = [self.cutoff or 0.0]
        ends += [float(spans[-1, 1]) for spans in self.activity.values() if len(spans)]
        ends += [w[1] for w in self.words[-1:]]
        for kind in self.kinds.values():
            ends += [e.end if e.end is not None else e.time for e in kind.events[-1:]]
        for said in self.said:
            ends += [s["end"] if s["end"] is not None else s["start"] for s in said[-1:]]
        for ref in sample.observation.channels.values():
            try:
                ends.append(ref.frames / ref.rate)
            except FloorbenchError:
                continue
        return max(ends)

    def _kinds(self, group: Group, sample: Sample) -> dict[str, Kind]:
        task = group.runs[0].stored.opened.task
        if not isinstance(task, Marked):
            found = gold_events(sample.target, task.gold(sample))
            events = [Event(e["start"], e["end"], "", e["kind"], None) for e in found]
            events.sort(key=lambda e: e.time)
            kind = Kind(title="gold events", events=events, readings=[[] for _ in group.runs])
            return {"gold": kind} if events else {}
        out = {}
        for name, group_of in task.marks(sample).items():
            if not group_of.marks:
                continue
            order = sorted(range(len(group_of.marks)), key=lambda i: group_of.marks[i].time)
            events = [
                Event(m.time, m.end, str(m.role), m.label, m.rule)
                for m in (group_of.marks[i] for i in order)
            ]
            readings = [self._readings(run, group_of, order) for run in group.runs]
            out[name] = Kind(title=group_of.title, events=events, readings=readings)
        return out

    def _readings(
        self,
        run: RunView,
        known: Marks,
        order: Sequence[int],
    ) -> list[Reading]:
        """Return the ways in which the task's cells decide on the events of this item."""
        seen: set[str] = set()
        found: list[tuple[bool, Reading]] = []
        where, names, preferred = known.where, known.names, known.preferred
        for measure in run.stored.measures:
            if not where.items() <= measure.slice.items() or "baseline" in measure.slice:
                continue
            if "predicted" not in measure.scored.columns and measure.undeclared is None:
                continue
            name = _reading_name(measure, where)
            if name in seen:
                continue
            seen.add(name)
            found.append(
                (
                    not preferred.items() <= measure.slice.items(),
                    self._reading(run, measure, name, names, order),
                )
            )
        return [reading for _, reading in sorted(found, key=lambda pair: pair[0])]

    def _reading(
        self, run: RunView, measure: Measure, name: str, names: Mapping[str, str],
        order: Sequence[int],
    ) -> Reading:  # fmt: skip
        nothing = np.zeros(0, dtype=np.int8)
        if measure.undeclared is not None:
            return Reading(name, [], nothing, measure.undeclared)
        units = measure.scored
        sample, size = self._key.sample_id, len(order)
        rows = np.array([n == sample for n in units.units or ()], dtype=np.bool_).nonzero()[0]
        if len(rows) % size or not len(rows):
            split = self._sample.tags.get("split")
            why = f"a {split} session: figures are of test" if split else "not among the units"
            return Reading(name, [], nothing, why)
        mine = rows[self._key.trial * size :][:size][np.asarray(order)]
        labels = units.vocab["gold"]
        said, gold = units.column("predicted")[mine], units.column("gold")[mine]
        answered = (units.column("outcome")[mine] == OK) & (said >= 0)
        return Reading(
            name,
            [
                names.get(labels[code], labels[code]) if there else None
                for code, there in zip(said.tolist(), answered.tolist(), strict=True)
            ],
            np.where(answered & (said == gold), RIGHT, WRONG).astype(np.int8),
            None,
        )

    def kind(self, name: str | None) -> Kind | None:
        """Return a kind of events, the first one without a name; ``FB805`` for another name."""
        if not name:
            return next(iter(self.kinds.values()), None)
        if name not in self.kinds:
            raise UsageError("FB805", f"this item has no events of kind '{name[:80]}'")
        return self.kinds[name]

    def name_of(self, kind: Kind) -> str:
        """Return the name of a kind."""
        return next(name for name, k in self.kinds.items() if k is kind)

    def pick(self, kind: Kind | None, reading: str | None, run: int) -> Reading | None:
        """Return a run's reading of a kind by name, else its first; ``FB805`` for another run."""
        if not 0 <= run < len(self.runs):
            raise UsageError("FB805", f"there is no run {run} in this group")
        found = kind.readings[run] if kind is not None else []
        return next((r for r in found if r.name == reading), found[0] if found else None)


def _reading_name(measure: Measure, where: Mapping[str, str]) -> str:
    rest = [v for k, v in measure.slice.items() if k not in where and k != "class"]
    metric = measure.metric.spec.name
    if not rest:
        return "the task's answers"
    how = "best F1" if metric == "f_score" else metric.replace("_", " ")
    return f"{' '.join(rest)}, threshold of {how}"


def _scores(run: RunView, row: int) -> Scores | None:
    if run.item[row] == NOT_DUE:
        return None
    prediction = run.stored.items[run.item[row]].prediction
    trace: Trace | None = None if prediction is None else prediction.decision.trace
    if trace is None or not trace.data or trace_problem(trace) is not None:
        return None
    step = float(1 / rate_of(trace))
    return Scores(
        trace.columns, trace_values(trace), step + trace.look_ahead, step, trace.look_ahead
    )


def _said(run: RunView, row: int) -> list[dict[str, Any]]:
    """Return a run's own events and its commit time, in order of time."""
    if run.item[row] == NOT_DUE:
        return []
    prediction = run.stored.items[run.item[row]].prediction
    if prediction is None:
        return []
    decision = prediction.decision
    out = [
        {
            "kind": (e.label or e.kind)[:LONGEST_TEXT],
            "start": e.time,
            "end": e.end,
            "commit": e.commit,
            "score": e.score,
        }
        for e in decision.events
    ]
    if decision.commit is not None:
        commit = {"kind": "commit", "start": decision.commit, "end": None}
        out.append({**commit, "commit": decision.commit, "score": None})
    return sorted(out, key=lambda e: float(e["start"] or 0.0))


def signals_of(columns: Sequence[str]) -> list[str]:
    """Return the signals of some columns, each once."""
    return list(dict.fromkeys(name.partition(":")[0] for name in columns))
