"""The process executor: own worker processes that can be killed when they hang or die.

One batch per worker is in flight. The clock of an item starts when its worker says that it is
about to ask the system, so neither loading nor decoding counts. A batch that is lost (death or
timeout) is asked again item by item; a single item that is lost gets its outcome and the run goes
on with a fresh worker.
"""

from __future__ import annotations

import os
import select
import selectors
import time
from collections.abc import Iterable, Iterator
from typing import Any

from floorbench import codec, errors
from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import FloorbenchError, Place, SystemProblem
from floorbench.run.batching import Item, batches
from floorbench.run.child import THREADS, Child, cores, death
from floorbench.run.deciding import SystemChoice, timed_out
from floorbench.run.executors import LOADING, Answer, loading_arguments, named, still_loading
from floorbench.run.pending import Pending, unpacked
from floorbench.run.wire import observation_to_wire

GRACE = 0.2  # seconds a worker may use to report its own lateness before it is killed


class _Worker(Child):
    """A child process and the batch it is working on; ``deadline`` is first that of loading."""

    def __init__(self, hello: bytes, load_timeout: float, threads: int) -> None:
        share = {name: str(threads) for name in THREADS if name not in os.environ}
        super().__init__("floorbench.run.worker", hello, share)
        self.ready = False
        self.batch: list[Item] | None = None
        self.observed: list[str] | None = None
        self.deadline: float | None = time.monotonic() + load_timeout

    def done(self) -> tuple[list[Item], list[str] | None]:
        """Take the batch from the worker, with the hashes of what it was shown."""
        batch, observed = self.batch or [], self.observed
        self.batch, self.observed, self.deadline = None, None, None
        return batch, observed


class ProcessExecutor:
    """Worker processes behind JSON pipes (see the module's text).

    Each computes with its share of the cores, at least one: libraries that take all of them in
    every process wait for one another. Variables such as ``OMP_NUM_THREADS`` that are set already
    are left alone.

    Parameters
    ----------
    workers, batch : int
    batch_seconds, timeout, load_timeout : float or None
        As in :func:`floorbench.run.executors.make_executor`.
    """

    name = "process"
    warning: str | None = None

    def __init__(
        self,
        *,
        workers: int,
        batch: int = 1,
        batch_seconds: float | None = None,
        timeout: float | None = None,
        load_timeout: float | None = None,
    ) -> None:
        self.workers = workers
        self.batch = batch
        self.batch_seconds = batch_seconds
        self.timeout = timeout
        self._load_timeout = LOADING if load_timeout is None else load_timeout
        self.arguments = loading_arguments(self._load_timeout)
        self._hello = b""
        self._pool: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._choice: SystemChoice | None = None

    def start(self, choice: SystemChoice) -> SystemSpec:
        """Start all workers and wait until the first has loaded the system.

        Raises
        ------
        SystemProblem
            ``FB501`` when it cannot be loaded, or not in time.
        UsageError
            ``FB509`` when the system is an object of this process.
        """
        self._hello = codec.encode({"system": named(choice), "timeout": self.timeout})
        self._choice = choice
        for _ in range(self.workers):
            self._spawn()
        first = self._pool[0]
        while True:
            left = max(0.0, (first.deadline or 0.0) - time.monotonic())
            if not select.select([first.pipe], [], [], left)[0]:
                raise still_loading(choice.name, self._load_timeout)
            for message in self._messages(first) or ():
                spec = self._greet(first, message)
                return codec.convert(spec, SystemSpec)

    def answers(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Answer items in the order in which workers finish."""
        pending = Pending(batches(items, self.batch, self.batch_seconds))
        while True:
            for worker in self._pool:
                if not worker.ready or worker.batch is not None:
                    continue
                batch = pending.next()
                if batch is None:
                    break
                self._give(worker, batch)
            if pending.exhausted and all(w.batch is None for w in self._pool):
                return
            yield from self._collect(pending)

    def close(self) -> None:
        """Kill every worker; none is left as an orphan or a zombie."""
        for worker in self._pool:
            self._selector.unregister(worker.pipe)
            worker.kill()
        self._pool = []
        self._selector.close()

    def _spawn(self) -> None:
        worker = _Worker(self._hello, self._load_timeout, max(1, cores() // self.workers))
        self._pool.append(worker)
        self._selector.register(worker.pipe, selectors.EVENT_READ, worker)

    def _give(self, worker: _Worker, batch: list[Item]) -> None:
        worker.batch, worker.observed, worker.deadline = batch, None, None
        wire = [observation_to_wire(item.observation) for item in batch]
        worker.send(codec.encode({"items": wire}))

    def _messages(self, worker: _Worker) -> list[dict[str, Any]] | None:
        lines = worker.receive()
        if lines is None:
            if not worker.ready:
                status = self._bury(worker)
                raise self._unloadable(f"its worker died while loading ({death(status)})")
            return None
        return [codec.parse(line) for line in lines]

    def _greet(self, worker: _Worker, message: dict[str, Any]) -> Any:
        if "refused" in message:
            raise error_from_wire(message["refused"])
        worker.ready, worker.deadline = True, None
        self.batch = self.batch if message["batches"] else 1
        return message["ready"]

    def _unloadable(self, why: str) -> SystemProblem:
        return SystemProblem("FB501", f"system '{self._name()}' cannot be loaded: {why}")

    def _name(self) -> str:
        return self._choice.name if self._choice is not None else "?"

    def _collect(self, pending: Pending) -> Iterator[Answer]:
        """Wait for the next message, death or deadline, and yield what is finished by it."""
        deadlines = [w.deadline for w in self._pool if w.deadline is not None]
        wait = max(0.0, min(deadlines) - time.monotonic()) if deadlines else None
        for key, _ in self._selector.select(wait):
            worker: _Worker = key.data
            messages = self._messages(worker)
            if messages is None:
                yield from self._died(worker, pending)
                continue
            for message in messages:
                if not worker.ready:
                    self._greet(worker, message)
                elif "observed" in message:
                    worker.observed = message["observed"]
                    worker.deadline = self._deadline(worker)
                elif "answers" in message:
                    batch, observed = worker.done()
                    yield from unpacked(batch, observed or [], message["answers"])
                else:
                    raise error_from_wire(message["refused"])
        now = time.monotonic()
        for worker in [w for w in self._pool if w.deadline is not None and w.deadline <= now]:
            if not worker.ready:
                raise still_loading(self._name(), self._load_timeout)
            self._bury(worker)
            self._spawn()
            yield from pending.lost(*worker.done(), timed_out(self.timeout or 0.0))

    def _deadline(self, worker: _Worker) -> float | None:
        if self.timeout is None or worker.batch is None:
            return None
        return time.monotonic() + self.timeout * len(worker.batch) + GRACE

    def _died(self, worker: _Worker, pending: Pending) -> Iterator[Answer]:
        status = self._bury(worker)
        self._spawn()
        if worker.batch is not None:
            reason = f"the worker process died ({death(status)})"
            failed = Decision(outcome=Outcome.FAILED, reason=reason)
            yield from pending.lost(*worker.done(), failed)

    def _bury(self, worker: _Worker) -> int:
        self._selector.unregister(worker.pipe)
        self._pool.remove(worker)
        return worker.kill()


def error_from_wire(wire: dict[str, Any]) -> FloorbenchError:
    """Rebuild an error that a worker reported."""
    kind = getattr(errors, wire["kind"], SystemProblem)
    where = Place(*wire["where"]) if wire["where"] is not None else None
    error: FloorbenchError = kind(wire["code"], wire["what"], where=where, hint=wire["hint"])
    return error
