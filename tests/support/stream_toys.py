"""Streams that behave, misbehave and cheat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from floorbench.core.prediction import Decision, Event
from floorbench.core.sample import Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level, Role
from floorbench.systems.stream import OBSERVED, Step

Push = Callable[[Step, "Toy"], Sequence[Any]]


def spec(
    name: str = "toy", *, step: float | None = 0.1, rate: int = 16_000, **kw: Any
) -> SystemSpec:
    return SystemSpec(
        name=name,
        version="1",
        level=Level.MEASURED,
        labels=("yield",),
        streaming_step=step,
        front_end=FrontEnd(rate=rate, resampler="none"),
        licence="none",
        **kw,
    )


class Toy:
    """A stream whose every step is handled by one function."""

    def __init__(self, push: Push, *, close: Callable[[], Any] = tuple, **kw: Any) -> None:
        self.spec = spec(**kw)
        self._push = push
        self._close = close
        self.seen: list[Step] = []
        self.setups: list[Observation] = []
        self.closed = 0

    def load(self) -> None:
        pass

    def open(self, setup: Observation) -> Toy:
        self.setups.append(setup)
        return self

    def push(self, step: Step) -> Sequence[Any]:
        self.seen.append(step)
        return self._push(step, self)

    def close(self) -> Any:
        self.closed += 1
        return self._close()


def at(time: float, label: str = "yield") -> Push:
    """Say something in the step that ends at or first after a time."""

    def push(step: Step, toy: Toy) -> Sequence[Event]:
        due = step.start < time <= step.end
        return [Event(kind="action", time=step.end, label=label)] if due else []

    return push


class LoudCheater:
    """Listens to the whole recording and claims to have known at its beginning."""

    def __init__(self) -> None:
        self.spec = spec("cheater")

    def load(self) -> None:
        pass

    def decide(self, observation: Observation) -> Decision:
        loud = abs(observation.channels[Role.USER].read()).max() > 0.01
        said = [Event(kind="action", label="yield", time=0.2, commit=0.2)] if loud else []
        return Decision(events=(*said, Event(kind=OBSERVED, time=9.0, commit=9.0)))


class WordCheater:
    """Looks at the words to come."""

    def __init__(self) -> None:
        self.spec = spec("word-cheater", modalities=("audio", "words"))

    def load(self) -> None:
        pass

    def decide(self, observation: Observation) -> Decision:
        said = [Event(kind="action", label=w.text, time=0.1, commit=0.1) for w in observation.words]
        return Decision(events=(*said, Event(kind=OBSERVED, time=9.0, commit=9.0)))
