from __future__ import annotations

import pytest

from floorbench.build.pipeline.stage import Rejected
from floorbench.build.text.answers import draft, object_of, object_start
from floorbench.build.text.dialogue import Dialogue

ROUND = {"user": " Hello. ", "assistant": "Hi."}


def drafted(label: str, language: str = "en", **said: object) -> Dialogue | Rejected:
    found = {"history": [ROUND], **said}
    return draft(found, id="a", language=language, label=label, topic="cake")


@pytest.mark.parametrize("text", ["[" * 100_000 + "{", '{"a": ' * 100_000, "{", "[1]", "yes"])
def test_what_is_no_object_is_rejected(text: str) -> None:
    found = object_of(text)
    assert isinstance(found, Rejected)
    assert found.reason == "json"


def test_the_first_object_is_read_wherever_it_stands() -> None:
    assert object_of('Sure {so}: {"a": {"b": 1}} and {"a": 2}') == {"a": {"b": 1}}
    assert object_start("{so}") == -1


@pytest.mark.parametrize(
    ("text", "finished", "reason"),
    [
        (" ", True, "blank"),
        ('{"a": ', False, "too-long"),
        ("I can't do that.", True, "refused"),
        ("I can't do that.", False, "too-long"),
    ],
)
def test_why_there_is_no_object(text: str, finished: bool, reason: str) -> None:
    found = object_of(text, finished=finished)
    assert isinstance(found, Rejected)
    assert found.reason == reason


def test_texts_are_stripped_and_a_backchannel_is_closed() -> None:
    said = {"speaker": "user", "target": " Mm-hm "}
    found = drafted("SystemSpeaking_Maintain_Backchannel", **said)
    assert isinstance(found, Dialogue)
    assert found.history[0].user == "Hello."
    assert found.target.text == "Mm-hm."
    said["target"] = "嗯"
    found = drafted("SystemSpeaking_Maintain_Backchannel", "zh", **said)
    assert isinstance(found, Dialogue)
    assert found.target.text == "嗯。"


def test_a_noise_has_no_words() -> None:
    found = drafted("SystemSpeaking_Maintain_Invalidation")
    assert isinstance(found, Dialogue)
    assert (found.target.role, found.target.text) == ("noise", "")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ({"speaker": "user", "target": "I think so."}, "fields"),
        ({"speaker": "user", "target": "I think so.", "heard": "so"}, "heard"),
        ({"speaker": "user", "target": "...", "heard": ""}, "empty"),
    ],
)
def test_a_broken_off_turn_needs_its_beginning(said: dict[str, object], reason: str) -> None:
    found = drafted("SystemIdle_Dismiss_Incomplete", **said)
    assert isinstance(found, Rejected)
    assert found.reason == reason
