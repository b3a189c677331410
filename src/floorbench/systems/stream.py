"""The stream driver: it owns the clock, pushes audio step by step and stamps every decision.

A streaming system declares its step (``spec.streaming_step``, seconds) and its sampling rate
(``spec.front_end.rate``). The driver pushes user and system channel together, one step at a time,
and stamps what comes back with the *commit time*: the end of the step just heard, whatever the
system says of itself. Time on the wall is measured apart and never enters a decision.

The system gets no recording, only steps: not the length of the audio, not the insertion, not the
words to come. A system that declares the modality ``words`` gets each reference word in the first
step that ends at or after the word's end plus ``spec.parameters["word_delay"]`` seconds.

Each step is resampled by itself from the audio up to its own end, so resampling hears no future.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from floorbench.audio.decode import RATES
from floorbench.core.ports import Session, StreamSystem
from floorbench.core.prediction import Decision, Event
from floorbench.core.sample import AudioRef, Observation, Word
from floorbench.core.spec import SystemSpec
from floorbench.core.time import Seconds, exact, from_samples, to_samples
from floorbench.core.vocab import Outcome, Role
from floorbench.core.words import counted
from floorbench.errors import DataError, FloorbenchError, SystemProblem
from floorbench.systems.common import refusal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OBSERVED = "observed"
"""Kind of the event that says up to which media time a stream was heard to its end."""
CONTEXT = 0.05
"""Seconds before a step that its resampling may use."""
LONGEST_STEP = 60.0
"""Seconds that one step may last."""
ROLES = (Role.USER, Role.SYSTEM)
_LISTS = (tuple, list)


@dataclass(slots=True, kw_only=True, eq=False)
class Step:
    """One step of synchronous audio, and the reference words that it reveals."""

    start: Seconds
    end: Seconds
    rate: int
    samples: Mapping[Role, NDArray[np.float32]]
    words: tuple[Word, ...] = ()


@dataclass(slots=True, kw_only=True)
class Clocks:
    """What one stream cost on the wall clock, in seconds, beside its media clock.

    Attributes
    ----------
    steps : list of float
        Wall time of each push.
    overruns : int
        Steps that took longer than they last.
    late : float
        Under pacing: the furthest that the stream fell behind the wall clock.
    """

    steps: list[float] = field(default_factory=list)
    overruns: int = 0
    late: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Driven:
    """The decision of one stream and its clocks."""

    decision: Decision
    clocks: Clocks


class StreamDriver:
    """Makes a streaming system answer observations.

    Parameters
    ----------
    system : StreamSystem
    realtime : bool
        Push each step no earlier than the wall clock reaches its end, and count overruns.

    Raises
    ------
    SystemProblem
        ``FB542`` when the declared step (up to 60 s), rate or delay of words cannot be used.
    """

    def __init__(self, system: StreamSystem, *, realtime: bool = False) -> None:
        self.system = system
        self._realtime = realtime
        self.totals = Clocks()
        self.spec = self._declared_spec()

    def load(self) -> None:
        """Load the system and take over what its spec says then."""
        self.system.load()
        self.spec = self._declared_spec()

    def decide(self, observation: Observation) -> Decision:
        """Stream one observation and return its events."""
        return self.drive(observation).decision

    def drive(self, observation: Observation) -> Driven:
        """Stream one observation.

        Whatever the system raises ends the stream: ``TimeoutError`` as ``timeout``, anything else
        as ``failed``; what it had decided before stays in the events. The last event says up to
        where the stream was heard.
        """
        clocks = Clocks()
        refused = refusal(self.spec, observation)
        if refused is not None:
            return Driven(decision=refused, clocks=clocks)
        events: list[Event] = []
        reached = 0.0
        outcome, reason = Outcome.OK, None
        session: Session | None = None
        length = 0.0
        try:
            session = self.system.open(at_the_start(observation))
            length = float(self.spec.streaming_step or 0.0)
            clock, push, walls = time.perf_counter, session.push, clocks.steps
            began = clock()
            for step in steps(observation, self.system.spec):
                if self._realtime:
                    self._pace(began + step.end, clocks)
                before = clock()
                said = push(step)
                walls.append(clock() - before)
                if said or said.__class__ not in _LISTS:
                    events += stamped(said, step.end)
                reached = step.end
            last, session = session, None
            events += stamped(last.close(), reached)
        except TimeoutError as error:
            outcome, reason = Outcome.TIMEOUT, str(error) or "the stream did not answer in time"
        except FloorbenchError as error:
            if isinstance(error, DataError) and error.code.startswith("FB3"):
                raise
            outcome, reason = Outcome.FAILED, f"{error.code} {error.what}"
        except Exception as error:
            said_ = str(error).splitlines()
            outcome, reason = Outcome.FAILED, ": ".join([type(error).__name__, *said_[:1]])
        finally:
            if session is not None:
                _abandon(session)
        clocks.overruns = sum(wall > length for wall in clocks.steps)
        events.append(Event(kind=OBSERVED, time=reached, commit=reached))
        self._add(clocks)
        decision = Decision(outcome=outcome, events=tuple(events), reason=reason)
        return Driven(decision=decision, clocks=clocks)

    def _declared_spec(self) -> SystemSpec:
        """Return the system's own spec; pacing is noted in its parameters."""
        spec = self.system.spec
        _declared(spec)
        if self._realtime:
            return replace(spec, parameters={**spec.parameters, "realtime": True})
        return spec

    def report(self) -> str:
        """Return one sentence on the wall clock of everything streamed so far."""
        taken = sorted(self.totals.steps)
        if not taken:
            return "nothing was streamed"
        high = taken[min(len(taken) - 1, math.ceil(0.99 * len(taken)) - 1)]
        text = (
            f"{counted(len(taken), 'step')}, 99 % within {1000 * high:.1f} ms of compute, "
            f"{counted(self.totals.overruns, 'overrun')}"
        )
        if self._realtime:
            text += f"; at most {1000 * self.totals.late:.0f} ms behind the wall clock"
        return text

    def _pace(self, due: float, clocks: Clocks) -> None:
        ahead = due - time.perf_counter()
        if ahead > 0:
            time.sleep(ahead)
        else:
            clocks.late = max(clocks.late, -ahead)

    def _add(self, clocks: Clocks) -> None:
        self.totals.steps += clocks.steps
        self.totals.overruns += clocks.overruns
        self.totals.late = max(self.totals.late, clocks.late)


