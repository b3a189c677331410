"""A chat model that rewrites contexts, and all the ways in which it may fail to."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from floorbench.build.echo_recipe.rewriting import RewriteFault, Written
from floorbench.build.echo_texts import halves
from floorbench.build.pipeline.stage import Bench, Item
from floorbench.build.text.answers import object_start
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, Place
from floorbench.systems.llm.chat import ChatModel, ChatTurn
from floorbench.systems.llm.protocol import ModelFault

PROMPT = Path(__file__).parent / "rewrite-v1.txt"
MAX_TOKENS = 700
TEMPERATURE = 0.7
SYSTEM = "You answer with one JSON object and nothing else."
LANGUAGE_NAMES = {"en": "English", "zh": "Chinese"}
ROLE_TEXTS = {
    "interruption": "an interruption: meant for the assistant, a correction, request, obstacle or "
    "instruction that needs it to stop speaking and react at once",
    "backchannel": "a backchannel: meant for the assistant, a comment, feeling or completion by a "
    "listener who wants it to go on speaking",
    "off_talk": "off-talk: meant for the user himself or for somebody else in the room, not for "
    "the assistant, which should go on speaking",
}


class ModelRewriter:
    """Asks a chat model for each context.

    The check of the insertion is not left to the model: it gives the insertion back, and the next
    stage compares it.

    Parameters
    ----------
    model : ChatModel
    temperature : float
    """

    def __init__(self, *, model: ChatModel, temperature: float = TEMPERATURE) -> None:
        self._model = model
        self._temperature = temperature
        self._prompt = PROMPT.read_text(encoding="utf-8")
        self.deterministic = model.deterministic and temperature == 0

    def settings(self) -> Mapping[str, JsonValue]:
        """Return model, prompt and temperature."""
        return {
            "rewriter": self._model.info.name,
            "prompt": hashlib.sha256(self._prompt.encode()).hexdigest(),
            "roles": hashlib.sha256(json.dumps(ROLE_TEXTS, sort_keys=True).encode()).hexdigest(),
            "temperature": self._temperature,
            "max_tokens": MAX_TOKENS,
        }

    def start(self) -> None:
        """Make the client."""
        self._model.load()

    def rewrite(self, item: Item, source: Written, role: str, bench: Bench) -> Written:
        """Ask once.

        Raises
        ------
        RewriteFault
            ``refused`` (by the service, or words and no object), ``broken-json`` (an object that
            cannot be read, was cut off or lacks a field).
        DataError
            ``FB863`` when no answer came: that says nothing of the group, so the next build asks
            again.
        """
        prompt = self.question(item, source, role)
        seed = int(bench.rng.integers(2**31))
        try:
            answer = self._model.ask(
                [ChatTurn(role="user", parts=(prompt,))],
                system=SYSTEM,
                max_tokens=MAX_TOKENS,
                temperature=self._temperature,
                seed=seed,
                repeat=bench.attempt,
            )
        except ModelFault as fault:
            if fault.outcome is Outcome.ABSTAINED:
                raise RewriteFault("refused", fault.reason) from None
            if fault.outcome is Outcome.INVALID:
                raise RewriteFault("broken-json", fault.reason) from None
            raise DataError("FB863", fault.reason, where=Place(item=item.id)) from None
        bench.note(
            "call",
            model=self._model.info.name,
            role=role,
            prompt=hashlib.sha256(prompt.encode()).hexdigest(),
            system=SYSTEM,
            asked=prompt,
            reply=hashlib.sha256(answer.text.encode()).hexdigest(),
            answered=answer.text,
            seed=seed,
            tokens=dict(asdict(answer.usage)),
        )
        return parsed(answer.text)

    def question(self, item: Item, source: Written, role: str) -> str:
        """Return the prompt for a role."""
        turns = [
            f"{'Assistant' if n % 2 else 'User'}: {text}" for n, text in enumerate(source.history)
        ]
        turns.append(f"Assistant: {source.before} [the user speaks here]{source.after}")
        return self._prompt.format(
            language=LANGUAGE_NAMES[str(item.fields["language"])],
            insertion=source.insertion,
            role=ROLE_TEXTS[role],
            dialogue="\n".join(turns),
        )


def parsed(text: str) -> Written:
    """Read the object of an answer.

    The two parts of the utterance are brought into one form: a mark that stands at the head of the
    second belongs to the first, and one space parts words.

    Raises
    ------
    RewriteFault
        ``refused`` or ``broken-json``.

    Examples
    --------
    >>> parsed('{"history": ["Hi."], "before": "I go", "insertion": "No!", "after": ", we stay"}')
    Written(history=('Hi.',), before='I go,', insertion='No!', after=' we stay')
    """
    start = object_start(text)
    if start < 0:
        raise RewriteFault("refused", f"no object in the answer: {text[:80]!r}")
    try:
        found: Any = json.JSONDecoder().raw_decode(text, start)[0]
        history, before, after = found["history"], found["before"], found["after"]
        insertion = found["insertion"]
    except (ValueError, KeyError, RecursionError) as error:
        what = f"{type(error).__name__} {error}: {text[:80]!r}"
        raise RewriteFault("broken-json", what) from None
    if not isinstance(history, list) or not all(
        isinstance(value, str) for value in (*history, before, after, insertion)
    ):
        raise RewriteFault("broken-json", f"a field is no text: {text[:80]!r}")
    everything = "".join((*history, before, after, insertion))
    if any(c == "\0" or "\ud800" <= c <= "\udfff" for c in everything):
        raise RewriteFault("broken-json", "half a character, or none, in a field")
    head = len(after) - len(after.lstrip(" ,.;:!?，。；：！？、"))
    marks = after[:head].strip()
    space = " " if after[head : head + 1].isascii() else ""
    first, second = halves(f"{before.rstrip()}{marks}{space}\0{after[head:].strip()}", "\0")
    return Written(
        history=tuple(turn.strip() for turn in history),
        before=first.strip(),
        insertion=insertion,
        after=second,
    )
