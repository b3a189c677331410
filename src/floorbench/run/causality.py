"""Does a system decide from what it has heard? Change the future and see whether the past moves.

First the unchanged stream is run twice. If that already differs, the system is nondeterministic
and only labels are compared from then on. Then, for several moments ``t`` of each sample (every
moment at which something was decided, and the onset, middle and end of the audio), everything
after ``t`` is replaced on all channels, and reference words that end later with it. Decisions
committed at or before ``t`` must not change.

Replacements: silence, noise, the rest played backwards, and nothing at all (the recording ends).
Where the recording ends at ``t``, the end itself is heard at ``t`` and may be answered at once, so
only decisions committed before ``t`` are compared there. Activity given by the task is replaced in
the same way (for noise: who speaks is silent and the reverse).

Of a system that scores every frame, each frame is a decision, committed at the end of the frame
plus the declared look-ahead. Its scores may not move by more than 0.0001, which leaves room for
arithmetic that depends on the length of its input; a system that does not repeat itself that well
cannot be checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from floorbench.audio.ref import ArrayAudio
from floorbench.core.ports import System
from floorbench.core.prediction import Decision, Event, Trace
from floorbench.core.sample import AudioRef, Observation, Word
from floorbench.core.time import Seconds, Span, exact, from_samples, to_samples
from floorbench.core.vocab import Outcome, Role
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.events.traces import rate_of, trace_values
from floorbench.run.deciding import decide_all
from floorbench.stats.streams import generator
from floorbench.systems.stream import OBSERVED

FUTURES = ("silence", "noise", "reversed", "ended")
MOST = 6
"""Moments per sample at most."""
LEVEL = 0.1
SAME = 1e-4
"""Scores of a frame that differ by no more are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A decision of the past that moved with the future.

    Parameters
    ----------
    sample : str
    time : float
        Media time in seconds up to which the audio was the same.
    future : str
        What the audio after it was replaced by.
    before, after : str
        The decisions up to ``time`` in the unchanged run and in the changed one.
    """

    sample: str
    time: Seconds
    future: str
    before: str
    after: str

    def __str__(self) -> str:
        return (
            f"{self.sample}: with {self.future} after {self.time:.3f} s the decisions up to then "
            f"change from {self.before} to {self.after}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Causality:
    """What the check found.

    Parameters
    ----------
    samples, comparisons, decisions : int
        Samples streamed; pasts compared; decisions made in the unchanged runs.
    nondeterministic : int
        Samples whose unchanged run did not repeat; scores per frame are not compared there.
    outcomes : mapping of str to int
        What became of the unchanged runs; those that are not ok prove nothing.
    violations : tuple of Violation
    """

    samples: int
    comparisons: int
    decisions: int
    nondeterministic: int
    outcomes: Mapping[str, int]
    violations: tuple[Violation, ...]

    @property
    def causal(self) -> bool | None:
        """``None`` when nothing could be compared."""
        if self.violations:
            return False
        return True if self.comparisons else None


@dataclass(slots=True)
class _Tally:
    comparisons: int = 0
    decisions: int = 0
    nondeterministic: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    violations: list[Violation] = field(default_factory=list)


def check_causality(
    system: System, observations: Iterable[tuple[str, Observation]], *, seed: int = 0
) -> Causality:
    """Check a loaded system on some observations.

    Parameters
    ----------
    system : System
        A stream with its driver, or a system whose decisions carry commit times.
    observations : iterable of (str, Observation)
        A name to report, and what the system may see.
    seed : int
        Of the noise.

    Raises
    ------
    UsageError
        ``FB541`` when no decision carries a commit time.
    """
    tally = _Tally()
    count = 0
    for name, observation in observations:
        count += 1
        _check_one(system, name, observation, tally, seed)
    if count and not tally.decisions and not tally.comparisons and tally.outcomes["ok"]:
        raise UsageError("FB541", f"'{system.spec.name}' commits to nothing at any time")
    return Causality(
        samples=count,
        comparisons=tally.comparisons,
        decisions=tally.decisions,
        nondeterministic=tally.nondeterministic,
        outcomes=dict(sorted(tally.outcomes.items())),
        violations=tuple(tally.violations),
    )


def _check_one(
    system: System, name: str, observation: Observation, tally: _Tally, seed: int
) -> None:
    first = _ask(system, observation)
    again = _ask(system, observation)
    tally.outcomes[first.outcome.value] += 1
    if first.outcome is not Outcome.OK:
        return
    if first.trace is not None:
        _check_scores(system, name, observation, first.trace, again.trace, tally, seed)
        return
    made = _commits(first)
    if made is None:
        return
    tally.decisions += len(made)
    labels_only = made != _commits(again)
    tally.nondeterministic += labels_only
    for time in moments(made, observation):
        for future in FUTURES:
            changed = altered(observation, after=time, future=future, seed=seed)
            then = _commits(_ask(system, changed)) or []
            ends = future == "ended"
            before = _past(made, time, labels_only, ends=ends)
            after = _past(then, time, labels_only, ends=ends)
            tally.comparisons += 1
            if before != after:
                tally.violations.append(
                    Violation(
                        sample=name, time=time, future=future,
                        before=_say(before), after=_say(after),
                    )
                )  # fmt: skip


def _check_scores(
    system: System,
    name: str,
    observation: Observation,
    made: Trace,
    again: Trace | None,
    tally: _Tally,
    seed: int,
) -> None:
    """Compare the scores of all frames committed before some moments spread over the session."""
    tally.decisions += made.frames
    if _moved(made, again, np.inf, ends=False) is not None:
        tally.nondeterministic += 1
        return
    end = _end(observation)
    for time in sorted({round(end * n / (MOST + 1), 3) for n in range(1, MOST + 1)}):
        for future in FUTURES:
            changed = altered(observation, after=time, future=future, seed=seed)
            tally.comparisons += 1
            found = _moved(made, _ask(system, changed).trace, time, ends=future == "ended")
            if found is not None:
                before, after = found
                tally.violations.append(
                    Violation(sample=name, time=time, future=future, before=before, after=after)
                )


def _moved(made: Trace, then: Trace | None, time: Seconds, *, ends: bool) -> tuple[str, str] | None:
    """Return the first score committed by ``time`` that another trace does not have, and its own.

    ``None`` when there is none. A trace that ends before ``time`` is no answer to what it heard.
    """
    commit = _commit_times(made)
    past = int(np.searchsorted(commit, time, side="left" if ends else "right"))
    if then is None or then.columns != made.columns or then.rate != made.rate:
        return f"{counted(past, 'frame')} of {', '.join(made.columns)}", "no such scores"
    if then.look_ahead != made.look_ahead or then.frames < past:
        return (
            f"{counted(past, 'frame')}, look-ahead {made.look_ahead:g} s",
            f"{counted(then.frames, 'frame')}, look-ahead {then.look_ahead:g} s",
        )
    one, other = trace_values(made)[:past], trace_values(then)[:past]
    apart = np.argwhere(np.abs(one - other) > SAME)
    if not len(apart):
        return None
    frame, k = apart[0].tolist()
    at = f"at {commit[frame]:.3f} s"
    return (
        f"{made.columns[k]} {one[frame, k]:.4f} {at}",
        f"{made.columns[k]} {other[frame, k]:.4f} {at}",
    )


def _commit_times(trace: Trace) -> NDArray[np.float64]:
    """Return when each frame was committed, each time rounded once."""
    ahead, frame = exact(trace.look_ahead), 1 / rate_of(trace)
    return np.array([float(n * frame + ahead) for n in range(1, trace.frames + 1)])


def _ask(system: System, observation: Observation) -> Decision:
    return decide_all(system, [observation], timeout=None)[0].decision


def _commits(decision: Decision) -> list[Event] | None:
    """Return what was decided when; ``None`` when nothing has a time."""
    if decision.events:
        return [e for e in decision.events if e.kind != OBSERVED and e.commit is not None]
    if decision.commit is None:
        return None
    return [
        Event(kind="answer", time=decision.commit, commit=decision.commit, label=decision.label)
    ]


def moments(made: Sequence[Event], observation: Observation) -> list[Seconds]:
    """Return the moments after which the future is changed, in order."""
    end = _end(observation)
    commits = sorted({e.commit for e in made if e.commit is not None and e.commit < end})
    picked = commits[: MOST - 3]
    picked += [round(end * share, 3) for share in (0.25, 0.5, 0.75)]
    return sorted(set(picked))


def altered(observation: Observation, *, after: Seconds, future: str, seed: int = 0) -> Observation:
    """Return an observation that is the same up to ``after`` and different from then on.

    Parameters
    ----------
    observation : Observation
    after : float
        Media time in seconds.
    future : str
        One of ``FUTURES``.
    seed : int
        Of the noise.

    Raises
    ------
    UsageError
        ``FB103`` for an unknown kind of future.
    """
    if future not in FUTURES:
        raise UsageError("FB103", f"future='{future}' is not one of {', '.join(FUTURES)}")
    channels: dict[Role, AudioRef] = {}
    for role, audio in observation.channels.items():
        samples = audio.read()
        first = min(to_samples(after, audio.rate), samples.size)
        rest = samples[first:]
        if future == "ended":
            kept = samples[:first]
        else:
            noise = generator(seed, "causality", role.value, future)
            kept = np.concatenate([samples[:first], _future(rest, future, noise)])
        if not kept.size:
            kept = np.zeros(1, dtype=np.float32)
        channels[role] = ArrayAudio(kept, rate=audio.rate)
    words = tuple(_word(w, after, future) for w in observation.words)
    end = _end(observation)
    activity = {r: _speech(s, after, end, future) for r, s in observation.activity.items()}
    cutoff = observation.cutoff
    if future == "ended" and cutoff is not None:
        cutoff = min(cutoff, after)
    return replace(
        observation,
        channels=channels,
        words=tuple(w for w in words if w is not None),
        activity=activity,
        cutoff=cutoff,
    )


def _future(
    rest: NDArray[np.float32], future: str, noise: np.random.Generator
) -> NDArray[np.float32]:
    if future == "silence":
        return np.zeros_like(rest)
    if future == "reversed":
        return rest[::-1].copy()
    return (LEVEL * noise.standard_normal(rest.size)).clip(-1, 1).astype(np.float32)


def _word(word: Word, after: Seconds, future: str) -> Word | None:
    """Keep what has been said; what ends later is gone, or becomes another word."""
    if word.span is None or word.span.end <= after:
        return word
    if future in ("silence", "ended"):
        return None
    start = max(word.span.start, after)
    return replace(word, text="something", span=Span(start, max(word.span.end, start)))


def _speech(spans: Sequence[Span], after: Seconds, end: Seconds, future: str) -> tuple[Span, ...]:
    """Return activity that is the same up to ``after`` and another one from there to ``end``."""
    past = [Span(s.start, min(s.end, after)) for s in spans if s.start < after]
    rest = [Span(max(s.start, after), s.end) for s in spans if s.end > after]
    if future == "reversed":
        rest = [Span(_back(after, end, s.end), _back(after, end, s.start)) for s in rest[::-1]]
    elif future == "noise":
        edges = [after, *(t for s in rest for t in (s.start, s.end)), end]
        pairs = zip(edges[::2], edges[1::2], strict=True)
        rest = [Span(a, b) for a, b in pairs if b > a]
    else:
        rest = []
    return (*past, *rest)


def _back(after: Seconds, end: Seconds, time: Seconds) -> Seconds:
    """Return where a time lies when what is between ``after`` and ``end`` runs backwards."""
    return max(after, round(after + end - time, 6))


def _past(made: Sequence[Event], time: Seconds, labels_only: bool, *, ends: bool) -> list[object]:
    """Return what was committed up to ``time``, or before it where the recording ends then."""
    past = [
        e for e in made if e.commit is not None and (e.commit < time if ends else e.commit <= time)
    ]
    return [e.label or e.kind for e in past] if labels_only else list(past)


def _say(past: Sequence[object]) -> str:
    said = [
        f"{e.label or e.kind} at {e.commit:.3f} s" if isinstance(e, Event) and e.commit is not None
        else str(e)
        for e in past
    ]  # fmt: skip
    return ", ".join(said) or "nothing"


def _end(observation: Observation) -> Seconds:
    """Return how far the observation reaches."""
    lengths = [from_samples(a.frames, a.rate) for a in observation.channels.values()]
    lengths += [spans[-1].end for spans in observation.activity.values() if spans]
    heard = max(lengths, default=0.0)
    if observation.cutoff is None:
        return heard
    return min(heard, observation.cutoff) if observation.channels else observation.cutoff
