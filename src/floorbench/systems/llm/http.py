"""JSON over HTTP with the standard library, for servers that need no client of their own."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import Any, NoReturn
from urllib.parse import urlsplit

from floorbench.core.sample import JsonValue
from floorbench.core.vocab import Outcome
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.systems.llm.retrying import Refused, of_status

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_DETAIL = 160
LONGEST = 256 << 20
"""Bytes of an answer, at most; a server that never ends one would fill the memory."""


def check_url(name: str, url: str) -> str:
    """Return a base URL without a final slash.

    Raises
    ------
    UsageError
        ``FB513`` for another scheme than HTTP, or for a URL that carries a password or a query:
        it would be written into every run.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("FB513", f"{name}: not an http:// or https:// address")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            "FB513",
            f"{name} must not carry a user, a password or a query",
            hint="keys are read from an environment variable",
        )
    return url.rstrip("/")


def ask_json(url: str, body: JsonValue = None, *, timeout: float) -> Any:
    """POST a JSON body (GET without one) and return the JSON answer.

    Raises
    ------
    Refused
        For every way in which this can go wrong.
    """
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(  # noqa: S310 -- check_url has seen the scheme
        url, data=data, headers={"Content-Type": "application/json"}
    )
    until = time.monotonic() + timeout
    local = urlsplit(url).hostname in LOOPBACK
    handlers = [urllib.request.ProxyHandler({})] if local else []
    try:
        with urllib.request.build_opener(*handlers).open(request, timeout=timeout) as answer:
            return parse(_body(answer, until, timeout))
    except urllib.error.HTTPError as error:
        with error:
            detail = detail_of(_detail(error))
        raise of_status(error.code, detail, error.headers.get("Retry-After")) from None
    except TimeoutError:
        raise too_late(timeout) from None
    except (OSError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", error)
        if isinstance(cause, TimeoutError):
            raise too_late(timeout) from None
        raise Refused(f"no connection: {cause}", again=True) from None


def _body(answer: http.client.HTTPResponse, until: float, timeout: float) -> bytes:
    """Read an answer as it comes; one that trickles in is late as a whole."""
    read = bytearray()
    while part := answer.read1(1 << 16):
        read += part
        if len(read) > LONGEST:
            raise Refused(f"an answer of more than {LONGEST >> 20} MiB", again=False)
        if time.monotonic() > until:
            raise too_late(timeout)
    return bytes(read)


def _detail(error: urllib.error.HTTPError) -> bytes:
    """Read the beginning of what a server says of an error, if it says it at once."""
    try:
        said: bytes = error.read1(1 << 12)
    except (OSError, http.client.HTTPException):
        return b""
    return said


def too_late(timeout: float) -> Refused:
    """Return the failure of a call that took too long."""
    return Refused(f"no answer within {timeout:g} s", again=True, outcome=Outcome.TIMEOUT)


def parse(body: bytes) -> Any:
    """Read a JSON answer; half of one is a failed call that may be tried again."""
    try:
        return json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise Refused(
            f"the answer is not JSON ({counted(len(body), 'byte')})", again=True
        ) from None


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number of JSON")


def detail_of(body: bytes) -> str:
    """Return the server's own words about an error, in one short line."""
    text = body.decode("utf-8", "replace")
    try:
        error = json.loads(text)["error"]
        text = error["message"] if isinstance(error, dict) else error
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    line = " ".join(str(text).split())
    return line if len(line) <= _DETAIL else line[: _DETAIL - 1] + "…"
