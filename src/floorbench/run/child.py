"""A child process of ours that speaks JSON lines over its standard input and output."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

THREADS = (
    *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
    *("NUMEXPR_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS"),
)
"""What tells numerical libraries with how many threads to compute."""


def cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Child:
    """A module of floorbench in a process of its own, with what its first line says.

    Parameters
    ----------
    module : str
        Run as ``python -m module``, with this process's import paths.
    hello : bytes
        The first line.
    environment : mapping
        Variables beside those of this process.
    """

    def __init__(self, module: str, hello: bytes, environment: Mapping[str, str] | None = None):
        paths = [p for p in sys.path if p]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(environment or {}), "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # Ctrl-C reaches the parent only; grandchildren die with us
            bufsize=0,
        )
        self.closed = False
        self._buffer = bytearray()
        self.send(hello)

    @property
    def pipe(self) -> Any:
        """What the process says, for a selector."""
        return self.process.stdout

    def send(self, line: bytes) -> None:
        """Write one line; a dead process is noticed at its end of file, not here."""
        assert self.process.stdin is not None  # noqa: S101 -- it is a pipe
        with contextlib.suppress(BrokenPipeError):
            view = memoryview(line + b"\n")
            while view:
                view = view[os.write(self.process.stdin.fileno(), view) :]

    def receive(self) -> list[bytes] | None:
        """Return the complete lines that have arrived; None at the end of the stream."""
        data = os.read(self.pipe.fileno(), 1 << 16)
        if not data:
            self.closed = True
            return None
        self._buffer += data
        *lines, rest = self._buffer.split(b"\n")
        self._buffer = bytearray(rest)
        return [bytes(line) for line in lines]

    def kill(self) -> int:
        """End the process and all it started; return its exit status."""
        if self.closed:  # it is ending by itself; its own status says why
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=2)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        return self.process.wait()


def death(status: int) -> str:
    """Say in words how a process ended."""
    if status >= 0:
        return f"exit status {status}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-status).name
    return f"signal {-status}"
