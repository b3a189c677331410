"""The other side of floorbench's worker protocol, for a model in an environment of its own.

This file needs nothing but Python 3.8's standard library, and not floorbench. floorbench puts its
folder on ``PYTHONPATH`` of the programs that it starts; ``import floorbench_worker`` just works.

Whatever a model or its libraries print goes to standard error, so that it cannot disturb the
messages. While the model loads and thinks, a thread sends signs of life.
"""

from __future__ import annotations

import argparse
import array
import base64
import json
import os
import sys
import threading
import traceback

PROTOCOL = "floorbench-worker-1"
STUB = {}  # what a program without its model adds to its hello


def arguments(about, needs="model", flags=(), **more):
    """Read the command line that all workers share.

    Parameters
    ----------
    about : str
        What the program is.
    needs : str
        The option that must be given unless ``--stub`` is.
    flags : sequence of str
        Switches of its own.
    **more : str
        Further options, ``name="help"``, all optional text.

    Returns
    -------
    argparse.Namespace
        With ``model`` (folder of the weights), ``device``, ``stub`` and the further options. With
        ``--stub`` the hello says so in version and parameters, and with it every signature.
    """
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--model", help="folder with the model's files")
    parser.add_argument("--device", default="cpu", help="where it runs, for example cuda:0")
    parser.add_argument("--stub", action="store_true", help="no model: try the protocol only")
    for name in flags:
        parser.add_argument("--" + name, action="store_true")
    for name, text in more.items():
        parser.add_argument("--" + name.replace("_", "-"), help=text)
    found = parser.parse_args()
    if not found.stub and not getattr(found, needs):
        parser.error(
            "--{} is needed (or --stub, to try the protocol without a model)".format(needs)
        )
    if found.stub:
        STUB["stub"] = True
    return found


def samples(audio):
    """Return the samples of a sound as ``array('f')``; numpy takes it as it is."""
    data = array.array("f", base64.b64decode(audio["f32"] if isinstance(audio, dict) else audio))
    if sys.byteorder == "big":
        data.byteswap()
    return data


def serve(hello, load, predict, *, heartbeat=2.0):
    """Answer items until floorbench leaves.

    Parameters
    ----------
    hello : dict
        What the system declares; ``type`` and ``protocol`` are filled in.
    load : callable
        Called once; returns the model.
    predict : callable
        ``predict(model, items)`` returns one dict per item, in order.
    heartbeat : float
        Seconds between signs of life.
    """
    pipe = _Pipe(heartbeat)
    model = load()
    pipe.hello(hello, "items")
    for message in pipe.messages():
        try:
            answers = predict(model, message["items"])
        except Exception as error:
            traceback.print_exc()
            pipe.send({"type": "error", "id": message["id"], "message": _line(error)})
        else:
            pipe.send({"type": "answers", "id": message["id"], "answers": list(answers)})


def serve_stream(hello, load, start, *, heartbeat=2.0):
    """Answer streams until floorbench leaves.

    Parameters
    ----------
    hello : dict
        What the system declares; ``type`` and ``protocol`` are filled in.
    load : callable
        Called once; returns the model.
    start : callable
        ``start(model, setup)`` returns an object with ``push(chunk)`` and ``close()``, both of
        which return a list of events.
    heartbeat : float
        Seconds between signs of life.
    """
    pipe = _Pipe(heartbeat)
    model = load()
    pipe.hello(hello, "stream")
    stream = None
    for message in pipe.messages():
        name = message["stream"]
        try:
            if message["type"] == "open":
                stream = start(model, message)
            elif message["type"] == "chunk":
                events = list(stream.push(message))
                pipe.send(
                    {"type": "events", "stream": name, "seq": message["seq"], "events": events}
                )
            else:
                pipe.send({"type": "closed", "stream": name, "events": list(stream.close())})
        except Exception as error:
            traceback.print_exc()
            pipe.send({"type": "error", "stream": name, "message": _line(error)})


class _Pipe:
    def __init__(self, heartbeat):
        self._out = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._lock = threading.Lock()
        self._heartbeat = heartbeat
        threading.Thread(target=self._live, args=(threading.Event(),), daemon=True).start()

    def hello(self, declared, kind):
        beat = {"heartbeat": self._heartbeat}
        if STUB:  # nobody shall take its answers for the model's
            version = "{} (stub, no model)".format(declared["version"])
            parameters = dict(declared.get("parameters") or {}, **STUB)
            declared = dict(declared, version=version, parameters=parameters)
        self.send({"type": "hello", "protocol": PROTOCOL, "kind": kind, **beat, **declared})

    def messages(self):
        for line in sys.stdin.buffer:
            message = json.loads(line)
            if message["type"] == "bye":
                return
            yield message

    def send(self, message):
        data = memoryview(json.dumps(message).encode() + b"\n")
        with self._lock:
            while data:
                data = data[self._out.write(data) :]

    def _live(self, never):
        while not never.wait(self._heartbeat):
            try:
                self.send({"type": "heartbeat"})
            except OSError:
                os._exit(0)  # floorbench is gone


def _line(error):
    return "{}: {}".format(type(error).__name__, " ".join(str(error).split()))[:240]
