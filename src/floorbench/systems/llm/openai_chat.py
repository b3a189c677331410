"""Chat with sound over the OpenAI API: the service itself, and the servers that speak it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from floorbench.core.sample import JsonValue
from floorbench.systems.common import choice
from floorbench.systems.llm.chat import ChatTurn, Sound, form_of
from floorbench.systems.llm.openai_api import KEY, OPENAI, OpenAIModel
from floorbench.systems.llm.protocol import Completion
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy, Refused

AUDIO_PARTS = ("input_audio", "audio_url")


class OpenAIChat(OpenAIModel):
    """A chat model behind ``/chat/completions`` that may take sound.

    Parameters
    ----------
    model, base_url, key_env, policy
        As in :class:`floorbench.systems.llm.openai_api.OpenAIModel`.
    hears : bool
        Whether it takes sound.
    audio_part : str
        ``input_audio`` (base64 and format, the service's own form) or ``audio_url`` (a data URL,
        the form of vLLM's servers).
    stream : bool
        Receive the answer in pieces.
    replies : Replies or None
        Recorded replies.
    extra : mapping or None
        Further fields of the request's body, for servers that have their own.

    """

    deterministic = False

    def __init__(
        self,
        *,
        model: str,
        base_url: str = OPENAI,
        key_env: str = KEY,
        hears: bool = False,
        audio_part: str = "input_audio",
        stream: bool = False,
        replies: Replies | None = None,
        extra: Mapping[str, JsonValue] | None = None,
        policy: Policy | None = None,
    ) -> None:
        super().__init__(
            model=model, base_url=base_url, key_env=key_env, replies=replies, policy=policy
        )
        self.hears = hears
        self._audio_part = choice("audio_part", audio_part, AUDIO_PARTS)
        self._stream = stream
        self._extra = dict(extra or {})
        if hears:
            parameters = {**self.info.parameters, "audio_part": self._audio_part}
            self.info = replace(self.info, parameters=parameters)

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
        body: dict[str, JsonValue] = {
            "model": self.info.name,
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
            "messages": [
                {"role": "system", "content": system},
                *({"role": t.role, "content": self._content(t)} for t in turns),
            ],
        }
        if self.hears:
            body["modalities"] = ["text"]
        wanted = form_of(answers, schema)
        if wanted is not None:
            form: JsonValue = {"name": "answer", "strict": True, "schema": wanted}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if self._extra:
            body["extra_body"] = self._extra
        request = {"url": self._url, "repeat": repeat, **body}
        reply = self._replies.through(request, lambda: self._fresh(body))
        return self.read(reply, chat=True, wanted=False)

    def _content(self, turn: ChatTurn) -> JsonValue:
        if len(turn.parts) == 1 and isinstance(turn.parts[0], str):
            return turn.parts[0]
        return [self._part(part) for part in turn.parts]

    def _part(self, part: str | Sound) -> JsonValue:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        data = base64.b64encode(part.wav).decode("ascii")
        if self._audio_part == "audio_url":
            return {"type": "audio_url", "audio_url": {"url": f"data:audio/wav;base64,{data}"}}
        return {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}}

    def _fresh(self, body: Mapping[str, JsonValue]) -> Any:
        self.load()
        completions = self._client.chat.completions
        create: Callable[..., Any] = self.raw(completions.with_raw_response.create)
        settings = dict(body)
        if self._stream:
            create = self._pieces(completions.create)
            settings |= {"stream": True, "stream_options": {"include_usage": True}}
        return self.patiently(create, settings)

    def _pieces(self, create: Callable[..., Any]) -> Callable[..., Any]:
        """Put an answer that comes in pieces together, in the form of one that does not."""

        def call(**settings: Any) -> Any:
            text, refusal, finish, usage = "", "", None, None
            tools: list[Any] = []
            by: dict[str, Any] = {}
            for piece in _whole(create(**settings)):
                for name in ("model", "system_fingerprint"):
                    by[name] = getattr(piece, name, None) or by.get(name)
                if piece.usage is not None:
                    usage = piece.usage.model_dump()
                for said in piece.choices[:1]:
                    text += said.delta.content or ""
                    refusal += said.delta.refusal or ""
                    tools += said.delta.tool_calls or []
                    finish = said.finish_reason or finish
            if finish is None:
                raise Refused("the answer broke off", again=True)
            message = {"content": text, "refusal": refusal or None, "tool_calls": bool(tools)}
            choices = [{"message": message, "finish_reason": finish}]
            return {**by, "choices": choices, "usage": usage}

        return call


def _whole(pieces: Iterable[Any]) -> Iterator[Any]:
    """Pass the pieces on; what breaks between them, in whatever library, may be tried again."""
    import openai

    try:
        yield from pieces
    except openai.OpenAIError:
        raise
    except Exception as error:
        raise Refused(f"the answer broke off ({type(error).__name__})", again=True) from None
