"""SoulX-Duplug: the states of its own server, every 160 ms. It hears the user only.

Written to the published client of its WebSocket ``/turn``; not run on the weights by the project.
"""

import base64
import itertools
import json
import os

import floorbench_worker as worker

HELLO = {
    "name": "soulx-duplug",
    "version": "0.6B",
    "labels": ["idle", "nonidle", "speak", "blank"],
    "languages": ["zh", "en"],
    "rate": 16000,
    "step": 0.16,
    "label_map": "soulx-duplug",
    "parameters": {"tail": 1.0},
    "licence": "Apache-2.0",
}


class Server:
    """The system's own server at ``--url``."""

    def __init__(self, options):
        self.url = options.url

    def connect(self):
        from websockets.sync.client import connect

        self.socket = connect(self.url)

    def state(self, session, audio):
        message = {"type": "audio", "session_id": session, "audio": audio}
        self.socket.send(json.dumps(message))
        return json.loads(self.socket.recv())["state"]["state"]


class Stub:
    """No server: sound is nonidle, silence is idle."""

    def __init__(self, options):
        pass

    def connect(self):
        pass

    def state(self, session, audio):
        return "nonidle" if any(base64.b64decode(audio)) else "idle"


SESSIONS = itertools.count(1)


class Stream:
    """One session; its state is reported when it changes."""

    def __init__(self, model, setup):
        self.model, self.last = model, "idle"
        self.session = "{}-{}".format(os.getpid(), next(SESSIONS))
        model.connect()

    def push(self, chunk):
        state = self.model.state(self.session, chunk["audio"]["user"])
        if state in (self.last, "blank"):
            return []
        self.last = state
        return [{"label": state, "time": chunk["end"]}]

    def close(self):
        return []


if __name__ == "__main__":
    options = worker.arguments(
        "SoulX-Duplug for floorbench", needs="url", url="its server, ws://HOST:8000/turn"
    )
    worker.serve_stream(HELLO, lambda: (Stub if options.stub else Server)(options), Stream)
