"""A program at the other end of a pipe: started, written to, read with a deadline, and ended."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from floorbench import codec
from floorbench.errors import DataError, SystemProblem, UsageError

KIT = Path(__file__).parent / "kit"
MISSED = 3
"""So many signs of life may be missing before a program counts as hanging."""
_LINE = 120


class Pipe:
    """One running program.

    Parameters
    ----------
    command : str or sequence of str
        What to run; text is split as a shell would, without a shell.

    Raises
    ------
    UsageError
        ``FB551`` for no command.
    SystemProblem
        ``FB551`` when it cannot be started.
    """

    def __init__(self, command: str | Sequence[str]) -> None:
        words = split(command)
        path = [str(KIT), os.environ.get("PYTHONPATH", "")]
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 -- lives as long as the program
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in path if p)},
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._said.close()
            raise SystemProblem("FB551", f"'{words[0]}' does not start: {error.strerror}") from None
        assert self._process.stdin is not None  # noqa: S101 -- both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._buffer = bytearray()
        self._lines: list[bytes] = []
        self.heartbeat = 0.0
        self._end = weakref.finalize(self, _end, self._process, self._said)

    def send(self, message: dict[str, Any], *, until: float) -> None:
        """Write one message; meanwhile the program may write too.

        Raises
        ------
        TimeoutError
            When the program does not take it before ``until`` (monotonic clock).
        SystemProblem
            ``FB551`` when the program is gone.
        """
        view = memoryview(codec.encode(message) + b"\n")
        while view:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError("it does not read what it is sent")
            readable, writable, _ = select.select([self._out], [self._in], [], left)
            if readable:
                self._fill()
            if writable:
                try:
                    view = view[os.write(self._in, view) :]
                except BlockingIOError:
                    continue
                except OSError:
                    raise self._gone() from None

    def receive(self, *, until: float) -> Any:
        """Return the next message that is not a sign of life.

        Raises
        ------
        TimeoutError
            After ``until``, or when the signs of life stop.
        SystemProblem
            ``FB551`` when the program ends, ``FB552`` when it writes something else.
        """
        alive = time.monotonic()
        while True:
            while self._lines:
                message = parse(self._lines.pop(0))
                if message.get("type") != "heartbeat":
                    return message
                alive = time.monotonic()
            limit = until
            if self.heartbeat:
                limit = min(until, alive + MISSED * self.heartbeat)
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self._out], [], [], left)[0]:
                silent = limit < until
                raise TimeoutError("no sign of life" if silent else "no answer in time")
            self._fill()

    def end(self, *, grace: float = 0.0) -> int | None:
        """Close its input, wait ``grace`` seconds, end it; return its status if it left itself."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        status = None
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(timeout=grace)
        self._end()
        return status

    def last_words(self) -> str:
        """Return the last line that the program wrote to standard error."""
        with contextlib.suppress(OSError, ValueError):
            self._said.seek(max(0, self._said.seek(0, os.SEEK_END) - 4096))
            lines = self._said.read().decode("utf-8", "replace").split("\n")
            spoken = [line.strip() for line in lines if line.strip()]
            return spoken[-1][:_LINE] if spoken else ""
        return ""

    def _fill(self) -> None:
        data = os.read(self._out, 1 << 16)
        if not data:
            raise self._gone()
        self._buffer += data
        if b"\n" not in data:  # a long line is not searched again with every piece of it
            return
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        self._lines += [bytes(line) for line in lines if line.strip()]

    def _gone(self) -> SystemProblem:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=1.0)
        status = self._process.poll()
        how = "closed its output" if status is None else f"ended with {_status(status)}"
        words = self.last_words()
        return SystemProblem("FB551", f"it {how}" + (f"; its last words: {words}" if words else ""))


def split(command: str | Sequence[str]) -> list[str]:
    """Return a command as its words (``FB551`` when there are none)."""
    try:
        words = shlex.split(command) if isinstance(command, str) else [str(w) for w in command]
    except ValueError as error:
        raise UsageError("FB551", f"the command cannot be split: {error}") from None
    if not words:
        raise UsageError("FB551", "there is no command", hint="--set command='python predict.py'")
    return words


def parse(line: bytes) -> dict[str, Any]:
    """Read one line as a message (``FB552`` when it is none)."""
    try:
        message = codec.parse(line)
        if isinstance(message, dict):
            return message
    except DataError:
        pass
    shown = line[:_LINE].decode("utf-8", "replace")
    raise SystemProblem(
        "FB552",
        f"it wrote something that is no message: {shown!r}",
        hint="Standard output carries messages only; print to standard error.",
    )


def _end(process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    said.close()
    process.wait()


def _status(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return signal.Signals(-status).name
    return f"status {status}"
