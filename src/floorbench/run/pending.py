"""What is still to be asked, and what becomes of a batch whose worker was lost.

A batch that is lost is asked again item by item, so that only the guilty item gets the outcome; an
item that is lost alone, as often as the executor grants, is answered with that outcome.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Compute, Decision
from floorbench.run.batching import Item
from floorbench.run.executors import Answer


class Pending:
    """Batches to be asked: those that were lost first, then those of the stream.

    Parameters
    ----------
    batches : iterator of list of Item
        Taken from only when a worker is free.
    """

    def __init__(self, batches: Iterator[list[Item]]) -> None:
        self._batches = batches
        self._again: deque[list[Item]] = deque()
        self._lost: Counter[tuple[int, str]] = Counter()
        self._dry = False

    @property
    def exhausted(self) -> bool:
        """Whether nothing is left to be given out."""
        return self._dry and not self._again

    def next(self) -> list[Item] | None:
        """Return the next batch, or ``None`` when there is none at the moment."""
        if self._again:
            return self._again.popleft()
        batch = next(self._batches, None)
        self._dry = batch is None
        return batch

    def put_back(self, batch: list[Item], why: str, *, times: int) -> bool:
        """Ask a batch again as it is, unless its first item came back so often already.

        Parameters
        ----------
        batch : list of Item
        why : str
            The kind of loss; each is counted by itself.
        times : int
            How often it may come back.
        """
        key = (batch[0].number, why)
        self._lost[key] += 1
        if self._lost[key] > times:
            return False
        self._again.append(batch)
        return True

    def lost(
        self, batch: list[Item], observed: list[str] | None, decision: Decision, *, again: int = 0
    ) -> Iterator[Answer]:
        """Ask the items of a lost batch one by one; answer one that was lost alone.

        Parameters
        ----------
        batch : list of Item
        observed : list of str or None
            Hashes of what was shown, where they are known.
        decision : Decision
            What an item that was alone is answered with.
        again : int
            How often it is asked again before.
        """
        if len(batch) > 1:
            self._again.extend([item] for item in batch)
            return
        if self.put_back(batch, decision.outcome.value, times=again):
            return
        yield Answer(batch[0].number, observed[0] if observed else None, decision, Compute())


def unpacked(batch: list[Item], observed: list[str], pairs: list[list[Any]]) -> Iterator[Answer]:
    """Yield the answers of a worker, which come as JSON in the order of the batch."""
    for item, shown, (decision, compute) in zip(batch, observed, pairs, strict=True):
        yield Answer(
            item.number,
            shown,
            codec.convert(decision, Decision),
            codec.convert(compute, Compute),
        )
