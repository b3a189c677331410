"""A command as a system: another program, in its own environment, answers over a pipe.

Whatever the program does, each observation gets its outcome: silence is a ``timeout``; an answer
that breaks the protocol, or the program's end, is ``failed``. The program is then ended and
started again for the next observation. After ``LOSSES`` losses in a row it is not started any more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import SystemProblem, UsageError
from floorbench.systems.common import in_parts, number, refusal
from floorbench.systems.worker_pipe import Pipe
from floorbench.systems.worker_wire import (
    Hello,
    item_of,
    placeholder,
    read_answers,
    read_hello,
    spec_of,
)

LOSSES = 5
HOW = (
    "give --set command='python my_program.py'; "
    "`floorbench new system NAME --kind program` writes a working one"
)


def check_limits(timeout: float, load_timeout: float) -> tuple[float, float]:
    """Return both time limits (``FB513`` outside 0.01 s to a day)."""
    return (
        number("timeout", timeout, low=0.01, high=86_400.0),
        number("load_timeout", load_timeout, low=0.01, high=86_400.0),
    )


class Running(NamedTuple):
    """A program that runs, and what it has said of itself."""

    pipe: Pipe
    hello: Hello


class Program:
    """A program that is started when it is needed and ended when it is of no more use.

    Parameters
    ----------
    command : str, sequence of str or None
        What to run.
    kind : str
        ``items`` or ``stream``.
    load_timeout : float
        Seconds until its hello.
    how : str or None
        What to say when there is no command.
    """

    def __init__(
        self,
        command: str | Sequence[str] | None,
        *,
        kind: str,
        load_timeout: float,
        how: str | None = None,
    ) -> None:
        self._command = command
        self._kind = kind
        self._load_timeout = load_timeout
        self._how = how
        self._running: Running | None = None
        self._lost = 0

    def running(self) -> Running:
        """Return the running program, starting it first where that is needed.

        Raises
        ------
        UsageError
            ``FB551`` without a command.
        SystemProblem
            ``FB551`` when it does not start or does not say hello, ``FB552`` when it says
            something else.
        """
        if self._running is not None:
            return self._running
        if self._command is None:
            raise UsageError("FB551", "there is no command to run", hint=self._how or HOW)
        if self._lost >= LOSSES:
            raise SystemProblem("FB551", f"given up after {LOSSES} losses in a row")
        pipe = Pipe(self._command)
        try:
            message = pipe.receive(until=time.monotonic() + self._load_timeout)
            hello = read_hello(message, kind=self._kind)
        except TimeoutError:
            pipe.end()
            raise SystemProblem(
                "FB551", f"it did not say hello within {self._load_timeout:g} s"
            ) from None
        except SystemProblem:
            pipe.end()
            raise
        pipe.heartbeat = hello.heartbeat
        self._running = Running(pipe, hello)
        return self._running

    def lose(self) -> None:
        """End the program after a fault."""
        self._lost += 1
        self.stop()

    def fine(self) -> None:
        """Forget earlier faults."""
        self._lost = 0

    def stop(self) -> None:
        """End the program."""
        if self._running is not None:
            self._running.pipe.end()
            self._running = None


class CommandSystem:
    """A program that answers items.

    Parameters
    ----------
    command : str, sequence of str or None
        What to run, for example ``venv/bin/python predict.py --model DIR``.
    timeout : float
        Seconds that one answer may take.
    load_timeout : float
        Seconds until the program says hello.
    declared : SystemSpec or None
        What the catalogue says of it; the program must agree.
    how : str or None
        What to say when there is no command.
    """

    def __init__(
        self,
        *,
        command: str | Sequence[str] | None = None,
        timeout: float = 60.0,
        load_timeout: float = 600.0,
        declared: SystemSpec | None = None,
        how: str | None = None,
    ) -> None:
        self._timeout, wait = check_limits(timeout, load_timeout)
        self._declared = declared
        self._program = Program(command, kind="items", load_timeout=wait, how=how)
        self._asked = 0
        self._size = 1
        self.spec = declared or placeholder("command")

    def load(self) -> None:
        """Start the program and take over what it declares; idempotent."""
        hello = self._program.running().hello
        self._size = hello.batch
        if self._size > 1:
            self.decide_batch = self._in_parts
        self.spec = spec_of(hello, declared=self._declared)

    def decide(self, observation: Observation) -> Decision:
        """Ask about one observation."""
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        try:
            return self.ask([observation])[0]
        except TimeoutError as error:
            self._program.lose()
            return Decision(outcome=Outcome.TIMEOUT, reason=f"{error} ({self._timeout:g} s)")
        except SystemProblem as error:
            self._program.lose()
            return Decision(outcome=Outcome.FAILED, reason=f"{error.code} {error.what}")

    def _in_parts(self, observations: Sequence[Observation]) -> list[Decision]:
        """Ask about several observations, as many at once as the program takes."""
        return in_parts(observations, spec=self.spec, size=self._size, answer=self._together)

    def _together(self, asked: Sequence[Observation]) -> list[Decision]:
        """Ask about a few; where that goes wrong one by one, so that none depends on another."""
        if len(asked) == 1:
            return [self.decide(asked[0])]
        try:
            return self.ask(asked)
        except (TimeoutError, SystemProblem):
            self._program.stop()
            return [self.decide(observation) for observation in asked]

    def close(self) -> None:
        """End the program."""
        self._program.stop()

    def ask(self, observations: Sequence[Observation]) -> list[Decision]:
        """Ask about so many observations at once, whatever the program says that it takes.

        Raises
        ------
        TimeoutError
            When it answers too late.
        SystemProblem
            ``FB551`` when it ends, ``FB552`` when it breaks the protocol.
        """
        pipe = self._program.running().pipe
        rate = self.spec.front_end.rate
        items = [item_of(observation, rate=rate) for observation in observations]
        self._asked += 1
        until = time.monotonic() + self._timeout * len(items)
        pipe.send({"type": "predict", "id": self._asked, "items": items}, until=until)
        answers = read_answers(pipe.receive(until=until), asked=self._asked, items=len(items))
        self._program.fine()
        return answers
