"""Observations and samples as plain values: what is set, without what is empty.

A field added later changes no older hash, because an empty one is left out. Audio has no plain
form of its own here: whoever calls says what stands for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from floorbench.core.sample import (
    AudioRef,
    JsonValue,
    Observation,
    Question,
    Sample,
    Turn,
    Word,
)
from floorbench.core.time import Span
from floorbench.core.vocab import Role


def observation_to_plain(
    observation: Observation, audio: Callable[[str, AudioRef], JsonValue]
) -> dict[str, JsonValue]:
    """Return an observation as plain values.

    Parameters
    ----------
    observation : Observation
    audio : callable
        Gives what stands for audio, from its place (``user``, ``system``, ``turn00`` ...) and the
        reference.
    """
    question = observation.question
    return _set(
        language=observation.language,
        state=observation.state,
        turns=[
            _set(
                role=turn.role.value,
                text=turn.text,
                audio=audio(f"turn{number:02d}", turn.audio) if turn.audio is not None else None,
            )
            for number, turn in enumerate(observation.turns)
        ]
        or None,
        channels={role.value: audio(role.value, ref) for role, ref in observation.channels.items()}
        or None,
        text=observation.text,
        words=[
            _set(
                text=word.text,
                role=word.role.value,
                span=[word.span.start, word.span.end] if word.span is not None else None,
            )
            for word in observation.words
        ]
        or None,
        activity={
            role.value: [[span.start, span.end] for span in spans]
            for role, spans in observation.activity.items()
        }
        or None,
        spoken_prefix=observation.spoken_prefix,
        question={"text": question.text, "answers": list(question.answers)}
        if question is not None
        else None,
        cutoff=observation.cutoff,
        repeat=observation.repeat or None,
    )


def observation_from_plain(
    plain: Mapping[str, Any], audio: Callable[[Any], AudioRef]
) -> Observation:
    """Rebuild an observation; ``audio`` turns what stands for audio into a reference."""
    question = plain.get("question")
    return Observation(
        language=plain["language"],
        state=plain.get("state"),
        turns=tuple(
            Turn(
                role=Role(turn["role"]),
                text=turn.get("text"),
                audio=audio(turn["audio"]) if "audio" in turn else None,
            )
            for turn in plain.get("turns", ())
        ),
        channels={Role(r): audio(a) for r, a in plain.get("channels", {}).items()},
        text=plain.get("text"),
        words=tuple(
            Word(
                text=word["text"],
                role=Role(word["role"]),
                span=Span(*word["span"]) if "span" in word else None,
            )
            for word in plain.get("words", ())
        ),
        activity={
            Role(r): tuple(Span(*span) for span in spans)
            for r, spans in plain.get("activity", {}).items()
        },
        spoken_prefix=plain.get("spoken_prefix"),
        question=Question(text=question["text"], answers=tuple(question["answers"]))
        if question is not None
        else None,
        cutoff=plain.get("cutoff"),
        repeat=plain.get("repeat", 0),
    )


def sample_to_plain(
    sample: Sample, audio: Callable[[str, AudioRef], JsonValue]
) -> dict[str, JsonValue]:
    """Return a sample as plain values (see :func:`observation_to_plain`)."""
    return _set(
        id=sample.id,
        cluster=sample.cluster,
        stratum=sample.stratum or None,
        observation=observation_to_plain(sample.observation, audio),
        target=dict(sample.target),
        tags=dict(sample.tags),
    )


def sample_from_plain(plain: Mapping[str, Any], audio: Callable[[Any], AudioRef]) -> Sample:
    """Rebuild a sample (see :func:`observation_from_plain`)."""
    return Sample(
        id=plain["id"],
        cluster=plain["cluster"],
        stratum=plain.get("stratum", ""),
        observation=observation_from_plain(plain["observation"], audio),
        target=plain["target"],
        tags=plain["tags"],
    )


def _set(**fields: JsonValue) -> dict[str, JsonValue]:
    return {name: value for name, value in fields.items() if value is not None}
