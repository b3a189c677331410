"""A model that writes dialogues, and one that judges them: two clients, each call in the lineage.

The writer must answer one JSON object of a given schema; :mod:`floorbench.build.text.answers`
says what can be wrong with it. The judge adds the reasons ``judge-label`` (it sees another
scenario), ``judge-text`` (the text is not what it was meant to be) and ``judge-unreadable``. A
call that gives no answer at all (time-out, lost connection) is no rejection but FB863: the item
failed, and the next run asks again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec

from floorbench.build.pipeline.stage import Bench, Item, Outcome, Rejected, made
from floorbench.build.text import grammar, prompts
from floorbench.build.text.answers import draft, object_of
from floorbench.build.text.dialogue import dialogue_of, order_of, with_dialogue
from floorbench.build.text.rules import problem_of
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome as Answered
from floorbench.errors import DataError, Place, UsageError
from floorbench.systems.llm.chat import ChatModel, ChatTurn
from floorbench.systems.llm.protocol import ModelFault


class _Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    ok: bool
    why: str


class _Asked:
    """A model with its sampling; what both stages have in common."""

    version = 1
    deterministic = False

    def __init__(
        self, *, model: ChatModel, temperature: float, max_tokens: int, prompt: str
    ) -> None:
        if not 0 <= temperature <= 2 or max_tokens < 1:
            raise UsageError(
                "FB861",
                f"temperature={temperature}, max_tokens={max_tokens}: out of range",
                hint="temperature is in [0, 2], max_tokens is at least 1",
            )
        self._model = model
        self._temperature = temperature
        self._max_tokens = max_tokens
        self._prompt = prompts.check_version(prompt)
        self._named = named(model)

    def settings(self) -> Mapping[str, JsonValue]:
        """Return model, sampling and the digests of the prompts; never a key."""
        texts: dict[str, JsonValue] = {**prompts.prompt_digests(self._prompt), **grammar.digests()}
        return {
            "model": self._named,
            "temperature": self._temperature,
            "max_tokens": self._max_tokens,
            "prompt": self._prompt,
            "texts": texts,
        }

    def start(self) -> None:
        """Make the client."""
        self._model.load()

    def ask(
        self,
        text: str,
        *,
        system: str,
        item: Item,
        bench: Bench,
        seed: int,
        purpose: str,
        answers: tuple[str, ...] | None = None,
        schema: Mapping[str, JsonValue] | None = None,
    ) -> Any:
        """Ask, note the call, and return the JSON object of the answer or a rejection."""
        facts: dict[str, JsonValue] = {
            "purpose": purpose,
            "model": self._named,
            "prompt": _digest(f"{system}\0{text}"),
            "system": system,
            "asked": text,
            "prompt_version": self._prompt,
            "seed": seed,
            "attempt": bench.attempt,
        }
        try:
            reply = self._model.ask(
                (ChatTurn(role="user", parts=(text,)),),
                system=system,
                max_tokens=self._max_tokens,
                temperature=self._temperature,
                seed=seed,
                answers=answers,
                schema=schema,
                repeat=bench.attempt,
            )
        except ModelFault as fault:
            bench.note("call", **facts, fault=fault.outcome.value)
            if fault.outcome is Answered.ABSTAINED:
                return Rejected(reason="refused", detail=fault.reason)
            if fault.outcome is Answered.INVALID:
                return Rejected(reason="json", detail=fault.reason)
            raise DataError("FB863", fault.reason, where=Place(item=item.id)) from None
        bench.note(
            "call",
            **facts,
            reply=_digest(reply.text),
            answered=reply.text,
            prompt_tokens=reply.usage.prompt,
            generated_tokens=reply.usage.generated,
        )
        return object_of(reply.text, finished=reply.finished)


class LlmWrite(_Asked):
    """Write the dialogue of a seed with a model.

    Parameters
    ----------
    model : ChatModel
    temperature : float
        In [0, 2].
    max_tokens : int
        Tokens of an answer at most.
    prompt : str
        Version of the prompts.

    Notes
    -----
    Takes the fields ``language``, ``label`` and ``number``, adds ``dialogue``. The topic follows
    from the number; which things of it may come up, and the seed of the sampling, follow from the
    item and the attempt.
    """

    name = "write"

    def __init__(
        self,
        *,
        model: ChatModel,
        temperature: float = 0.9,
        max_tokens: int = 1500,
        prompt: str = prompts.VERSION,
    ) -> None:
        super().__init__(model=model, temperature=temperature, max_tokens=max_tokens, prompt=prompt)

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Add the dialogue, or reject the answer.

        Raises
        ------
        DataError
            FB862 for a seed without language, label or number; FB863 when no answer came.
        """
        language, label, number = order_of(item)
        names = grammar.topics(language)
        topic = names[number % len(names)]
        rng = bench.rng
        seed = int(rng.integers(2**31))
        system = prompts.writing_prompt(
            language=language, label=label, topic=topic, version=self._prompt, rng=rng
        )
        found = self.ask(
            prompts.start_of(language, self._prompt),
            system=system,
            item=item,
            bench=bench,
            seed=seed,
            purpose="write",
            schema=prompts.writing_schema(label),
        )
        if isinstance(found, Rejected):
            return found
        written = draft(found, id=item.id, language=language, label=label, topic=topic)
        if isinstance(written, Rejected):
            return written
        return problem_of(written) or made(with_dialogue(item, written))


