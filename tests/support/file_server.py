"""A web server for one folder, on the loopback, that gives ranges and misbehaves as told."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, NamedTuple

from support.loopback import LoopbackServer


class Asked(NamedTuple):
    """What was asked for."""

    path: str
    range: str | None
    login: str | None


class FileServer:
    """Serves files below ``root``.

    ``faults`` are used up one per request: a status, ``"cut"`` (the answer breaks off),
    ``"trickle"``, ``"shift"`` (another part than asked for) or ``"hang up"``. ``ranges=False``
    ignores ``Range``; ``login`` is needed when given.
    """

    def __init__(self, root: Path, *, ranges: bool = True, login: str | None = None) -> None:
        self.asked: list[Asked] = []
        self.faults: list[int | str] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                server.asked.append(Asked(self.path, wanted, self.headers.get("Authorization")))
                fault = server.faults.pop(0) if server.faults else None
                self.close_connection = True
                if fault == "hang up":
                    return
                if isinstance(fault, int):
                    return self.send_error(fault)
                if login is not None and self.headers.get("Authorization") != login:
                    return self.send_error(401)
                file = root / self.path.partition("?")[0].lstrip("/")
                if not file.is_file():
                    return self.send_error(404)
                data, status = file.read_bytes(), 200
                if wanted and ranges:
                    match = re.fullmatch(r"bytes=(\d+)-(\d+)", wanted)
                    assert match is not None
                    first, last = int(match[1]), int(match[2])
                    if first >= len(data):
                        return self.send_error(416)
                    data, status = data[first : last + 1], 206
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                if fault == "shift":
                    self.send_header("Content-Range", "bytes 7-99/2048")
                self.end_headers()
                with suppress(OSError):  # whoever asked has read enough
                    for _ in range(100 if fault == "trickle" else 0):
                        self.wfile.write(data[:1])
                        time.sleep(0.05)
                    self.wfile.write(data[: len(data) // 2] if fault == "cut" else data)
                return None

            def log_message(self, *args: Any) -> None:
                pass

        self._http = LoopbackServer(Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    @property
    def url(self) -> str:
        return self._http.url

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@contextmanager
def serving(root: Path, **how: Any) -> Iterator[FileServer]:
    server = FileServer(root, **how)
    try:
        yield server
    finally:
        server.close()
