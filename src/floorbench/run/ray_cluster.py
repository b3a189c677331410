"""Ray at arm's length: placing workers on a cluster, asking them, and saying why one died.

Only text and bytes cross, the JSON of the worker processes. A worker is one actor; it serves one
class of floorbench, named by its import path, and is never restarted by Ray: who lost it decides.
"""

from __future__ import annotations

import json
import math
import os
import socket
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from floorbench import __version__, codec
from floorbench.errors import EnvironmentProblem, FloorbenchError, UsageError
from floorbench.run.child import THREADS
from floorbench.run.processes import error_from_wire
from floorbench.run.ray_start import Connection, first_line

STILLBORN = 3  # workers that may die one after the other before any has loaded
LONGEST = 1e6  # seconds that a worker may be waited for
HERE = 300.0  # seconds that a worker may take to begin where Ray was started for it
ENDED = (
    "Its process may have been killed, for memory for instance; what is done is kept, and the same "
    "call goes on from there (a run with --resume)."
)
GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RayOptions:
    """Which cluster, and what each worker reserves on it.

    Parameters
    ----------
    address : str or None
        ``host:port`` of a cluster, or ``auto`` for one on this machine; ``None`` takes
        ``RAY_ADDRESS`` where it is set, else starts Ray here for this call alone.
    cpus : float
        Cores per worker, 0 or more. A worker computes with as many threads, at least one.
    gpus : float
        GPUs per worker; a part below 1 lets several workers share one.
    memory : float or None
        GiB per worker. Ray counts them when it places workers and does not enforce them.
    place_timeout : float
        Seconds to wait until at least one worker has a place.

    Raises
    ------
    UsageError
        ``FB103`` for a value out of range.
    """

    address: str | None = None
    cpus: float = 1.0
    gpus: float = 0.0
    memory: float | None = None
    place_timeout: float = 60.0

    def __post_init__(self) -> None:
        amounts = (self.cpus, self.gpus, 1.0 if self.memory is None else self.memory)
        if not all(math.isfinite(a) and a >= 0 for a in amounts):
            raise UsageError("FB103", f"resources of a worker are numbers from 0: {self.wish()}")
        if not 0 < self.place_timeout <= LONGEST:
            what = f"{self.place_timeout:g} s to wait for a place: above 0, at most {LONGEST:g}"
            raise UsageError("FB103", what)
        if self.gpus > 1 and self.gpus != int(self.gpus):
            raise UsageError(
                "FB103", f"{self.gpus:g} GPUs per worker: above 1 only whole numbers are possible"
            )

    def wish(self) -> str:
        """Say in words what a worker reserves."""
        memory = "" if self.memory is None else f", {self.memory:g} GiB of memory"
        return f"{self.cpus:g} CPUs, {self.gpus:g} GPUs{memory}"

    def arguments(self) -> tuple[str, ...]:
        """Return the words of the command line that say the same."""
        said = {
            "--ray-address": (self.address, None),
            "--cpus-per-worker": (self.cpus, 1.0),
            "--gpus-per-worker": (self.gpus, 0.0),
            "--memory-per-worker": (self.memory, None),
            "--place-timeout": (self.place_timeout, 60.0),
        }
        words = [
            (name, f"{v:g}" if isinstance(v, float) else str(v))
            for name, (v, d) in said.items()
            if v != d
        ]
        return tuple(word for pair in words for word in pair)


class Death(NamedTuple):
    """How a worker was lost; ``node`` when it went with its machine."""

    node: bool
    reason: str


class Event(NamedTuple):
    """Something a worker said (``kind`` is the method) or, with ``death``, its end."""

    worker: RayWorker
    kind: str
    said: Any = None
    death: Death | None = None


@dataclass(slots=True, eq=False)
class RayWorker:
    """One actor, where it is, and the calls it has not answered yet.

    Parameters
    ----------
    number : int
        Counts the workers of a crew.
    actor : handle of Ray
    waiting : dict
        Reference of each unanswered call to the method.
    node : str or None
        Ray's id of the node; ``None`` until it has a place.
    host : str
        Name of the machine, for messages.
    since : float or None
        When it had its place and began to load, on the monotonic clock.
    opened, gone : bool
        It has loaded what it serves; it was buried.
    load : object
        What it works on, for its owner; ``None`` when it is idle.
    """

    number: int
    actor: Any
    waiting: dict[Any, str] = field(default_factory=dict)
    node: str | None = None
    host: str = "?"
    since: float | None = None
    opened: bool = False
    gone: bool = False
    load: Any = None

    def call(self, method: str, *payload: bytes) -> None:
        """Ask for a method of the served class."""
        self.waiting[self.actor.call.remote(method, *payload)] = method


