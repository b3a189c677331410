"""The messages between floorbench and a streaming system: over a WebSocket, or over a pipe.

Described for other languages in ``docs/reference/stream-wire.md`` and ``stream-wire.json``. Sound
is little-endian float32 in base64, one entry per role.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import Any, TypeVar

from floorbench import codec
from floorbench.core.prediction import Event
from floorbench.core.sample import JsonValue, Observation
from floorbench.errors import DataError, SystemProblem
from floorbench.systems.stream import Step

PROTOCOL = "floorbench-stream-1"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What an external system says of itself when it joins."""

    type: str
    protocol: str
    name: str
    version: str
    step: float
    rate: int
    labels: tuple[str, ...]
    languages: tuple[str, ...] | None = None
    label_map: str | None = None
    context: str = "none"
    floor: str = "planned"
    words: bool = False
    word_delay: float = 0.0
    tail: float = 0.0
    licence: str = "unknown"
    weights: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireEvent:
    """An event as it crosses; the commit time is the driver's business."""

    label: str
    time: float
    kind: str = "action"
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer to one chunk (``events``) or to the end of a stream (``closed``)."""

    type: str
    stream: str
    seq: int | None = None
    events: tuple[WireEvent, ...] = ()
    message: str | None = None


def opening(setup: Observation, *, stream: str) -> dict[str, JsonValue]:
    """Return the message that starts a stream."""
    return {
        "type": "open",
        "stream": stream,
        "language": setup.language,
        "state": setup.state,
        "turns": [{"role": t.role.value, "text": t.text} for t in setup.turns],
    }


def chunk(step: Step, *, stream: str, seq: int) -> dict[str, JsonValue]:
    """Return one step as it crosses."""
    return {
        "type": "chunk",
        "stream": stream,
        "seq": seq,
        "start": step.start,
        "end": step.end,
        "audio": {
            role.value: base64.b64encode(samples.astype("<f4").tobytes()).decode("ascii")
            for role, samples in step.samples.items()
        },
        "words": [
            {"text": w.text, "start": w.span.start, "end": w.span.end}
            for w in step.words
            if w.span is not None
        ],
    }


def read_text(message: str | bytes, kind: type[T]) -> T:
    """Read a message of the socket as its type (``FB545`` when it does not fit)."""
    if isinstance(message, bytes):
        raise SystemProblem("FB545", "a binary message where text is due")
    try:
        return codec.decode(message, kind)
    except DataError as error:
        raise SystemProblem("FB545", f"a message that cannot be read: {error.what}") from None


def unfit(hello: Hello) -> str | None:
    """Say why a program that joins cannot be asked; ``None`` when it can."""
    if hello.type != "hello" or hello.protocol != PROTOCOL:
        return f"'{hello.type}' of protocol '{hello.protocol}', not a hello of '{PROTOCOL}'"
    if hello.floor not in ("planned", "own"):
        return f"floor '{hello.floor}' is neither planned nor own"
    if not hello.step > 0 or hello.rate <= 0:
        return f"step {hello.step} s at {hello.rate} Hz"
    if hello.word_delay < 0 or hello.tail < 0:
        return f"word_delay {hello.word_delay} s and tail {hello.tail} s, which are not below 0"
    return None


def events(reply: Reply) -> list[Event]:
    """Return what a reply reports."""
    return [Event(kind=e.kind, time=e.time, label=e.label, score=e.score) for e in reply.events]
