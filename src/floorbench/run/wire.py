"""Observations as JSON: for a worker process, and as the hash that says what was shown.

Audio crosses as a reference (its own ``to_wire``), never as samples and never as a pickled object.
In the hash it stands for its decoded content, so that a renamed or re-packed file changes nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any

from floorbench import codec
from floorbench.core.sample import AudioRef, JsonValue, Observation, Question, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.errors import UsageError


def observation_hash(observation: Observation) -> str:
    """Return the SHA-256 (hex) of everything an observation shows.

    Raises
    ------
    DataError
        ``FB3xx`` when its audio cannot be decoded.
    """
    return codec.digest(_plain(observation, _audio_identity))


def observation_to_wire(observation: Observation) -> dict[str, JsonValue]:
    """Return the JSON form of an observation for a worker process.

    Raises
    ------
    UsageError
        ``FB509`` when an audio reference cannot be sent (it has no ``to_wire``).
    """
    return _plain(observation, _audio_to_wire)


def observation_from_wire(wire: Mapping[str, Any]) -> Observation:
    """Rebuild an observation inside a worker."""
    question = wire.get("question")
    return Observation(
        language=wire["language"],
        state=wire.get("state"),
        turns=tuple(
            Turn(
                role=Role(turn["role"]),
                text=turn.get("text"),
                audio=_audio_from_wire(turn["audio"]) if "audio" in turn else None,
            )
            for turn in wire.get("turns", ())
        ),
        channels={Role(r): _audio_from_wire(a) for r, a in wire.get("channels", {}).items()},
        text=wire.get("text"),
        words=tuple(
            Word(
                text=word["text"],
                role=Role(word["role"]),
                span=Span(*word["span"]) if "span" in word else None,
            )
            for word in wire.get("words", ())
        ),
        activity={
            Role(r): tuple(Span(*span) for span in spans)
            for r, spans in wire.get("activity", {}).items()
        },
        spoken_prefix=wire.get("spoken_prefix"),
        question=Question(text=question["text"], answers=tuple(question["answers"]))
        if question is not None
        else None,
        cutoff=wire.get("cutoff"),
        repeat=wire.get("repeat", 0),
    )


def _plain(
    observation: Observation, audio: Callable[[AudioRef], JsonValue]
) -> dict[str, JsonValue]:
    """Return what is set, without what is empty: a field added later changes no older hash."""
    question = observation.question
    fields = {
        "language": observation.language,
        "state": observation.state,
        "turns": [
            _set(
                role=turn.role.value,
                text=turn.text,
                audio=audio(turn.audio) if turn.audio is not None else None,
            )
            for turn in observation.turns
        ]
        or None,
        "channels": {role.value: audio(ref) for role, ref in observation.channels.items()} or None,
        "text": observation.text,
        "words": [
            _set(
                text=word.text,
                role=word.role.value,
                span=[word.span.start, word.span.end] if word.span is not None else None,
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
        "question": {"text": question.text, "answers": list(question.answers)}
        if question is not None
        else None,
        "cutoff": observation.cutoff,
        "repeat": observation.repeat or None,
    }
    return _set(**fields)


def _set(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in fields.items() if value is not None}


def _audio_identity(ref: AudioRef) -> JsonValue:
    return {"digest": ref.digest(), "rate": ref.rate, "frames": ref.frames, "cutoff": ref.cutoff}


def _audio_to_wire(ref: AudioRef) -> JsonValue:
    kind = type(ref)
    to_wire = getattr(ref, "to_wire", None)
    if not callable(to_wire):
        raise UsageError(
            "FB509", f"audio of type {kind.__name__} cannot be sent to a worker process"
        )
    return {"type": f"{kind.__module__}:{kind.__name__}", "value": to_wire()}


def _audio_from_wire(wire: Mapping[str, Any]) -> AudioRef:
    """Rebuild audio with the ``from_wire`` of its own class."""
    module, _, name = wire["type"].partition(":")
    ref: AudioRef = getattr(importlib.import_module(module), name).from_wire(wire["value"])
    return ref
