"""From what a system said to a floor action and, for three-way systems, a role.

Source
------
ECHO, evaluation protocol: Easy Turn's complete and incomplete mean Yield, backchannel and offtalk
Keep; Lychee-FD yields when it starts listening. For SoulX-Duplug the reading of its public states
is inferred. ``wait`` of Easy Turn's public model has no meaning here unless it is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from floorbench.core.prediction import Decision, Event, Prediction
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.time import Seconds
from floorbench.core.vocab import Outcome
from floorbench.datasets.echo_integrity import window_end
from floorbench.datasets.echo_tables import ACTION_OF, ROLES
from floorbench.errors import DataError, Place, UsageError
from floorbench.metrics.base import FAILED, INVALID, OK
from floorbench.tasks.labelmaps import fold
from floorbench.tasks.units import outcome_code

VERSION = "1"
YIELD, KEEP, PREMATURE, NOT_HOLDING = ACTIONS = ("yield", "keep", "premature", "not_holding")
"""The last two are wrong for every role and counted apart."""
OBSERVED = "observed"
ACTION = "action"

OWN = {
    "yield": YIELD,
    "stop": YIELD,
    "keep": KEEP,
    "resume": KEEP,
    "speak": KEEP,
    "backchannel": KEEP,
    "interruption": YIELD,
    "off_talk": KEEP,
    "offtalk": KEEP,
    "off-talk": KEEP,
}
FLOOR: dict[str, dict[str, str]] = {
    "easy-turn": {
        "complete": YIELD, "incomplete": YIELD, "backchannel": KEEP, "offtalk": KEEP,
    },
    "soulx-duplug": {"nonidle": YIELD, "speak": YIELD, "idle": KEEP, "blank": KEEP},
    "lychee-fd": {
        "s-l": YIELD, "k-l": KEEP, "k-s": KEEP, "s-s": KEEP, "backchannel": KEEP,
        "detect": KEEP, "sleep": KEEP,
    },
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """The event times of a sample, in seconds."""

    insertion_start: Seconds
    insertion_end: Seconds
    system_start: Seconds
    system_end: Seconds

    def end(self, tail: Seconds) -> Seconds:
        """Return the end of the decision window at a tail."""
        return window_end(self.insertion_end, self.system_end, tail)


class Said(NamedTuple):
    """A prediction in the task's terms.

    ``latency`` is the commit time of the first yield minus the onset; ``None`` without one.
    ``watched`` is how long after the onset the stream was heard; ``None`` for a single answer.
    """

    outcome: int
    action: str | None = None
    role: str | None = None
    latency: float | None = None
    watched: float | None = None


def times_of(sample: Sample) -> Times:
    """Return a sample's event times.

    Raises
    ------
    DataError
        ``FB242`` when one is missing.
    """
    events = sample.target.get("events")
    try:
        return Times(**{k: float(v) for k, v in dict(events or {}).items()})
    except (TypeError, ValueError):
        raise DataError(
            "FB242", f"event times are {events!r}", where=Place(item=sample.id)
        ) from None


def role_of(sample: Sample) -> str:
    """Return a sample's role (``FB242`` when it has none of the three)."""
    role = sample.target.get("role")
    if role not in ROLES:
        raise DataError("FB242", f"role {role!r} is not known", where=Place(item=sample.id))
    return str(role)


def meaning(
    prediction: Prediction | None,
    *,
    times: Times,
    system: SystemSpec,
    tail: Seconds,
    declared: Mapping[str, str],
) -> Said:
    """Return what a prediction says at one tail.

    A decision with events is a stream. Its first yield in ``[onset, window end)`` is a Yield; one
    before the onset is premature, and a later resumption changes neither. Without a yield it is a
    Keep if the stream was heard to the end of the window; else its outcome is ``failed``. A system
    that produces its own speech (``parameters["floor"] = "own"``) must have said ``speak`` before
    the onset, or it does not hold the floor; if it also yielded before the onset it is premature,
    whatever it said later. An action whose label means nothing makes the stream invalid: it is not
    silence, so it earns no Keep.

    A decision without events is one answer: its label, or the text of its raw answer.
    """
    outcome = outcome_code(prediction)
    if prediction is None or outcome != OK:
        return Said(outcome)
    decision = prediction.decision
    if not decision.events:
        action, role = _single(decision, system, declared)
        return Said(OK if action is not None else INVALID, action, role)
    acts = sorted(
        ((_at(e), action_of(e.label or e.kind, system, declared)) for e in decision.events
         if e.kind != OBSERVED), key=lambda act: act[0],
    )  # fmt: skip
    heard = max((e.time for e in decision.events if e.kind == OBSERVED), default=None)
    onset, end = times.insertion_start, times.end(tail)
    yields = [at for at, action in acts if action == YIELD]
    latency = round(yields[0] - onset, 9) if yields else None
    watched = None if heard is None else round(min(heard, end) - onset, 9)
    if any(
        e.kind == ACTION and _at(e) < end and action_of(e.label or e.kind, system, declared) is None
        for e in decision.events
    ):
        return Said(INVALID, None, None, None, watched)
    if not _holds(decision, system, onset):
        return Said(OK, NOT_HOLDING, None, latency, watched)
    if any(at < onset for at in yields):
        return Said(OK, PREMATURE, None, latency, watched)
    inside = [at for at in yields if at < end]
    if inside:
        return Said(OK, YIELD, None, round(inside[0] - onset, 9), watched)
    if heard is None or heard < end - 1e-9:
        return Said(FAILED, None, None, None, watched)
    return Said(OK, KEEP, None, None, watched)


