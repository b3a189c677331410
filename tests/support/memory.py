"""Data of any size without sound, and how much memory a call takes."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

from floorbench.core.sample import Sample


class Silent:
    """A dataset of ``count`` samples that are made when they are asked for.

    Parameters
    ----------
    name : str
    count : int
    make : callable
        Sample number to sample.
    """

    def __init__(self, name: str, count: int, make: Callable[[int], Sample]) -> None:
        self.name = name
        self._count = count
        self._make = make

    def locator(self) -> dict[str, object]:
        """Return nothing: it cannot be opened again."""
        return {}

    def describe(self) -> dict[str, object]:
        """Return its name."""
        return {"name": self.name}

    def digest(self) -> str:
        """Return a hash of the right form."""
        return "0" * 64

    def samples(self) -> Iterator[Sample]:
        """Make the samples."""
        return map(self._make, range(self._count))


def peak(work: Callable[[], object]) -> int:
    """Return the most bytes that a call had allocated at once."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
