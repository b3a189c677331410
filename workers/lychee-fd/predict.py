"""Lychee-FD: when it starts and stops speaking, from its own server's session.

Written to the session protocol of its published front end; not run on the weights by the project.
The public session tells whether the model speaks. A start is reported as its control token
``S-S``, an end as ``S-L``.
"""

import array
import base64
import itertools
import json
import os

import floorbench_worker as worker

HELLO = {
    "name": "lychee-fd",
    "version": "2607.06540",
    "labels": ["K-L", "S-S", "K-S", "S-L", "BackChannel", "Detect", "Sleep"],
    "context": "dialogue",
    "rate": 16000,
    "step": 0.4,
    "label_map": "lychee-fd",
    "parameters": {"floor": "own", "decisions": "speaking status of the session"},
    "licence": "Apache-2.0",
}


class Server:
    """The system's own server at ``--url``."""

    def __init__(self, options):
        self.url = options.url

    def connect(self):
        from websockets.sync.client import connect

        self.socket = connect(self.url)

    def speaks(self, session, number, samples):
        pcm = array.array("h", (round(32767 * max(-1.0, min(1.0, x))) for x in samples))
        audio = {"format": "pcm_16k_16bit", "payload": base64.b64encode(pcm.tobytes()).decode()}
        self.socket.send(json.dumps({"session_id": session, "seq_id": number, "audio": audio}))
        return json.loads(self.socket.recv())["meta_data"]["status"] == "speaking"


class Stub:
    """No server: speaks after 0.8 s, and stops when it hears something loud."""

    def __init__(self, options):
        pass

    def connect(self):
        pass

    def speaks(self, session, number, samples):
        return number >= 2 and max(map(abs, samples)) < 0.05


SESSIONS = itertools.count(1)


class Stream:
    """One session."""

    def __init__(self, model, setup):
        self.model, self.speaking, self.number = model, False, 0
        self.session = "{}-{}".format(os.getpid(), next(SESSIONS))
        model.connect()

    def push(self, chunk):
        samples = worker.samples(chunk["audio"]["user"])
        speaks = self.model.speaks(self.session, self.number, samples)
        self.number += 1
        if speaks == self.speaking:
            return []
        self.speaking = speaks
        events = [{"label": "S-S" if speaks else "S-L", "time": chunk["end"]}]
        if speaks:
            events.append({"kind": "speak", "label": "speak", "time": chunk["end"]})
        return events

    def close(self):
        return []


if __name__ == "__main__":
    options = worker.arguments(
        "Lychee-FD for floorbench", needs="url", url="its session server, ws://HOST:8083"
    )
    worker.serve_stream(HELLO, lambda: (Stub if options.stub else Server)(options), Stream)
