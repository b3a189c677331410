"""Text models on matched contrasts: read the dialogue, name the role of the words inserted.

The model gets the earlier turns, what the assistant has said so far, and the insertion, with the
task's question as its instruction. Where it gives probabilities, the answer is the allowed one that
its next token most probably begins, and the shares are the scores; else it writes, and the one
answer that its text names is taken. The text is kept.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from floorbench.core.prediction import Decision
from floorbench.core.sample import JsonValue, Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome, Role
from floorbench.core.words import counted
from floorbench.systems.common import number
from floorbench.systems.llm.ollama import HOST
from floorbench.systems.llm.openai_api import KEY, OPENAI
from floorbench.systems.llm.protocol import Completion, ModelFault, Prompt, TextModel, mass
from floorbench.systems.llm.rows import embedded_model, ollama_model, openai_model, slug
from floorbench.systems.llm.snapshots import marked
from floorbench.systems.llm.spending import Spending

ROLES = ("interruption", "backchannel", "off_talk")
CANDIDATES = 2000
"""Candidates for the next token that are asked for."""
NAMES = {
    "en": {Role.USER: "User", Role.SYSTEM: "Assistant", Role.THIRD_PARTY: "Somebody else"},
    "zh": {Role.USER: "用户", Role.SYSTEM: "助手", Role.THIRD_PARTY: "旁人"},
}


class RoleTexts(Spending):
    """A chat model that answers with one of the task's answers.

    Parameters
    ----------
    model : TextModel
    name : str
        Name in tables.
    languages : tuple of str or None
        Languages that the model is good for.
    temperature : float
        0 to 2.
    seed : int
        Of the sampling, where the model takes one.
    max_tokens : int
        Length of the answer, 1 to 4096.
    """

    def __init__(
        self,
        *,
        model: TextModel,
        name: str,
        languages: tuple[str, ...] | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 12,
    ) -> None:
        self.model = model
        self._temperature = number("temperature", temperature, low=0.0, high=2.0)
        self._max_tokens = int(number("max_tokens", max_tokens, low=1, high=4096))
        self._seed = seed
        self.spec = SystemSpec(
            name=name,
            version="1",
            level=model.info.level,
            labels=ROLES,
            languages=languages,
            modalities=("text", "question"),
            context="dialogue",
            deterministic=model.can.deterministic and temperature == 0,
        )
        self._describe()

    def load(self) -> None:
        """Load the model and complete the spec."""
        self.model.load()
        self._describe()

    def decide(self, observation: Observation) -> Decision:
        """Ask once; a call that fails is an outcome, not an error."""
        asked = observation.question
        if asked is None or not observation.text or not observation.text.strip():
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no words or no question to answer")
        languages = self.spec.languages
        if languages is not None and observation.language not in languages:
            reason = f"language {observation.language} is not declared"
            return Decision(outcome=Outcome.UNSUPPORTED, reason=reason)
        if not set(asked.answers) <= set(ROLES):
            reason = f"the question allows other answers: {', '.join(asked.answers)}"
            return Decision(outcome=Outcome.ABSTAINED, reason=reason)
        prompt = Prompt(opening=dialogue(observation), system=asked.text, chat=True)
        try:
            said = self._said(prompt, repeat=observation.repeat)
        except ModelFault as fault:
            self.usage += fault.usage
            return marked(Decision(outcome=fault.outcome, reason=fault.reason), fault)
        self.usage += said.usage
        read = _most_probable if self.model.can.top else _named
        return marked(read(said, asked.answers), said)

    def _said(self, prompt: Prompt, *, repeat: int) -> Completion:
        if self.model.can.top:
            wanted = min(CANDIDATES, self.model.can.top)
            return self.model.complete(prompt, max_tokens=1, top=wanted, seed=repeat)
        return self.model.complete(
            prompt,
            max_tokens=self._max_tokens,
            temperature=self._temperature,
            seed=self._seed + repeat,
        )

    def _describe(self) -> None:
        info = self.model.info
        parameters: dict[str, JsonValue] = {
            **info.parameters,
            "temperature": self._temperature,
            "seed": self._seed,
            "max_tokens": self._max_tokens,
        }
        self.spec = replace(
            self.spec, licence=info.licence, weights=dict(info.weights), parameters=parameters
        )


def _named(said: Completion, allowed: tuple[str, ...]) -> Decision:
    label = one_of(said.text, allowed)
    if label is None:
        return Decision(
            outcome=Outcome.INVALID, raw=said.text, reason="not exactly one of the answers"
        )
    return Decision(label=label, raw=said.text)


def _most_probable(said: Completion, allowed: tuple[str, ...]) -> Decision:
    shares = {}
    for answer in allowed:
        found = mass(said.first or (), partial(begins, answer=answer))
        if found is not None:
            shares[answer] = found
    if not shares:
        reason = f"no answer begins with one of {counted(len(said.first or ()), 'candidate')}"
        return Decision(outcome=Outcome.INVALID, raw=said.text, reason=reason)
    total = sum(shares.values())
    scores = {answer: share / total for answer, share in shares.items()}
    label = max(shares, key=lambda answer: shares[answer])
    return Decision(label=label, scores=scores, raw=said.text)


def dialogue(observation: Observation) -> str:
    """Return the dialogue as the model reads it, one line a turn, the insertion last."""
    names = NAMES["zh" if observation.language == "zh" else "en"]
    lines = [f"{names[turn.role]}: {turn.text}" for turn in observation.turns if turn.text]
    if observation.spoken_prefix:
        lines.append(f"{names[Role.SYSTEM]}: {observation.spoken_prefix} ...")
    lines.append(f">>> {names[Role.USER]}: {observation.text}")
    return "\n".join(lines)


def begins(token: str, answer: str) -> bool:
    """Tell whether a token, spaces and case aside, begins an answer.

    Examples
    --------
    >>> begins(" Off", "off_talk"), begins(" ", "off_talk"), begins("talk", "off_talk")
    (True, False, False)
    """
    bare = token.strip().casefold()
    return bool(bare) and answer.startswith(bare)


def one_of(text: str, answers: tuple[str, ...]) -> str | None:
    """Return the one answer that a text names, or ``None``.

    Examples
    --------
    >>> one_of("It is an Off-talk.", ("off_talk", "backchannel"))
    'off_talk'
    """
    plain = text.casefold().replace("-", "_").replace("off talk", "off_talk")
    plain = plain.replace("offtalk", "off_talk")
    named = [answer for answer in answers if answer in plain]
    return named[0] if len(named) == 1 else None


def roles_smollm2(*, model_path: str | None = None) -> RoleTexts:
    """Return the embedded model; its answers are those of a very small model.

    Parameters
    ----------
    model_path : str or None
        Another GGUF file.
    """
    return RoleTexts(model=embedded_model(model_path), name="roles-smollm2", languages=("en",))


def roles_openai(
    *,
    model: str,
    base_url: str = OPENAI,
    key_env: str = KEY,
    timeout: float = 60.0,
    attempts: int = 5,
    max_tokens: int = 16,
    cache: str | None = None,
    replay: bool = False,
) -> RoleTexts:
    """Return a model behind the OpenAI API.

    Parameters
    ----------
    model, base_url, key_env : str
        Name of the model, address of the server, environment variable that holds the key.
    timeout : float
        Seconds of one attempt.
    attempts : int
        Attempts of one call.
    max_tokens : int
        Length of the answer.
    cache : str or None
        Folder of recorded replies.
    replay : bool
        Answer from recorded replies only; needs no key.
    """
    served = openai_model(
        model,
        base_url=base_url,
        key_env=key_env,
        top=0,
        timeout=timeout,
        attempts=attempts,
        cache=cache,
        replay=replay,
    )
    return RoleTexts(model=served, name=f"roles-{model}", max_tokens=max_tokens)


def roles_ollama(
    *,
    model: str,
    host: str = HOST,
    context: int = 4096,
    timeout: float = 120.0,
    attempts: int = 3,
) -> RoleTexts:
    """Return an Ollama tag.

    Parameters
    ----------
    model, host : str
        Tag, and address of the server.
    context : int
        Tokens that the model is loaded for.
    timeout : float
        Seconds of one attempt.
    attempts : int
        Attempts of one call.
    """
    served = ollama_model(model, host=host, context=context, timeout=timeout, attempts=attempts)
    return RoleTexts(model=served, name=f"roles-{slug(model)}")
