"""A cap on what a run may spend: it stops before the next question, and can go on later."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from floorbench.core.spec import SystemSpec
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.run.batching import Item
from floorbench.run.deciding import SystemChoice
from floorbench.run.executors import Answer, Executor
from floorbench.systems.api_cost import Price


class BudgetExecutor:
    """Any executor, with a cap.

    Parameters
    ----------
    inner : Executor
        Where the work is done.
    price : Price
        Prices of the model.
    budget : float
        What may be spent in this sitting, above 0. Answers that are under way when it is reached
        are still taken, so a little more may be spent: at most one answer a worker.
    currency : str
        For messages.

    Raises
    ------
    UsageError
        ``FB103`` for a budget that is not above 0, or batches: they look ahead, and what is looked
        at is asked.
    """

    def __init__(self, inner: Executor, *, price: Price, budget: float, currency: str) -> None:
        if not budget > 0:
            raise UsageError("FB103", f"--budget {budget:g} is not above 0")
        if inner.batch > 1:
            raise UsageError(
                "FB103",
                f"--budget and --batch {inner.batch} do not go together",
                hint="A service is asked item by item; --executor thread --workers N asks in "
                "parallel.",
            )
        self._inner = inner
        self._price = price
        self._budget = budget
        self._currency = currency
        self.spent = 0.0
        self.name = inner.name
        self.workers = inner.workers
        self.batch = inner.batch
        self.batch_seconds = inner.batch_seconds
        self.timeout = inner.timeout
        self.warning = inner.warning
        self.arguments = inner.arguments

    def start(self, choice: SystemChoice) -> SystemSpec:
        """Load the system."""
        spec = self._inner.start(choice)
        self.batch = self._inner.batch
        return spec

    def answers(self, items: Iterable[Item]) -> Iterator[Answer]:
        """Answer items until the budget is reached.

        Raises
        ------
        EnvironmentProblem
            ``FB556`` when it is; what was answered is kept.
        """
        stopped = False

        def allowed() -> Iterator[Item]:
            nonlocal stopped
            for item in items:
                if self.spent >= self._budget:
                    stopped = True
                    return
                yield item

        for answer in self._inner.answers(allowed()):
            self.spent += self._price.spent(answer.compute)
            yield answer
        if stopped:
            raise EnvironmentProblem(
                "FB556",
                f"{self.spent:.4f} of {self._budget:g} {self._currency} are spent",
                hint="Raise --budget.",
            )

    def close(self) -> None:
        """Stop everything that was started."""
        self._inner.close()
