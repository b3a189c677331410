"""What systems share: parameter checks, and the answer to what they cannot do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from floorbench.core.prediction import Decision
from floorbench.core.sample import AudioRef, Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import UsageError, did_you_mean

IDLE = "SystemIdle"


def number(name: str, value: object, *, low: float, high: float) -> float:
    """Return a parameter as float or raise ``FB513`` unless it lies in ``[low, high]``."""
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not math.isfinite(value)
        or not low <= value <= high
    ):
        raise UsageError("FB513", f"{name}={value!r} is not a number from {low:g} to {high:g}")
    return float(value)


def choice(name: str, value: object, known: Iterable[str]) -> str:
    """Return a parameter that is one of a few words, or raise ``FB513``."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        near = did_you_mean(str(value), names)
        raise UsageError(
            "FB513",
            f"{name}={value!r} is not known",
            hint=f"did you mean '{near}'?" if near else f"known: {', '.join(names)}",
        )
    return value


def refusal(spec: SystemSpec, observation: Observation) -> Decision | None:
    """Return an ``unsupported`` decision when an observation lies outside what a system declares.

    A state or language that the spec does not list (an unnamed language, ``und``, is no reason to
    refuse), or no audio of the user. ``None`` when the system has to answer.
    """
    reason = None
    if (
        spec.states is not None
        and observation.state is not None
        and observation.state not in spec.states
    ):
        reason = f"state {observation.state} is outside {', '.join(spec.states)}"
    elif spec.languages is not None and observation.language not in (*spec.languages, "und"):
        reason = f"language {observation.language} is not declared"
    elif "audio" in spec.modalities and Role.USER not in observation.channels:
        reason = "no audio of the user"
    return Decision(outcome=Outcome.UNSUPPORTED, reason=reason) if reason else None


def in_parts(
    observations: Sequence[Observation],
    *,
    spec: SystemSpec,
    size: int,
    answer: Callable[[Sequence[Observation]], Sequence[Decision]],
) -> list[Decision]:
    """Answer observations a few at once; those outside the spec are refused and not asked about.

    Parameters
    ----------
    observations : sequence of Observation
    spec : SystemSpec
    size : int
        At once, at most.
    answer : callable
        Gives a decision for each of a few observations, in their order.
    """
    decisions = [refusal(spec, observation) for observation in observations]
    asked = [n for n, refused in enumerate(decisions) if refused is None]
    for first in range(0, len(asked), size):
        part = asked[first : first + size]
        for n, said in zip(part, answer([observations[n] for n in part]), strict=True):
            decisions[n] = said
    return [decision for decision in decisions if decision is not None]


def user_audio(observation: Observation) -> AudioRef:
    """Return the audio of the user's current turn (:func:`refusal` has said that it is there)."""
    return observation.channels[Role.USER]
