"""Google's Gemini API through its own client.

Sound goes inline. The service mixes the channels of a file to one, so each channel is sent as a
file of its own. A request may hold 20 MB, as it is sent: sound takes a third more in base64.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any

from floorbench.core.prediction import Served
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome
from floorbench.errors import missing_extra
from floorbench.systems.llm.chat import ChatTurn, form_of
from floorbench.systems.llm.http import too_late
from floorbench.systems.llm.protocol import Completion, ModelFault, Usage, counted
from floorbench.systems.llm.recorded import Replies, Reply
from floorbench.systems.llm.retrying import Policy, Refused, calling, of_status
from floorbench.systems.llm.service import Service
from floorbench.systems.llm.snapshots import name_in, stamped

GOOGLE = "https://generativelanguage.googleapis.com"
KEY = "GEMINI_API_KEY"
LIMIT = 20_000_000
"""Bytes of a request; sound in base64 has to fit."""
_REFUSALS = {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"}


class GeminiChat(Service):
    """A Gemini model.

    Parameters
    ----------
    model : str
        The service's name of the model.
    base_url : str
        Address of the service.
    key_env : str
        Name of the environment variable that holds the key; the key itself is no parameter.
    hears : bool
        Whether sound is sent.
    stream : bool
        Receive the answer in pieces.
    replies : Replies or None
        Recorded replies.
    policy : Policy
        Time-out and repeats.
    """

    deterministic = False

    def __init__(
        self,
        *,
        model: str,
        base_url: str = GOOGLE,
        key_env: str = KEY,
        hears: bool = False,
        stream: bool = False,
        replies: Replies | None = None,
        policy: Policy | None = None,
    ) -> None:
        super().__init__(
            model=model, base_url=base_url, home=GOOGLE, key_env=key_env, policy=policy
        )
        self.hears = hears
        self._stream = stream
        self._replies = replies or Replies()

    def load(self) -> None:
        """Make the client; nothing is sent, and a replay needs neither client nor key.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without the client library, ``FB421`` without a key.
        """
        if self._client is not None or self._replies.replay:
            return
        try:
            from google import genai
            from google.genai import types
        except ImportError:
            raise missing_extra("google-genai", "gemini") from None
        client = genai.Client(
            api_key=self.key(),
            http_options=types.HttpOptions(
                base_url=self._url, timeout=round(1000 * self._policy.timeout)
            ),
        )
        self._client = self.opened(client)

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
        size = sum(
            4 * math.ceil(len(p.wav) / 3) for t in turns for p in t.parts if not isinstance(p, str)
        )
        if size > LIMIT:
            raise ModelFault(
                Outcome.FAILED,
                f"{size / 1e6:.1f} MB of sound, in base64, are over the request's 20 MB",
            )
        config: dict[str, JsonValue] = {
            "system_instruction": system,
            "max_output_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        wanted = form_of(answers, schema)
        if wanted is not None:
            config |= {
                "response_mime_type": "application/json",
                "response_json_schema": wanted,
            }
        shown = [[t.role, *(_shown(part) for part in t.parts)] for t in turns]
        request = {
            "url": self._url, "model": self.info.name, "repeat": repeat,
            "turns": shown, "config": config,
        }  # fmt: skip
        reply = self._replies.through(request, lambda: self._fresh(turns, config))
        served = _served(reply, secret=self._secret)
        return stamped(lambda: _completion(reply.answer), served)

    def _fresh(self, turns: Sequence[ChatTurn], config: dict[str, JsonValue]) -> Any:
        self.load()
        from google.genai import types

        contents = [
            types.Content(
                role="user" if turn.role == "user" else "model",
                parts=[
                    types.Part.from_text(text=part)
                    if isinstance(part, str)
                    else types.Part.from_bytes(data=part.wav, mime_type="audio/wav")
                    for part in turn.parts
                ],
            )
            for turn in turns
        ]
        settings = {
            "model": self.info.name,
            "contents": contents,
            "config": types.GenerateContentConfig(**config),
        }
        return calling(lambda: self._call(settings), self._policy)

    def _call(self, settings: dict[str, Any]) -> Any:
        from google.genai import errors

        try:
            if self._stream:
                pieces = list(self._client.models.generate_content_stream(**settings))
            else:
                pieces = [self._client.models.generate_content(**settings)]
            answer = _put_together([piece.model_dump(mode="json") for piece in pieces])
            if not (self._stream and answer["finish"] is None and answer["text"]):
                return answer
            refused = Refused("the answer broke off", again=True)
        except errors.APIError as error:
            headers = getattr(error.response, "headers", None) or {}
            wait = headers.get("Retry-After") or _retry_delay(error.details)
            refused = of_status(error.code, str(error.message or ""), wait)
        except errors.UnknownApiResponseError:
            refused = Refused("the answer is not JSON", again=True)
        except Exception as error:  # the client lets errors of its transport through
            if "timeout" in type(error).__name__.casefold():
                raise too_late(self._policy.timeout) from None
            refused = Refused(f"no connection: {type(error).__name__}: {error}", again=True)
        raise self.clean(refused)


def _retry_delay(details: Any) -> str | None:
    """Return the seconds that an error asks to wait, which the service writes into its body."""
    listed = details.get("error", details) if isinstance(details, dict) else {}
    details = listed.get("details") if isinstance(listed, dict) else None
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict) and isinstance(delay := detail.get("retryDelay"), str):
            return delay.removesuffix("s")
    return None


def _shown(part: Any) -> JsonValue:
    return part if isinstance(part, str) else {"wav": base64.b64encode(part.wav).decode("ascii")}


def _put_together(pieces: Sequence[Any]) -> dict[str, JsonValue]:
    """Return text, end and cost of an answer from its pieces."""
    out: dict[str, JsonValue] = {"text": "", "finish": None, "blocked": None, "tool": False}
    for piece in pieces:
        out["blocked"] = (piece.get("prompt_feedback") or {}).get("block_reason") or out["blocked"]
        for candidate in (piece.get("candidates") or [])[:1]:
            out["finish"] = candidate.get("finish_reason") or out["finish"]
            for part in (candidate.get("content") or {}).get("parts") or []:
                out["tool"] = out["tool"] or bool(part.get("function_call"))
                if part.get("text") and not part.get("thought"):
                    out["text"] += part["text"]
        out["usage"] = piece.get("usage_metadata") or out.get("usage")
        out["model"] = piece.get("model_version") or out.get("model")
    return out


def _served(reply: Reply, *, secret: str) -> Served:
    return Served(snapshot=name_in(reply.answer, "model", secret=secret), at=reply.at)


def _completion(answer: Any) -> Completion:
    try:
        usage = _usage(answer.get("usage") or {})
        if answer["blocked"] or (answer["finish"] in _REFUSALS and not answer["text"]):
            raise ModelFault(Outcome.ABSTAINED, "the model refused to answer", usage)
        if answer["tool"] and not answer["text"]:
            raise ModelFault(Outcome.INVALID, "the model called a tool instead of answering", usage)
        if not isinstance(answer["text"], str):
            raise TypeError
        if answer["finish"] is None:
            raise ModelFault(Outcome.INVALID, "the answer holds no candidate", usage)
        return Completion(
            text=answer["text"], finished=answer["finish"] != "MAX_TOKENS", usage=usage
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise ModelFault(Outcome.INVALID, "the answer has another shape than the API's") from None


def _usage(found: Any) -> Usage:
    prompt = int(found.get("prompt_token_count") or 0)
    cached = int(found.get("cached_content_token_count") or 0)
    written = sum(
        int(found.get(name) or 0) for name in ("candidates_token_count", "thoughts_token_count")
    )
    return counted(prompt=prompt, cached=cached, written=written)
