"""What a chat model that may hear is to floorbench: turns of text and sound in, one answer out."""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

from floorbench.core.sample import JsonValue
from floorbench.systems.llm.protocol import Completion, ModelInfo

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RATE = 16_000
"""Hz of all sound that is sent."""


class Sound(NamedTuple):
    """Mono sound as a WAV file (16 bits, 16 kHz) and its length in seconds."""

    wav: bytes
    seconds: float


Part = str | Sound


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """One message: who says it, and its text and sound in order."""

    role: Literal["user", "assistant"]
    parts: tuple[Part, ...]


class ChatModel(Protocol):
    """A chat model behind some service; construction loads nothing."""

    info: ModelInfo
    deterministic: bool
    hears: bool

    def load(self) -> None:
        """Make the client; nothing is sent."""
        ...

    def ask(
        self,
        turns: Sequence[ChatTurn],
        *,
        system: str,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        answers: Sequence[str] | None = None,
        schema: Mapping[str, JsonValue] | None = None,
        repeat: int = 0,
    ) -> Completion:
        """Answer the last turn.

        Parameters
        ----------
        turns : sequence of ChatTurn
            Oldest first.
        system : str
            Instruction.
        max_tokens : int
        temperature : float
        seed : int
        answers : sequence of str or None
            Where given, the service is made to answer ``{"answer": one of these}``.
        schema : mapping or None
            Where given, and ``answers`` is not, the JSON Schema that the service is made to keep.
        repeat : int
            How often the same was asked before; recorded replies are kept apart by it.

        Raises
        ------
        ModelFault
            When there is no answer.
        """
        ...


def sound(samples: NDArray[np.float32]) -> Sound:
    """Return samples at 16 kHz as a WAV file of 16 bits; values are clipped to [-1, 1]."""
    import numpy as np

    pcm = (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(pcm.tobytes())
    return Sound(buffer.getvalue(), pcm.size / RATE)


def samples_of(heard: Sound) -> NDArray[np.float32]:
    """Return the samples of a sound, in [-1, 1]."""
    import numpy as np

    with wave.open(io.BytesIO(heard.wav)) as file:
        pcm = np.frombuffer(file.readframes(file.getnframes()), "<i2")
    return pcm.astype(np.float32) / np.float32(32767.0)


def schema_of(answers: Sequence[str]) -> dict[str, JsonValue]:
    """Return the JSON Schema of an answer that must be one of a few."""
    return {
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": list(answers)}},
        "required": ["answer"],
        "additionalProperties": False,
    }


def form_of(
    answers: Sequence[str] | None, schema: Mapping[str, JsonValue] | None
) -> dict[str, JsonValue] | None:
    """Return the JSON Schema of an answer, or ``None`` where it is free."""
    if answers is not None:
        return schema_of(answers)
    return None if schema is None else dict(schema)
