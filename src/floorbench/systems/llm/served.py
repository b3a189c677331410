"""The embedded model, asked as a client asks any OpenAI-compatible server: over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from floorbench.core.sample import JsonValue
from floorbench.systems.llm.chat import ChatTurn
from floorbench.systems.llm.embedded import EmbeddedModel
from floorbench.systems.llm.openai_chat import OpenAIChat
from floorbench.systems.llm.protocol import Completion
from floorbench.systems.llm.retrying import Policy
from floorbench.systems.llm.snapshots import stamped


class ServedModel:
    """A GGUF model served on a free port of the loopback by this process.

    Parameters
    ----------
    model : EmbeddedModel
        It is loaded as usual; its server also speaks the OpenAI API.

    Notes
    -----
    Nothing is kept between two questions, so that an answer does not depend on the one before.
    """

    deterministic = True
    hears = False

    def __init__(self, *, model: EmbeddedModel) -> None:
        self._model = model
        self._chat: OpenAIChat | None = None
        self.info = replace(model.info, parameters={**model.info.parameters, "route": "http"})

    def load(self) -> None:
        """Start the server; idempotent."""
        self._loaded()

    def _loaded(self) -> OpenAIChat:
        if self._chat is not None:
            return self._chat
        self._model.load()
        self.info = replace(
            self._model.info, parameters={**self._model.info.parameters, "route": "http"}
        )
        chat = OpenAIChat(
            model=self.info.name,
            base_url=f"{self._model.address}/v1",
            key_env="",
            extra={"cache_prompt": False},
            policy=Policy(attempts=1, timeout=600.0),
        )
        chat.load()
        self._chat = chat
        return chat

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
        """Answer the last turn (see :class:`floorbench.systems.llm.chat.ChatModel`)."""
        ask = partial(
            self._loaded().ask,
            turns,
            system=system,
            max_tokens=max_tokens,
            temperature=temperature,
            seed=seed,
            answers=answers,
            schema=schema,
            repeat=repeat,
        )
        return stamped(ask, None)  # the hash of its file says more than the server
