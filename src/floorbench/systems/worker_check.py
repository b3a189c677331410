"""Does a program keep the protocol? Every fault is named, in the order in which it is met."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from floorbench.core.prediction import Decision
from floorbench.core.sample import AudioRef, Observation, Question, Turn
from floorbench.core.vocab import Outcome, Role
from floorbench.core.words import counted
from floorbench.errors import FloorbenchError, SystemProblem
from floorbench.systems.stream import Step, at_the_start, stamped, steps
from floorbench.systems.worker import CommandSystem
from floorbench.systems.worker_pipe import Pipe
from floorbench.systems.worker_stream import CommandStream
from floorbench.systems.worker_wire import Hello, read

RATE = 16_000


class Check(NamedTuple):
    """One thing that was tried."""

    name: str
    fine: bool
    detail: str = ""


def check_program(
    command: str, *, timeout: float = 60.0, load_timeout: float = 600.0
) -> list[Check]:
    """Start a program and try everything that the protocol asks of it.

    Parameters
    ----------
    command : str
        What to run.
    timeout : float
        Seconds that one answer may take.
    load_timeout : float
        Seconds until it says hello.

    Returns
    -------
    list of Check
        In order; the first fault that leaves nothing to go on with is the last.
    """
    out: list[Check] = []
    try:
        hello = _hello(command, load_timeout)
        out.append(Check("says hello", True, f"{hello.name} {hello.version}, {hello.kind}"))
        limits: dict[str, Any] = {"timeout": timeout, "load_timeout": load_timeout}
        if hello.kind == "stream":
            out += _stream(CommandStream(command=command, **limits), hello)
        else:
            out += _items(CommandSystem(command=command, **limits), hello)
        out.append(_leaves(command, load_timeout))
    except (FloorbenchError, TimeoutError) as error:
        what = f"{error.code} {error.what}" if isinstance(error, FloorbenchError) else str(error)
        out.append(Check("goes on", False, what))
    return out


def _hello(command: str, load_timeout: float) -> Hello:
    pipe = Pipe(command)
    try:
        message = pipe.receive(until=time.monotonic() + load_timeout)
        hello: Hello = read(message, Hello)
    finally:
        pipe.end()
    return hello


# ---- items -------------------------------------------------------------------------------------


def _items(system: CommandSystem, hello: Hello) -> Iterator[Check]:
    try:
        system.load()
        yield Check("loads", True)
        seen = observations(hello)
        single = []
        for name, observation in seen.items():
            decision = system.decide(observation)
            single.append(decision)
            yield _lawful(f"answers {name}", decision, hello)
        if hello.deterministic:
            again = [system.decide(observation) for observation in seen.values()]
            yield Check("gives the same answer twice", again == single)
        if hello.batch > 1:
            yield _together(system, list(seen.values()), single, hello.batch)
    finally:
        system.close()


def _together(
    system: CommandSystem, seen: list[Observation], single: list[Decision], size: int
) -> Check:
    """Ask in batches, without the second try one by one that a run makes."""
    name = f"a batch of {size} is the single answers"
    batch: list[Decision] = []
    try:
        for first in range(0, len(seen), size):
            batch += system.ask(seen[first : first + size])
    except TimeoutError as error:
        return Check(name, False, str(error))
    except SystemProblem as error:
        return Check(name, False, f"{error.code} {error.what}")
    same = batch == single
    return Check(name, same, "" if same else "other answers, or another order")


def observations(hello: Hello) -> dict[str, Observation]:
    """Return observations that any system should get through."""
    language = hello.languages[0] if hello.languages else "en"
    state = hello.states[0] if hello.states else "SystemIdle"
    whole = Observation(
        language=language,
        state=state,
        turns=(
            Turn(role=Role.USER, text="hello", audio=_tone(0.4)),
            Turn(role=Role.SYSTEM, text="hello, what can I do for you"),
        ),
        channels={Role.USER: _tone(1.2), Role.SYSTEM: _tone(0.0)},
        text="could you book a table for two",
        question=Question(text="Is the user's turn complete?", answers=("yes", "no")),
    )
    return {
        "a whole observation": whole,
        "one without history": replace(whole, turns=()),
        "silence": replace(
            whole, channels={role: _tone(0.0, 0.9) for role in (Role.USER, Role.SYSTEM)}
        ),
        "an empty transcript": replace(whole, text=""),
    }


def _tone(loud: float, seconds: float = 1.5) -> AudioRef:
    """Return a falling tone, or silence."""
    import numpy as np

    from floorbench.audio.ref import ArrayAudio

    t = np.arange(int(seconds * RATE)) / RATE
    return ArrayAudio(loud / 4 * np.sin(2 * np.pi * (220 - 40 * t) * t), rate=RATE)


def _lawful(name: str, decision: Decision, hello: Hello) -> Check:
    said = decision.label if decision.label is not None else decision.raw
    if decision.outcome in (Outcome.FAILED, Outcome.TIMEOUT):
        return Check(name, False, decision.reason or str(decision.outcome))
    if decision.outcome is not Outcome.OK:
        fine = bool(decision.reason)
        return Check(name, fine, decision.reason or f"{decision.outcome} without a reason")
    if said is None and not decision.scores and decision.trace is None:
        return Check(name, False, "ok without a label, a raw answer, scores or a trace")
    if hello.labels is not None and decision.label not in (None, *hello.labels):
        return Check(name, False, f"label '{decision.label}' is not declared")
    if hello.score is not None and decision.scores and hello.score not in decision.scores:
        return Check(name, False, f"scores {', '.join(decision.scores)} without '{hello.score}'")
    return Check(name, True, str(said) if said is not None else "")


# ---- streams -----------------------------------------------------------------------------------


def _stream(system: CommandStream, hello: Hello) -> Iterator[Check]:
    try:
        system.load()
        yield Check("loads", True)
        observation = observations(hello)["a whole observation"]
        first = _through(system, observation)
        yield _labels("streams", first, hello)
        second = _through(system, observation)
        if hello.deterministic:
            yield Check("a second stream starts afresh", second == first)
        ended = system.open(at_the_start(observation))
        yield Check("a stream may end at once", not list(ended.close()))
    finally:
        system.close()


def _through(system: CommandStream, observation: Observation) -> list[Any]:
    session = system.open(at_the_start(observation))
    out: list[Any] = []
    step: Step | None = None
    for step in steps(observation, system.spec):
        out += stamped(session.push(step), step.end)
    return out + stamped(session.close(), 0.0 if step is None else step.end)


def _labels(name: str, events: list[Any], hello: Hello) -> Check:
    strange = {e.label for e in events} - {None, *(hello.labels or ())}
    if hello.labels is not None and strange:
        return Check(name, False, f"labels {', '.join(sorted(strange))} are not declared")
    return Check(name, True, f"{counted(len(events), 'event')}")


def _leaves(command: str, load_timeout: float) -> Check:
    pipe = Pipe(command)
    until = time.monotonic() + load_timeout
    try:
        pipe.receive(until=until)
        pipe.send({"type": "bye"}, until=until)
    except (SystemProblem, TimeoutError) as error:
        pipe.end()
        return Check("leaves when told", False, str(error).splitlines()[0])
    status = pipe.end(grace=10.0)
    detail = "" if status == 0 else "it had to be ended" if status is None else f"status {status}"
    return Check("leaves when told", status == 0, detail)
