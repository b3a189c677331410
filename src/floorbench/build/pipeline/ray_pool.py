"""Items made by workers on a Ray cluster: as in worker processes, on any number of machines.

Results and sounds go into the cache folder, which all nodes must share. A worker that starts looks
for a file in it that this process has put there, and says in a file of its own what it is loading:
that is how a stage that ends its process while it loads is told from an item that does.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter, deque

from floorbench import codec
from floorbench.build.pipeline.pool import TRIES, Order, Task, lost
from floorbench.build.pipeline.runner import Done
from floorbench.build.pipeline.store import Folder
from floorbench.build.pipeline.worker import mark_of
from floorbench.errors import EnvironmentProblem
from floorbench.run.ray_cluster import Crew, Death, RayOptions, RayWorker

NODES = 5  # that may leave under one item until it counts as failed


class RayPool:
    """Workers on a Ray cluster.

    Parameters
    ----------
    order : Order
        What they make.
    workers : int
        Each is asked for when the first task for it comes.
    options : RayOptions or None
        Which cluster, and what each worker reserves on it.
    item_timeout : float or None
        Seconds that one item may take in one step, or a stage to load.

    Raises
    ------
    EnvironmentProblem
        ``FB401`` without Ray, ``FB515`` or ``FB516`` for a cluster that cannot do it.
    """

    def __init__(
        self,
        order: Order,
        *,
        workers: int,
        options: RayOptions | None,
        item_timeout: float | None = None,
    ) -> None:
        self._workers = workers
        self._limit = item_timeout
        self._since: dict[int, float] = {}  # when a worker got its task, by its number
        self._steps = order.steps
        self._todo: deque[Task] = deque()
        self._nodes: Counter[int] = Counter()
        self._loading: Counter[str] = Counter()
        self._token = Folder(order.cache.resolve()).token("ray")
        self._crew = Crew(
            options or RayOptions(),
            served="floorbench.build.pipeline.worker:MarkingMaker",
            threads=1,  # sums must not depend on how many there are
        )
        try:
            self._crew.join(workers, {**order.hello(), "token": str(self._token)})
        except BaseException:
            self.close()
            raise

    def free(self) -> bool:
        """Say whether another task would find a worker."""
        busy = sum(w.load is not None for w in self._crew.workers)
        return len(self._todo) + busy < self._workers

    def give(self, task: Task) -> None:
        """Take a task; a worker gets it once it has a place and has opened the recipe."""
        self._todo.append(task)
        self._share_out()

    def _share_out(self) -> None:
        """Hand tasks to idle workers; ask for more workers while there are tasks for them."""
        coming = 0
        for worker in self._crew.workers:
            coming += not worker.opened
            if self._todo and worker.opened and worker.load is None:
                self._give(worker, self._todo.popleft())
        while coming < len(self._todo) and len(self._crew.workers) < self._workers:
            self._crew.spawn()
            coming += 1

    def _give(self, worker: RayWorker, task: Task) -> None:
        worker.load = task
        self._since[worker.number] = time.monotonic()
        task.tries += 1
        said = {"index": task.index, "item": task.item, "repair": task.repair}
        worker.call("make", codec.encode(said))

    def collect(self) -> list[tuple[int, Done]]:
        """Wait for the next results and deaths (raises what a worker stops with)."""
        finished: list[tuple[int, Done]] = []
        busy = [self._busy(w) for w in self._crew.workers]
        patience = None if self._limit is None else max(0.0, self._limit - max(busy, default=0.0))
        for event in self._crew.events(patience):
            if event.death is not None:
                finished += self._died(event.worker, event.death)
            elif event.kind == "make":
                task: Task = event.worker.load
                event.worker.load = None
                finished.append((task.number, codec.convert(event.said, Done)))
        finished += self._overdue()
        self._share_out()
        return finished

    def _busy(self, worker: RayWorker) -> float:
        """Return the seconds since a worker got its task."""
        return 0.0 if worker.load is None else time.monotonic() - self._since[worker.number]

    def _overdue(self) -> list[tuple[int, Done]]:
        """Kill the workers whose item takes too long; it is not tried again in this build."""
        finished: list[tuple[int, Done]] = []
        late = [w for w in self._crew.workers if self._limit and self._busy(w) >= self._limit]
        for worker in late:
            self._crew.bury(worker)
            mark, what = mark_of(self._token, worker.number), f"no result within {self._limit:g} s"
            if mark.exists():
                stage = mark.read_text(encoding="utf-8")
                raise EnvironmentProblem("FB836", f"{what}: stage '{stage}' was still loading")
            finished.append(lost(worker.load, self._steps, what, code="FB836"))
        return finished

    def _died(self, worker: RayWorker, death: Death) -> list[tuple[int, Done]]:
        if not self._crew.may_replace(worker, death):
            raise EnvironmentProblem("FB854", f"workers die as they begin ({death.reason})")
        guilty = not death.node
        mark = mark_of(self._token, worker.number)
        if mark.exists():
            stage = mark.read_text(encoding="utf-8")
            mark.unlink()
            self._loading[stage] += guilty
            if self._loading[stage] == TRIES:
                what = f"stage '{stage}' ends its process while it loads ({death.reason})"
                raise EnvironmentProblem("FB854", what)
            guilty = False
        task: Task | None = worker.load
        if task is None:
            return []
        self._nodes[task.number] += death.node
        if not guilty and self._nodes[task.number] < NODES:
            task.tries -= 1  # that death says nothing about the item
        if task.tries < TRIES:
            self._todo.appendleft(task)
            return []
        return [lost(task, self._steps, f"its worker died {TRIES} times ({death.reason})")]

    def close(self) -> None:
        """Kill every worker; stop Ray if it was started for this build."""
        self._crew.leave()
        with contextlib.suppress(OSError):
            for path in self._token.parent.glob(f"{self._token.name}*"):
                path.unlink(missing_ok=True)
