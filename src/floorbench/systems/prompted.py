"""Chat models asked with the task's question: dialogue in, the model's own words out.

The question is the instruction. The history follows as messages: the user's turns as sound (or as
words, for a model that reads), the system's turns as words; then the turn to decide on. The answer
is kept as it came; the task reads it when the run is scored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from floorbench.audio.decode import RESAMPLER
from floorbench.core.prediction import Decision
from floorbench.core.sample import AudioRef, Observation, Turn
from floorbench.core.spec import FrontEnd, SystemSpec
from floorbench.core.time import from_samples
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import UsageError
from floorbench.systems.common import number, refusal
from floorbench.systems.llm.chat import RATE, ChatModel, ChatTurn, Part, sound
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.snapshots import marked
from floorbench.systems.llm.spending import Spending

PHRASES = Path(__file__).parent / "llm" / "forms" / "prompted-v1.tsv"


class Prompted(Spending):
    """A chat model that answers the task's question about a dialogue.

    Parameters
    ----------
    model : ChatModel
        With ``hears`` it gets the user's sound, else the words.
    name : str
        Name of the system.
    labels : tuple of str or None
        Answers that it declares; ``None`` leaves them to the task's question.
    languages : tuple of str or None
    temperature : float
        0 to 2.
    seed : int
    max_tokens : int
        Tokens of an answer, at least 1; a model that thinks needs room for that.
    structured : bool
        Make the service answer one of the allowed answers, where it can.

    Notes
    -----
    Sound is sent at 16 kHz, 16 bits, one file per channel: services mix the channels of one file.
    A history turn without sound or words is marked as such, and so is a turn without words.
    """

    def __init__(
        self,
        *,
        model: ChatModel,
        name: str,
        labels: tuple[str, ...] | None = None,
        languages: tuple[str, ...] | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 64,
        structured: bool = False,
    ) -> None:
        if max_tokens < 1:
            raise UsageError("FB513", f"max_tokens={max_tokens} is below 1")
        self.model = model
        self._temperature = number("temperature", temperature, low=0.0, high=2.0)
        self._seed = seed
        self._max_tokens = max_tokens
        self._structured = structured
        hears = model.hears
        self.spec = SystemSpec(
            name=name,
            version="1",
            level=model.info.level,
            labels=labels,
            languages=languages,
            modalities=("audio", "question") if hears else ("text", "question"),
            context="dialogue",
            front_end=FrontEnd(
                rate=RATE if hears else None,
                resampler=RESAMPLER if hears else None,
                text=None if hears else "transcript as it is",
            ),
            deterministic=model.deterministic,
        )
        self._describe()

    def load(self) -> None:
        """Load the model and complete the spec."""
        self.model.load()
        self._describe()

    def decide(self, observation: Observation) -> Decision:
        """Ask about one observation; a call that fails is an outcome, not an error."""
        refused = refusal(self.spec, observation)
        if refused is not None:
            return refused
        if observation.question is None:
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no question to answer")
        if not self.model.hears and observation.text is None:
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no words to read")
        answers = observation.question.answers if self._structured else None
        try:
            said = self.model.ask(
                self._turns(observation),
                system=observation.question.text,
                max_tokens=self._max_tokens,
                temperature=self._temperature,
                seed=self._seed + observation.repeat,
                answers=answers,
                repeat=observation.repeat,
            )
        except ModelFault as fault:
            self.usage += fault.usage
            return marked(Decision(outcome=fault.outcome, reason=fault.reason), fault)
        self.usage += said.usage
        text = _chosen(said.text) if self._structured else said.text
        if not text.strip():
            why = "an empty answer" if said.finished else "no room for an answer in max_tokens"
            empty = Decision(outcome=Outcome.INVALID, reason=why, raw=said.text)
            return marked(empty, said)
        return marked(Decision(raw=text, commit=_commit(observation)), said)

    # ---- helpers -----------------------------------------------------------------------------

    def _turns(self, observation: Observation) -> list[ChatTurn]:
        say = phrases("zh" if observation.language == "zh" else "en")
        out = [self._past(turn, say) for turn in observation.turns]
        if observation.spoken_prefix:
            text = f"{say['so_far']} {observation.spoken_prefix}"
            out.append(ChatTurn(role="assistant", parts=(text,)))
        out.append(ChatTurn(role="user", parts=self._present(observation, say)))
        return out

    def _past(self, turn: Turn, say: dict[str, str]) -> ChatTurn:
        if turn.role is Role.SYSTEM:
            return ChatTurn(role="assistant", parts=(turn.text or say["no_words"],))
        if self.model.hears and turn.audio is not None:
            return ChatTurn(role="user", parts=(_sound(turn.audio),))
        missing = say["no_audio"] if self.model.hears and turn.text is None else say["no_words"]
        return ChatTurn(role="user", parts=(turn.text or missing,))

    def _present(self, observation: Observation, say: dict[str, str]) -> tuple[Part, ...]:
        if not self.model.hears:
            return (observation.text or say["no_words"],)
        roles = [r for r in (Role.USER, Role.SYSTEM) if r in observation.channels]
        sounds = [_sound(observation.channels[role]) for role in roles]
        if len(roles) == 1:
            return (sounds[0],)
        named = zip(roles, sounds, strict=True)
        return tuple(part for role, heard in named for part in (say[role.value], heard))

    def _describe(self) -> None:
        info = self.model.info
        self.spec = replace(
            self.spec,
            licence=info.licence,
            weights=dict(info.weights),
            parameters={
                **info.parameters,
                "temperature": self._temperature,
                "seed": self._seed,
                "max_tokens": self._max_tokens,
                "structured": self._structured,
                "phrases_sha256": hashlib.sha256(PHRASES.read_bytes()).hexdigest(),
            },
        )


@cache
def phrases(language: str) -> dict[str, str]:
    """Return the short texts that stand for what a turn lacks, in one language."""
    rows = [line.split("\t") for line in PHRASES.read_text(encoding="utf-8").splitlines()]
    return {name: text for name, spoken, text in rows if spoken == language}


def seconds_of(observation: Observation, *, hears: bool) -> float:
    """Return the seconds of sound that asking about an observation sends."""
    if not hears:
        return 0.0
    past: Sequence[AudioRef] = [
        t.audio for t in observation.turns if t.role is not Role.SYSTEM and t.audio is not None
    ]
    return sum(from_samples(a.frames, a.rate) for a in (*past, *observation.channels.values()))


def _sound(audio: AudioRef) -> Part:
    return sound(audio.read(rate=RATE))


def _commit(observation: Observation) -> float | None:
    user = observation.channels.get(Role.USER)
    return None if user is None else from_samples(user.frames, user.rate)


def _chosen(text: str) -> str:
    """Return the answer inside the JSON object that a service was made to write."""
    try:
        found = json.loads(text)["answer"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    return found if isinstance(found, str) else text
