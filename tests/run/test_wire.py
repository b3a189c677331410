import hashlib
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Question, Turn, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.errors import UsageError
from floorbench.run.wire import observation_from_wire, observation_hash, observation_to_wire


def audio(value: float = 0.1, cutoff: float | None = None) -> ArrayAudio:
    return ArrayAudio(np.full(800, value, dtype=np.float32), rate=8000, cutoff=cutoff)


FULL = Observation(
    language="en",
    state="SystemIdle",
    turns=(Turn(role=Role.USER, text="hi", audio=audio(0.2)), Turn(role=Role.SYSTEM, text="yes")),
    channels={Role.USER: audio(), Role.SYSTEM: audio(0.3)},
    text="",
    words=(Word(text="so", span=Span(0.0, 0.2)), Word(text="then", role=Role.SYSTEM)),
    spoken_prefix="well",
    question=Question(text="done?", answers=("yes", "no")),
    cutoff=0.05,
)


def crossed(observation: Observation) -> Observation:
    sent = msgspec.json.encode(observation_to_wire(observation))
    return observation_from_wire(msgspec.json.decode(sent))


def test_everything_crosses() -> None:
    back = crossed(FULL)
    plain = replace(back, channels={}, turns=())
    assert plain == replace(FULL, channels={}, turns=())
    assert [(t.role, t.text) for t in back.turns] == [(t.role, t.text) for t in FULL.turns]
    assert list(back.channels) == list(FULL.channels)
    for role, ref in back.channels.items():
        assert np.array_equal(ref.read(), FULL.channels[role].read())
    assert observation_hash(back) == observation_hash(FULL)


def test_the_least_crosses() -> None:
    least = Observation(language="zh")
    assert observation_to_wire(least) == {"language": "zh"}
    assert crossed(least) == least


@pytest.mark.parametrize(
    "change",
    [
        {"language": "zh"},
        {"state": None},
        {"turns": ()},
        {"turns": FULL.turns[::-1]},
        {"channels": {Role.USER: audio()}},
        {"channels": {Role.USER: audio(0.3), Role.SYSTEM: audio()}},
        {"channels": {Role.USER: audio(0.1, 0.05), Role.SYSTEM: audio(0.3)}},
        {"text": None},
        {"text": "so"},
        {"words": FULL.words[:1]},
        {"words": (Word(text="so", span=Span(0.0, 0.3)), FULL.words[1])},
        {"spoken_prefix": None},
        {"question": Question(text="done?", answers=("no", "yes"))},
        {"cutoff": 0.06},
        {"repeat": 1},
    ],
    ids=lambda change: next(iter(change)),
)
def test_whatever_is_shown_is_in_the_hash(change: dict[str, Any]) -> None:
    assert observation_hash(replace(FULL, **change)) != observation_hash(FULL)


def test_the_hash_is_of_a_recorded_value() -> None:
    # Changing it would refuse to resume every run made before.
    shown = observation_hash(Observation(language="en", text="7"))
    assert shown == hashlib.sha256(b'{"language":"en","text":"7"}').hexdigest()


def test_audio_that_cannot_be_sent_is_named() -> None:
    class Odd:
        pass

    with pytest.raises(UsageError, match="FB509 audio of type Odd"):
        observation_to_wire(Observation(language="en", channels={Role.USER: Odd()}))  # type: ignore[dict-item]


def test_the_repeat_crosses() -> None:
    shown = Observation(language="en", text="7", repeat=3)
    assert observation_from_wire(observation_to_wire(shown)).repeat == 3