def driven(system: Any) -> Any:
    """Return a system that answers observations: streams get a driver, others stay as they are."""
    if callable(getattr(system, "open", None)) and not callable(getattr(system, "decide", None)):
        return StreamDriver(system)
    return system


def at_the_start(observation: Observation) -> Observation:
    """Return what is known before the first step: language, state, history; no audio, no end."""
    return replace(
        observation, channels={}, text=None, words=(), activity={}, spoken_prefix=None, cutoff=None
    )


def steps(observation: Observation, spec: SystemSpec) -> Iterator[Step]:
    """Cut an observation into the steps that a system declares.

    The stream ends with the first step that reaches the observation's cutoff, or the end of the
    longest channel when there is none. What lies past a channel's end is silence.
    """
    step, rate = _declared(spec)
    channels = [observation.channels.get(role) for role in ROLES]
    end = observation.cutoff
    if end is None:
        end = max(from_samples(a.frames, a.rate) if a is not None else 0.0 for a in channels)
    count = math.ceil(round(end * rate / step, 6))
    heard = to_samples(end, rate)
    user, system = (_track(a, rate, step, count, heard) for a in channels)
    hidden = list(observation.words) if "words" in spec.modalities else []
    delay = exact(spec.parameters.get("word_delay", 0.0))
    one, two = ROLES  # looking a member up in its enumeration costs as much as a copy
    for number in range(count):
        first, last = number * step, (number + 1) * step
        told: tuple[Word, ...] = ()
        if hidden:
            now = exact(last) / rate
            told = tuple(w for w in hidden if w.span and exact(w.span.end) + delay <= now)
            hidden = [w for w in hidden if w not in told]
        samples = {one: user(first, last), two: system(first, last)}
        yield Step(start=first / rate, end=last / rate, rate=rate, samples=samples, words=told)


