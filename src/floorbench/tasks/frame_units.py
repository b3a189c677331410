"""Scoring units of sessions: events and words with the scores that a trace has for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.time import exact, to_ticks
from floorbench.core.vocab import Outcome, Role
from floorbench.core.words import counted
from floorbench.errors import DataError, Place
from floorbench.events.dualturn_words import TimedWord
from floorbench.events.frames import session_activity
from floorbench.events.spans import Bools, spans_to_ticks
from floorbench.events.traces import fits, rate_of, trace_problem
from floorbench.metrics.base import INVALID, OK, Scored
from floorbench.tasks.units import outcome_code, stratum_code

ROLES = (Role.USER, Role.SYSTEM)
OTHER = {Role.USER: Role.SYSTEM, Role.SYSTEM: Role.USER}
CLUSTERS = ("session", "speaker")
SPLITS = ("train", "validation", "test", "")


class EventUnits:
    """Columns of units, appended session by session.

    Parameters
    ----------
    vocab : mapping of str to tuple of str
        Label sets of coded columns, ``gold`` among them.
    columns : mapping of str to int
        Columns of floats and their widths; 0 for one number a unit.

    cluster : {'session', 'speaker'}
        What is resampled as a whole. With ``speaker``, sessions that share a speaker, directly or
        through others, are one cluster, so that no speaker is in two.

    Raises
    ------
    DataError
        ``FB259`` (from :meth:`add`) for a session without speakers where they make the clusters.

    Notes
    -----
    The weight of a unit is 1 / trials of its session, so that trials are averaged first.
    """

    def __init__(
        self,
        *,
        vocab: Mapping[str, tuple[str, ...]],
        columns: Mapping[str, int],
        cluster: str = "session",
    ) -> None:
        self._cluster = cluster
        self._speakers: dict[str, str] = {}
        self._groups: dict[str, str] = {}
        self._vocab = {**vocab, "split": SPLITS}
        self._widths = dict(columns)
        self._parts: dict[str, list[NDArray[np.float64]]] = {
            name: [] for name in (*self._vocab, *columns)
        }
        self._clusters: dict[str, int] = {}
        self._strata: list[int] = []
        self._trials: dict[tuple[str, str], set[int]] = {}
        self._blocks: list[tuple[str, str, int, int, int]] = []

    def add(
        self,
        sample: Sample,
        condition: str,
        trial: int,
        *,
        outcome: int,
        size: int,
        values: Mapping[str, NDArray[np.generic]],
    ) -> None:
        """Append ``size`` units of one prediction; columns left out are NaN."""
        key = (sample.id, condition)
        self._trials.setdefault(key, set()).add(trial)
        if self._cluster == "speaker":
            self._meet(sample)
        if not size:
            return
        if sample.cluster not in self._clusters:
            self._clusters[sample.cluster] = len(self._clusters)
            self._strata.append(stratum_code(sample.stratum))
        code = self._clusters[sample.cluster]
        self._blocks.append((*key, outcome, size, code))
        split = SPLITS.index(sample.tags.get("split", ""))
        given = {"split": np.full(size, split), **values}
        for name, parts in self._parts.items():
            width = self._widths.get(name, 0)
            shape = (size, width) if width else (size,)
            parts.append(
                np.asarray(given[name], dtype=np.float64).reshape(shape)
                if name in given
                else np.full(shape, np.nan)
            )

    def _meet(self, sample: Sample) -> None:
        """Put the speakers of a session into one group with all whom they have talked to."""
        names = [v for k, v in sample.tags.items() if k.startswith("speaker.")]
        if len(names) < len(ROLES):
            raise DataError(
                "FB259", f"session '{sample.id}' names {counted(len(names), 'speaker')}"
            )
        groups = {self._speakers.setdefault(name, name) for name in names}
        for name, group in self._speakers.items():
            if group in groups:
                self._speakers[name] = min(groups)
        self._groups[sample.cluster] = names[0]

    def _merged(self) -> tuple[NDArray[np.int64], tuple[str, ...], NDArray[np.int64]]:
        """Return the cluster of each session's code, the clusters' names and their strata."""
        named = list(self._clusters)
        if self._cluster == "speaker":
            named = [f"speakers of {self._speakers[self._groups[name]]}" for name in named]
        names = tuple(dict.fromkeys(named))
        code = np.asarray([names.index(name) for name in named], dtype=np.int64)
        first = [named.index(name) for name in names]
        return code, names, np.asarray(self._strata, dtype=np.int64)[first]

    def scored(self) -> Scored:
        """Return the units as columns."""
        columns = {}
        for name in (*self._vocab, *self._widths):
            width = self._widths.get(name, 0)
            empty = np.empty((0, width) if width else (0,))
            whole = np.concatenate([empty, *self._parts[name]])
            columns[name] = whole.astype(np.int64) if name in self._vocab else whole
        sizes = [size for *_, size, _ in self._blocks]
        merged, names_of_clusters, strata = self._merged()
        cluster = [int(merged[code]) for *_, code in self._blocks]
        weight = [1.0 / len(self._trials[i, c]) for i, c, *_ in self._blocks]
        outcome = [code for _, _, code, _, _ in self._blocks]
        names = [i for i, *_ in self._blocks]
        return Scored(
            cluster=np.repeat(np.asarray(cluster, dtype=np.int64), sizes),
            clusters=names_of_clusters,
            strata=strata,
            weight=np.repeat(np.asarray(weight, dtype=np.float64), sizes),
            columns={
                **columns,
                "outcome": np.repeat(np.asarray(outcome, dtype=np.int64), sizes),
            },
            vocab=self._vocab,
            units=tuple(n for n, size in zip(names, sizes, strict=True) for _ in range(size)),
        )


def outcome_of(prediction: Prediction | None, sample: Sample) -> int:
    """Return the outcome code of a prediction; an answer without a usable trace is invalid."""
    code = outcome_code(prediction)
    if prediction is None or code != OK:
        return code
    return OK if frame_problem(sample, prediction.decision) is None else INVALID


def frame_problem(sample: Sample, decision: Decision) -> str | None:
    """Say why a decision holds no scores for every frame of a session, or return ``None``."""
    if decision.outcome is not Outcome.OK:
        return None
    trace = decision.trace
    if trace is None:
        return "no scores per frame"
    problem = trace_problem(trace)
    if problem is not None:
        return problem
    seconds = exact(sample.observation.cutoff or 0.0)
    if not fits(trace, seconds=seconds):
        covered = float(trace.frames / rate_of(trace))
        return (
            f"frame rate does not match: {counted(trace.frames, 'frame')} "
            f"at {trace.rate} a second are "
            f"{covered:.2f} s, the session has {float(seconds):.2f} s"
        )
    return None


class SessionTask:
    """What the protocols over whole sessions share: one condition, answered by a trace.

    A subclass gives its ``spec``.
    """

    spec: TaskSpec

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        """Return the only condition."""
        return self.spec.conditions

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        """Return the whole session, in the declared modalities; systems hear it in order."""
        if condition not in self.spec.conditions:
            raise DataError("FB222", f"there is no condition '{condition}'")
        return shown_to(sample.observation, system)

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        """Tell whether a session is asked for: all but those of the training split."""
        return sample.tags.get("split") != "train"

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        """Say what is wrong with a decision made elsewhere, or return ``None``."""
        return frame_problem(sample, decision)


def shown_to(observation: Observation, system: SystemSpec | None) -> Observation:
    """Return what a system is shown of a session: what its declared modalities ask for.

    ``audio`` shows the channels, ``activity`` who speaks when, ``text`` or ``words`` the words with
    their times. Activity and words are the annotation that the gold labels are made from, so a
    system that listens to audio alone never gets them. Without a system all is shown.
    """
    if system is None:
        return observation
    told = set(system.modalities)
    return replace(
        observation,
        channels=observation.channels if "audio" in told else {},
        activity=observation.activity if "activity" in told else {},
        words=observation.words if told & {"text", "words"} else (),
    )


def activity(observation: Observation, *, rate: Fraction) -> dict[Role, Bools]:
    """Return binary activity of both channels.

    Raises
    ------
    DataError
        ``FB251`` when an observation does not give the activity of two channels.
    """
    if set(observation.activity) != set(ROLES) or observation.cutoff is None:
        named = ", ".join(observation.activity) or "none"
        raise DataError("FB251", f"activity of two channels is needed, given: {named}")
    speech = {r: spans_to_ticks(observation.activity[r], name=r) for r in ROLES}
    return session_activity(speech, end=to_ticks(observation.cutoff), rate=rate)


def timed_words(observation: Observation) -> dict[Role, list[TimedWord]]:
    """Return the words of both channels in ticks, empty without word times."""
    if not any(w.span is not None for w in observation.words):
        return {}
    out: dict[Role, list[TimedWord]] = {role: [] for role in ROLES}
    for word in observation.words:
        if word.role not in out:
            raise DataError("FB251", f"a word of '{word.role}'", where=Place(item=word.text))
        if word.span is not None:
            out[word.role].append(
                TimedWord(word.text, to_ticks(word.span.start), to_ticks(word.span.end))
            )
    return out


def around(anchor: NDArray[np.int64], *, margin: int, frames: int) -> NDArray[np.int64]:
    """Return frames ``anchor - margin .. anchor + margin`` inside the session, ``(n, 2m + 1)``.

    Frames outside the session are replaced by the nearest one inside.
    """
    grid = anchor[:, None] + np.arange(-margin, margin + 1)[None, :]
    out: NDArray[np.int64] = np.clip(grid, 0, max(frames - 1, 0))
    return out


def split_of(scored: Scored, names: Sequence[str]) -> Bools:
    """Return which units belong to one of some splits."""
    codes = [SPLITS.index(n) for n in names]
    found: Bools = np.isin(scored.column("split"), codes)
    return found
