"""What a text model is to floorbench: a prompt that grows at one place, an answer, its cost.

Prefixes of one turn share their text, so a prompt is not one string: it has a part that stays
(``opening``), pieces that come one by one (the words said so far), and a part after them
(``closing``). A client keeps what it has evaluated of ``opening`` and ``pieces``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from floorbench.core.prediction import Served
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Level, Outcome

END_OF_TEXT = "<end>"
"""Name under which a client reports the model's own end-of-text and end-of-turn tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A prompt in the order in which a model reads it.

    Parameters
    ----------
    opening : str
        Text before the pieces.
    pieces : tuple of str
        The growing part, each with its own leading space.
    closing : str
        Text after the pieces.
    system : str or None
        Instruction in the chat template's system role; needs ``chat``.
    chat : bool
        Whether the text is a user message of a chat, or raw text to be continued.
    """

    opening: str
    pieces: tuple[str, ...] = ()
    closing: str = ""
    system: str | None = None
    chat: bool = False

    @property
    def text(self) -> str:
        """Return the (user) text in one piece."""
        return self.opening + "".join(self.pieces) + self.closing

    @property
    def messages(self) -> list[dict[str, str]]:
        """Return the chat messages."""
        system = [{"role": "system", "content": self.system}] if self.system else []
        return [*system, {"role": "user", "content": self.text}]


class Token(NamedTuple):
    """One candidate for the next token; ``text`` is ``END_OF_TEXT`` for the end of the text."""

    text: str
    logprob: float


def logprob_of(value: Any) -> float:
    """Return a log probability that a service wrote, ``ValueError`` when it is not finite."""
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"a log probability of {found}")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call.

    Parameters
    ----------
    prompt : int
        Tokens of the prompt.
    evaluated : int
        Tokens of the prompt that the model had to read; the rest came from its cache. Equal to
        ``prompt`` where a server does not say.
    generated : int
        Tokens written.
    """

    prompt: int = 0
    evaluated: int = 0
    generated: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            prompt=self.prompt + other.prompt,
            evaluated=self.evaluated + other.evaluated,
            generated=self.generated + other.generated,
        )


def counted(*, prompt: int, cached: int, written: int) -> Usage:
    """Return the tokens that a service counted; nothing when its counts cannot be true."""
    if not 0 <= cached <= prompt or written < 0:
        return Usage()
    return Usage(prompt=prompt, evaluated=prompt - cached, generated=written)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What a model wrote.

    Parameters
    ----------
    text : str
        The text, without the stop sequence.
    first : tuple of Token or None
        Candidates for the first token, most probable first; ``None`` when the model gave no
        probabilities, which is no score and never a zero.
    finished : bool
        Whether the model stopped by itself, not at the token limit.
    usage : Usage
    served : Served or None
        What a service said about who answers.
    """

    text: str
    first: tuple[Token, ...] | None = None
    finished: bool = True
    usage: Usage = field(default_factory=Usage)
    served: Served | None = None


class ModelFault(Exception):
    """A call that gave no answer: the outcome it counts as, one sentence why, and what it cost.

    ``served`` says who refused or answered in another form; ``None`` when nobody did.
    """

    served: Served | None = None

    def __init__(self, outcome: Outcome, reason: str, usage: Usage | None = None) -> None:
        super().__init__(reason)
        self.outcome = outcome
        self.reason = reason
        self.usage = usage or Usage()


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a client can do with its model.

    Parameters
    ----------
    raw, chat : bool
        Continue plain text; answer chat messages.
    top : int
        Largest number of candidates it gives for the next token; 0 for no probabilities.
    seed : bool
        Whether sampling can be seeded.
    cache : bool
        Whether evaluated text is kept between calls.
    deterministic : bool
        Whether temperature 0 gives the same answer every time.
    """

    raw: bool = True
    chat: bool = True
    top: int = 0
    seed: bool = True
    cache: bool = False
    deterministic: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelInfo:
    """What a client says about its model; it enters the system's spec."""

    name: str
    level: Level
    licence: str = "unknown"
    weights: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)


class TextModel(Protocol):
    """A text model behind some runtime; construction loads nothing."""

    can: Capabilities
    info: ModelInfo

    def load(self) -> None:
        """Load weights or look the served model up; ``info`` is complete afterwards."""
        ...

    def complete(
        self,
        prompt: Prompt,
        *,
        max_tokens: int,
        temperature: float = 0.0,
        seed: int = 0,
        stop: Sequence[str] = (),
        top: int = 0,
    ) -> Completion:
        """Continue a prompt.

        Parameters
        ----------
        max_tokens : int
            At least 1.
        temperature : float
            0 takes the most probable token.
        seed : int
            Of the sampling; without effect at temperature 0.
        stop : sequence of str
            Texts at which the model stops.
        top : int
            How many candidates of the first token are wanted; 0 for none.

        Raises
        ------
        ModelFault
            When there is no answer: time-out, refusal, half an answer.
        """
        ...


def mass(tokens: Sequence[Token], accept: Callable[[str], bool]) -> float | None:
    """Return the summed probability of the candidates whose text is accepted.

    Candidates outside the list that the model gave add nothing, so the value is a lower bound;
    each of them is less probable than the last one listed. ``None`` when no accepted candidate is
    listed: that is no score, not zero.
    """
    found = [math.exp(t.logprob) for t in tokens if accept(t.text)]
    return min(1.0, math.fsum(found)) if found else None
