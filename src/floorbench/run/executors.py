"""Where systems are asked: in this thread, in several threads, or (``processes``) in workers.

An executor takes items lazily, keeps a bounded number in flight and gives answers back in any
order; the engine knows which is which by number.
"""

from __future__ import annotations

import math
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, Protocol

from floorbench.core.ports import System
from floorbench.core.prediction import Compute, Decision
from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec
from floorbench.core.words import counted
from floorbench.errors import SystemProblem, UsageError
from floorbench.run.batching import Item, batches
from floorbench.run.deciding import SystemChoice, decide_all, encodable, takes_batches
from floorbench.run.due import MOST, short
from floorbench.run.wire import observation_hash

if TYPE_CHECKING:
    from floorbench.run.ray_cluster import RayOptions

LONGEST_TIMEOUT = 1e6  # seconds; more cannot be waited for by every operating system
LOADING = 3600.0  # seconds that a worker may take to load its system


class Answer(NamedTuple):
    """What came back for an item, and the hash of what was shown."""

    number: int
    observed: str | None
    decision: Decision
    compute: Compute


class Executor(Protocol):
    """The one thing the engine needs to know about where the work is done."""

    name: str
    workers: int
    batch: int
    batch_seconds: float | None
    timeout: float | None
    warning: str | None
    arguments: tuple[str, ...]  # what else the command line said of it

    def start(self, choice: SystemChoice) -> SystemSpec:
        """Load the system and return what it declares; ``batch`` is 1 if it takes no batches."""
        ...

    def answers(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Answer every item exactly once, in any order."""
        ...

    def close(self) -> None:
        """Stop everything that was started; safe to call twice."""
        ...


def make_executor(
    name: str,
    *,
    workers: int = 1,
    batch: int = 1,
    batch_seconds: float | None = None,
    timeout: float | None = None,
    load_timeout: float | None = None,
    ray: RayOptions | None = None,
) -> Executor:
    """Build an executor by name: ``serial``, ``thread``, ``process`` or ``ray``.

    Parameters
    ----------
    name : str
    workers : int
        Threads, processes or actors.
    batch : int
        Samples asked at once.
    batch_seconds : float or None
        Bound on the seconds of a padded batch (see :func:`floorbench.run.batching.batches`).
    timeout : float or None
        Seconds one answer may take.
    load_timeout : float or None
        Seconds that a worker of ``process`` or ``ray`` may take to load the system; an hour by
        default.
    ray : RayOptions or None
        For ``ray`` only: which cluster, and what a worker reserves on it.

    Raises
    ------
    UsageError
        ``FB509`` for an unknown name or a number below its range, ``FB103`` for options that the
        executor would not use.
    """
    limits = [t for t in (timeout, load_timeout) if t is not None]
    if workers < 1 or batch < 1 or not all(0 < t <= LONGEST_TIMEOUT for t in limits):
        loading = "" if load_timeout is None else f", load timeout {load_timeout}"
        raise UsageError(
            "FB509",
            f"workers {workers}, batch {batch}, timeout {timeout}{loading}: all must be above 0",
            hint=f"A timeout is at most {LONGEST_TIMEOUT:g} s; leave it out for none.",
        )
    if max(workers, batch) > MOST:
        what = f"workers {short(workers)}, batch {short(batch)}: at most {MOST}"
        raise UsageError("FB509", what)
    if batch_seconds is not None and not (0 < batch_seconds < math.inf and batch > 1):
        raise UsageError(
            "FB509",
            f"batches of {batch_seconds:g} s and "
            f"{counted(batch, 'item')}: above 0 s, and 2 items or more",
            hint="--batch-seconds bounds a batch further; give --batch too.",
        )
    if name == "ray":
        from floorbench.run.ray_workers import RayExecutor

        return RayExecutor(
            workers=workers,
            batch=batch,
            batch_seconds=batch_seconds,
            timeout=timeout,
            load_timeout=load_timeout,
            options=ray,
        )
    if ray is not None:
        raise UsageError(
            "FB103",
            f"options of Ray mean nothing to the executor '{name}'",
            hint="give --executor ray too",
        )
    if load_timeout is not None and name in ("serial", "thread"):
        raise UsageError(
            "FB103",
            f"the {name} executor cannot stop a system that hangs while it loads",
            hint="--load-timeout needs --executor process or ray",
        )
    if name == "serial":
        return SerialExecutor(batch=batch, batch_seconds=batch_seconds, timeout=timeout)
    if name == "thread":
        return ThreadExecutor(
            workers=workers, batch=batch, batch_seconds=batch_seconds, timeout=timeout
        )
    if name == "process":
        from floorbench.run.processes import ProcessExecutor

        return ProcessExecutor(
            workers=workers,
            batch=batch,
            batch_seconds=batch_seconds,
            timeout=timeout,
            load_timeout=load_timeout,
        )
    raise UsageError("FB509", f"there is no executor '{name}': serial, thread, process or ray")


def named(choice: SystemChoice) -> dict[str, JsonValue]:
    """Return name and parameters of a system, with which another process builds it.

    Raises
    ------
    UsageError
        ``FB509`` when the system is an object of this process.
    """
    if choice.factory is not None:
        raise UsageError(
            "FB509", f"system '{choice.name}' is an object of this process; name it instead"
        )
    return {"name": choice.name, "parameters": choice.parameters}


def still_loading(name: str, limit: float) -> SystemProblem:
    """Return the error of a system that a worker has not loaded in time."""
    return SystemProblem(
        "FB501",
        f"system '{name}' cannot be loaded: it was not there after {limit:g} s",
        hint="See what it waits for with --executor serial, or allow more with --load-timeout.",
    )


def loading_arguments(limit: float) -> tuple[str, ...]:
    """Return the words of the command line that say how long loading may take."""
    return () if limit == LOADING else ("--load-timeout", f"{limit:g}")


def _cannot_cut(name: str, timeout: float | None) -> str | None:
    """Return what to know of a timeout that this executor can only note; nothing without one."""
    if timeout is None:
        return None
    return (
        f"answers later than {timeout:g} s count as timeout, but the {name} executor waits for "
        "them, for ever where a system hangs; --executor process cuts them off"
    )


def answer_batch(
    system: System, batch: list[Item], timeout: float | None, *, alone: bool = True
) -> list[Answer]:
    """Hash what is shown and ask the system.

    Parameters
    ----------
    system : System
    batch : list of Item
    timeout : float or None
        Seconds an answer may take.
    alone : bool
        As in :func:`floorbench.run.deciding.decide_all`.

    Raises
    ------
    DataError
        When the audio of an observation cannot be decoded: that is the data's fault, and a run
        over broken data must stop, not call the system wrong.
    """
    observed = [observation_hash(item.observation) for item in batch]
    shown_all = [item.observation for item in batch]
    answered = decide_all(system, shown_all, timeout=timeout, alone=alone)
    return [
        Answer(item.number, shown, encodable(decision), compute)
        for item, shown, (decision, compute) in zip(batch, observed, answered, strict=True)
    ]


class SerialExecutor:
    """Everything in the calling thread, in order."""

    name = "serial"
    workers = 1
    arguments: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        batch: int = 1,
        batch_seconds: float | None = None,
        timeout: float | None = None,
    ) -> None:
        self.batch = batch
        self.batch_seconds = batch_seconds
        self.timeout = timeout
        self._system: System | None = None
        self.warning: str | None = _cannot_cut(self.name, timeout)

    def start(self, choice: SystemChoice) -> SystemSpec:
        """Load the system here."""
        self._system = choice.build()
        self.batch = self.batch if takes_batches(self._system) else 1
        return self._system.spec

    def answers(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Answer items one batch after the other."""
        assert self._system is not None  # noqa: S101 -- start() comes first
        for batch in batches(items, self.batch, self.batch_seconds):
            yield from answer_batch(self._system, batch, self.timeout)

    def close(self) -> None:
        """Drop the system."""
        self._system = None


class ThreadExecutor:
    """Several threads, each with a system of its own (systems need not be thread-safe).

    Parameters
    ----------
    workers, batch : int
    batch_seconds, timeout : float or None
        As in :func:`make_executor`.
    """

    name = "thread"
    arguments: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        workers: int,
        batch: int = 1,
        batch_seconds: float | None = None,
        timeout: float | None = None,
    ) -> None:
        self.workers = workers
        self.batch = batch
        self.batch_seconds = batch_seconds
        self.timeout = timeout
        self._systems: list[System] = []
        self._todo: queue.SimpleQueue[list[Item] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[list[Answer] | BaseException] = queue.SimpleQueue()
        self.warning: str | None = _cannot_cut(self.name, timeout)

    def start(self, choice: SystemChoice) -> SystemSpec:
        """Load one system per thread and start the threads."""
        self._systems = [choice.build() for _ in range(self.workers)]
        self.batch = self.batch if takes_batches(self._systems[0]) else 1
        for system in self._systems:
            threading.Thread(target=self._work, args=(system,), daemon=True).start()
        return self._systems[0].spec

    def _work(self, system: System) -> None:
        while (batch := self._todo.get()) is not None:
            try:
                alone = self.workers == 1
                self._done.put(answer_batch(system, batch, self.timeout, alone=alone))
            except BaseException as error:  # handed to the engine's thread, which raises it
                self._done.put(error)

    def answers(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Answer items in the order in which threads finish."""
        waiting = 0
        for batch in batches(items, self.batch, self.batch_seconds):
            if waiting == self.workers:
                yield from self._next()
                waiting -= 1
            self._todo.put(batch)
            waiting += 1
        for _ in range(waiting):
            yield from self._next()

    def _next(self) -> list[Answer]:
        done = self._done.get()
        if isinstance(done, BaseException):
            raise done
        return done

    def close(self) -> None:
        """Let idle threads end; one that hangs is left to die with the process."""
        for _ in self._systems:
            self._todo.put(None)
        self._systems = []
