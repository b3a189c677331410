"""Asking a system and not believing a word of it: every question ends in one lawful Decision.

All executors, and the worker processes, go through :func:`decide_all`, so that an item gets the
same decision wherever it is computed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from floorbench import codec
from floorbench.core.ports import System
from floorbench.core.prediction import Compute, Decision, Event, Served
from floorbench.core.sample import JsonValue, Observation
from floorbench.core.vocab import Outcome
from floorbench.errors import FloorbenchError, SystemProblem
from floorbench.events.traces import trace_problem
from floorbench.systems.build import build_system, check_spec

REASON_LENGTH = 240


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemChoice:
    """Which system to run, in a form that another process can build again.

    Parameters
    ----------
    name : str
        A catalogued name, ``path/to/file.py:Class`` or ``package.module:attribute``.
    parameters : mapping
        Keyword arguments, JSON values.
    factory : callable or None
        Builds the system in this process only; the serial and thread executors take it, the
        process executor refuses it.
    """

    name: str
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    factory: Callable[[], System] | None = None

    def build(self) -> System:
        """Build and load the system.

        Raises
        ------
        SystemProblem
            ``FB501`` with the system's own reason when building or loading raises.
        FloorbenchError
            Errors that floorbench raised itself (unknown name, missing extra) pass through.
        """
        try:
            system = self._construct()
            system.load()
            check_spec(self.name, system)
        except (FloorbenchError, KeyboardInterrupt):
            raise
        except BaseException as error:
            raise SystemProblem(
                "FB501", f"system '{self.name}' cannot be loaded: {short_reason(error)}"
            ) from error
        if not callable(getattr(system, "decide", None)):
            raise SystemProblem(
                "FB501",
                f"system '{self.name}' has no `decide`",
                hint="A system that decides while it listens needs a driver around it.",
            )
        return system

    def _construct(self) -> System:
        if self.factory is not None:
            return self.factory()
        return build_system(self.name, **self.parameters)


def takes_batches(system: System) -> bool:
    """Tell whether a loaded system answers several questions at once."""
    return callable(getattr(system, "decide_batch", None))


class Answered(NamedTuple):
    """A lawful decision and what it cost."""

    decision: Decision
    compute: Compute


def decide_all(
    system: System,
    observations: Sequence[Observation],
    *,
    timeout: float | None,
    alone: bool = True,
) -> list[Answered]:
    """Ask a system about some observations; never raises for what the system does.

    A system with ``decide_batch`` is asked once. When that call raises or returns a list of the
    wrong length, or when the mean of the batch is above ``timeout``, every item is asked by itself,
    so that no decision depends on its neighbours. An answer later than ``timeout`` seconds is a
    ``timeout`` even where it could not be cut off.

    Parameters
    ----------
    system : System
    observations : sequence of Observation
    timeout : float or None
        Seconds an answer may take.
    alone : bool
        Nothing else computes in this process, so that its processor seconds are the system's.
    """
    batch = getattr(system, "decide_batch", None)
    if len(observations) > 1 and callable(batch):
        clock = _Clock(alone)
        try:
            decisions = batch(list(observations))
        except KeyboardInterrupt:
            raise
        except BaseException:
            decisions = None
        wall, cpu = clock.stop()
        late = timeout is not None and wall > timeout * len(observations)
        whole = isinstance(decisions, Sequence) and len(decisions) == len(observations)
        if whole and not late:
            costs = _shares(wall, cpu, _tokens(system), len(observations))
            return [Answered(checked(d), cost) for d, cost in zip(decisions, costs, strict=True)]
    return [_decide(system, observation, timeout, alone) for observation in observations]


class _Clock:
    """Seconds by the clock and, where they can be told, of the processor."""

    def __init__(self, alone: bool) -> None:
        self._cpu = time.process_time() if alone else None
        self._wall = time.perf_counter()

    def stop(self) -> tuple[float, float | None]:
        wall = time.perf_counter() - self._wall
        return wall, None if self._cpu is None else time.process_time() - self._cpu


def _shares(
    wall: float, cpu: float | None, tokens: tuple[int, int] | None, size: int
) -> list[Compute]:
    """Share the cost of a batch out; whole tokens, the first questions take the odd ones."""

    def part(total: int, number: int) -> int:
        return total // size + (number < total % size)

    return [
        Compute(
            wall=wall / size,
            cpu=None if cpu is None else cpu / size,
            tokens_in=None if tokens is None else part(tokens[0], n),
            tokens_out=None if tokens is None else part(tokens[1], n),
            batch=size,
        )
        for n in range(size)
    ]


def _decide(
    system: System, observation: Observation, timeout: float | None, alone: bool
) -> Answered:
    clock = _Clock(alone)
    try:
        decision: object = system.decide(observation)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        decision = Decision(outcome=Outcome.FAILED, reason=short_reason(error))
    wall, cpu = clock.stop()
    read, written = _tokens(system) or (None, None)
    cost = Compute(wall=wall, cpu=cpu, tokens_in=read, tokens_out=written)
    return _timed(checked(decision), cost, timeout)


def _tokens(system: System) -> tuple[int, int] | None:
    """Return the tokens a system says it spent; a system that says nonsense says nothing."""
    spent = getattr(system, "spent", None)
    if not callable(spent):
        return None
    try:
        read, written = spent()
    except (Exception, SystemExit):
        return None
    fine = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in (read, written))
    return (read, written) if fine else None


def _timed(decision: Decision, cost: Compute, timeout: float | None) -> Answered:
    if timeout is not None and cost.wall is not None and cost.wall > timeout:
        decision = timed_out(timeout)
    return Answered(decision, cost)


def timed_out(timeout: float) -> Decision:
    """Return the decision of an item that took longer than allowed."""
    return Decision(outcome=Outcome.TIMEOUT, reason=f"no answer within {timeout:g} s")


def short_reason(error: BaseException) -> str:
    """Return one line that says what was raised; never a traceback."""
    if isinstance(error, FloorbenchError):
        text = f"{error.code} {error.what}"
    else:
        message = _message(error).strip().splitlines()
        text = type(error).__name__ + (f": {message[0]}" if message else "")
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= REASON_LENGTH else text[: REASON_LENGTH - 1] + "…"


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # an error of the system whose own text is broken
        return "its message cannot be read"


def checked(decision: object) -> Decision:
    """Return a decision that the journal can hold, or ``invalid`` with what is wrong with it."""
    if not isinstance(decision, Decision):
        return _invalid(f"returned {type(decision).__name__}, not a Decision")
    problem = _problem(decision)
    if problem is not None:
        raw = decision.raw if isinstance(decision.raw, str) else None
        return _invalid(problem, raw=raw)
    return Decision(
        outcome=Outcome(decision.outcome),
        label=decision.label,
        scores={name: float(value) for name, value in decision.scores.items()},
        events=tuple(decision.events),
        trace=decision.trace,
        commit=None if decision.commit is None else float(decision.commit),
        raw=decision.raw,
        reason=decision.reason,
        served=decision.served,
    )


def _invalid(reason: str, raw: str | None = None) -> Decision:
    return Decision(outcome=Outcome.INVALID, reason=reason[:REASON_LENGTH], raw=raw)


def _problem(decision: Decision) -> str | None:
    if not isinstance(decision.outcome, str) or decision.outcome not in list(Outcome):
        return f"outcome {decision.outcome!r} is not one of {', '.join(Outcome)}"
    for name in ("label", "raw", "reason"):
        value = getattr(decision, name)
        if value is not None and not isinstance(value, str):
            return f"{name} is {type(value).__name__}, not text"
    if not isinstance(decision.scores, Mapping):
        return f"scores is {type(decision.scores).__name__}, not a mapping"
    for name, value in decision.scores.items():
        if not isinstance(name, str):
            return f"score name {name!r} is not text"
        if not _finite(value):
            return f"score '{name}' is {value!r}, not a finite number"
    if decision.commit is not None and not _finite(decision.commit):
        return f"commit is {decision.commit!r}, not a finite number"
    if not isinstance(decision.events, tuple | list):
        return f"events is {type(decision.events).__name__}, not a sequence"
    for event in decision.events:
        if not isinstance(event, Event):
            return f"an event is {type(event).__name__}, not an Event"
        numbers = (event.time, event.commit, event.end, event.score)
        if event.time is None or not all(v is None or _finite(v) for v in numbers):
            return f"event '{event.kind}' has a time or score that is not a finite number"
        if not isinstance(event.kind, str) or not isinstance(event.label, str | None):
            return f"event kind {event.kind!r} or label {event.label!r} is not text"
    if decision.served is not None and not isinstance(decision.served, Served):
        return f"served is {type(decision.served).__name__}, not a Served"
    return None if decision.trace is None else trace_problem(decision.trace)


def _finite(value: object) -> bool:
    if isinstance(value, bool | str | bytes):
        return False
    try:
        return math.isfinite(float(value))  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False


def encodable(decision: Decision) -> Decision:
    """Return the decision, or ``invalid`` when JSON cannot hold it (lone surrogates, say)."""
    try:
        codec.encode(decision)
    except (FloorbenchError, TypeError, ValueError, OverflowError) as error:
        return _invalid(f"cannot be written as JSON: {short_reason(error)}")
    return decision
