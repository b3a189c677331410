"""Three ways to ask a text model whether a listener could respond after the words so far.

* :class:`Boundary`: how probable is it that the sentence or the turn ends next? No instruction.
* :class:`YesNo`: how probable is *yes* against *no* as the answer to the question?
* :class:`Generated`: let the model write its answer and read it.

All three see the words of the turn so far and, but for the first, the task's question. Each word
is one more piece of the same prompt, so a model that keeps what it has read evaluates a turn of N
words once and not N times.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from floorbench.core.prediction import Decision
from floorbench.core.sample import JsonValue, Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.systems.llm import answers
from floorbench.systems.llm.protocol import (
    END_OF_TEXT,
    ModelFault,
    Prompt,
    TextModel,
    mass,
)
from floorbench.systems.llm.spending import Spending
from floorbench.systems.llm.together import Call, Steps, decide_together, takes_batches

FORMS = Path(__file__).parent / "forms"
YES, NO = "yes", "no"
TOP, MORE = 500, 4000
"""Candidates for the next token that are asked for: so many, then more, then all of them."""

# One sentence-final mark, or a line end; "..." and "2.5" do not end a sentence.
_FINAL = re.compile(r" ?(?:[.?!。？！](?![.\d])|\r?\n)")


class Form(NamedTuple):
    """A text put around the turn."""

    before: str
    after: str
    sha256: str


@cache
def form(name: str) -> Form:
    """Return a form by name; ``{turn}`` marks the place of the words (at the end without it)."""
    data = (FORMS / f"{name}.txt").read_bytes()
    before, _, after = data.decode().rstrip("\n").partition("{turn}")
    return Form(before, after, hashlib.sha256(data).hexdigest())


def ends_sentence(token: str) -> bool:
    """Tell whether a token ends a sentence or the text.

    Examples
    --------
    >>> [ends_sentence(t) for t in (".", "?", "\\n", " .", "...", ",", " and")]
    [True, True, True, True, False, False, False]
    """
    return token == END_OF_TEXT or _FINAL.match(token) is not None


class Asking(Spending):
    """What the three ways share.

    Parameters
    ----------
    model : TextModel
    name : str
        Name of the system.
    languages : tuple of str or None
    seed : int
        Of the sampling, together with the words and the repeat.
    """

    form_name: str
    modalities: tuple[str, ...] = ("text", "question")
    score: str
    threshold: float | None = None
    chat = True

    def __init__(
        self,
        *,
        model: TextModel,
        name: str,
        languages: tuple[str, ...] | None = None,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> None:
        if not 0 <= temperature <= 2:
            raise UsageError("FB513", f"temperature={temperature} is not in [0, 2]")
        if not (model.can.chat if self.chat else model.can.raw):
            raise UsageError(
                "FB513",
                f"'{name}' needs a model that "
                + ("answers chat messages" if self.chat else "continues plain text"),
                hint="say raw=true if the server has /completions",
            )
        self.model = model
        self._form = form(self.form_name)
        self._temperature = temperature
        self._seed = seed
        self.spec = SystemSpec(
            name=name,
            version="1",
            level=model.info.level,
            labels=(YES, NO),
            languages=languages,
            modalities=self.modalities,
            score=self.score,
            threshold=self.threshold,
            deterministic=model.can.deterministic,
        )
        self._describe()
        if takes_batches(model):
            self.decide_batch = self._together

    def load(self) -> None:
        """Load the model and complete the spec."""
        self.model.load()
        self._describe()

    def decide(self, observation: Observation) -> Decision:
        """Answer for one prefix; a call that fails is an outcome, not an error."""
        return self._together([observation])[0]

    def _together(self, observations: Sequence[Observation]) -> list[Decision]:
        return decide_together(self.model, [self._steps(o) for o in observations])

    def _steps(self, observation: Observation) -> Steps:
        if not observation.text or not observation.text.strip():
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no words to read")
        if self.chat and observation.question is None:
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no question to answer")
        languages = self.spec.languages
        if languages is not None and observation.language not in languages:
            return Decision(
                outcome=Outcome.UNSUPPORTED,
                reason=f"language {observation.language} is not declared",
            )
        try:
            return (yield from self._answer(observation))
        except ModelFault as fault:
            self.usage += fault.usage
            raise

    def _answer(self, observation: Observation) -> Steps:
        raise NotImplementedError

    def _prompt(self, observation: Observation) -> Prompt:
        return Prompt(
            opening=self._form.before,
            pieces=tuple(f" {word}" for word in (observation.text or "").split()),
            closing=self._form.after,
            system=observation.question.text if self.chat and observation.question else None,
            chat=self.chat,
        )

    def _next_token(self, observation: Observation, wanted: int) -> Call:
        """Ask for the next token's candidates; the seed keeps recorded repeats apart."""
        return Call(
            prompt=self._prompt(observation), max_tokens=1, top=wanted, seed=observation.repeat
        )

    @property
    def around(self) -> str:
        """The text put around the words of every prefix."""
        return self._form.before + self._form.after

    @property
    def longest(self) -> int:
        """Tokens of an answer, at most."""
        return 1

    def _own(self) -> dict[str, JsonValue]:
        """Return this way's own parameters for the spec."""
        return {}

    def _describe(self) -> None:
        info = self.model.info
        self.spec = replace(
            self.spec,
            licence=info.licence,
            weights=dict(info.weights),
            parameters={
                **info.parameters,
                "form": self.form_name,
                "form_sha256": self._form.sha256,
                "temperature": self._temperature,
                "seed": self._seed,
                **self._own(),
            },
        )


