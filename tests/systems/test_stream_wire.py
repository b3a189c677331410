import base64
import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from floorbench.core.prediction import Event
from floorbench.core.sample import Observation, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.errors import SystemProblem
from floorbench.systems.stream import Step
from floorbench.systems.stream_wire import (
    PROTOCOL,
    Hello,
    Reply,
    chunk,
    events,
    opening,
    read_text,
    unfit,
)

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "docs" / "reference" / "stream-wire.json").read_text("utf-8"))
HELLO: dict[str, Any] = {
    "type": "hello", "protocol": PROTOCOL, "name": "toy", "version": "1",
    "step": 0.1, "rate": 16_000, "labels": ("yield",),
}  # fmt: skip


def test_what_is_sent_keeps_to_the_published_schema() -> None:
    sound = np.array([0.0, 0.5, -1.0], dtype=np.float32)
    words = (Word(text="stop", span=Span(0.0, 0.1)), Word(text="when?"))
    step = Step(start=0.0, end=0.1, rate=16_000, samples={Role.USER: sound}, words=words)
    setup = Observation(language="en", turns=(Turn(role=Role.USER, text="hello"),))
    sent = chunk(step, stream="7", seq=0)
    for message in (opening(setup, stream="7"), sent):
        jsonschema.validate(json.loads(json.dumps(message)), SCHEMA)
        assert message["stream"] == "7"
    assert base64.b64decode(sent["audio"]["user"]) == sound.astype("<f4").tobytes()
    assert sent["words"] == [{"text": "stop", "start": 0.0, "end": 0.1}]


def test_a_reply_is_read_as_events_without_a_commit_time() -> None:
    text = (
        '{"type": "events", "stream": "1", "seq": 0, "events": [{"label": "yield", "time": 0.4}]}'
    )
    found = events(read_text(text, Reply))
    assert found == [Event(kind="action", time=0.4, label="yield")]


@pytest.mark.parametrize("message", [b"{}", "{}", "{", '{"type": "events", "stream": 1}'])
def test_what_is_no_message_is_said(message: str | bytes) -> None:
    with pytest.raises(SystemProblem, match="FB545"):
        read_text(message, Reply)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"protocol": "x-2"}, "protocol 'x-2'"),
        ({"type": "hi"}, "'hi'"),
        ({"floor": "mine"}, "floor 'mine'"),
        ({"step": 0.0}, "step 0.0 s"),
        ({"rate": 0}, "at 0 Hz"),
        ({"tail": -1.0}, "tail -1.0 s"),
        ({"word_delay": -1.0}, "word_delay -1.0 s"),
    ],
)
def test_a_hello_that_fits_nothing_says_why(other: dict[str, Any], problem: str) -> None:
    assert unfit(Hello(**HELLO)) is None
    assert problem in str(unfit(Hello(**HELLO | other)))