class Crew:
    """Workers on a cluster.

    Parameters
    ----------
    options : RayOptions
    served : str
        ``module:Class``; made from the hello and asked by :meth:`RayWorker.call`. Its module has a
        function ``refusal`` that turns an error into JSON.
    threads : int
        With how many a worker computes.
    """

    def __init__(self, options: RayOptions, *, served: str, threads: int) -> None:
        self.options = options
        self.workers: list[RayWorker] = []
        self._served = served
        self._threads = threads
        self._ray: Any = None
        self._actors: Any = None
        self._connection: Connection | None = None
        self._hello: Mapping[str, Any] = {}
        self._spawned = self._stillborn = 0
        self._unplaced: float | None = None

    def join(self, workers: int, hello: Mapping[str, Any]) -> None:
        """Join or start a cluster; ``hello`` opens each worker that is spawned on it.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without Ray, ``FB516`` when there is no cluster, ``FB515`` when one that was
            started here cannot hold a single worker.
        """
        cpus = max(1, math.ceil(workers * self.options.cpus))
        self._connection = Connection(self.options.address, cpus=cpus)
        self._ray = self._connection.ray
        self._actors = self._ray.remote(_worker_class())
        self._hello = hello
        if self._connection.started:
            self._check_room()

    def _check_room(self) -> None:
        """Refuse at once what a cluster of this machine alone will never hold."""
        there = self._ray.cluster_resources()
        memory = (self.options.memory or 0.0) * GIB
        if self.options.gpus > there.get("GPU", 0.0) or memory > there.get("memory", 0.0):
            raise self._no_place()

    def _no_place(self) -> EnvironmentProblem:
        there = self._ray.cluster_resources()
        has = (
            f"{there.get('CPU', 0):g} CPUs, {there.get('GPU', 0):g} GPUs, "
            f"{there.get('memory', 0) / GIB:.1f} GiB of memory"
        )
        return EnvironmentProblem(
            "FB515",
            f"no worker with {self.options.wish()} finds a place; all nodes together have {has}",
        )

    def spawn(self) -> RayWorker:
        """Ask for one more worker; it gets a place when there is one."""
        options = self.options
        actor = self._actors.options(
            num_cpus=options.cpus,
            num_gpus=options.gpus,
            memory=None if options.memory is None else int(options.memory * GIB),
            max_restarts=0,
            max_task_retries=0,
        ).remote()
        worker = RayWorker(self._spawned, actor)
        self._spawned += 1
        opening = {
            "served": self._served,
            "hello": {**self._hello, "worker": worker.number},
            "version": __version__,
            "folder": str(Path.cwd()),
            "paths": [str(Path(p).absolute()) for p in sys.path if p],
            "environment": {
                **dict.fromkeys(THREADS, str(self._threads)),
                **{n: v for n, v in os.environ.items() if n == "FLOORBENCH_CACHE"},
            },
        }
        worker.waiting[actor.where.remote()] = "where"
        worker.waiting[actor.open.remote(codec.encode(opening))] = "open"
        self.workers.append(worker)
        return worker

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Wait for something to happen, at most ``timeout`` seconds; yield all that has.

        A worker that died is out of the crew when its death is yielded.

        Raises
        ------
        FloorbenchError
            What a worker refuses to go on with.
        EnvironmentProblem
            ``FB515`` when no worker has had a place for too long, ``FB516`` when Ray was started
            here and is gone, ``FB517`` for a node without this version of floorbench.
        """
        patience = self._patience()
        limits = [t for t in (timeout, patience) if t is not None]
        waiting = {ref: (w, kind) for w in self.workers for ref, kind in w.waiting.items()}
        refs = list(waiting)
        ready, _ = self._ray.wait(refs, num_returns=1, timeout=min(limits, default=None))
        if ready:
            ready, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in ready:
            worker, kind = waiting[ref]
            if worker.gone:
                continue
            del worker.waiting[ref]
            try:
                said = codec.parse(self._ray.get(ref))
            except self._ray.exceptions.RayError as error:
                death = self.death(worker, error)
                self.bury(worker)
                yield Event(worker, kind, death=death)
                continue
            if kind == "where":
                worker.node, worker.host = said["node"], said["host"]
                worker.since = time.monotonic()
                continue
            if "done" not in said:
                raise _refused(worker, said)
            if kind == "open":
                worker.opened, self._stillborn = True, 0
            yield Event(worker, kind, said["done"])

    def _patience(self) -> float | None:
        """Return how long to wait for a place; ``None`` while some worker has one."""
        if any(w.node is not None for w in self.workers):
            self._unplaced = None
            return None
        now = time.monotonic()
        if self._unplaced is None:
            self._unplaced = now
        limit = self.options.place_timeout
        if self._connection is not None and self._connection.started:
            if not any(node["Alive"] for node in self._ray.nodes()):
                raise EnvironmentProblem(
                    "FB516", "Ray, started here for this call, has ended", hint=ENDED
                )
            limit = max(limit, HERE)
        left = self._unplaced + limit - now
        if left <= 0:
            raise self._no_place()
        return left

    def death(self, worker: RayWorker, error: Exception) -> Death:
        """Tell from an error of Ray how a worker was lost."""
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.OutOfMemoryError):
            return Death(False, f"its node {worker.host} ran out of memory and Ray ended it")
        left = any(n["NodeID"] == worker.node and not n["Alive"] for n in self._ray.nodes())
        if left or isinstance(error, exceptions.NodeDiedError) or _preempted(error):
            return Death(True, f"its node {worker.host} left the cluster")
        if isinstance(error, exceptions.RayTaskError):
            return Death(False, f"Ray could not run it ({first_line(error)})")
        return Death(False, "killed, crashed or out of memory")

    def may_replace(self, worker: RayWorker, death: Death) -> bool:
        """Say whether to spawn another worker: not when one after the other dies as it loads."""
        if worker.opened:
            self._stillborn = 0
        elif not death.node:
            self._stillborn += 1
        return self._stillborn < STILLBORN

    def bury(self, worker: RayWorker) -> None:
        """Kill a worker, even one that hangs, and take it out of the crew."""
        worker.gone = True
        self.workers.remove(worker)
        self._ray.kill(worker.actor, no_restart=True)

    def leave(self) -> None:
        """Kill all workers; stop Ray if it was started or joined here."""
        if self._connection is None:
            return
        if self._ray.is_initialized():
            for worker in list(self.workers):
                self.bury(worker)
        self.workers = []
        self._connection.close()


def _worker_class() -> type:
    """Return the actor's class.

    It is made in a function so that Ray sends its code and not its import path: a node without
    floorbench can then say so.
    """

    class FloorbenchWorker:
        def where(self) -> str:
            import ray

            node = ray.get_runtime_context().get_node_id()
            return json.dumps({"node": node, "host": socket.gethostname(), "pid": os.getpid()})

        def open(self, opening: bytes) -> bytes:
            given = json.loads(opening)
            os.environ.update(given["environment"])
            if os.path.isdir(given["folder"]):  # noqa: PTH112 -- the standard library at its barest
                os.chdir(given["folder"])
            rest = [p for p in sys.path if p not in given["paths"]]
            sys.path[:] = [*given["paths"], *rest]
            try:
                from floorbench.run.ray_actor import Serving
            except ImportError as error:
                return json.dumps({"absent": str(error)}).encode()
            self._serving = Serving()
            return self._serving.open(given)

        def call(self, method: str, *payload: bytes) -> bytes:
            return self._serving.call(method, *payload)

    return FloorbenchWorker


def _refused(worker: RayWorker, said: Mapping[str, Any]) -> FloorbenchError:
    """Return the error that a worker stops with, told from the side of the caller."""
    if "absent" in said:
        return EnvironmentProblem(
            "FB517", f"node {worker.host} cannot import floorbench ({said['absent']})"
        )
    error = error_from_wire(said["refused"])
    file = error.where.file if error.where is not None else None
    if error.code == "FB301" and file is not None and Path(file).exists():
        return EnvironmentProblem(
            "FB518", f"node {worker.host} does not see the file, this machine does",
            where=error.where,
        )  # fmt: skip
    return error


def _preempted(error: Exception) -> bool:
    return bool(getattr(error, "preempted", False))