def stamped(said: object, end: Seconds) -> list[Event]:
    """Return events with the commit time of the step that they came back from.

    Raises
    ------
    SystemProblem
        ``FB543`` for something that is no event, an event that happens before the recording or
        after what was heard, and one of the kind that the driver keeps for itself.
    """
    if not isinstance(said, Sequence) or isinstance(said, str | bytes):
        raise SystemProblem("FB543", f"a step returned {type(said).__name__}, not a list of events")
    out = []
    for event in said:
        if not isinstance(event, Event):
            raise SystemProblem("FB543", f"a step returned a {type(event).__name__}")
        if not isinstance(event.time, int | float) or not math.isfinite(event.time):
            raise SystemProblem("FB543", f"an event at {event.time!r} s")
        if event.time < 0:
            raise SystemProblem("FB543", f"an event at {event.time} s, before the recording")
        if event.kind == OBSERVED:
            raise SystemProblem("FB543", f"an event of kind '{OBSERVED}', kept for the driver")
        if event.time > end + 1e-9:
            raise SystemProblem("FB543", f"an event at {event.time} s when {end} s were heard")
        out.append(replace(event, commit=end))
    return out


def _track(
    audio: AudioRef | None, rate: int, step: int, count: int, heard: int
) -> Callable[[int, int], NDArray[np.float32]]:
    """Return one channel as a function from a step's first and last sample to its samples.

    Up to ``heard`` samples sound, all else is silence, and so is a channel that is not there.
    """
    import numpy as np

    whole = np.zeros(count * step, dtype=np.float32)
    if audio is None or audio.rate == rate:
        if audio is not None:
            samples = audio.read()[:heard]
            whole[: samples.size] = samples
        # A copy: a view would let the system reach the rest of the recording.
        return lambda first, last: whole[first:last].copy()
    source, samples = audio.rate, audio.read()

    def resampled(first: int, last: int) -> NDArray[np.float32]:
        from floorbench.audio.decode import resample

        until = min(last, heard)
        begin = max(0, first - to_samples(CONTEXT, rate))
        a, b = (to_samples(exact(n) / rate, source) for n in (begin, until))
        out = np.zeros(last - first, dtype=np.float32)
        if a >= samples.size:
            return out
        part = resample(samples[a:b], source=source, target=rate)[first - begin : until - begin]
        out[: part.size] = part
        return out

    return resampled


def _declared(spec: SystemSpec) -> tuple[int, int]:
    """Return step in samples and rate in Hz, after a look at the delay of words."""
    rate, step = spec.front_end.rate, spec.streaming_step
    if (
        rate is None
        or not RATES[0] <= rate <= RATES[1]
        or step is None
        or not 0 < step <= LONGEST_STEP
    ):
        raise SystemProblem("FB542", f"'{spec.name}' declares step {step!r} s at {rate!r} Hz")
    delay = spec.parameters.get("word_delay", 0.0)
    known = isinstance(delay, int | float) and math.isfinite(delay) and delay >= 0
    if not known:  # below 0, words would be told before they are spoken
        raise SystemProblem("FB542", f"'{spec.name}' declares a word delay of {delay!r} s")
    count = exact(step) * rate
    if count.denominator != 1:
        raise SystemProblem(
            "FB542", f"'{spec.name}': a step of {step:g} s at {rate} Hz is not whole samples"
        )
    return int(count), rate


def _abandon(session: Session) -> None:
    """Close a stream that has failed; what it raises now adds nothing."""
    with contextlib.suppress(Exception):
        session.close()