class LlmJudge(_Asked):
    """Check a written dialogue with a second model.

    It is asked twice: which of the state's seven scenarios it sees, without being told; then, told
    what was meant, whether the text is that and can be said. A text shows no voices, so both times
    it is told who is heard.

    Parameters
    ----------
    model : ChatModel
    writer : ChatModel or None
        The model that wrote, which may not judge itself; ``None`` for the embedded writer.
    temperature : float
        In [0, 2].
    max_tokens : int
        Tokens of an answer at most.
    prompt : str
        Version of the prompts.

    Raises
    ------
    UsageError
        FB864 when writer and judge are the same model of the same service.
    """

    name = "judge"

    def __init__(
        self,
        *,
        model: ChatModel,
        writer: ChatModel | None = None,
        temperature: float = 0.0,
        max_tokens: int = 300,
        prompt: str = prompts.VERSION,
    ) -> None:
        super().__init__(model=model, temperature=temperature, max_tokens=max_tokens, prompt=prompt)
        if writer is not None and named(writer) == self._named:
            raise UsageError(
                "FB864",
                f"{model.info.name} would judge its own dialogues",
                hint="name another model as judge",
            )

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Pass the item on unchanged, or reject it.

        Raises
        ------
        DataError
            FB862 for an item without a dialogue, FB863 when no answer came.
        """
        dialogue = dialogue_of(item)
        seed = int(bench.rng.integers(2**31))
        text = prompts.shown(dialogue, self._prompt)
        system, answers = prompts.label_prompt(
            language=dialogue.language, state=dialogue.state, version=self._prompt
        )
        found = self.ask(
            text, system=system, item=item, bench=bench, seed=seed, purpose="label",
            answers=answers,
        )  # fmt: skip
        seen = found.get("answer") if isinstance(found, dict) else None
        if seen not in answers:
            return self._out(bench, "judge-unreadable", _why(found, "no answer of the list"))
        meant = f"{dialogue.action}_{dialogue.scenario}"
        if seen != meant:
            return self._out(bench, "judge-label", f"{seen}, meant as {meant}", seen=seen)
        found = self.ask(
            text,
            system=prompts.text_prompt(
                language=dialogue.language, label=dialogue.target.label, version=self._prompt
            ),
            item=item,
            bench=bench,
            seed=seed,
            purpose="text",
            schema=prompts.text_schema(),
        )
        try:
            verdict = msgspec.convert(found, _Verdict)
        except msgspec.ValidationError as error:
            return self._out(bench, "judge-unreadable", _why(found, str(error)), seen=seen)
        if not verdict.ok:
            return self._out(bench, "judge-text", verdict.why[:200], seen=seen)
        bench.note("judge", by=self._named, seen=seen, reason=None)
        return made(item)

    def _out(self, bench: Bench, reason: str, detail: str, *, seen: str | None = None) -> Rejected:
        bench.note("judge", by=self._named, seen=seen, reason=reason)
        return Rejected(reason=reason, detail=detail)


def named(model: ChatModel) -> str:
    """Return what a model is known by: its name, at the service that it is asked at."""
    where = model.info.parameters.get("base_url")
    return f"{model.info.name} at {where}" if where else model.info.name


def _why(found: object, otherwise: str) -> str:
    return f"{found.reason}: {found.detail}" if isinstance(found, Rejected) else otherwise


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