def action_of(said: str, system: SystemSpec, declared: Mapping[str, str]) -> str | None:
    """Return the floor action of a native label, ``None`` when it has no meaning."""
    folded = fold(said)
    for table in (declared, FLOOR.get(system.label_map or "", {}), OWN):
        known = {fold(name): action for name, action in table.items()}
        if folded in known:
            return known[folded]
    return None


def check_declared(system: SystemSpec, declared: Mapping[str, str]) -> None:
    """Refuse a system that declares a label without a meaning.

    Raises
    ------
    UsageError
        ``FB221`` with the first such label.
    """
    for label in system.labels or ():
        if action_of(label, system, declared) is None:
            raise UsageError(
                "FB221",
                f"system '{system.name}' declares label '{label}', which is neither yield nor keep",
                hint=f'Declare it: --task-set floor=\'{{"{label}": "keep"}}\'',
            )


def role_said(text: str) -> str | None:
    """Return the one role that a text names, whatever case, brackets and marks are around it.

    Examples
    --------
    >>> role_said(" <Off-talk>. "), role_said("interruption or backchannel?")
    ('off_talk', None)
    """
    words = fold(text).replace("offtalk", "off_talk").replace("off-talk", "off_talk")
    named = [role for role in ROLES if role in words]
    return named[0] if len(named) == 1 else None


def three_way(system: SystemSpec) -> bool:
    """Tell whether a system declares a label for each of the roles, however it spells them.

    Examples
    --------
    >>> from floorbench.core.spec import SystemSpec
    >>> labels = ("Interruption", "backchannel", "off-talk")
    >>> three_way(SystemSpec(name="s", version="1", labels=labels))
    True
    """
    return set(ROLES) <= {role_said(label) for label in system.labels or ()}


def problem_of(decision: Decision, *, declared: Mapping[str, str]) -> str | None:
    """Say what is wrong with a decision made elsewhere, or return ``None``."""
    if decision.outcome is not Outcome.OK or decision.events:
        return None
    if decision.label is None:
        if decision.raw is None:
            return "neither events nor a label nor a raw answer"
        return None if role_said(decision.raw) is not None else "the raw answer names no role"
    known = {fold(n) for table in (*FLOOR.values(), OWN, declared) for n in table}
    if fold(decision.label) in known or role_said(decision.label) is not None:
        return None
    return f"unknown label '{decision.label}'"


def unread(decision: Decision, system: SystemSpec, declared: Mapping[str, str]) -> str | None:
    """Say why a known label means nothing from this system, or return ``None``."""
    if decision.events or decision.label is None:
        return None
    if action_of(decision.label, system, declared) is not None:
        return None
    tables = [n for n, t in FLOOR.items() if fold(decision.label) in {fold(name) for name in t}]
    if system.label_map is not None or not tables:
        return f"label '{decision.label}' is neither yield nor keep for '{system.name}'"
    return (
        f"label '{decision.label}' is a system's own word, and the system declares no label map "
        f"(known from {', '.join(tables)})"
    )


def _single(
    decision: Decision, system: SystemSpec, declared: Mapping[str, str]
) -> tuple[str | None, str | None]:
    if decision.label is not None:
        action = action_of(decision.label, system, declared)
        role = role_said(decision.label) if three_way(system) else None
        return action, role
    role = role_said(decision.raw or "")
    return (None, None) if role is None else (ACTION_OF[role], role)


def _holds(decision: Decision, system: SystemSpec, onset: Seconds) -> bool:
    """Tell whether the system holds the floor at the onset; the driver's playback always does."""
    if system.parameters.get("floor", "planned") != "own":
        return True
    return any(fold(e.label or e.kind) == "speak" and _at(e) < onset for e in decision.events)


def _at(event: Event) -> Seconds:
    """Return when an event counts: when it was committed, not when it is said to have happened."""
    return event.time if event.commit is None else event.commit


def as_mapping(value: Any) -> dict[str, str]:
    """Return a parameter that maps native labels to actions (``FB103`` when it does not)."""
    if not isinstance(value, Mapping) or not set(value.values()) <= {YIELD, KEEP}:
        raise UsageError("FB103", f"floor={value!r} does not map labels to yield and keep")
    return {str(k): str(v) for k, v in value.items()}
