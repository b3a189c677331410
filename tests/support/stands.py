"""Whatever a catalogued system talks to, in a form that stands on this machine."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from fake_server import Call, FakeServer, Reply, chat
from support import hf_tiny, onnx_tiny

ROOT = Path(__file__).parents[2]
STUB = f"{sys.executable} {ROOT / 'workers'}"
# Parameters with which every system can be built; nothing is reached yet.
NEEDED = {
    **{f"{way}-openai": {"model": "openai"} for way in ("boundary", "yesno", "generate", "prompted")},
    **{f"{way}-ollama": {"model": "ollama"} for way in ("boundary", "yesno", "generate")},
    **{f"{way}-hf": {"model": "hf"} for way in ("boundary", "yesno", "generate")},
    "prompted-gemini": {"model": "gemini"},
    "endpoint": {"url": "http://127.0.0.1:9"},
}  # fmt: skip
# A program must join it; tests/systems/test_stream_socket.py has one.
JOINED = {"external-stream"}
PROGRAMS = {
    "easy-turn": "easy-turn/predict.py --stub",
    "minicpm-o-4.5": "minicpm-o-4.5/predict.py --stub",
    "minicpm-o-4.5-duplex": "minicpm-o-4.5/predict.py --stub --duplex",
    "soulx-duplug": "soulx-duplug/predict.py --stub",
    "lychee-fd": "lychee-fd/predict.py --stub",
    "dualturn": "dualturn/predict.py --stub",
    "vap-stereo": "vap/predict.py --stub",
}
HF = {"ten-turn", "ke-semanticvad", "boundary-hf", "yesno-hf", "generate-hf"}
HAS_HF = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
SAID = '{"decision": 1, "confidence": 0.5} END'
TOKENS = {".": -1.0, " and": -2.0, "yes": -0.5, "no": -1.5}
HELLO = {
    "type": "hello", "protocol": "floorbench-worker-1", "name": "endpoint", "version": "1",
    "rate": 16000, "labels": ["complete"], "licence": "Apache-2.0",
}  # fmt: skip


def anything(call: Call) -> Reply:
    """Answer as each of the services would."""
    if call.path.endswith("/chat/completions"):
        return Reply(chat(SAID, TOKENS))
    if call.path.endswith("/completions"):
        tops = {"top_logprobs": [TOKENS], "tokens": ["."], "token_logprobs": [-1.0]}
        return Reply({"choices": [{"text": ".", "logprobs": tops, "finish_reason": "length"}]})
    if "generateContent" in call.path:
        return Reply(gemini(SAID))
    if call.path == "/api/version":
        return Reply({"version": "0.9"})
    if call.path == "/api/show":
        return Reply({"license": "MIT", "details": {}, "template": "{{ .Prompt }}"})
    if call.path == "/api/tags":
        return Reply({"models": [{"name": "ollama", "digest": "a" * 64}, *_TAGS]})
    if call.path in ("/api/chat", "/api/generate"):
        listed = [{"token": t, "logprob": p} for t, p in TOKENS.items()]
        body = {"logprobs": [{"top_logprobs": listed}], "done_reason": "stop"}
        return Reply({**body, "message": {"content": SAID}, "response": "."})
    if call.path == "/hello":
        return Reply(HELLO)
    answer = {"label": "complete"}
    items = call.body["items"]
    return Reply({"type": "answers", "id": call.body["id"], "answers": [answer] * len(items)})


_TAGS = [
    {"name": tag, "digest": "b" * 64}
    for tag in ("phi3:3.8b", "phi3:14b", "gemma2:9b", "gemma2:27b", "llama3.1:8b", "mistral:7b")
]


def gemini(text: str, finish: str = "STOP", **usage: int) -> dict[str, Any]:
    """Return an answer as the Gemini API writes it."""
    return {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": text}]}, "finishReason": finish}
        ],
        "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 3, **usage},
    }


def program(folder: Path, answer: str = "{'label': 'complete'}", hello: str = "{}") -> str:
    """Write a worker and return its command."""
    file = folder / "worker_program.py"
    told = {**HELLO, "name": "command", "states": None}
    file.write_text(
        "import floorbench_worker as worker\n"
        f"hello = {{**{told!r}, **{hello}}}\n"
        f"worker.serve(hello, lambda: None, lambda m, items: [{answer} for item in items])\n"
    )
    return f"{sys.executable} {file}"


STREAM = """
import floorbench_worker as worker
hello = {"name": "command-stream", "version": "1", "rate": 16000, "step": 0.1, "labels": ["yield"],
         "licence": "Apache-2.0"}
class Stream:
    def __init__(self, model, setup): self.done = False
    def push(self, chunk):
        loud = max(map(abs, worker.samples(chunk["audio"]["user"]))) > 0.02
        if not loud or self.done: return []
        self.done = True
        return [{"label": "yield", "time": chunk["end"]}]
    def close(self): return []
worker.serve_stream(hello, lambda: None, Stream)
"""


def stream_program(folder: Path) -> str:
    """Write a streaming worker and return its command."""
    file = folder / "stream_program.py"
    file.write_text(STREAM)
    return f"{sys.executable} {file}"


def parameters(name: str, entry_target: str, server: FakeServer, folder: Path) -> dict[str, Any]:
    """Return parameters with which a catalogued system runs here."""
    given: dict[str, Any] = dict(NEEDED.get(name, {}))
    if name in PROGRAMS:
        return {"command": f"{STUB}/{PROGRAMS[name]}"}
    if name == "command":
        return {"command": program(folder)}
    if name == "command-stream":
        return {"command": stream_program(folder)}
    if name == "endpoint":
        return {"url": server.url}
    if name == "firered-turn":
        return {"model": str(onnx_tiny.firered(folder))}
    if name == "namo-turn":
        return {"model": str(onnx_tiny.namo(folder, types=True))}
    if name in HF:
        made = hf_tiny.model(folder, "qwen2")
        if name == "ke-semanticvad":
            for file in ("agent_speaking.txt", "human_speaking.txt"):
                (made / file).write_text("judge")
        return {**given, "model": str(made)}
    if "generate_phi3" in entry_target or "ollama" in name or _by_ollama(entry_target):
        return {**given, "host": server.url}
    if "gemini" in name:
        return {**given, "base_url": server.url}
    if "openai" in name or name in ("gpt-4o-audio", "qwen3-omni", "generate-gpt-4o"):
        return {**given, "base_url": f"{server.url}/v1"}
    return given


def _by_ollama(target: str) -> bool:
    return target.rpartition(":")[2].startswith(
        ("generate_gemma2", "generate_llama31", "generate_mistral")
    )


def sent(call: Call) -> str:
    """Return everything that a call carried, as text."""
    return json.dumps([call.path, call.headers, call.body])
