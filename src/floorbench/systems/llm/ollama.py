"""Models served by Ollama, through its own HTTP interface."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from floorbench.core.prediction import Served, is_name
from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Level, Outcome
from floorbench.errors import SystemProblem, UsageError
from floorbench.systems.llm.http import ask_json, check_url
from floorbench.systems.llm.protocol import (
    END_OF_TEXT,
    Capabilities,
    Completion,
    ModelFault,
    ModelInfo,
    Prompt,
    Token,
    counted,
    logprob_of,
)
from floorbench.systems.llm.retrying import Policy, calling
from floorbench.systems.llm.snapshots import name_in, now, stamped

HOST = "http://127.0.0.1:11434"
UNKNOWN = "unknown"


class OllamaModel:
    """A model by its Ollama tag.

    Parameters
    ----------
    tag : str
        For example ``mistral:7b``. Digest, quantisation and chat template of what the server
        has under that tag are looked up and recorded.
    host : str
        Address of the server.
    context : int
        Tokens of prompt and answer (``num_ctx``).
    policy : Policy
        Time-out and repeats.
    """

    can = Capabilities(top=20, cache=True)

    def __init__(
        self, *, tag: str, host: str = HOST, context: int = 4096, policy: Policy | None = None
    ) -> None:
        if not tag or context < 1:
            raise UsageError("FB513", f"tag={tag!r}, context={context}: no tag or no context")
        self._tag = tag
        self._host = check_url("host", host)
        self._context = context
        self._policy = policy or Policy()
        self._loaded = False
        self.info = ModelInfo(
            name=tag,
            level=Level.REAL_CODE_PATH,
            parameters={"model": tag, "context": context, "timeout": self._policy.timeout},
        )

    def load(self) -> None:
        """Look up what the server has under the tag.

        Raises
        ------
        SystemProblem
            ``FB551`` when the server does not answer or does not have the model.
        """
        if self._loaded:
            return
        try:
            version = self._get("/api/version")["version"]
            shown = self._get("/api/show", {"model": self._tag})
            listed = self._get("/api/tags")["models"]
            names = (self._tag, f"{self._tag}:latest")
            digests = [m["digest"] for m in listed if m.get("name") in names]
            details = shown.get("details") or {}
        except ModelFault as fault:
            raise SystemProblem(
                "FB551",
                f"Ollama at {self._host} has no '{self._tag}': {fault.reason}",
                hint=f"start it with `ollama serve` and fetch it with `ollama pull {self._tag}`",
            ) from None
        except (KeyError, TypeError, AttributeError):
            raise SystemProblem(
                "FB551", f"what answers at {self._host} does not speak like Ollama"
            ) from None
        self.info = replace(
            self.info,
            licence=str(shown.get("license") or "unknown").strip().split("\n")[0][:80],
            weights={self._tag: digests[0] if digests else UNKNOWN},
            parameters={
                **self.info.parameters,
                "quantisation": details.get("quantization_level"),
                "size": details.get("parameter_size"),
                "template": shown.get("template"),
                "ollama": version,
            },
        )
        self._loaded = True

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
        self.load()
        body: dict[str, JsonValue] = {
            "model": self._tag,
            "stream": False,
            "options": {
                "num_predict": max_tokens,
                "temperature": temperature,
                "seed": seed,
                "num_ctx": self._context,
                "stop": list(stop),
            },
        }
        if top:
            body |= {"logprobs": True, "top_logprobs": min(top, self.can.top)}
        if prompt.chat:
            answer = self._get("/api/chat", {**body, "messages": prompt.messages})
        else:
            answer = self._get("/api/generate", {**body, "prompt": prompt.text, "raw": True})
        served = _served(answer, self.info.weights.get(self._tag))
        return stamped(lambda: _completion(answer, chat=prompt.chat, wanted=top > 0), served)

    def _get(self, path: str, body: JsonValue = None) -> Any:
        return calling(
            lambda: ask_json(self._host + path, body, timeout=self._policy.timeout), self._policy
        )


def _served(answer: Any, digest: str | None) -> Served:
    """Return the tag that an answer names, with the digest that stood behind it when it was loaded.

    A tag alone names no snapshot: it is moved to other weights.
    """
    tag = name_in(answer, "model")
    known = tag and isinstance(digest, str) and digest != UNKNOWN
    exact = f"{tag}@{str(digest)[:12]}" if known else None
    return Served(snapshot=exact if is_name(exact) else tag, at=now())


def _completion(answer: Any, *, chat: bool, wanted: bool) -> Completion:
    try:
        text = answer["message"]["content"] if chat else answer["response"]
        if not isinstance(text, str):
            raise TypeError
        prompt = int(answer.get("prompt_eval_count") or 0)
        return Completion(
            text=text,
            first=_candidates(answer.get("logprobs")) if wanted else None,
            finished=answer.get("done_reason") != "length",
            usage=counted(prompt=prompt, cached=0, written=int(answer.get("eval_count") or 0)),
        )
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
        raise ModelFault(Outcome.INVALID, "the answer has another shape than Ollama's") from None


def _candidates(logprobs: Any) -> tuple[Token, ...] | None:
    """Read the candidates; servers older than this part of the interface leave them out."""
    if not logprobs or not logprobs[0].get("top_logprobs"):
        return None
    listed = logprobs[0]["top_logprobs"]
    return tuple(Token(c["token"] or END_OF_TEXT, logprob_of(c["logprob"])) for c in listed)
