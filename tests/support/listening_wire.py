"""A listening session spoken to over the wire, as the page would."""

from __future__ import annotations

import http.client
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from floorbench.web.listen import ListeningRoom
from floorbench.web.serving import Serving

TOKEN = "open-sesame"
RATE = 16_000


class Page:
    """What the page does, without sound."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(
        self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str
    ) -> tuple[int, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        sent = {
            "cookie": f"floorbench-{self.port}={TOKEN}",
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.headers.get_content_type() == "application/json":
            return answer.status, json.loads(data)
        return answer.status, data

    def post(self, name: str, **body: Any) -> tuple[int, Any]:
        data = json.dumps(body).encode()
        return self.ask(f"/api/{name}", method="POST", body=data, x_floorbench="1")

    def done(self, name: str, **body: Any) -> Any:
        status, answer = self.post(name, **body)
        assert status == 200, answer
        return answer

    def sound(self, samples: np.ndarray, **parameters: Any) -> tuple[int, Any]:
        pcm = np.rint(np.asarray(samples) * 32767).astype("<i2").tobytes()
        path = f"/api/sound?{urlencode(parameters)}"
        return self.ask(path, method="POST", body=pcm, x_floorbench="1")

    def hear_by_key(self, name: str, presses: dict[int, list[float]]) -> None:
        """Take part by key: the latency test, then some turns with presses."""
        me = self.done("join", id=name, agreed=True)
        beats = [10.0 + i for i in range(12)]
        taps = [b + 0.1 for b in beats]
        self.done("latency", id=name, kind="tap", beats=beats, taps=taps)
        for item, times in presses.items():
            for t in times:
                self.done("key", id=name, item=item, visit=me["visit"], time=t)
            self.done("item", id=name, item=item, visit=me["visit"], started=30.0, facts={})

    def hear_by_voice(
        self, name: str, recordings: dict[int, np.ndarray], *, joins: bool = True
    ) -> None:
        """Take part by voice: a latency test 0.2 s late, then recorded turns."""
        me = self.done("join", id=name, agreed=True) if joins else {"visit": 1}
        beats = [10.0 + i for i in range(12)]
        test = np.zeros(13 * RATE, dtype=np.float32)
        for i in range(12):
            at = round((0.5 + i + 0.2) * RATE)
            test[at : at + RATE // 10] = 0.5
        self.sound(test, id=name, kind="latency", item=0, visit=me["visit"], first=0)
        self.done(
            "latency", id=name, kind="voice", beats=beats, item=0, visit=me["visit"], rate=RATE,
            started=9.5,
        )  # fmt: skip
        for item, samples in recordings.items():
            half = len(samples) // 2
            for first, part in ((0, samples[:half]), (half, samples[half:])):
                status, _ = self.sound(
                    part, id=name, kind="turn", item=item, visit=me["visit"], first=first
                )
                assert status == 200
            self.done(
                "item", id=name, item=item, visit=me["visit"], started=30.0, rate=RATE,
                frames=len(samples), facts={},
            )  # fmt: skip


def room(folder: Path, *, mode: str) -> ListeningRoom:
    """Return a room over the tiny set in ``folder``."""
    return ListeningRoom(folder / "set", folder / "session", mode=mode, token=TOKEN)


def serving(made: ListeningRoom) -> Serving:
    """Return the room on a port, to be used with ``with``."""
    return Serving(made.app())
