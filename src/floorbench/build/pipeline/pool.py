"""Where items are made: in this process, or in worker processes that may die.

An item whose worker dies is tried once more in a fresh worker, then it counts as failed. One that
takes longer than its time limit fails at once, and its worker is killed. Every worker computes with
one thread, so that sums do not depend on how many there are.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from floorbench import codec
from floorbench.build.pipeline.recipes import stages_of
from floorbench.build.pipeline.runner import Done, Failure, Runner
from floorbench.build.pipeline.stage import Item, Step
from floorbench.core.sample import JsonValue
from floorbench.errors import EnvironmentProblem
from floorbench.run.child import THREADS, Child, death
from floorbench.run.processes import error_from_wire

ONE_THREAD = dict.fromkeys(THREADS, "1")
TRIES = 2


@dataclass(slots=True, kw_only=True)
class Task:
    """One item for one step; ``repair`` lists the steps to look at again before it."""

    number: int
    index: int
    item: Item
    repair: tuple[tuple[int, Item], ...] = ()
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What workers make: a recipe filled in, and the cache that all of them share.

    Parameters
    ----------
    recipe : str
        Under which a worker opens the recipe again.
    settings : mapping
    steps : tuple of Step
        For the names in messages.
    cache : Path
    seed : int
    fresh : set of str
        Stages whose cached results are not used.
    """

    recipe: str
    settings: Mapping[str, JsonValue]
    steps: tuple[Step, ...]
    cache: Path
    seed: int
    fresh: frozenset[str]

    def hello(self) -> dict[str, JsonValue]:
        """Return the first message to a worker (see :mod:`floorbench.build.pipeline.worker`)."""
        return {
            "recipe": self.recipe,
            "settings": dict(self.settings),
            "cache": str(self.cache.resolve()),
            "seed": self.seed,
            "fresh": sorted(self.fresh),
        }


class Pool(Protocol):
    """What the engine needs of the place where items are made."""

    def free(self) -> bool:
        """Say whether another task can be given."""
        ...

    def give(self, task: Task) -> None:
        """Take a task."""
        ...

    def collect(self) -> list[tuple[int, Done]]:
        """Wait for something to happen; return what is finished, by task number."""
        ...

    def close(self) -> None:
        """Stop everything that was started."""
        ...


