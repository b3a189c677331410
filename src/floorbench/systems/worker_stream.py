"""A command as a streaming system: the same program protocol, step by step over a pipe."""

from __future__ import annotations

import time
from collections.abc import Sequence

from floorbench.core.prediction import Event
from floorbench.core.sample import JsonValue, Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level
from floorbench.errors import SystemProblem
from floorbench.systems.stream import Step
from floorbench.systems.stream_wire import Reply, chunk, events, opening
from floorbench.systems.worker import Program, check_limits
from floorbench.systems.worker_pipe import Pipe
from floorbench.systems.worker_wire import read, spec_of


class CommandStream:
    """A program that answers streams.

    Parameters
    ----------
    command : str, sequence of str or None
        What to run.
    timeout : float
        Seconds that the answer to one step may take.
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
        timeout: float = 30.0,
        load_timeout: float = 600.0,
        declared: SystemSpec | None = None,
        how: str | None = None,
    ) -> None:
        self._timeout, wait = check_limits(timeout, load_timeout)
        self._declared = declared
        self._program = Program(command, kind="stream", load_timeout=wait, how=how)
        self._streams = 0
        self.spec = declared or SystemSpec(
            name="command-stream",
            version="unknown until it says hello",
            level=Level.REAL_CODE_PATH,
            streaming_step=0.02,
            front_end=FrontEnd(rate=16_000, resampler="unknown until it says hello"),
        )

    def load(self) -> None:
        """Start the program and take over what it declares; idempotent."""
        self.spec = spec_of(self._program.running().hello, declared=self._declared)

    def open(self, setup: Observation) -> _Talk:
        """Start a stream."""
        try:
            pipe = self._program.running().pipe
            self._streams += 1
            talk = _Talk(self._program, pipe, str(self._streams), self._timeout)
            talk.start(setup)
        except (SystemProblem, TimeoutError):
            self._program.lose()
            raise
        return talk

    def close(self) -> None:
        """End the program."""
        self._program.stop()


class _Talk:
    def __init__(self, program: Program, pipe: Pipe, stream: str, timeout: float) -> None:
        self._program = program
        self._pipe = pipe
        self._stream = stream
        self._timeout = timeout
        self._seq = 0
        self._broken = False

    def start(self, setup: Observation) -> None:
        self._pipe.send(opening(setup, stream=self._stream), until=self._until())

    def push(self, step: Step) -> Sequence[Event]:
        """Send one step and wait for its answer."""
        seq, self._seq = self._seq, self._seq + 1
        message = chunk(step, stream=self._stream, seq=seq)
        return self._exchange(message, "events", seq)

    def close(self) -> Sequence[Event]:
        """End the stream and take what was still open."""
        if self._broken:
            return ()
        return self._exchange({"type": "close", "stream": self._stream}, "closed", None)

    def _exchange(self, message: dict[str, JsonValue], due: str, seq: int | None) -> list[Event]:
        until = self._until()
        try:
            self._pipe.send(message, until=until)
            reply = read(self._pipe.receive(until=until), Reply)
            if reply.type == "error":
                raise SystemProblem("FB552", f"the system reports: {reply.message}")
            if (reply.type, reply.stream, reply.seq) != (due, self._stream, seq):
                raise SystemProblem(
                    "FB552",
                    f"'{reply.type}' {reply.seq} of stream {reply.stream} where '{due}' {seq} of "
                    f"stream {self._stream} is due",
                )
        except (SystemProblem, TimeoutError):
            self._broken = True
            self._program.lose()
            raise
        self._program.fine()
        return events(reply)

    def _until(self) -> float:
        return time.monotonic() + self._timeout
