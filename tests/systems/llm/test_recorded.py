import json

import pytest

from floorbench.core.vocab import Outcome
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.recorded import Replies


def test_a_reply_is_asked_for_once_and_replayed(tmp_path):
    asked = []
    replies = Replies(tmp_path)
    for _ in range(2):
        said = replies.through({"q": "我"}, lambda: asked.append(1) or {"text": "好"})
        assert said.answer == {"text": "好"}
    assert asked == [1]
    again = Replies(tmp_path, replay=True).through({"q": "我"}, asked.append)
    assert again == said
    assert not list(tmp_path.glob("*.part"))


def test_another_request_is_another_reply(tmp_path):
    replies = Replies(tmp_path)
    assert replies.through({"q": 1, "repeat": 0}, lambda: "one").answer == "one"
    assert replies.through({"q": 1, "repeat": 1}, lambda: "two").answer == "two"


def test_a_replay_asks_nobody(tmp_path):
    with pytest.raises(ModelFault) as caught:
        Replies(tmp_path, replay=True).through({"q": 1}, lambda: 1 / 0)
    assert caught.value.outcome is Outcome.FAILED
    assert "no recorded reply" in caught.value.reason


def test_a_replay_needs_a_folder():
    with pytest.raises(UsageError, match="FB513"):
        Replies(replay=True)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"answers": 1}'])
def test_a_damaged_reply_is_named(tmp_path, text):
    replies = Replies(tmp_path)
    replies.through({"q": 1}, lambda: "one")
    (file,) = tmp_path.iterdir()
    file.write_text(text)
    with pytest.raises(EnvironmentProblem, match=f"FB557 .*{file.name}"):
        replies.through({"q": 1}, lambda: "one")


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(EnvironmentProblem, match="FB557"):
        Replies(tmp_path / "file" / "sub").through({"q": 1}, lambda: "one")


@pytest.mark.parametrize(
    ("kept", "at"),
    [
        ({"at": "2026-01-31T23:59:59Z"}, "2026-01-31T23:59:59Z"),
        ({}, None),
        ({"at": "yesterday\n"}, None),
        ({"at": 5}, None),
    ],
)
def test_a_reply_keeps_the_time_it_was_made_at(tmp_path, kept, at):
    replies = Replies(tmp_path)
    assert replies.through({"q": 1}, lambda: "one").at is not None
    (file,) = tmp_path.iterdir()
    file.write_text(json.dumps({"answer": "one", **kept}))
    assert replies.through({"q": 1}, lambda: "two") == ("one", at)
