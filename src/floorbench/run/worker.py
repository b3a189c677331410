"""The child process that answers questions: ``python -m floorbench.run.worker``.

It speaks JSON lines over its standard input and output; whatever the system prints goes to
standard error, and what it reads from standard input is empty. Nothing pickled crosses.
Messages from the parent::

    {"system": {"name": ..., "parameters": {...}}, "timeout": seconds or null}      first line
    {"items": [observation, ...]}                                                   one batch

and to the parent::

    {"ready": system spec, "batches": bool} | {"refused": error}     once
    {"observed": [hash, ...]}                            before the system is asked
    {"answers": [[decision, compute], ...]} | {"refused": error}

The parent's end of the pipe closing ends the process at once, even in the middle of a decision.
"""

from __future__ import annotations

import os
import queue
import signal
import threading
from collections.abc import Mapping
from typing import Any, BinaryIO

from floorbench import codec
from floorbench.core.ports import System
from floorbench.core.sample import Observation
from floorbench.errors import FloorbenchError, UsageError
from floorbench.run.deciding import SystemChoice, decide_all, encodable, short_reason, takes_batches
from floorbench.run.wire import observation_from_wire, observation_hash


def main() -> None:
    """Serve one parent until its pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    pipe, out = os.dup(0), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # a system that reads input must not eat ours
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, lines), daemon=True).start()

    try:
        desk = Desk(codec.parse(lines.get()))
        _send(out, desk.greeting)
        while True:
            _send(out, {"observed": desk.show(codec.parse(lines.get())["items"])})
            _send(out, {"answers": desk.answer()})
    except Exception as error:
        _send(out, {"refused": refusal(error)})
    os._exit(1)  # the listening thread holds the pipe


class Desk:
    """A loaded system, asked in two steps, so that its clock can start in between.

    Parameters
    ----------
    hello : mapping
        The first message: system and timeout.

    Raises
    ------
    SystemProblem
        ``FB501`` when the system cannot be loaded.
    """

    def __init__(self, hello: Mapping[str, Any]) -> None:
        given = hello["system"]
        choice = SystemChoice(name=given["name"], parameters=given["parameters"])
        self._timeout: float | None = hello["timeout"]
        self._system: System = choice.build()
        self._shown: list[Observation] = []

    @property
    def greeting(self) -> dict[str, Any]:
        """What the system declares, and whether it takes batches."""
        return {"ready": self._system.spec, "batches": takes_batches(self._system)}

    def show(self, items: list[Any]) -> list[str]:
        """Take up a batch; return the hash of each observation."""
        self._shown = [observation_from_wire(item) for item in items]
        return [observation_hash(o) for o in self._shown]

    def answer(self) -> list[list[Any]]:
        """Ask the system about the batch; return decision and cost of each item."""
        answered = decide_all(self._system, self._shown, timeout=self._timeout)
        return [[encodable(a.decision), a.compute] for a in answered]


def _listen(descriptor: int, lines: queue.SimpleQueue[bytes]) -> None:
    with os.fdopen(descriptor, "rb", closefd=False) as pipe:
        for line in pipe:
            lines.put(line)
    os._exit(0)  # the parent is gone; a hanging system must not outlive it


def _send(out: BinaryIO, message: dict[str, Any]) -> None:
    view = memoryview(codec.encode(message) + b"\n")
    while view:
        view = view[out.write(view) :]


def refusal(error: Exception) -> dict[str, Any]:
    """Return why a worker stops as JSON; faults of the system never get here."""
    if isinstance(error, FloorbenchError):
        return error_to_wire(error)
    what = f"the worker process failed: {short_reason(error)}"
    return error_to_wire(UsageError("FB509", what))


def error_to_wire(error: FloorbenchError) -> dict[str, Any]:
    """Return an error as JSON: which kind, code, text, place and hint."""
    return {
        "kind": type(error).__name__,
        "code": error.code,
        "what": error.what,
        "where": list(error.where) if error.where is not None else None,
        "hint": error.hint,
    }


if __name__ == "__main__":
    main()