class Boundary(Asking):
    """Probability that the sentence or the turn ends with the next token.

    Score ``boundary``: the summed probability of sentence-final marks, line ends and end tokens,
    after the words as a line of a conversation. Label ``yes`` iff it is at least ``threshold``.

    Notes
    -----
    Source: the idea of TurnGPT, which gives turn shifts a token of their own; a plain language
    model has punctuation instead. Without any such token among all the candidates that the model
    can give there is no score.
    """

    form_name = "boundary-v1"
    modalities = ("text",)
    score = "boundary"
    threshold = 0.5
    chat = False

    def __init__(
        self,
        *,
        model: TextModel,
        name: str,
        languages: tuple[str, ...] | None = None,
        threshold: float = 0.5,
    ) -> None:
        if not 0 <= threshold <= 1:
            raise UsageError("FB513", f"threshold={threshold} is not in [0, 1]")
        if not model.can.top:
            raise UsageError("FB513", f"'{name}' needs a model that gives token probabilities")
        self.threshold = threshold
        super().__init__(model=model, name=name, languages=languages)

    def _answer(self, observation: Observation) -> Steps:
        value, listed = None, 0
        for wanted in self._candidates():
            said = yield self._next_token(observation, wanted)
            self.usage += said.usage
            if said.first is None:
                return Decision(outcome=Outcome.INVALID, reason="no token probabilities")
            value, listed = mass(said.first, ends_sentence), len(said.first)
            if value is not None:
                break
        if value is None:
            return Decision(
                outcome=Outcome.INVALID,
                reason=f"no sentence end among {listed} candidates: no score",
            )
        label = YES if value >= (self.spec.threshold or 0.0) else NO
        return Decision(label=label, scores={self.score: value})

    def _own(self) -> dict[str, JsonValue]:
        return {"candidates": self._candidates()}

    def _candidates(self) -> list[int]:
        return sorted({min(n, self.model.can.top) for n in (TOP, MORE, self.model.can.top)})


class YesNo(Asking):
    """Probability of *yes* against *no* as the first word of the answer.

    Score ``p_yes`` = P(yes) / (P(yes) + P(no)), over all spellings of the two words. When only
    one of the two is among the candidates the label is that one and there is no score.
    """

    form_name = "yesno-v1"
    score = "p_yes"
    threshold = 0.5

    def __init__(
        self,
        *,
        model: TextModel,
        name: str,
        languages: tuple[str, ...] | None = None,
    ) -> None:
        if not model.can.top:
            raise UsageError("FB513", f"'{name}' needs a model that gives token probabilities")
        super().__init__(model=model, name=name, languages=languages)

    def _answer(self, observation: Observation) -> Steps:
        wanted = min(TOP, self.model.can.top)
        said = yield self._next_token(observation, wanted)
        self.usage += said.usage
        if said.first is None:
            return Decision(outcome=Outcome.INVALID, raw=said.text, reason="no token probabilities")
        yes = mass(said.first, lambda text: text.strip().lower() == YES)
        no = mass(said.first, lambda text: text.strip().lower() == NO)
        if yes is None and no is None:
            return Decision(
                outcome=Outcome.INVALID,
                raw=said.text,
                reason=f"neither yes nor no among {counted(len(said.first), 'candidate')}",
            )
        if yes is None or no is None:
            return Decision(label=NO if yes is None else YES, raw=said.text)
        if yes + no == 0.0:
            return Decision(
                outcome=Outcome.INVALID, raw=said.text, reason="yes and no have no probability"
            )
        value = yes / (yes + no)
        return Decision(
            label=YES if value >= 0.5 else NO,
            scores={self.score: value, "mass": min(1.0, yes + no)},
            raw=said.text,
        )

    def _own(self) -> dict[str, JsonValue]:
        return {"candidates": min(TOP, self.model.can.top)}


class Generated(Asking):
    """The model writes a JSON object with decision, confidence and justification, then END.

    Score ``stated``: the confidence it states for *yes*. An answer that cannot be read is an
    ``invalid`` outcome with the text kept in ``raw``.

    Notes
    -----
    Source: the form of the answer and the temperature of 0.4 are those of the authors' 2026
    follow-up of the within-turn TRP study; the 2024 prompts were not published.
    """

    form_name = "generate-v1"
    score = "stated"

    def __init__(
        self,
        *,
        model: TextModel,
        name: str,
        languages: tuple[str, ...] | None = None,
        temperature: float = 0.4,
        seed: int = 0,
        max_tokens: int = 96,
    ) -> None:
        if max_tokens < 1:
            raise UsageError("FB513", f"max_tokens={max_tokens} is below 1")
        self._max_tokens = max_tokens
        super().__init__(
            model=model, name=name, languages=languages, temperature=temperature, seed=seed
        )

    def _answer(self, observation: Observation) -> Steps:
        said = yield Call(
            prompt=self._prompt(observation),
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            seed=self._stream(observation),
            stop=(answers.END,),
        )
        self.usage += said.usage
        answer = answers.parse_answer(said.text)
        if answer.label is None:
            return Decision(outcome=Outcome.INVALID, raw=said.text, reason=answer.problem)
        scores = {}
        if answer.confidence is not None:
            yes = answer.label == YES
            scores[self.score] = answer.confidence if yes else 1 - answer.confidence
        return Decision(label=answer.label, scores=scores, raw=said.text)

    @property
    def longest(self) -> int:
        """Tokens of an answer, at most."""
        return self._max_tokens

    def _stream(self, observation: Observation) -> int:
        """Return the seed of one call: each prefix and each repeat samples on its own."""
        text = f"{self._seed}|{observation.repeat}|{observation.text}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4]) >> 1

    def _own(self) -> dict[str, JsonValue]:
        return {"max_tokens": self._max_tokens, "parser": answers.VERSION}
