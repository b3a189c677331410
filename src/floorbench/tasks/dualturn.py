"""The protocol ``dualturn-4s``: frame signals of two channels, five agent actions, word classes.

A sample is a session; a system answers with scores for every frame (a trace). Gold events come
from the session's own activity and words by the rules of :mod:`floorbench.events`. Three kinds of
unit are scored from one run:

*action*
    Events on which an agent decides, each channel as agent in turn. A linear probe on 16 features
    of the trace is fitted on the validation events of the same run and scored on test.
*word*
    C, B or T of every word, from the scores at the last frame that is full at its end: without a
    probe, and with one fitted on validation words.
*end*
    EOT or HOLD at every segment end, from -0.96 to +0.48 s around it; thresholds are chosen on
    validation.

Source
------
DualTurn (arXiv 2603.08216). Its class list names three label spaces at once; here they are kept
apart. The interval of a figure ignores that probe and thresholds are themselves estimated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.time import to_ticks
from floorbench.core.vocab import MissingPolicy, Role
from floorbench.errors import DataError, Place, UsageError
from floorbench.events.dualturn import (
    RATE,
    SEGMENT_CLASSES,
    SegmentClass,
    SignalRules,
    dualturn_signals,
)
from floorbench.events.dualturn_actions import ACTIONS, ActionEvents, ActionRules, agent_actions
from floorbench.events.dualturn_words import (
    WORD_LABELS,
    PhraseList,
    WordLabels,
    WordRules,
    last_full_frame,
    word_labels,
)
from floorbench.events.spans import Bools
from floorbench.events.traces import on_grid
from floorbench.metrics.base import OK, DueItem, Measure, Scored
from floorbench.metrics.inputs import check_choice
from floorbench.tasks import dualturn_measures as cells
from floorbench.tasks.dualturn_features import (
    ACTION_FEATURES,
    MARGIN,
    OFFSETS,
    WORD_FEATURES,
    Columns,
    action_features,
    end_scores,
    offset_column,
    word_features,
    word_scores,
)
from floorbench.tasks.dualturn_gold import gold_trace
from floorbench.tasks.dualturn_marks import action_marks, end_marks, word_marks
from floorbench.tasks.frame_units import (
    CLUSTERS,
    ROLES,
    EventUnits,
    SessionTask,
    activity,
    outcome_of,
    timed_words,
)
from floorbench.tasks.marks import Marks

Values = dict[str, NDArray[Any]]
VERSION = "1"
ENDS = (SegmentClass.EOT.value, SegmentClass.HOLD.value)
MIN_GAP_HINT = (
    "0 keeps all gaps as HOLD; 4 frames close gaps of up to 0.32 s "
    "(in 41 Switchboard calls 6,703 HOLD at 0, 3,705 at 4)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """A stored list of backchannel phrases, with the rule that made it."""

    utterance_gap: float
    phrases: tuple[str, ...]
    counts: tuple[int, ...]

    def listed(self) -> PhraseList:
        """Return the list as the labels use it."""
        return PhraseList(phrases=self.phrases, counts=self.counts)


class DualTurnTask(SessionTask):
    """The protocol ``dualturn-4s``.

    Parameters
    ----------
    min_gap : int
        Own gaps of at most this many frames are closed before labelling. It has no default,
        because it decides how many holds there are: 0 leaves the word times as they are.
    agents : {'both', 'system'}
        Whose actions are scored.
    phrases : str or None
        List of backchannel phrases of the training sessions (``floorbench fit dualturn-4s
        phrases``); without one the word cells are N/A.
    missing : {'wrong', 'drop'}
        How sessions without a usable answer enter label figures.
    port_compat : bool
        Label actions as the public port does (overlaps under both roles, double labels, seeded
        random negatives): the only setting to set beside the published wF1.
    seed : int
        Of those negatives.
    cluster : {'session', 'speaker'}
        What the bootstrap resamples: sessions, or groups of sessions that share speakers, as a
        check of how much rests on speakers who are heard more than once.

    Raises
    ------
    UsageError
        ``FB103`` for a value outside these.
    DataError
        ``FB236`` for a list of phrases that cannot be read.
    """

    hints: ClassVar[Mapping[str, str]] = {"min_gap": MIN_GAP_HINT}
    """What to give for the parameters without a default, for people who have not."""
    files: ClassVar[tuple[str, ...]] = ("phrases",)
    """The parameters that name a file; a run keeps them by their full path."""

    def __init__(
        self,
        *,
        min_gap: int,
        agents: str = "both",
        phrases: str | None = None,
        missing: str = "wrong",
        port_compat: bool = False,
        seed: int = 0,
        cluster: str = "session",
    ) -> None:
        if not isinstance(min_gap, int) or isinstance(min_gap, bool) or min_gap < 0:
            raise UsageError("FB103", f"min_gap={min_gap!r} is not a number of frames")
        self._signals = SignalRules(min_gap=min_gap)
        self._actions = ActionRules(min_gap=min_gap, port_compat=port_compat)
        self._agents = (
            ROLES if check_choice("agents", agents, ("both", "system")) == "both" else ROLES[1:]
        )
        self._phrases = read_phrases(Path(phrases)) if phrases is not None else None
        self._missing = check_choice("missing", missing, tuple(MissingPolicy))
        self._seed = seed
        self._cluster = check_choice("cluster", cluster, CLUSTERS)
        listed = self._phrases.listed().digest() if self._phrases else None
        self.spec = TaskSpec(
            name="dualturn-4s",
            version=VERSION,
            labels=ACTIONS,
            parameters={
                "min_gap": min_gap,
                "agents": agents,
                "missing": missing,
                "port_compat": port_compat,
                "seed": seed,
                "phrases": listed,
                "utterance_gap": self._phrases.utterance_gap if self._phrases else None,
                "probe": "multinomial logistic, standardised, balanced, L2 1.0, fit on validation",
                "probe_look_ahead_frames": MARGIN,
                "end_score": "eot - hold of the speaker, else p_now of the other",
                "frame_rate": str(RATE),
                "cluster": cluster,
                "strata": "none",
            },
            source="DualTurn (arXiv 2603.08216)",
        )

    def gold(self, sample: Sample) -> Decision:
        """Return a trace that holds the labels themselves."""
        return gold_trace(activity(sample.observation, rate=RATE), self._signals)

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        """Return action, word and end units, session by session.

        Columns: ``gold``, ``split``, ``outcome``; ``features`` of the probes, ``scores`` of words,
        and one score per offset of ends. Sessions without an answer keep their units.
        """
        units = {
            "action": EventUnits(
                vocab={"gold": ACTIONS},
                columns={"features": len(ACTION_FEATURES)},
                cluster=self._cluster,
            ),
            "word": EventUnits(
                vocab={"gold": WORD_LABELS},
                columns={"features": len(WORD_FEATURES), "scores": len(WORD_LABELS)},
                cluster=self._cluster,
            ),
            "end": EventUnits(
                vocab={"gold": ENDS},
                columns={offset_column(d): 0 for d in OFFSETS},
                cluster=self._cluster,
            ),
        }
        for item in items:
            if self.due(item.sample, system):
                self._add(units, item)
        return {kind: found.scored() for kind, found in units.items()}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        """Return wF1 and its classes, word AUCs, and the anticipation of turn ends."""
        missing = (
            "no list of backchannel phrases was given (`floorbench fit dualturn-4s phrases`)"
            if self._phrases is None
            else None
        )
        return [
            *cells.action_measures(
                scored["action"],
                missing=self._missing,
                note=cells.without_actions(scored["action"], scored["end"]),
            ),
            *cells.word_measures(scored["word"], undeclared=missing),
            *cells.end_measures(scored["end"], missing=self._missing),
        ]

    def marks(self, sample: Sample) -> Mapping[str, Marks]:
        """Return actions, words and turn ends of a session, in the order of its units."""
        vad = activity(sample.observation, rate=RATE)
        return {
            "action": action_marks(list(self._actions_of(sample, vad))),
            "word": word_marks(self._words_of(sample)),
            "end": end_marks(vad, self._signals),
        }

    # ---- helpers -----------------------------------------------------------------------------

    def _actions_of(self, sample: Sample, vad: Mapping[Role, Bools]) -> Iterator[ActionEvents]:
        for number, agent in enumerate(self._agents):
            rng = None
            if self._actions.port_compat:
                key = codec.encode([self._seed, sample.id, number])
                rng = np.random.default_rng(np.frombuffer(key, dtype=np.uint8))
            yield agent_actions(vad, self._actions, agent=agent, rng=rng)

    def _words_of(self, sample: Sample) -> WordLabels | None:
        words = {} if self._phrases is None else timed_words(sample.observation)
        if self._phrases is None or not words:
            return None
        rules = WordRules(utterance_gap=to_ticks(self._phrases.utterance_gap))
        return word_labels(words, self._phrases.listed(), rules)

    def _add(self, units: Mapping[str, EventUnits], item: DueItem) -> None:
        sample, prediction = item.sample, item.prediction
        vad = activity(sample.observation, rate=RATE)
        frames = len(vad[ROLES[0]])
        outcome = outcome_of(prediction, sample)
        columns: Columns | None = None
        if prediction is not None and outcome == OK and prediction.decision.trace is not None:
            columns = on_grid(prediction.decision.trace, frames=frames, rate=RATE)
        self._add_actions(units["action"], item, vad, columns, outcome)
        self._add_words(units["word"], item, frames, columns, outcome)
        signals = dualturn_signals(vad, self._signals)
        eot, hold = (SEGMENT_CLASSES.index(SegmentClass(c)) for c in ENDS)
        for role in ROLES:
            own = signals.channels[role]
            use = (own.segment_class == eot) | (own.segment_class == hold)
            end = own.segments.end[use]
            values: Values = {"gold": np.where(own.segment_class[use] == eot, 0, 1)}
            if columns is not None:
                values |= end_scores(columns, role=role, end=end, frames=frames)
            units["end"].add(
                sample, item.condition, item.trial, outcome=outcome, size=len(end), values=values
            )

    def _add_actions(
        self,
        units: EventUnits,
        item: DueItem,
        vad: Mapping[Role, Bools],
        columns: Columns | None,
        outcome: int,
    ) -> None:
        for events in self._actions_of(item.sample, vad):
            mine = events.by_agent
            values: Values = {"gold": events.label[mine]}
            if columns is not None:
                frames = len(next(iter(columns.values())))
                values["features"] = action_features(
                    columns, agent=events.agent, anchor=events.anchor[mine], frames=frames
                )
            units.add(
                item.sample, item.condition, item.trial,
                outcome=outcome, size=int(mine.sum()), values=values,
            )  # fmt: skip

    def _add_words(
        self,
        units: EventUnits,
        item: DueItem,
        frames: int,
        columns: Columns | None,
        outcome: int,
    ) -> None:
        labels = self._words_of(item.sample)
        if labels is None:
            return
        ends = [last_full_frame(w.end, rate=RATE) for w in labels.words]
        frame = np.asarray([-1 if e is None else e for e in ends], dtype=np.int64)
        values: Values = {"gold": labels.label}
        if columns is not None:
            found = word_features(columns, speakers=labels.role, frame=frame, frames=frames)
            values |= {"features": found, "scores": word_scores(found)}
        units.add(
            item.sample, item.condition, item.trial,
            outcome=outcome, size=len(frame), values=values,
        )  # fmt: skip


def read_phrases(path: Path) -> Phrases:
    """Read a stored list of backchannel phrases (``FB236`` when it is none)."""
    try:
        found = codec.read_json(path, Phrases)
    except DataError as error:
        raise DataError("FB236", error.what, where=Place(str(path))) from None
    if len(found.phrases) != len(found.counts) or not found.utterance_gap > 0:
        raise DataError("FB236", "phrases, counts and gap do not fit", where=Place(str(path)))
    return found
