"""A streaming system in another program: it joins over a WebSocket and answers step by step.

floorbench listens on an address of this machine; the external system connects, says who it is
(``hello``), and then answers every ``chunk`` with one ``events`` message
(see :mod:`floorbench.systems.stream_wire`).

Nothing that the other program does stops a run: silence is a ``timeout``, a lost connection, an
answer out of order or a message that the schema does not allow is ``failed``, and the next sample
starts a new stream (waiting for the program to join again when it is gone). Answers of an earlier
stream that come late are dropped.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import struct
import threading
import time
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Event
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level
from floorbench.errors import EnvironmentProblem, SystemProblem, UsageError, missing_extra
from floorbench.systems.common import number
from floorbench.systems.stream import Step
from floorbench.systems.stream_wire import (
    Hello,
    Reply,
    chunk,
    events,
    opening,
    read_text,
    unfit,
)


class SocketStream:
    """Listens for one external system and drives it.

    Parameters
    ----------
    port : int
        Port to listen on; 0 takes a free one (see :attr:`port`).
    host : str
        Address to listen on; this machine alone by default.
    timeout : float
        Seconds that one answer may take.
    join_timeout : float
        Seconds to wait for the program to join, at the start and after it was lost.
    """

    def __init__(
        self,
        *,
        port: int = 8765,
        host: str = "127.0.0.1",
        timeout: float = 5.0,
        join_timeout: float = 60.0,
    ) -> None:
        if not isinstance(port, int) or isinstance(port, bool) or not 0 <= port < 65_536:
            raise UsageError("FB513", f"port={port!r} is not a port number")
        self._host = host
        self._wanted = port
        self._timeout = number("timeout", timeout, low=0.01, high=3600.0)
        self._join_timeout = number("join_timeout", join_timeout, low=0.01, high=86_400.0)
        self._joined: queue.Queue[_Link] = queue.Queue()
        self._link: _Link | None = None
        self._first: Hello | None = None
        self._links: list[_Link] = []
        self._server: Any = None
        self._streams = 0
        # What the program declares replaces this once it has joined.
        self.spec = SystemSpec(
            name="external-stream",
            version="unknown",
            level=Level.REAL_CODE_PATH,
            modalities=("audio",),
            streaming_step=0.02,
            front_end=FrontEnd(rate=16_000, resampler="unknown until it joins"),
        )

    @property
    def port(self) -> int:
        """The port that is listened on."""
        if self._server is None:
            return self._wanted
        found: int = self._server.socket.getsockname()[1]
        return found

    def listen(self) -> None:
        """Start listening; idempotent.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without the extra ``stream``, ``FB544`` when the address cannot be used.
        """
        if self._server is not None:
            return
        try:
            from websockets.sync.server import serve
        except ModuleNotFoundError:
            raise missing_extra("websockets", "stream") from None
        try:
            self._server = serve(self._welcome, self._host, self._wanted, max_size=2**24)
        except OSError as error:
            raise EnvironmentProblem(
                "FB544", f"cannot listen on {self._host}:{self._wanted} ({error.strerror})"
            ) from None
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def load(self) -> None:
        """Listen, wait for the program, and take over what it declares."""
        if self._link is not None:
            return
        self.listen()
        self._link = self._wait()
        self._first = hello = self._link.hello
        self.spec = SystemSpec(
            name=hello.name,
            version=hello.version,
            level=Level.MEASURED,
            labels=hello.labels,
            languages=hello.languages,
            modalities=("audio", "words") if hello.words else ("audio",),
            context=hello.context,
            streaming_step=hello.step,
            front_end=FrontEnd(rate=hello.rate, resampler="soxr-HQ per step"),
            label_map=hello.label_map,
            weights=hello.weights,
            parameters={
                **hello.parameters,
                "protocol": hello.protocol,
                "floor": hello.floor,
                "tail": hello.tail,
                "word_delay": hello.word_delay,
            },
            licence=hello.licence,
        )

    def open(self, setup: Observation) -> _Talk:
        """Start a stream."""
        if self._link is None or self._link.gone:
            self._link = None
            link = self._wait()
            problem = self._stranger(link.hello)
            if problem is not None:
                link.drop()
                raise SystemProblem("FB545", problem)
            self._link = link
        self._streams += 1
        talk = _Talk(self._link, str(self._streams), self._timeout)
        self._link.send(opening(setup, stream=talk.stream))
        return talk

    def stop(self) -> None:
        """Say goodbye and stop listening."""
        if self._link is not None and not self._link.gone:
            with contextlib.suppress(SystemProblem, TimeoutError):  # it may be leaving just now
                self._link.send({"type": "bye"})
        self._link = None
        for link in self._links:  # also those that joined and were never asked
            link.drop()
        if self._server is not None:
            self._server.shutdown()
            self._server = None

    def _stranger(self, hello: Hello) -> str | None:
        """Say how a program that joins again differs from the one that the run began with."""
        first = self._first
        if first is None or hello == first:
            return None
        if (hello.name, hello.version) != (first.name, first.version):
            return f"'{hello.name} {hello.version}' joined another one's run"
        names = (f.name for f in fields(Hello))
        changed = [n for n in names if getattr(hello, n) != getattr(first, n)]
        return f"'{hello.name}' joined again with another {', '.join(changed)}"

    def _wait(self) -> _Link:
        until = time.monotonic() + self._join_timeout
        while True:
            try:
                link = self._joined.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                raise EnvironmentProblem(
                    "FB544",
                    f"no system joined ws://{self._host}:{self.port} within "
                    f"{self._join_timeout:g} s",
                ) from None
            if not link.gone:
                return link

    def _welcome(self, connection: Any) -> None:
        """Serve one connection until it is lost or dropped; runs in the server's thread."""
        from websockets.exceptions import ConnectionClosed

        try:
            hello = read_text(connection.recv(timeout=self._timeout), Hello)
            problem = unfit(hello)
        except (ConnectionClosed, TimeoutError):
            return
        except SystemProblem as error:
            hello, problem = None, error.what
        if hello is None or problem is not None:
            connection.close(1002, (problem or "")[:120])
            return
        link = _Link(connection, hello, self._timeout)
        self._links.append(link)
        self._joined.put(link)
        link.done.wait()


