"""How long until `floorbench view` shows a page, and lets an item be heard? On the wall clock.

Beside a server of the same libraries that serves one page and one file, and beside frameworks that
people show audio with. Each side is a new process that is asked over the loopback.
"""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.ratios import Case, Work, peer
from floorbench.catalog import TASKS
from floorbench.datasets.open import open_dataset
from floorbench.report.stored import Sources, load
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.web.item import tracks

BARE = """
import socket, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
page, sound = b"<!doctype html><title>bare</title>", bytes(100_000)
app = Starlette(routes=[
    Route("/", lambda _: Response(page, media_type="text/html")),
    Route("/audio", lambda _: Response(sound, media_type="audio/wav")),
])
listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(128)
print(f"http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="critical")).run([listening])
"""
GRADIO = """
import gradio
with gradio.Blocks() as page:
    gradio.Audio()
_, address, _ = page.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
print(address, flush=True)
page.block_thread()
"""


def serving(*command: str, then: Callable[[str], str] | None = None) -> Work:
    """Return what starts a server, fetches its first page and, with ``then``, one more."""

    def work() -> None:
        environment = os.environ | {"GRADIO_ANALYTICS_ENABLED": "False", "HF_HUB_OFFLINE": "1"}
        started = subprocess.Popen(
            [sys.executable, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        try:
            assert started.stdout is not None
            address = next((line for line in started.stdout if line.startswith("http")), "")
            if not address:
                raise RuntimeError(f"{command[:2]} serves nothing")
            page, cookie = fetch(address.strip(), "")
            if b"<" not in page:
                raise RuntimeError("there is no page")
            if then is not None:
                sound, _ = fetch(then(address.strip()), cookie)
                if len(sound) < 1000:
                    raise RuntimeError("there is no sound")
        finally:
            started.terminate()
            started.wait()

    return work


def fetch(address: str, cookie: str) -> tuple[bytes, str]:
    """Return what is at an address, after at most one redirect, and the cookie."""
    parts = urllib.parse.urlsplit(address)
    port = parts.port
    assert port is not None
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    for _ in range(2):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("GET", path, headers={"Cookie": cookie} if cookie else {})
        answer = connection.getresponse()
        body = answer.read()
        set_ = answer.getheader("Set-Cookie")
        if set_:
            cookie = set_.split(";")[0]
        connection.close()
        if answer.status not in (302, 303, 307):
            break
        path = answer.getheader("Location") or "/"
    if answer.status != 200:
        raise RuntimeError(f"{path} answers {answer.status}")
    return body, cookie


def cases(full: bool) -> Iterator[Case]:
    task, source = TASKS.load("codett")(), open_dataset("starter:codett")
    with tempfile.TemporaryDirectory() as folder:
        made = run(
            task=task,
            system=SystemChoice(name="always-takeover"),
            source=source,
            out=Path(folder),
            notify=lambda _: None,
        )
        stored = load(made.path, Sources())
        item = next(i for i in stored.items if tracks(i.sample))
        asked = urllib.parse.urlencode(
            {
                "group": 0, "sample": item.sample.id, "condition": item.condition,
                "trial": item.trial, "part": next(iter(tracks(item.sample))),
            }
        )  # fmt: skip
        size = f"a run of {len(stored.items)} predictions on the starter set"
        view = ("-m", "floorbench", "view", str(made.path))
        bare = ("-c", BARE)

        def sound(address: str) -> str:
            return re.sub(r"/(\?.*)?$", "/audio", address)

        neighbours = {
            "gradio with an audio player": peer(("gradio",), serving, "-c", GRADIO),
        }
        rounds = 9 if full else 5
        yield Case(
            name="from `floorbench view RUN` to the first page",
            size=size,
            ours=serving(*view),
            peers={"starlette and uvicorn, one page": serving(*bare), **neighbours},
            clock="wall",
            rounds=rounds,
            per=(1, "start"),
        )
        yield Case(
            name="from `floorbench view RUN` to the sound of an item",
            size=size,
            ours=serving(*view, then=lambda a: f"{sound(a)}?{asked}"),
            peers={"starlette and uvicorn, one file": serving(*bare, then=sound)},
            clock="wall",
            rounds=rounds,
            per=(1, "start"),
        )
