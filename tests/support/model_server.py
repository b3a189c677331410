"""A model server that answers everything the same way, for contracts of systems behind an API."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

from fake_server import Call, FakeServer, Reply, chat

ENDS = {".": math.log(0.6), "yes": math.log(0.3), "no": math.log(0.05)}
HELLO = {
    "type": "hello", "protocol": "floorbench-worker-1", "name": "endpoint", "version": "1",
    "rate": 16000, "labels": ["complete"], "licence": "Apache-2.0",
}  # fmt: skip
ANSWER = '{"decision": 1, "confidence": 0.9, "justification": "done"} END'


def _answer(call: Call) -> Reply:
    if call.path.startswith("/api/"):
        return Reply(_ollama(call))
    if "generateContent" in call.path:
        return Reply(gemini(ANSWER))
    if call.path == "/hello":
        return Reply(HELLO)
    if call.path == "/predict":
        said = [{"label": "complete"}] * len(call.body["items"])
        return Reply({"type": "answers", "id": call.body["id"], "answers": said})
    if call.path.endswith("/chat/completions"):
        asked = bool(call.body.get("logprobs"))
        return Reply(chat("yes" if asked else ANSWER, ENDS if asked else None))
    choice = {
        "index": 0,
        "text": ".",
        "finish_reason": "stop",
        "logprobs": {
            "tokens": ["."],
            "token_logprobs": [ENDS["."]],
            "top_logprobs": [ENDS],
            "text_offset": [0],
        },
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    return Reply(
        {
            "id": "x",
            "object": "text_completion",
            "created": 0,
            "model": "fake",
            "choices": [choice],
            "usage": usage,
        }
    )


def _ollama(call: Call) -> dict[str, Any]:
    if call.path == "/api/version":
        return {"version": "0.12.11"}
    names = ("ollama", "phi3:3.8b", "phi3:14b", "gemma2:9b", "gemma2:27b", "llama3.1:8b")
    if call.path == "/api/tags":
        return {"models": [{"name": n, "digest": "ab" * 32} for n in (*names, "mistral:7b")]}
    if call.path == "/api/show":
        details = {"quantization_level": "Q4_0", "parameter_size": "7B"}
        return {"details": details, "template": "{{ .Prompt }}", "license": "Apache License"}
    tops = [{"token": t, "logprob": p} for t, p in ENDS.items()]
    cost = {"prompt_eval_count": 9, "eval_count": 2, "done_reason": "stop"}
    listed = [{"token": ".", "logprob": ENDS["."], "top_logprobs": tops}]
    if call.path == "/api/generate":
        return {"response": ".", "logprobs": listed, **cost}
    return {"message": {"content": ANSWER}, "logprobs": listed, **cost}


def gemini(text: str, finish: str = "STOP", **usage: int) -> dict[str, Any]:
    """Return an answer as the Gemini API writes it."""
    content = {"role": "model", "parts": [{"text": text}]}
    return {
        "candidates": [{"content": content, "finishReason": finish}],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 3, **usage},
    }


@cache
def server() -> FakeServer:
    """Return the one server of this test process; its threads end with it."""
    return FakeServer(_answer)


def parameters(name: str) -> dict[str, Any]:
    """Return what a system behind an API needs to be asked here; nothing for others."""
    if name.endswith("-openai"):
        return {"model": "openai", "base_url": f"{server().url}/v1", "attempts": 1}
    if name in ("generate-gpt-4o", "gpt-4o-audio", "qwen3-omni"):
        return {"base_url": f"{server().url}/v1", "attempts": 1}
    if name == "prompted-gemini":
        return {"model": "gemini", "base_url": server().url, "attempts": 1}
    if name.startswith("gemini-"):
        return {"base_url": server().url, "attempts": 1}
    if name == "endpoint":
        return {"url": server().url}
    if name.endswith("-ollama"):
        return {"model": "ollama", "host": server().url, "attempts": 1}
    if name.startswith(("generate-phi3", "generate-gemma2", "generate-llama", "generate-mistral")):
        return {"host": server().url, "attempts": 1}
    return {}
