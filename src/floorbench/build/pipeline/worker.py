"""The child process that makes items: ``python -m floorbench.build.pipeline.worker``.

JSON lines over standard input and output; whatever a stage prints goes to standard error, and what
it reads from standard input is empty. From the parent::

    {"recipe": name, "settings": {...}, "cache": path, "seed": int, "fresh": [...]}   first line
    {"index": step, "item": {...}, "repair": [[step, item], ...]}                     one item

and to the parent::

    {"ready": true}                once
    {"starting": stage or null}    around loading models
    {"stage": stage}               what is made now; the last one before a death says where
    {"done": {...}}                one item
    {"stop": error}                no item could be made; the process ends

The parent's end of the pipe closing ends the process at once, even in the middle of an item.
"""

from __future__ import annotations

import os
import queue
import signal
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from floorbench import codec
from floorbench.build.pipeline.recipes import checked_work, open_recipe
from floorbench.build.pipeline.runner import Done, Runner
from floorbench.build.pipeline.stage import Item, Stage
from floorbench.errors import EnvironmentProblem, FloorbenchError, Place
from floorbench.run.worker import error_to_wire

Announce = Callable[[str, str | None], None]


def main() -> None:
    """Serve one parent until its pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    pipe, out = os.dup(0), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, lines), daemon=True).start()
    try:
        hello = codec.parse(lines.get())
        maker = Maker(hello, lambda what, stage: _send(out, {what: stage}))
        _send(out, {"ready": True})
        while True:
            _send(out, {"done": maker.make(codec.parse(lines.get()))})
    except Exception as error:
        _send(out, {"stop": refusal(error)})
    os._exit(1)  # the listening thread holds the pipe


class Maker:
    """The stages of a recipe in this process.

    Parameters
    ----------
    hello : mapping
        The first message: recipe, settings, cache, seed, fresh.
    announce : function
        Hears ``starting`` with the name of a stage before it loads its models, and with ``None``
        afterwards; ``stage`` with the name of the one that is at work.

    Raises
    ------
    UsageError
        ``FB101``, ``FB851`` or ``FB859`` for the recipe.
    """

    def __init__(self, hello: Mapping[str, Any], announce: Announce) -> None:
        work = checked_work(open_recipe(hello["recipe"]), hello["settings"])
        self._runner = _Announcing(
            work.steps,
            cache=Path(hello["cache"]),
            seed=hello["seed"],
            fresh=frozenset(hello["fresh"]),
        )
        self._runner.announce = announce

    def make(self, task: Mapping[str, Any]) -> Done:
        """Make one item, after what must be repaired before it."""
        for index, item in task["repair"]:
            self._runner.treat(index, codec.convert(item, Item), fresh=False)
        return self._runner.treat(task["index"], codec.convert(task["item"], Item))


class MarkingMaker(Maker):
    """A maker that says in a file what it is loading, for a caller who shares only the cache.

    Parameters
    ----------
    hello : mapping
        As for :class:`Maker`, with ``token``, a file that must be there, and ``worker``, a number.

    Raises
    ------
    EnvironmentProblem
        ``FB838`` when this machine does not see the caller's cache.
    """

    greeting = True  # what a Ray worker says when it is ready; there is nothing to tell

    def __init__(self, hello: Mapping[str, Any]) -> None:
        token = Path(hello["token"])
        if not token.is_file():
            what = f"machine '{socket.gethostname()}' does not see the cache of this build"
            raise EnvironmentProblem("FB838", what, where=Place(hello["cache"]))
        self._mark = mark_of(token, hello["worker"])
        super().__init__(hello, self._announce)

    def _announce(self, what: str, stage: str | None) -> None:
        if what != "starting":
            return
        if stage is None:
            self._mark.unlink()
        else:
            self._mark.write_text(stage, encoding="utf-8")


def mark_of(token: Path, worker: int) -> Path:
    """Return the file in which a worker says what it is loading."""
    return token.with_name(f"{token.name}-{worker}")


class _Announcing(Runner):
    """Tells somebody which stage is at work, and while models are being loaded."""

    announce: Announce

    def start(self, stage: Stage) -> None:
        if stage.name not in self._started:
            self.announce("starting", stage.name)
            super().start(stage)
            self.announce("starting", None)
        self.announce("stage", stage.name)


def refusal(error: Exception) -> dict[str, Any]:
    """Return why a worker stops, as JSON."""
    if isinstance(error, FloorbenchError):
        return error_to_wire(error)
    what = f"a worker process failed: {type(error).__name__}: {error}"
    return error_to_wire(EnvironmentProblem("FB854", what))


def _listen(descriptor: int, lines: queue.SimpleQueue[bytes]) -> None:
    with os.fdopen(descriptor, "rb", closefd=False) as pipe:
        for line in pipe:
            lines.put(line)
    os._exit(0)  # the parent is gone; nothing must be written after it


def _send(out: BinaryIO, message: dict[str, Any]) -> None:
    view = memoryview(codec.encode(message) + b"\n")
    while view:
        view = view[out.write(view) :]


if __name__ == "__main__":
    main()
