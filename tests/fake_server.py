"""A model server on the loopback that misbehaves as told."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.loopback import LoopbackServer


@dataclass
class Reply:
    """One answer: a status with a JSON body, raw bytes, or silence for some seconds."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    claim: int | None = None
    delay: float = 0.0
    pause: float = 0.0  # after every byte of the body


@dataclass
class Call:
    """What a client sent."""

    path: str
    headers: dict[str, str]
    body: Any


class FakeServer:
    """Answers the n-th call with the n-th reply; the last one is repeated."""

    def __init__(self, replies: list[Reply] | Callable[[Call], Reply]) -> None:
        self.calls: list[Call] = []
        self._replies = replies
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                text = self.rfile.read(length)
                sent = {k.lower(): v for k, v in self.headers.items()}
                call = Call(self.path, sent, json.loads(text) if text else None)
                server.calls.append(call)
                reply = server.reply(call)
                time.sleep(reply.delay)
                data = reply.raw if reply.raw is not None else json.dumps(reply.body).encode()
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json")
                    claimed = reply.claim if reply.claim is not None else len(data)
                    self.send_header("Content-Length", str(claimed))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    for start in range(len(data)) if reply.pause else ():
                        self.wfile.write(data[start : start + 1])
                        time.sleep(reply.pause)
                    if not reply.pause:
                        self.wfile.write(data)
                except OSError:
                    pass
                self.close_connection = True

            do_GET = do_POST

            def log_message(self, *args: object) -> None:
                pass

        self._http = LoopbackServer(Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return str(self._http.url)

    def reply(self, call: Call) -> Reply:
        if callable(self._replies):
            return self._replies(call)
        return self._replies[min(len(self.calls), len(self._replies)) - 1]

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def serving(replies: list[Reply] | Callable[[Call], Reply]) -> Iterator[FakeServer]:
    server = FakeServer(replies)
    try:
        yield server
    finally:
        server.close()


def chat(
    text: str, top: dict[str, float] | None = None, finish: str = "stop", **usage: int
) -> dict[str, Any]:
    """Return a chat completion as a server writes it."""
    logprobs = None
    if top is not None:
        listed = [{"token": t, "logprob": p, "bytes": None} for t, p in top.items()]
        logprobs = {"content": [{"token": text, "logprob": -0.1, "top_logprobs": listed}]}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text},
                "logprobs": logprobs,
            }
        ],
        "usage": {
            "prompt_tokens": usage.get("prompt", 10),
            "completion_tokens": usage.get("written", 1),
            "total_tokens": 11,
            "prompt_tokens_details": {"cached_tokens": usage.get("cached", 0)},
        },
    }
