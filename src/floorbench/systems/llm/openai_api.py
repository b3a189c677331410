"""Any server that speaks the OpenAI API, through the official client."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from floorbench.core.prediction import Served
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome
from floorbench.errors import missing_extra
from floorbench.systems.llm.http import parse, too_late
from floorbench.systems.llm.protocol import (
    END_OF_TEXT,
    Capabilities,
    Completion,
    ModelFault,
    Prompt,
    Token,
    Usage,
    counted,
    logprob_of,
)
from floorbench.systems.llm.recorded import Replies, Reply
from floorbench.systems.llm.retrying import Policy, Refused, calling, of_status
from floorbench.systems.llm.service import Service
from floorbench.systems.llm.snapshots import name_in, stamped

OPENAI = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
TOP = 20
"""Most candidates for a token that the API gives."""


class OpenAIModel(Service):
    """A model behind ``/chat/completions`` and, where the server has it, ``/completions``.

    Parameters
    ----------
    model : str
        The server's name of the model; name a dated snapshot where there is one.
    base_url : str
        Address of the API, ending in ``/v1``.
    key_env : str
        Name of the environment variable that holds the key. The key itself is no parameter, and
        is kept out of specs, messages and predictions. A server at another address than OpenAI's
        may do without.
    raw : bool
        Whether the server continues plain text (``/completions``).
    top : int
        Candidates that the server gives for a token, at most; 0 when it gives none.
    replies : Replies or None
        Recorded replies.
    policy : Policy
        Time-out and repeats.

    Notes
    -----
    A server that says ``x-ratelimit-remaining-requests: 0`` is left alone for the time that it
    names in ``x-ratelimit-reset-requests``.
    """

    def __init__(
        self,
        *,
        model: str,
        base_url: str = OPENAI,
        key_env: str = KEY,
        raw: bool = False,
        top: int = TOP,
        replies: Replies | None = None,
        policy: Policy | None = None,
    ) -> None:
        super().__init__(
            model=model, base_url=base_url, home=OPENAI, key_env=key_env, policy=policy
        )
        self.can = Capabilities(raw=raw, top=top)
        self._replies = replies or Replies()
        self._free_at = 0.0
        self._lock = threading.Lock()

    def load(self) -> None:
        """Make the client; nothing is sent, and a replay needs neither client nor key.

        Raises
        ------
        EnvironmentProblem
            ``FB401`` without the client library, ``FB421`` without a key where one is needed.
        """
        if self._client is not None or self._replies.replay:
            return
        try:
            import openai
        except ImportError:
            raise missing_extra("openai", "openai") from None
        client = openai.OpenAI(
            api_key=self.key(),
            base_url=self._url,
            timeout=self._policy.timeout,
            max_retries=0,  # repeats are ours: see calling()
        )
        self._client = self.opened(client)

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
        """Continue a prompt (see :class:`floorbench.systems.llm.protocol.TextModel`)."""
        top = min(top, self.can.top)
        settings: dict[str, JsonValue] = {
            "model": self.info.name,
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": seed,
        }
        if stop:
            settings["stop"] = list(stop)
        if prompt.chat:
            settings["messages"] = prompt.messages
            if top:
                settings |= {"logprobs": True, "top_logprobs": top}
        else:
            settings["prompt"] = prompt.text
            if top:
                settings["logprobs"] = top
        request = {"url": self._url, **settings}
        reply = self._replies.through(request, lambda: self._completed(settings))
        return self.read(reply, chat=prompt.chat, wanted=top > 0)

    def read(self, reply: Reply, *, chat: bool, wanted: bool) -> Completion:
        """Read a reply (see :func:`read_answer`) with who gave it."""
        served = served_by(reply, secret=self._secret)
        return stamped(lambda: read_answer(reply.answer, chat=chat, wanted=wanted), served)

    def _completed(self, settings: Mapping[str, JsonValue]) -> Any:
        self.load()
        route = (
            self._client.chat.completions if "messages" in settings else self._client.completions
        )
        return self.patiently(self.raw(route.with_raw_response.create), settings)

    def patiently(self, create: Callable[..., Any], settings: Mapping[str, JsonValue]) -> Any:
        """Make a call, and again where that can help, when the server takes one."""

        def once() -> Any:
            with self._lock:
                wait = self._free_at - time.monotonic()
            if wait > 0:
                self._policy.sleep(min(wait, self._policy.longest))
            return self._call(create, settings)

        return calling(once, self._policy)

    def raw(self, create: Callable[..., Any]) -> Callable[..., Any]:
        """Return a call whose rate-limit headers are obeyed before the next one."""

        def call(**settings: Any) -> Any:
            raw = create(**settings)
            pause = pause_of(raw.http_response.headers)
            if pause:
                with self._lock:
                    self._free_at = time.monotonic() + pause
            return raw

        return call

    def _call(self, create: Callable[..., Any], settings: Mapping[str, JsonValue]) -> Any:
        import openai

        try:
            said = create(**settings)
        except openai.APITimeoutError:
            raise too_late(self._policy.timeout) from None
        except openai.APIStatusError as error:
            raise self.clean(
                of_status(error.status_code, _message(error), retry_after(error.response.headers))
            ) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise self.clean(Refused(f"no connection: {cause}", again=True)) from None
        except openai.OpenAIError as error:
            raise self.clean(Refused(f"{type(error).__name__}: {error}", again=False)) from None
        return said if isinstance(said, dict) else parse(said.http_response.content)


def retry_after(headers: Mapping[str, str]) -> str | None:
    """Return how long a server asks to wait: in milliseconds where it says so, else in seconds."""
    exact = headers.get("retry-after-ms")
    try:
        return str(float(exact) / 1000) if exact is not None else headers.get("Retry-After")
    except ValueError:
        return headers.get("Retry-After")


_SPAN = re.compile(r"(?<!\d)(\d++(?:\.\d++)?)(ms|[hms])")
_LENGTHS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}


def pause_of(headers: Mapping[str, str]) -> float:
    """Return the seconds until a server takes the next request; 0 when it takes one now.

    Examples
    --------
    >>> pause_of({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m2.5s"})
    62.5
    >>> pause_of({"x-ratelimit-remaining-requests": "3", "x-ratelimit-reset-requests": "9s"})
    0.0
    """
    if headers.get("x-ratelimit-remaining-requests") != "0":
        return 0.0
    reset = headers.get("x-ratelimit-reset-requests") or ""
    found = _SPAN.findall(reset)
    return float(sum(float(number) * _LENGTHS[unit] for number, unit in found))


def served_by(reply: Reply, *, secret: str = "") -> Served:
    """Return the model and the fingerprint that an answer names."""
    return Served(
        snapshot=name_in(reply.answer, "model", secret=secret),
        build=name_in(reply.answer, "system_fingerprint", secret=secret),
        at=reply.at,
    )


def read_answer(answer: Any, *, chat: bool, wanted: bool) -> Completion:
    """Turn the JSON of an answer into a completion.

    Raises
    ------
    ModelFault
        ``invalid`` without a choice, of another shape or with a call of a tool only,
        ``abstained`` for a refusal.
    """
    try:
        usage = _usage(answer.get("usage"))
        if not answer["choices"]:
            raise ModelFault(Outcome.INVALID, "the answer holds no choice", usage)
        choice = answer["choices"][0]
        message = choice["message"] if chat else {"content": choice["text"]}
        if message.get("refusal") or choice.get("finish_reason") == "content_filter":
            raise ModelFault(Outcome.ABSTAINED, "the model refused to answer", usage)
        if message.get("tool_calls") and not message.get("content"):
            raise ModelFault(Outcome.INVALID, "the model called a tool instead of answering", usage)
        text = message["content"] or ""
        if not isinstance(text, str):
            raise TypeError
        return Completion(
            text=text,
            first=_candidates(choice.get("logprobs")) if wanted else None,
            finished=choice.get("finish_reason") != "length",
            usage=usage,
        )
    except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError):
        raise ModelFault(Outcome.INVALID, "the answer has another shape than the API's") from None


def _message(error: Any) -> str:
    body = error.body if isinstance(error.body, Mapping) else {}
    text = body.get("message") or error.response.text
    return " ".join(str(text).split())[:160]


def _usage(usage: Any) -> Usage:
    if not usage:
        return Usage()
    prompt = int(usage.get("prompt_tokens") or 0)
    cached = int((usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0)
    written = int(usage.get("completion_tokens") or 0)
    return counted(prompt=prompt, cached=cached, written=written)


def _candidates(logprobs: Any) -> tuple[Token, ...] | None:
    """Read the first token's candidates in either of the API's two forms; null stays no score."""
    if not logprobs:
        return None
    if logprobs.get("content"):
        listed = logprobs["content"][0].get("top_logprobs") or []
        pairs = [(c["token"], c["logprob"]) for c in listed]
    else:
        tops = logprobs.get("top_logprobs")
        pairs = list(tops[0].items()) if tops and tops[0] else []
    tokens = [Token(_end(text), logprob_of(p)) for text, p in pairs if p is not None]
    return tuple(sorted(tokens, key=lambda t: -t.logprob)) or None


def _end(text: str) -> str:
    """Recognise a model's end tokens, which servers print as nothing or as ``<|...|>``."""
    known = text == "" or (text.startswith("<|") and text.endswith("|>")) or text == "</s>"
    return END_OF_TEXT if known else text
