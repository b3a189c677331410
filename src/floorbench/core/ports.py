"""The interfaces between rooms: system, stream session, dataset source.

The task's interface stands in ``floorbench.metrics.base`` (``ScoringTask``), because it speaks of
columns and core needs no third-party library.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from floorbench.core.prediction import Decision, Event
from floorbench.core.sample import JsonValue, Observation, Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.time import Seconds
from floorbench.core.vocab import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@runtime_checkable
class System(Protocol):
    """A model or rule under test.

    Construction is cheap and loads nothing; ``load`` fetches weights once per process.
    ``decide`` may raise: the engine turns that into a ``failed`` prediction.
    A system may also offer ``decide_batch(observations) -> list[Decision]`` of equal length, if its
    answers are those of ``decide`` (there from ``load`` on, when only the weights can tell), and
    ``spent() -> (tokens read, tokens written)`` since it was last asked for that.
    """

    spec: SystemSpec

    def load(self) -> None:
        """Load weights and sessions; idempotent."""
        ...

    def decide(self, observation: Observation) -> Decision:
        """Answer one observation."""
        ...


class Chunk(Protocol):
    """One step of synchronous audio: every role's samples for ``[start, end)``."""

    start: Seconds
    end: Seconds
    rate: int
    samples: Mapping[Role, NDArray[np.float32]]


class Session(Protocol):
    """One open stream; the driver owns the clock."""

    def push(self, chunk: Chunk) -> Sequence[Event]:
        """Take one chunk and return the events decided on it."""
        ...

    def close(self) -> Sequence[Event]:
        """End the stream and return what was still open."""
        ...


class StreamSystem(Protocol):
    """A system that decides while it listens."""

    spec: SystemSpec

    def load(self) -> None:
        """Load weights; idempotent."""
        ...

    def open(self, setup: Observation) -> Session:
        """Start a stream from what is known before the first chunk."""
        ...


class DatasetSource(Protocol):
    """A readable dataset: identity, content hash and its samples in a fixed order."""

    name: str

    def locator(self) -> Mapping[str, JsonValue]:
        """Return what ``datasets.open.open_dataset`` needs to open the same data again."""
        ...

    def describe(self) -> Mapping[str, JsonValue]:
        """Return name, version, licence and notices to print beside every table."""
        ...

    def digest(self) -> str:
        """Return the SHA-256 that names this data in signatures."""
        ...

    def samples(self) -> Iterator[Sample]:
        """Yield samples lazily, in a stable order."""
        ...