class HerePool:
    """One item at a time in this process."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner
        self._task: Task | None = None

    def free(self) -> bool:
        """Say whether no task waits."""
        return self._task is None

    def give(self, task: Task) -> None:
        """Take a task."""
        self._task = task

    def collect(self) -> list[tuple[int, Done]]:
        """Make the task, if there is one."""
        task, self._task = self._task, None
        if task is None:
            return []
        for index, item in task.repair:
            self._runner.treat(index, item, fresh=False)
        return [(task.number, self._runner.treat(task.index, task.item))]

    def close(self) -> None:
        """Nothing was started."""


class _Worker(Child):
    """A child process and the task it is working on."""

    def __init__(self, hello: bytes) -> None:
        super().__init__("floorbench.build.pipeline.worker", hello, ONE_THREAD)
        self.ready = False
        self.starting: str | None = None
        self.stage: str | None = None
        self.task: Task | None = None
        self.since = time.monotonic()

    def busy(self) -> float:
        """Return the seconds since it got its task, or began or ended to load something."""
        return time.monotonic() - self.since if self.task is not None else 0.0


class ProcessPool:
    """Worker processes behind JSON pipes.

    Parameters
    ----------
    order : Order
        What they make.
    workers : int
        Processes; each is started when the first task for it comes.
    item_timeout : float or None
        Seconds that one item may take in one step, or a stage to load.
    """

    def __init__(self, order: Order, *, workers: int, item_timeout: float | None = None) -> None:
        self._workers = workers
        self._limit = item_timeout
        self._steps = order.steps
        self._hello = codec.encode(order.hello())
        self._pool: list[_Worker] = []
        self._selector = selectors.DefaultSelector()

    def free(self) -> bool:
        """Say whether a worker has nothing to do, or may still be started."""
        return len(self._pool) < self._workers or any(w.task is None for w in self._pool)

    def give(self, task: Task) -> None:
        """Hand a task to an idle worker, or to a new one."""
        worker = next((w for w in self._pool if w.task is None), None)
        if worker is None:
            worker = _Worker(self._hello)
            self._pool.append(worker)
            self._selector.register(worker.pipe, selectors.EVENT_READ, worker)
        worker.task, worker.stage, worker.since = task, None, time.monotonic()
        task.tries += 1
        worker.send(codec.encode({"index": task.index, "item": task.item, "repair": task.repair}))

    def collect(self) -> list[tuple[int, Done]]:
        """Wait for the next messages and deaths (raises what a worker stops with)."""
        finished: list[tuple[int, Done]] = []
        for key, _ in self._selector.select(self._patience()):
            worker: _Worker = key.data
            lines = worker.receive()
            if lines is None:
                finished += self._died(worker)
                continue
            for line in lines:
                message: dict[str, Any] = codec.parse(line)
                if "stop" in message:
                    raise error_from_wire(message["stop"])
                if "ready" in message:
                    worker.ready, worker.since = True, time.monotonic()
                elif "starting" in message:
                    worker.starting, worker.since = message["starting"], time.monotonic()
                elif "stage" in message:
                    worker.stage = message["stage"]
                elif worker.task is not None:
                    finished.append((worker.task.number, codec.convert(message["done"], Done)))
                    worker.task = None
        return finished + self._overdue()

    def _patience(self) -> float | None:
        """Return the seconds until the next item is overdue."""
        if self._limit is None:
            return None
        return max(0.0, self._limit - max((w.busy() for w in self._pool), default=0.0))

    def _overdue(self) -> list[tuple[int, Done]]:
        """Kill the workers whose item takes too long; it is not tried again in this build."""
        finished: list[tuple[int, Done]] = []
        for worker in list(self._pool):
            task = worker.task
            if self._limit is None or task is None or worker.busy() < self._limit:
                continue
            self._remove(worker)
            what = f"no result within {self._limit:g} s"
            if not worker.ready or worker.starting is not None:
                loading = f"stage '{worker.starting}'" if worker.ready else "a worker process"
                raise EnvironmentProblem("FB836", f"{what}: {loading} was still loading")
            finished.append(lost(task, self._steps, what, code="FB836", stage=worker.stage))
        return finished

    def _remove(self, worker: _Worker) -> int:
        """Take a worker out and end it; return its exit status."""
        self._selector.unregister(worker.pipe)
        self._pool.remove(worker)
        return worker.kill()

    def _died(self, worker: _Worker) -> list[tuple[int, Done]]:
        how = death(self._remove(worker))
        if not worker.ready:
            raise EnvironmentProblem("FB854", f"a worker process ended as it began ({how})")
        if worker.starting is not None:
            what = f"stage '{worker.starting}' ended its process while it loaded ({how})"
            raise EnvironmentProblem("FB854", what)
        task = worker.task
        if task is None:
            return []
        if task.tries < TRIES:
            self.give(task)
            return []
        what = f"its worker process died {TRIES} times ({how})"
        return [lost(task, self._steps, what, stage=worker.stage)]

    def close(self) -> None:
        """Kill every worker; none is left as an orphan or a zombie."""
        for worker in self._pool:
            worker.kill()
        self._pool = []
        self._selector.close()


def lost(
    task: Task,
    steps: tuple[Step, ...],
    what: str,
    *,
    code: str | None = None,
    stage: str | None = None,
) -> tuple[int, Done]:
    """Return what becomes of a task that its worker did not finish."""
    at = stage or stages_of(steps[task.index])[0].name
    return task.number, Done(stage=at, failed=Failure(code=code, what=what))
