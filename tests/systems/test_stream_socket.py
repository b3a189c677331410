"""An external stream over a real WebSocket: the documented client, and clients that misbehave."""

from __future__ import annotations

import base64
import json
import re
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import EnvironmentProblem, SystemProblem, UsageError
from floorbench.systems.stream import StreamDriver
from floorbench.systems.stream_socket import SocketStream

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "howto" / "stream-system.md"
SCHEMA = json.loads((ROOT / "docs" / "reference" / "stream-wire.json").read_text("utf-8"))
RATE = 16_000
HELLO = {
    "type": "hello", "protocol": "floorbench-stream-1", "name": "toy", "version": "1",
    "step": 0.1, "rate": RATE, "labels": ["yield"], "licence": "none",
}  # fmt: skip
Answer = Callable[[dict[str, Any]], Any]
WIRE: list[dict[str, Any]] = []


def seen() -> Observation:
    sound = np.zeros(RATE, dtype=np.float32)
    sound[RATE // 2 :] = 0.2
    return Observation(
        language="en",
        channels={Role.USER: ArrayAudio(sound, rate=RATE)},
        turns=(Turn(role=Role.USER, text="hello"),),
        words=(Word(text="stop", span=Span(0.5, 0.7)),),
    )


def loud(message: dict[str, Any]) -> list[dict[str, Any]]:
    """Answer a well-formed reply: a yield in the step that ends at 0.7 s."""
    if message["type"] == "chunk":
        said = (
            [{"label": "yield", "time": message["end"]}] if abs(message["end"] - 0.7) < 1e-6 else []
        )
        return [
            {"type": "events", "stream": message["stream"], "seq": message["seq"], "events": said}
        ]
    if message["type"] == "close":
        return [{"type": "closed", "stream": message["stream"]}]
    return []


class Client(threading.Thread):
    """Joins and sends whatever a function makes of each message; text goes out as it is."""

    def __init__(self, port: int, answer: Answer, hello: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self._url, self._answer, self._hello = f"ws://127.0.0.1:{port}", answer, hello

    def run(self) -> None:
        try:
            with connect(self._url, max_size=None) as socket:
                socket.send(json.dumps(self._hello))
                for text in socket:
                    message = json.loads(text)
                    WIRE.append(message)
                    for reply in self._answer(message):
                        if reply is None:
                            return
                        WIRE.append(reply) if isinstance(reply, dict) else None
                        socket.send(reply if isinstance(reply, str | bytes) else json.dumps(reply))
        except ConnectionClosed:
            pass


@pytest.fixture
def host() -> Iterator[SocketStream]:
    system = SocketStream(port=0, timeout=0.3, join_timeout=5.0)
    system.listen()
    yield system
    system.stop()


def join(host: SocketStream, answer: Answer = loud, **hello: Any) -> StreamDriver:
    Client(host.port, answer, {**HELLO, **hello}).start()
    driver = StreamDriver(host)
    driver.load()
    return driver


def test_a_joined_system_declares_itself_and_decides(host: SocketStream) -> None:
    driver = join(host, tail=1.0, weights={"model": "0" * 64})
    assert (driver.spec.name, driver.spec.streaming_step) == ("toy", 0.1)
    assert driver.spec.parameters["tail"] == 1.0
    for _ in range(2):
        decision = driver.decide(seen())
        assert decision.outcome is Outcome.OK
        assert [(e.label, e.commit) for e in decision.events[:-1]] == [
            ("yield", pytest.approx(0.7))
        ]


def test_every_message_keeps_to_the_published_schema(host: SocketStream) -> None:
    WIRE.clear()
    driver = join(host, words=True)
    driver.decide(seen())
    host.stop()
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for message in [HELLO, *WIRE]:
        validator.validate(message)
    assert {m["type"] for m in WIRE} >= {"open", "chunk", "events", "close", "closed"}
    assert [w["text"] for m in WIRE for w in m.get("words", [])] == ["stop"]
    with pytest.raises(jsonschema.ValidationError):
        validator.validate({"type": "events", "stream": "1", "seq": 0, "sequence": 1})


def on_chunk(number: int, reply: Callable[[dict[str, Any]], Any]) -> Answer:
    """Answer the n-th chunk of the first stream in another way."""

    def answer(message: dict[str, Any]) -> Any:
        if message["type"] == "chunk" and message["stream"] == "1" and message["seq"] == number:
            return reply(message)
        return loud(message)

    return answer


NAN = '{"type":"events","stream":"1","seq":SEQ,"events":[{"label":"yield","time":NaN}]}'
FAULTS: dict[str, tuple[Callable[[dict[str, Any]], Any], Outcome, str]] = {
    "stalls": (lambda m: [], Outcome.TIMEOUT, "within 0.3 s"),
    "dies": (lambda m: [None], Outcome.FAILED, "is gone"),
    "out of order": (
        lambda m: [{"type": "events", "stream": "1", "seq": m["seq"] + 1}], Outcome.FAILED,
        "answered with seq",
    ),
    "garbage": (lambda m: ["\x00 nonsense"], Outcome.FAILED, "cannot be read"),
    "not an object": (lambda m: ["[1, 2]"], Outcome.FAILED, "cannot be read"),
    "unknown key": (
        lambda m: [{"type": "events", "stream": "1", "seq": m["seq"], "x": 1}], Outcome.FAILED,
        "unknown key 'x'",
    ),
    "NaN": (lambda m: [NAN.replace("SEQ", str(m["seq"]))], Outcome.FAILED, "cannot be read"),
    "from the future": (
        lambda m: [{"type": "events", "stream": "1", "seq": m["seq"],
                    "events": [{"label": "yield", "time": 99.0}]}], Outcome.FAILED, "were heard",
    ),
    "from before the recording": (
        lambda m: [{"type": "events", "stream": "1", "seq": m["seq"],
                    "events": [{"label": "yield", "time": -0.1}]}], Outcome.FAILED,
        "before the recording",
    ),
    "beyond all numbers": (
        lambda m: [NAN.replace("SEQ", str(m["seq"])).replace("NaN", "1e400")], Outcome.FAILED,
        "cannot be read",
    ),
    "in the driver's name": (
        lambda m: [{"type": "events", "stream": "1", "seq": m["seq"],
                    "events": [{"label": "x", "time": 0.1, "kind": "observed"}]}], Outcome.FAILED,
        "kept for the driver",
    ),
    "its own commit time": (
        lambda m: [{"type": "events", "stream": "1", "seq": m["seq"],
                    "events": [{"label": "yield", "time": 0.1, "commit": 0.1}]}], Outcome.FAILED,
        "unknown key 'commit'",
    ),
    "binary": (
        lambda m: [json.dumps({"type": "events", "stream": "1", "seq": m["seq"]}).encode()],
        Outcome.FAILED, "a binary message",
    ),
    "another greeting": (lambda m: [HELLO], Outcome.FAILED, "cannot be read"),
    "twice": (lambda m: loud(m) * 2, Outcome.FAILED, "answered with seq"),
    "another stream": (
        lambda m: [{"type": "events", "stream": "x", "seq": m["seq"]}], Outcome.FAILED,
        "stream 'x'",
    ),
    "another type": (
        lambda m: [{"type": "closed", "stream": "1"}], Outcome.FAILED, "'closed' where 'events'",
    ),
    "gives up": (
        lambda m: [{"type": "error", "stream": "1", "message": "out of memory"}], Outcome.FAILED,
        "out of memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_stays_with_its_sample(fault: str, host: SocketStream) -> None:
    reply, outcome, words = FAULTS[fault]
    driver = join(host, on_chunk(3, reply))
    decision = driver.decide(seen())
    assert decision.outcome is outcome
    assert words in str(decision.reason)
    assert decision.events[-1].time == pytest.approx(0.4 if fault == "twice" else 0.3)
    if fault == "dies":  # it joins again, and the run goes on
        Client(host.port, loud, HELLO).start()
    after = driver.decide(seen())
    assert after.outcome is Outcome.OK
    assert [e.label for e in after.events[:-1]] == ["yield"]


def test_answers_that_come_late_are_not_taken_for_those_of_the_next_stream(
    host: SocketStream,
) -> None:
    kept: list[dict[str, Any]] = []

    def answer(message: dict[str, Any]) -> Any:
        if message["type"] == "chunk" and message["stream"] == "1" and message["seq"] == 3:
            kept.append(message)
            return []
        if message["type"] == "open" and message["stream"] == "2":
            late = kept[0]
            said = [{"label": "yield", "time": late["end"]}]
            return [{"type": "events", "stream": "1", "seq": late["seq"], "events": said}]
        return loud(message)

    driver = join(host, answer)
    assert driver.decide(seen()).outcome is Outcome.TIMEOUT
    after = driver.decide(seen())
    assert [(e.label, e.commit) for e in after.events[:-1]] == [("yield", pytest.approx(0.7))]


def test_nobody_joining_is_said() -> None:
    system = SocketStream(port=0, join_timeout=0.05)
    with pytest.raises(EnvironmentProblem, match="FB544"):
        system.load()
    system.stop()


@pytest.mark.parametrize(
    "hello",
    [
        {"protocol": "other"},
        {"floor": "mine"},
        {"step": 0.0},
        {"surprise": 1},
        {"word_delay": -1.0},
        {"tail": -0.5},
    ],
)
def test_a_greeting_that_does_not_fit_is_turned_away(hello: dict[str, Any]) -> None:
    system = SocketStream(port=0, join_timeout=0.5)
    system.listen()
    client = Client(system.port, loud, {**HELLO, **hello})
    client.start()
    with pytest.raises(EnvironmentProblem, match="FB544"):
        system.load()
    client.join(timeout=5)
    assert not client.is_alive()
    system.stop()


def test_another_system_does_not_take_over_a_run(host: SocketStream) -> None:
    driver = join(host, on_chunk(3, lambda m: [None]))
    driver.decide(seen())
    Client(host.port, loud, {**HELLO, "name": "stranger"}).start()
    decision = driver.decide(seen())
    assert decision.outcome is Outcome.FAILED
    assert "stranger" in str(decision.reason)


@pytest.mark.parametrize("changed", [{"step": 0.2}, {"rate": 8_000}, {"labels": ["stop"]}])
def test_a_program_that_declares_something_else_when_it_joins_again_is_turned_away(
    host: SocketStream, changed: dict[str, Any]
) -> None:
    driver = join(host, on_chunk(3, lambda m: [None]))
    driver.decide(seen())
    Client(host.port, loud, {**HELLO, **changed}).start()
    decision = driver.decide(seen())
    assert decision.outcome is Outcome.FAILED
    assert f"joined again with another {next(iter(changed))}" in str(decision.reason)
    Client(host.port, loud, HELLO).start()
    assert driver.decide(seen()).outcome is Outcome.OK


def test_a_program_that_stops_reading_holds_nothing_up(host: SocketStream) -> None:
    let_go = threading.Event()

    def deaf() -> None:
        with socket.create_connection(("127.0.0.1", host.port)) as raw:
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            key = base64.b64encode(b"0" * 16).decode()
            raw.sendall(
                f"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade"
                f"\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            raw.recv(4096)
            hello = json.dumps({**HELLO, "step": 30.0, "rate": 48_000}).encode()
            raw.sendall(b"\x81\xfe" + struct.pack("!H", len(hello)) + b"\0" * 4 + hello)
            let_go.wait(30)

    threading.Thread(target=deaf, daemon=True).start()
    driver = StreamDriver(host)
    driver.load()
    decision = driver.decide(seen())
    let_go.set()
    assert decision.outcome is Outcome.TIMEOUT
    assert "does not read" in str(decision.reason)
    assert host._link.gone
    host._timeout = 30.0  # so much sound takes its time
    Client(host.port, loud, {**HELLO, "step": 30.0, "rate": 48_000}).start()
    assert driver.decide(seen()).outcome is Outcome.OK


def test_old_answers_without_end_are_no_answer(
    host: SocketStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The flood is faster than the reader, so that there is always a message to be read."""
    driver = join(host)
    driver.decide(seen())
    connection = host._link._connection

    def flood(timeout: float) -> str:
        return '{"type": "events", "stream": "1", "seq": 0}'

    monkeypatch.setattr(connection, "recv", flood)
    assert driver.decide(seen()).outcome is Outcome.TIMEOUT


def test_a_taken_port_and_a_bad_one_are_refused(host: SocketStream) -> None:
    with pytest.raises(EnvironmentProblem, match="FB544"):
        SocketStream(port=host.port).listen()
    with pytest.raises(UsageError, match="port"):
        SocketStream(port=70_000)
    with pytest.raises(SystemProblem, match="FB542"):
        join(host, step=0.00001)


def test_the_documented_client_runs(host: SocketStream, tmp_path: Path) -> None:
    block = re.search(
        r"^```python file=stream_client.py\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S
    )
    assert block is not None
    assert block[1].count("\n") <= 70
    (tmp_path / "client.py").write_text(block[1], encoding="utf-8")
    url = f"ws://127.0.0.1:{host.port}"
    client = subprocess.Popen([sys.executable, str(tmp_path / "client.py"), url])
    driver = StreamDriver(host)
    driver.load()
    decision = driver.decide(seen())
    assert driver.spec.name == "loud-client"
    assert [e.commit for e in decision.events[:-1]] == [pytest.approx(0.56)]
    host.stop()
    assert client.wait(timeout=20) == 0