class _Link:
    """One joined program."""

    def __init__(self, connection: Any, hello: Hello, timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout
        self.hello = hello
        self.done = threading.Event()
        # A program that stops reading must not block what is sent to it.
        whole = int(timeout)
        limit = struct.pack("ll", whole, int((timeout - whole) * 1e6))
        connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)

    @property
    def gone(self) -> bool:
        from websockets.protocol import State

        return self.done.is_set() or self._connection.protocol.state is not State.OPEN

    def send(self, message: dict[str, Any]) -> None:
        """Send one message.

        Raises
        ------
        TimeoutError
            When the program does not take it in time; the link is dropped, half a message is out.
        SystemProblem
            ``FB544`` when the program is gone.
        """
        from websockets.exceptions import ConnectionClosed

        began = time.monotonic()
        try:
            self._connection.send(codec.encode(message).decode())
        except ConnectionClosed:
            self.drop()
            if time.monotonic() - began >= self._timeout:
                raise TimeoutError("it does not read what it is sent") from None
            raise SystemProblem("FB544", "the external system is gone") from None

    def receive(self, until: float) -> str | bytes:
        from websockets.exceptions import ConnectionClosed

        left = until - time.monotonic()
        if left <= 0:  # messages that wait to be read would be given all the same
            raise TimeoutError
        try:
            got: str | bytes = self._connection.recv(timeout=left)
        except ConnectionClosed:
            self.drop()
            raise SystemProblem("FB544", "the external system is gone") from None
        return got

    def drop(self) -> None:
        """End the connection; the server's thread returns."""
        self.done.set()


class _Talk:
    """One stream over a link."""

    def __init__(self, link: _Link, stream: str, timeout: float) -> None:
        self._link = link
        self.stream = stream
        self._timeout = timeout
        self._seq = 0
        self._broken = False

    def push(self, step: Step) -> Sequence[Event]:
        """Send one step and wait for its answer."""
        seq, self._seq = self._seq, self._seq + 1
        self._link.send(chunk(step, stream=self.stream, seq=seq))
        reply = self._reply("events")
        if reply.seq != seq:
            self._broken = True
            raise SystemProblem("FB545", f"chunk {seq} was answered with seq {reply.seq}")
        return events(reply)

    def close(self) -> Sequence[Event]:
        """End the stream and take what was still open; a broken one is not waited for."""
        if self._link.gone:
            return ()
        self._link.send({"type": "close", "stream": self.stream})
        if self._broken:
            return ()
        return events(self._reply("closed"))

    def _reply(self, wanted: str) -> Reply:
        """Return the next message of this stream; late ones of earlier streams are dropped."""
        self._broken = True  # until the answer is here and right
        until = time.monotonic() + self._timeout
        while True:
            try:
                reply = read_text(self._link.receive(until), Reply)
            except TimeoutError:
                raise TimeoutError(f"no answer within {self._timeout:g} s") from None
            if reply.stream != self.stream:
                if reply.stream.isdigit() and int(reply.stream) < int(self.stream):
                    continue
                raise SystemProblem("FB545", f"an answer for stream '{reply.stream}'")
            if reply.type == "error":
                raise SystemProblem("FB545", f"the system reports: {reply.message}")
            if reply.type != wanted:
                raise SystemProblem("FB545", f"'{reply.type}' where '{wanted}' is due")
            self._broken = False
            return reply
