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
from typing import Any, BinaryIO

from floorbench import codec
from floorbench.core.ports import System
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

    hello: dict[str, Any] = codec.parse(lines.get())
    choice = SystemChoice(name=hello["system"]["name"], parameters=hello["system"]["parameters"])
    try:
        system = choice.build()
        _send(out, {"ready": system.spec, "batches": takes_batches(system)})
        while True:
            _answer(out, system, codec.parse(lines.get())["items"], hello["timeout"])
    except FloorbenchError as error:
        _send(out, {"refused": error_to_wire(error)})
    except Exception as error:  # not the system's doing: decide_all catches all of that
        what = f"the worker process failed: {short_reason(error)}"
        _send(out, {"refused": error_to_wire(UsageError("FB509", what))})
    os._exit(1)  # the listening thread holds the pipe


def _answer(out: BinaryIO, system: System, items: list[Any], timeout: float | None) -> None:
    observations = [observation_from_wire(item) for item in items]
    _send(out, {"observed": [observation_hash(o) for o in observations]})
    answered = decide_all(system, observations, timeout=timeout)
    _send(out, {"answers": [[encodable(a.decision), a.compute] for a in answered]})


def _listen(descriptor: int, lines: queue.SimpleQueue[bytes]) -> None:
    with os.fdopen(descriptor, "rb", closefd=False) as pipe:
        for line in pipe:
            lines.put(line)
    os._exit(0)  # the parent is gone; a hanging system must not outlive it


def _send(out: BinaryIO, message: dict[str, Any]) -> None:
    view = memoryview(codec.encode(message) + b"\n")
    while view:
        view = view[out.write(view) :]


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
