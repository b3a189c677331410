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
import threading
from pathlib import Path
from typing import Any, BinaryIO

from floorbench import codec
from floorbench.build.pipeline.recipes import checked_work, open_recipe
from floorbench.build.pipeline.runner import Runner
from floorbench.build.pipeline.stage import Item, Stage
from floorbench.errors import EnvironmentProblem, FloorbenchError
from floorbench.run.worker import error_to_wire


class _Announcing(Runner):
    """Tells the parent which stage is at work, and while models are being loaded."""

    out: BinaryIO

    def start(self, stage: Stage) -> None:
        if stage.name not in self._started:
            _send(self.out, {"starting": stage.name})
            super().start(stage)
            _send(self.out, {"starting": None})
        _send(self.out, {"stage": stage.name})


def main() -> None:
    """Serve one parent until its pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to stop
    pipe, out = os.dup(0), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(pipe, lines), daemon=True).start()
    try:
        hello: dict[str, Any] = codec.parse(lines.get())
        work = checked_work(open_recipe(hello["recipe"]), hello["settings"])
        runner = _Announcing(
            work.steps,
            cache=Path(hello["cache"]),
            seed=hello["seed"],
            fresh=frozenset(hello["fresh"]),
        )
        runner.out = out
        _send(out, {"ready": True})
        while True:
            task: dict[str, Any] = codec.parse(lines.get())
            for index, item in task["repair"]:
                runner.treat(index, codec.convert(item, Item), fresh=False)
            done = runner.treat(task["index"], codec.convert(task["item"], Item))
            _send(out, {"done": done})
    except FloorbenchError as error:
        _send(out, {"stop": error_to_wire(error)})
    except Exception as error:
        what = f"a worker process failed: {type(error).__name__}: {error}"
        _send(out, {"stop": error_to_wire(EnvironmentProblem("FB854", what))})
    os._exit(1)  # the listening thread holds the pipe


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
