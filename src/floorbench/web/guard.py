"""Who may ask a local page: this machine, with the token, from the page itself.

Every page of floorbench is served to loopback only. The first visit shows a random token in the
address and gets a cookie; every other answer needs it. Files come from the package, never from a
path in a request.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from floorbench import codec
from floorbench.core.words import counted
from floorbench.errors import FloorbenchError, UsageError

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TYPES = {
    ".html": "text/html",
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
}
BODY_LIMIT = 100_000
NOT_FOUND = ("FB301", "FB805")

Handler = Callable[[Request], Any]
Files = Mapping[str, tuple[bytes, str]]


class Guard:
    """Lets in who carries the token.

    Parameters
    ----------
    command : str
        The command that prints the address, for the refusal.
    token : str or None
        Random by default.
    """

    def __init__(self, *, command: str, token: str | None = None) -> None:
        self.token = token if token is not None else secrets.token_urlsafe(24)
        self._command = command

    def app(self, routes: Sequence[BaseRoute]) -> Starlette:
        """Return an application whose every route is guarded."""
        guard = Middleware(BaseHTTPMiddleware, dispatch=self._dispatch)
        return Starlette(routes=list(routes), middleware=[guard])

    def _cookie(self, request: Request) -> str:
        return f"floorbench-{request.url.port or 80}"

    async def _dispatch(
        self, request: Request, go_on: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        response = self._refused(request)
        if response is None:
            response = await go_on(request)
        for name, value in HEADERS.items():
            response.headers[name] = value
        return response

    def _refused(self, request: Request) -> Response | None:
        host = request.headers.get("host", "").rsplit(":", 1)[0]
        if host not in ("127.0.0.1", "localhost", "[::1]"):
            return Response("wrong host", status_code=403)
        origin = request.headers.get("origin")
        if origin is not None and origin != f"http://{request.headers['host']}":
            return Response("wrong origin", status_code=403)
        if request.method == "POST" and request.headers.get("x-floorbench") != "1":
            return Response("not from the page", status_code=403)
        shown = request.query_params.get("token")
        if request.url.path == "/" and shown is not None:
            if not self._right(shown):
                return Response("wrong token", status_code=403)
            answer = RedirectResponse("/", status_code=303)
            answer.set_cookie(
                self._cookie(request), self.token, httponly=True, samesite="strict", path="/"
            )
            return answer
        if not self._right(request.cookies.get(self._cookie(request), "")):
            hint = f"Open the address that `{self._command}` printed; it carries a token."
            return Response(hint, status_code=403, media_type="text/plain")
        return None

    def _right(self, shown: str) -> bool:
        return hmac.compare_digest(shown.encode(), self.token.encode())


def packaged() -> Files:
    """Return the pages, scripts and styles of the package: name -> (content, type)."""
    return {
        entry.name: (entry.read_bytes(), _type_of(entry.name))
        for entry in files("floorbench.web").joinpath("static").iterdir()
        if entry.is_file()
    }


def static_routes(found: Files, page: str) -> list[BaseRoute]:
    """Return routes to a page at ``/`` and to the package's files."""

    async def first(_: Request) -> Response:
        body, kind = found[page]
        return Response(body, media_type=kind)

    async def file(request: Request) -> Response:
        asked = found.get(request.path_params["name"])
        if asked is None:
            return Response("there is no such file", status_code=404)
        return Response(asked[0], media_type=asked[1])

    return [Route("/", first), Route("/static/{name}", file)]


def json_handler(make: Callable[[Request, Any], Any]) -> Handler:
    """Return a handler that answers with JSON what ``make`` returns, run in a thread."""

    async def handle(request: Request) -> Response:
        try:
            body = None
            if request.method == "POST":
                body = codec.parse(await read_body(request, limit=BODY_LIMIT))
            made = await run_in_threadpool(make, request, body)
            return Response(codec.encode(made), media_type="application/json")
        except FloorbenchError as error:
            return refusal(error)

    return handle


async def read_body(request: Request, *, limit: int) -> bytes:
    """Return the body of a request, ``FB805`` when it is longer than ``limit`` bytes."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > limit:
            raise UsageError("FB805", f"the request holds more than {counted(limit, 'byte')}")
    return raw


def refusal(error: FloorbenchError) -> Response:
    """Return an expected error as an answer."""
    body = {"code": error.code, "what": error.what, "hint": error.hint}
    status = 404 if error.code in NOT_FOUND else 422
    return Response(codec.encode(body), status_code=status, media_type="application/json")


def _type_of(name: str) -> str:
    return TYPES.get("." + name.rsplit(".", 1)[-1], "application/octet-stream")
