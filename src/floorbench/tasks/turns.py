"""Whole turns of a user: when does a stream take the floor?

A stream hears one turn, pauses included, and the silence after it. Taking the floor before the
last word has ended is a false cut-in; after it, the time that passed is the response delay. Only
the first take of a turn counts: in a call the agent would be speaking from then on.

Source
------
Ours, after the usual evaluation of endpointers: share of turns cut off against the delay at the
end of the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from floorbench.core.prediction import Decision, Event, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.time import Seconds, from_ticks, to_ticks
from floorbench.core.vocab import MissingPolicy, Outcome, Role
from floorbench.errors import DataError, Place, UsageError
from floorbench.metrics.base import FAILED, INVALID, OK, DueItem, Measure, Metric, Scored
from floorbench.metrics.classification import accuracy
from floorbench.metrics.inputs import check_choice
from floorbench.metrics.latency import (
    ANSWERED,
    CENSORED,
    MISSED,
    answered_share,
    early_share,
    latency_percentile,
)
from floorbench.tasks.labelmaps import fold
from floorbench.tasks.units import Units, coverage, names, number_or_none, outcome_code

VERSION = "1"
TAKE = "take"
LEVELS = (0.5, 0.9)
REACHED = "not cut into"
WORDS = ("taken", "cut in", "not taken")
ACTION, OBSERVED = "action", "observed"
TAKES = ("take", "speak", "complete", "yield")
NO_EVENTS = (
    "no events: a stream is asked here; the system vad-detector makes one of a turn detector"
)
SLACK = 0.08
"""Seconds that the end of the last word may lie behind that of the sound: one frame."""


class TurnsTask:
    """The protocol of whole turns.

    Parameters
    ----------
    missing : {'wrong', 'drop'}
        A stream that failed counts as one that never took the floor, or its turn leaves.
    takes : sequence of str
        Labels of action events that take the floor. ``yield`` is among them, because a stream
        that gives way to a user's finished turn says it so.
    window : float
        Seconds after the last word in which a take answers the turn, above 0; a later one is a
        miss, and a turn that was heard for less without a take is censored. Without a take and
        without the event ``observed``, which says up to where it was heard, a stream has failed.

    Raises
    ------
    UsageError
        ``FB103`` for a value outside these.

    Notes
    -----
    Languages are scored together: give a set of one language.
    """

    def __init__(
        self, *, missing: str = "wrong", takes: Sequence[str] = TAKES, window: float = 2.0
    ) -> None:
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._takes = frozenset(fold(label) for label in names("takes", takes))
        self._window = float(number_or_none("window", window) or 0.0)
        if self._window <= 0:
            raise UsageError("FB103", f"window={window!r} is not above 0")
        self.spec = TaskSpec(
            name="turns",
            version=VERSION,
            labels=(TAKE,),
            parameters={
                "missing": self._missing,
                "takes": sorted(self._takes),
                "window": self._window,
                "cluster": "given, else sample",
                "strata": "label x source, joined, strata of one collapsed",
                "latency": "commit time of the first take, from the end of the last word",
            },
            source="ours",
        )

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the only condition."""
        return self.spec.conditions

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Return the sound of the turn; a stream gets it step by step.

        Raises
        ------
        DataError
            ``FB217`` without an end of the last word, or with one behind the end of the sound.
        """
        if condition not in self.spec.conditions:
            raise DataError("FB222", f"there is no condition '{condition}'")
        _heard_length(sample)
        return sample.observation

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether the system declares the turn's language (an unnamed one always)."""
        language = sample.observation.language
        return language == "und" or system.languages is None or language in system.languages

    def gold(self, sample: Sample) -> Decision:
        """Return the take that comes with the last word's end."""
        end = _end(sample)
        return Decision(events=(Event(kind=ACTION, time=end, label=TAKE, commit=end),))

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere, or return ``None``."""
        return NO_EVENTS if decision.outcome is Outcome.OK and not decision.events else None

    def unread(self, decision: Decision, system: SystemSpec) -> str | None:
        """Return ``None``: a label that takes no floor is another action, not a fault."""
        return None

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return one unit per turn and trial.

        Columns: ``latency``, ``status``, ``outcome``; ``gold`` and ``predicted`` say in words
        whether the turn was taken after its end, cut into, or not taken.
        """
        units = Units(vocab={"gold": WORDS, "predicted": WORDS}, numbers=("latency", "status"))
        for sample, condition, _, prediction in items:
            if not self.due(sample, system):
                continue
            outcome, latency, status = self._said(sample, prediction)
            units.add(
                sample,
                condition,
                outcome=outcome,
                labels={
                    "gold": WORDS[0],
                    "predicted": None if outcome != OK else _in_words(latency, status),
                },
                numbers={"latency": latency, "status": float(status)},
            )
        return {"sample": units.scored()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return false cut-ins, turns taken, and percentiles of the delay.

        The delay is that of the turns that were not cut into; a failed stream is among them.
        """
        return list(self._cells(scored["sample"]))

    def _cells(self, units: Scored) -> Iterator[Measure]:
        timed = units.with_columns(status=units.column("status").astype("int64"))
        cut_in = (timed.column("status") == ANSWERED) & (timed.column("latency") < 0)
        others = timed.where(~cut_in)
        cells: list[tuple[Metric, Scored, dict[str, str], bool]] = [
            (early_share(missing=self._missing), timed, {"turns": "all"}, True),
            (answered_share(missing=self._missing), timed, {"turns": "all"}, True),
            (accuracy(missing=self._missing), timed, {"turns": "all"}, True),
        ]
        for level in LEVELS:
            delay = latency_percentile(level=level, missing=self._missing)
            at = {"percentile": f"{level:.0%}"}
            cells.append((delay, others, {"turns": REACHED, **at}, True))
            # Of all turns, cut-ins negative: two systems compare on the same turns.
            cells.append((delay, timed, {"turns": "all", **at}, False))
        for metric, chosen, where, headline in cells:
            yield Measure(
                metric=metric,
                slice={"anchor": "end of the last word", **where},
                scored=chosen,
                coverage=coverage(chosen),
                headline=headline,
            )

    def _said(self, sample: Sample, prediction: Prediction | None) -> tuple[int, float, int]:
        """Return outcome, latency and status of a turn."""
        outcome = outcome_code(prediction)
        if prediction is None or outcome != OK:
            return outcome, 0.0, MISSED
        decision = prediction.decision
        if not decision.events:
            return INVALID, 0.0, MISSED
        # In ticks: whether a take cuts in or is late does not depend on the noise of floats.
        end, window = to_ticks(_end(sample)), to_ticks(self._window)
        taken = [to_ticks(_at(e)) - end for e in decision.events if self._takes_floor(e)]
        if taken and min(taken) < window:
            return OK, from_ticks(min(taken)), ANSWERED
        if taken:
            return OK, 0.0, MISSED
        heard = max((e.time for e in decision.events if e.kind == OBSERVED), default=None)
        if heard is None:  # a stream that broke off keeps silent too
            return FAILED, 0.0, MISSED
        watched = to_ticks(min(heard, _heard_length(sample))) - end
        if watched >= window:
            return OK, 0.0, MISSED
        return OK, from_ticks(max(watched, 0)), CENSORED

    def _takes_floor(self, event: Event) -> bool:
        return event.kind == ACTION and event.label is not None and fold(event.label) in self._takes


def _in_words(latency: float, status: int) -> str:
    if status != ANSWERED:
        return WORDS[2]
    return WORDS[1] if latency < 0 else WORDS[0]


def _at(event: Event) -> Seconds:
    """Return when an event counts: when it was committed, not when it is said to have happened."""
    return event.time if event.commit is None else event.commit


def _end(sample: Sample) -> Seconds:
    end = sample.target.get("end")
    if not isinstance(end, int | float):
        raise DataError(
            "FB217",
            "the turn has no end",
            where=Place(item=sample.id),
            hint="a column 'end' in labels.tsv, as `floorbench data cut --turns` writes it",
        )
    return float(end)


def _heard_length(sample: Sample) -> Seconds:
    """Return the length of the sound; one that ends before the last word measures no delay."""
    audio = sample.observation.channels[Role.USER]
    length, end = audio.frames / audio.rate, _end(sample)
    if end > length + SLACK:
        raise DataError(
            "FB217",
            f"the last word ends at {end:g} s, the sound at {length:.3f} s",
            where=Place(item=sample.id),
            hint="The column 'end' is in seconds from the beginning of the clip.",
        )
    return length
