"""The Ray executor: workers on this machine or on the nodes of a cluster.

It works like the process executor: one batch per worker is in flight, the clock of an item starts
when its worker is about to ask the system, and a batch that is lost is asked again item by item.
What is different is who may be guilty of a death. A node that leaves says nothing about the item,
so the batch goes to another; a process that dies may have been killed for the memory that others
took, so an item must kill two workers, alone each time, before that is its outcome.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import FloorbenchError, SystemProblem
from floorbench.run.batching import Item, batches
from floorbench.run.deciding import SystemChoice, timed_out
from floorbench.run.executors import LOADING, Answer, loading_arguments, named, still_loading
from floorbench.run.pending import Pending, unpacked
from floorbench.run.processes import GRACE
from floorbench.run.ray_cluster import Crew, Death, Event, RayOptions, RayWorker
from floorbench.run.wire import observation_hash, observation_to_wire

DEATHS = 2  # of its worker, alone, until an item has failed
NODES = 5  # that may leave under one batch until it counts as lost


@dataclass(slots=True)
class _Load:
    """A batch at a worker; the hashes and the deadline are known once it is about to be asked."""

    batch: list[Item]
    observed: list[str] | None = None
    deadline: float | None = None


class RayExecutor:
    """Workers on a Ray cluster (see the module's text).

    Parameters
    ----------
    workers, batch : int
    batch_seconds : float or None
    timeout, load_timeout : float or None
        The clock of loading starts when a worker has its place.
    options : RayOptions
        Which cluster, and what each worker reserves on it.
    """

    name = "ray"
    warning: str | None = None

    def __init__(
        self,
        *,
        workers: int,
        batch: int = 1,
        batch_seconds: float | None = None,
        timeout: float | None = None,
        load_timeout: float | None = None,
        options: RayOptions | None = None,
    ) -> None:
        self.workers = workers
        self.batch = batch
        self.batch_seconds = batch_seconds
        self.timeout = timeout
        self._load_timeout = LOADING if load_timeout is None else load_timeout
        self._options = options or RayOptions()
        self.arguments = (*loading_arguments(self._load_timeout), *self._options.arguments())
        self._system = "?"
        self._crew = Crew(
            self._options,
            served="floorbench.run.worker:Desk",
            threads=max(1, int(self._options.cpus)),
        )

    def start(self, choice: SystemChoice) -> SystemSpec:
        """Ask for all workers and wait until the first has loaded the system.

        Raises
        ------
        SystemProblem
            ``FB501`` when it cannot be loaded, or not in time.
        UsageError
            ``FB509`` when the system is an object of this process.
        EnvironmentProblem
            ``FB401`` without Ray, ``FB515`` to ``FB517`` for a cluster that cannot do it.
        """
        self._system = choice.name
        self._crew.join(self.workers, {"system": named(choice), "timeout": self.timeout})
        for _ in range(self.workers):
            self._crew.spawn()
        while True:
            for event in self._crew.events(self._patience()):
                if event.death is not None:
                    self._replace(event.worker, event.death)
                elif event.kind == "open":
                    self.batch = self.batch if event.said["batches"] else 1
                    return codec.convert(event.said["ready"], SystemSpec)
            self._check_loading()

    def answers(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Answer items in the order in which workers finish."""
        pending = Pending(batches(items, self.batch, self.batch_seconds))
        while True:
            for worker in self._crew.workers:
                if not worker.opened or worker.load is not None:
                    continue
                batch = pending.next()
                if batch is None:
                    break
                self._give(worker, batch)
            if pending.exhausted and all(w.load is None for w in self._crew.workers):
                return
            yield from self._collect(pending)

    def close(self) -> None:
        """Kill every worker; stop Ray if it was started for this run."""
        self._crew.leave()

    def _give(self, worker: RayWorker, batch: list[Item]) -> None:
        worker.load = _Load(batch)
        worker.call("show", codec.encode([observation_to_wire(i.observation) for i in batch]))
        worker.call("answer")

    def _collect(self, pending: Pending) -> Iterator[Answer]:
        """Wait for the next answer, death or deadline, and yield what is finished by it."""
        for event in self._crew.events(self._patience()):
            if event.death is not None:
                yield from self._died(event.worker, event.death, pending)
            elif event.kind == "show":
                self._shown(event)
            elif event.kind == "answer":
                load: _Load = event.worker.load
                event.worker.load = None
                yield from unpacked(load.batch, load.observed or [], event.said)
        self._check_loading()
        now = time.monotonic()
        for worker in [w for w in self._crew.workers if w.load and w.load.deadline is not None]:
            if worker.load.deadline <= now:
                self._crew.bury(worker)
                self._crew.spawn()
                decision = timed_out(self.timeout or 0.0)
                yield from pending.lost(worker.load.batch, worker.load.observed, decision)

    def _patience(self) -> float | None:
        """Return the seconds until the next answer or the next worker is overdue."""
        deadlines = [
            w.load.deadline for w in self._crew.workers if w.load and w.load.deadline is not None
        ]
        deadlines += [since + self._load_timeout for since in self._loading()]
        return max(0.0, min(deadlines) - time.monotonic()) if deadlines else None

    def _loading(self) -> list[float]:
        """Return when each worker that has a place and still loads began to."""
        return [w.since for w in self._crew.workers if not w.opened and w.since is not None]

    def _check_loading(self) -> None:
        if any(time.monotonic() - since >= self._load_timeout for since in self._loading()):
            raise still_loading(self._system, self._load_timeout)

    def _shown(self, event: Event) -> None:
        load: _Load = event.worker.load
        load.observed = event.said
        if self.timeout is not None:
            load.deadline = time.monotonic() + self.timeout * len(load.batch) + GRACE

    def _died(self, worker: RayWorker, death: Death, pending: Pending) -> Iterator[Answer]:
        self._replace(worker, death)
        load: _Load | None = worker.load
        if load is None or (death.node and pending.put_back(load.batch, "node", times=NODES)):
            return
        reason = f"the worker died {DEATHS} times ({death.reason})"
        failed = Decision(outcome=Outcome.FAILED, reason=reason)
        observed = load.observed or _observed(load.batch)
        yield from pending.lost(load.batch, observed, failed, again=DEATHS - 1)

    def _replace(self, worker: RayWorker, death: Death) -> None:
        if self._crew.may_replace(worker, death):
            self._crew.spawn()
        elif not self._crew.workers:
            why = f"its workers died while loading ({death.reason})"
            raise SystemProblem("FB501", f"system '{self._system}' cannot be loaded: {why}")


def _observed(batch: list[Item]) -> list[str] | None:
    """Hash a lone item here: a worker that dies at once takes its last words with it."""
    try:
        return [observation_hash(batch[0].observation)] if len(batch) == 1 else None
    except FloorbenchError:
        return None
