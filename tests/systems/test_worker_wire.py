"""The messages, against the published schema."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from floorbench import codec
from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Question, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import SystemProblem
from floorbench.systems.worker_rows import EASY_TURN, SPECS
from floorbench.systems.worker_wire import (
    PROTOCOL,
    audio_of,
    item_of,
    placeholder,
    read_answers,
    read_hello,
    spec_of,
)

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "worker-wire.json").read_text()
)
HELLO = {"type": "hello", "protocol": PROTOCOL, "name": "x", "version": "1"}


def lawful(message, kind):
    jsonschema.validate(message, {**SCHEMA, "$ref": f"#/$defs/{kind}"})


def audio():
    return ArrayAudio(np.array([0.5, -1.0], dtype=np.float32), rate=8000)


def test_a_whole_observation_crosses_without_a_name_and_fits_the_schema():
    seen = Observation(
        language="en",
        state="SystemIdle",
        turns=(Turn(role=Role.USER, audio=audio()), Turn(role=Role.SYSTEM, text="well")),
        channels={Role.USER: audio()},
        text="",
        words=(Word(text="a", span=Span(0.0, 0.1)), Word(text="b")),
        activity={Role.USER: (Span(0.0, 0.2),), Role.SYSTEM: ()},
        spoken_prefix="so",
        question=Question(text="?", answers=("yes", "no")),
        cutoff=0.2,
        repeat=1,
    )
    item = json.loads(codec.encode(item_of(seen, rate=None)))
    lawful({"type": "predict", "id": 1, "items": [item]}, "predict")
    assert item["channels"]["user"] == {"rate": 8000, "f32": "AAAAPwAAgL8="}
    assert item["text"] == ""
    assert item["words"] == [{"text": "a", "role": "user", "span": [0.0, 0.1]},
                             {"text": "b", "role": "user"}]  # fmt: skip
    assert set(item) == set(SCHEMA["$defs"]["item"]["properties"])


def test_empty_fields_are_left_out_and_sound_is_resampled():
    assert item_of(Observation(language="en"), rate=None) == {"language": "en"}
    assert audio_of(audio(), rate=16_000)["rate"] == 16_000


def test_a_hello_says_what_it_is():
    hello = read_hello({**HELLO, "rate": 16000, "labels": ["a"]}, kind="items")
    spec = spec_of(hello, declared=None)
    assert (spec.name, spec.labels, spec.front_end.rate) == ("x", ("a",), 16000)
    assert spec.front_end.resampler
    assert spec.parameters["protocol"] == PROTOCOL


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"type": "hi"}, "where a hello"),
        ({"protocol": "other-1"}, "where a hello"),
        ({"kind": "stream"}, "of kind 'stream'"),
        ({"batch": 0}, "batch 0"),
        ({"heartbeat": -1.0}, "heartbeat -1"),
        ({"colour": "red"}, "unknown key 'colour'"),
        ({"labels": "complete"}, "cannot be read"),
        ({"version": 3}, "cannot be read"),
    ],
)
def test_a_hello_that_is_none(change, words):
    with pytest.raises(SystemProblem, match=words) as caught:
        read_hello({**HELLO, **change}, kind="items")
    assert caught.value.code == "FB552"


def test_a_stream_needs_a_step_and_a_rate():
    with pytest.raises(SystemProblem, match="FB552"):
        read_hello({**HELLO, "kind": "stream"}, kind="stream")
    assert read_hello({**HELLO, "kind": "stream", "step": 0.1, "rate": 8000}, kind="stream").step


def test_the_catalogue_and_the_program_must_agree():
    said = {**HELLO, "name": "easy-turn", "rate": 16000, "labels": ["complete", "wait"]}
    with pytest.raises(SystemProblem, match="its labels is"):
        spec_of(read_hello(said, kind="items"), declared=EASY_TURN)


def test_answers_are_decisions_in_order():
    message = {
        "type": "answers",
        "id": 3,
        "answers": [
            {"label": "complete", "scores": {"complete": 0.7}},
            {"outcome": "invalid", "raw": "?", "reason": "no tag"},
            {"trace": {"columns": ["vad:user"], "rate": "25/2", "frames": 1, "data": "AAAAPw=="}},
        ],
    }
    lawful(message, "answers")
    one, two, three = read_answers(message, asked=3, items=3)
    assert one == Decision(label="complete", scores={"complete": 0.7})
    assert two.outcome is Outcome.INVALID
    assert three.trace.data == b"\x00\x00\x00\x3f"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"type": "answers", "id": 2, "answers": [{}]}, "where 'answers' 1 are due"),
        ({"type": "answers", "id": 1, "answers": [{}, {}]}, "2 answers to 1 item"),
        ({"type": "answers", "id": 1, "answers": []}, "0 answers to 1 item"),
        ({"type": "error", "id": 1, "message": "no memory"}, "reports: no memory"),
        ({"type": "answers", "id": 1, "answers": [None]}, "cannot be read"),
        ({"type": "answers", "id": 1, "answers": [{"outcome": "great"}]}, "cannot be read"),
        ({"type": "answers", "id": 1, "answers": [{"lable": "x"}]}, "unknown key 'lable'"),
        ({"id": 1}, "cannot be read"),
        ([], "cannot be read"),
    ],
)
def test_answers_that_are_none(message, words):
    with pytest.raises(SystemProblem, match=words) as caught:
        read_answers(message, asked=1, items=1)
    assert caught.value.code == "FB552"


def test_placeholders_and_rows_can_be_written_down():
    for spec in (placeholder("command"), *SPECS):
        assert json.loads(codec.encode(spec))["name"] == spec.name


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    lawful({**HELLO, "kind": "items", "rate": 16000, "heartbeat": 2}, "hello")
    with pytest.raises(jsonschema.ValidationError):
        lawful({**HELLO, "colour": "red"}, "hello")
