import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.requests import Request

from floorbench.errors import DataError, UsageError
from floorbench.web.guard import Guard, packaged, read_body, refusal


def test_tokens_are_long_and_random() -> None:
    tokens = {Guard(command="x").token for _ in range(20)}
    assert len(tokens) == 20
    assert min(map(len, tokens)) >= 32
    assert Guard(command="x", token="given").token == "given"


def test_files_of_the_package_have_their_types() -> None:
    found = packaged()
    assert found["listen.html"][1] == "text/html"
    assert found["listen.js"][1] == "text/javascript"
    assert found["page.css"][1] == "text/css"
    assert b"<script" in found["index.html"][0]


def request(*chunks: bytes) -> Request:
    waiting = [
        {"type": "http.request", "body": c, "more_body": i + 1 < len(chunks)}
        for i, c in enumerate(chunks)
    ]

    async def receive() -> Any:
        return waiting.pop(0)

    return Request({"type": "http", "method": "POST", "headers": []}, receive)


def body_of(*chunks: bytes) -> bytes:
    """Read a body in a thread of its own: a browser test may have left a loop in this one."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(read_body(request(*chunks), limit=4))).result()


def test_a_body_has_a_limit() -> None:
    assert body_of(b"ab", b"cd") == b"abcd"
    with pytest.raises(UsageError, match="FB805"):
        body_of(b"ab", b"cde")


def test_refusals_carry_code_and_hint() -> None:
    assert refusal(UsageError("FB805", "no")).status_code == 404
    answer = refusal(DataError("FB843", "nobody", hint="ask"))
    assert answer.status_code == 422
    assert bytes(answer.body) == b'{"code":"FB843","what":"nobody","hint":"ask"}'
