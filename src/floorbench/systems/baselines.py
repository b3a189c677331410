"""Systems that do not listen: what a score is worth is its distance from these."""

from __future__ import annotations

from collections.abc import Mapping

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Level, Outcome
from floorbench.errors import UsageError
from floorbench.systems.common import IDLE

SPEAKING = "SystemSpeaking"


class Constant:
    """Give the same label whatever happens.

    Parameters
    ----------
    label : str
        A label of the task itself.
    name : str or None
        Name in tables; ``constant(LABEL)`` by default.
    """

    def __init__(self, *, label: str, name: str | None = None) -> None:
        self._label = _label(label)
        self.spec = _spec(name or f"constant({label})", {"label": label})

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Return the label."""
        return Decision(label=self._label)


class ConstantPerState:
    """Give one label while the system speaks and another while it is idle.

    With the defaults this is the best constant of the four-action benchmark where both states
    have two actions of equal weight.

    Parameters
    ----------
    speaking, idle : str
        Labels of the task itself.
    """

    def __init__(self, *, speaking: str = "Maintain", idle: str = "Dismiss") -> None:
        self._labels: Mapping[str, str] = {SPEAKING: _label(speaking), IDLE: _label(idle)}
        self.spec = _spec("constant-per-state", {"speaking": speaking, "idle": idle})

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Return the label of the observation's state; ``unsupported`` without a known state."""
        label = self._labels.get(observation.state or "")
        if label is None:
            return Decision(
                outcome=Outcome.UNSUPPORTED, reason=f"state {observation.state!r} has no label"
            )
        return Decision(label=label)


def _label(label: object) -> str:
    if not isinstance(label, str) or not label.strip():
        raise UsageError("FB513", f"label={label!r} is not a label")
    return label


def _spec(name: str, parameters: Mapping[str, str]) -> SystemSpec:
    return SystemSpec(
        name=name,
        version="1",
        level=Level.MEASURED,
        modalities=(),
        parameters=dict(parameters),
        licence="Apache-2.0",
    )


def always_maintain() -> Constant:
    """Return the system that always keeps talking (Maintain)."""
    return Constant(label="Maintain", name="always-maintain")


def always_stop() -> Constant:
    """Return the system that always stops to listen (StopandListen)."""
    return Constant(label="StopandListen", name="always-stop")


def always_takeover() -> Constant:
    """Return the system that always takes the turn (Takeover)."""
    return Constant(label="Takeover", name="always-takeover")


def always_dismiss() -> Constant:
    """Return the system that never takes the turn (Dismiss)."""
    return Constant(label="Dismiss", name="always-dismiss")


def always_yield() -> Constant:
    """Return the system that gives way to every insertion (Yield)."""
    return Constant(label="Yield", name="always-yield")


def always_keep() -> Constant:
    """Return the system that gives way to none (Keep)."""
    return Constant(label="Keep", name="always-keep")
