"""The messages between floorbench and a system in another program.

Described for other languages in ``docs/reference/worker-wire.md`` and ``worker-wire.json``. Sound
crosses as samples, cut at the cutoff, never as a path: names leak labels.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Decision
from floorbench.core.sample import AudioRef, JsonValue, Observation
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.vocab import Level
from floorbench.core.words import counted
from floorbench.errors import DataError, SystemProblem

PROTOCOL = "floorbench-worker-1"
KINDS = ("items", "stream")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hello:
    """What a program says of itself, once it can answer.

    Parameters
    ----------
    type, protocol : str
        ``hello`` and the protocol's name.
    kind : str
        ``items`` answers one observation after another; ``stream`` answers step by step.
    batch : int
        Items that it takes at once.
    heartbeat : float
        Seconds between its signs of life; 0 when it sends none.
    rate : int or None
        Hz of the sound that it wants; each recording's own rate without it.
    step : float or None
        Seconds of a step; streams only.
    name, version, labels, ...
        As in :class:`floorbench.core.spec.SystemSpec`.
    """

    type: str
    protocol: str
    name: str
    version: str
    kind: str = "items"
    batch: int = 1
    heartbeat: float = 0.0
    rate: int | None = None
    step: float | None = None
    labels: tuple[str, ...] | None = None
    states: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    modalities: tuple[str, ...] = ("audio",)
    context: str = "none"
    front_end: FrontEnd = field(default_factory=FrontEnd)
    score: str | None = None
    threshold: float | None = None
    label_map: str | None = None
    weights: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    licence: str = "unknown"
    deterministic: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """An answer to ``predict``: one decision per item, in order, or a message why there is none."""

    type: str
    id: int
    answers: tuple[Decision, ...] = ()
    message: str | None = None


def read_hello(message: Any, *, kind: str) -> Hello:
    """Read a hello.

    Raises
    ------
    SystemProblem
        ``FB552`` when it is none, or one of another kind.
    """
    hello: Hello = read(message, Hello)
    if hello.type != "hello" or hello.protocol != PROTOCOL:
        raise SystemProblem(
            "FB552", f"'{hello.type}' of '{hello.protocol}' where a hello of '{PROTOCOL}' is due"
        )
    if hello.kind != kind:
        raise SystemProblem("FB552", f"it is of kind '{hello.kind}', not '{kind}'")
    if hello.batch < 1 or hello.heartbeat < 0 or (hello.rate is not None and hello.rate <= 0):
        raise SystemProblem(
            "FB552", f"batch {hello.batch}, heartbeat {hello.heartbeat}, rate {hello.rate}"
        )
    if kind == "stream" and (hello.step is None or not hello.step > 0 or hello.rate is None):
        raise SystemProblem("FB552", f"a stream of step {hello.step} s at {hello.rate} Hz")
    return hello


def spec_of(hello: Hello, *, declared: SystemSpec | None) -> SystemSpec:
    """Return the spec of a program.

    Parameters
    ----------
    hello : Hello
    declared : SystemSpec or None
        What the catalogue says of it; name, labels and label map must be the same.

    Raises
    ------
    SystemProblem
        ``FB552`` when they are not.
    """
    front = hello.front_end
    if front.rate is None and hello.rate is not None:
        front = codec.convert({**codec.to_builtins(front), "rate": hello.rate}, FrontEnd)
    if front.rate is not None and front.resampler is None:
        from floorbench.audio.decode import RESAMPLER

        front = codec.convert({**codec.to_builtins(front), "resampler": RESAMPLER}, FrontEnd)
    spec = SystemSpec(
        name=hello.name,
        version=hello.version,
        level=Level.MEASURED if declared is None else declared.level,
        labels=hello.labels,
        states=hello.states,
        languages=hello.languages,
        modalities=hello.modalities,
        context=hello.context,
        streaming_step=hello.step,
        front_end=front,
        score=hello.score,
        threshold=hello.threshold,
        label_map=hello.label_map,
        weights=dict(hello.weights),
        parameters={**hello.parameters, "protocol": hello.protocol},
        licence=hello.licence,
        deterministic=hello.deterministic,
    )
    for name in ("name", "labels", "label_map", "states", "streaming_step"):
        ours = getattr(declared, name, None)
        if declared is not None and getattr(spec, name) != ours:
            raise SystemProblem(
                "FB552", f"its {name} is {getattr(spec, name)!r}, the catalogue says {ours!r}"
            )
    return spec


def item_of(observation: Observation, *, rate: int | None) -> dict[str, JsonValue]:
    """Return an observation as it crosses; empty fields are left out."""
    question = observation.question
    fields: dict[str, JsonValue] = {
        "language": observation.language,
        "state": observation.state,
        "turns": [
            _set(
                role=turn.role.value,
                text=turn.text,
                audio=None if turn.audio is None else audio_of(turn.audio, rate=rate),
            )
            for turn in observation.turns
        ]
        or None,
        "channels": {r.value: audio_of(a, rate=rate) for r, a in observation.channels.items()}
        or None,
        "text": observation.text,
        "words": [
            _set(
                text=word.text,
                role=word.role.value,
                span=None if word.span is None else [word.span.start, word.span.end],
            )
            for word in observation.words
        ]
        or None,
        "activity": {
            role.value: [[span.start, span.end] for span in spans]
            for role, spans in observation.activity.items()
        }
        or None,
        "spoken_prefix": observation.spoken_prefix,
        "question": None
        if question is None
        else {"text": question.text, "answers": list(question.answers)},
        "cutoff": observation.cutoff,
        "repeat": observation.repeat or None,
    }
    return _set(**fields)


def audio_of(audio: AudioRef, *, rate: int | None) -> dict[str, JsonValue]:
    """Return sound as little-endian float32 in base64, at ``rate`` or its own."""
    samples = audio.read(rate=rate)
    data = base64.b64encode(samples.astype("<f4", copy=False).tobytes()).decode("ascii")
    return {"rate": rate or audio.rate, "f32": data}


def read_answers(message: Any, *, asked: int, items: int) -> list[Decision]:
    """Read the answer to request ``asked`` of so many items.

    Raises
    ------
    SystemProblem
        ``FB552`` for an answer to something else, of another length, or a message that it failed.
    """
    answer: Answers = read(message, Answers)
    if answer.type == "error" and answer.id == asked:
        raise SystemProblem("FB552", f"the system reports: {answer.message}")
    if answer.type != "answers" or answer.id != asked:
        raise SystemProblem("FB552", f"'{answer.type}' {answer.id} where 'answers' {asked} are due")
    if len(answer.answers) != items:
        raise SystemProblem(
            "FB552", f"{counted(len(answer.answers), 'answer')} to {counted(items, 'item')}"
        )
    return list(answer.answers)


def read(message: Any, kind: type[Any]) -> Any:
    """Turn a parsed message into its type (``FB552`` when it does not fit)."""
    try:
        return codec.convert(message, kind)
    except DataError as error:
        raise SystemProblem("FB552", f"a message that cannot be read: {error.what}") from None


def _set(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in fields.items() if value is not None}


def placeholder(name: str, *, modalities: Sequence[str] = ("audio",)) -> SystemSpec:
    """Return the spec of a program that has not said hello yet."""
    return SystemSpec(
        name=name,
        version="unknown until it says hello",
        level=Level.REAL_CODE_PATH,
        modalities=tuple(modalities),
    )
