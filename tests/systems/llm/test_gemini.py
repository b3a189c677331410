"""Google's own client against a server that answers, streams, is busy and fails."""

from __future__ import annotations

import json

import pytest

from fake_server import Reply, serving
from floorbench.core.vocab import Outcome
from floorbench.errors import EnvironmentProblem
from floorbench.systems.llm.chat import ChatTurn, Sound
from floorbench.systems.llm.gemini import LIMIT, GeminiChat
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy
from support.model_server import gemini

KEY = "AIza-test-0123456789abcdef"
TURNS = (
    ChatTurn(role="user", parts=(Sound(b"RIFF-one", 1.0),)),
    ChatTurn(role="assistant", parts=("well",)),
    ChatTurn(role="user", parts=("now", Sound(b"RIFF-two", 1.0))),
)


class Waits(list):
    def __call__(self, seconds):
        self.append(seconds)


@pytest.fixture(autouse=True)
def _key(monkeypatch):
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)


def model(server, waits=None, *, timeout=5.0, **more):
    policy = Policy(timeout=timeout, attempts=3, sleep=Waits() if waits is None else waits)
    return GeminiChat(model="gemini-x", base_url=server.url, policy=policy, **more)


def ask(made, **more):
    return made.ask(TURNS, system="Judge.", max_tokens=8, **more)


def fault(made):
    with pytest.raises(ModelFault) as caught:
        ask(made)
    return caught.value


def error(status, text, **headers):
    body = {"error": {"code": status, "message": text, "status": "X"}}
    return Reply(body, status=status, headers=headers)


def test_sound_goes_inline_and_the_answer_comes_with_its_cost():
    reply = gemini("<|Takeover|>", cachedContentTokenCount=2, thoughtsTokenCount=40)
    with serving([Reply(reply)]) as server:
        said = ask(model(server, hears=True), seed=4, answers=["a", "b"])
    assert said.text == "<|Takeover|>"
    assert (said.usage.prompt, said.usage.evaluated, said.usage.generated) == (12, 10, 43)
    (call,) = server.calls
    assert call.path.endswith("models/gemini-x:generateContent")
    assert call.headers["x-goog-api-key"] == KEY
    contents = call.body["contents"]
    assert [c["role"] for c in contents] == ["user", "model", "user"]
    inline = contents[0]["parts"][0]["inlineData"]
    assert sorted(inline.values()) == ["UklGRi1vbmU=", "audio/wav"]
    assert call.body["systemInstruction"]["parts"][0]["text"] == "Judge."
    config = call.body["generationConfig"]
    assert config["responseMimeType"] == "application/json"
    assert (config["seed"], config["maxOutputTokens"], config["temperature"]) == (4, 8, 0.0)


def test_an_answer_in_pieces_is_put_together():
    pieces = [gemini("<|Take", finish=""), gemini("over|>")]
    del pieces[0]["candidates"][0]["finishReason"]
    raw = "".join(f"data: {json.dumps(p)}\r\n\r\n" for p in pieces).encode()
    with serving([Reply(raw=raw)]) as server:
        said = ask(model(server, stream=True))
    assert (said.text, said.finished) == ("<|Takeover|>", True)
    assert "streamGenerateContent" in server.calls[0].path


def test_a_busy_service_is_asked_again_when_it_says():
    waits = Waits()
    replies = [error(429, "quota", **{"Retry-After": "3"}), error(503, "x"), Reply(gemini("no"))]
    with serving(replies) as server:
        assert ask(model(server, waits)).text == "no"
    assert waits == [3.0, 1.0]


@pytest.mark.parametrize(
    ("details", "wait"),
    [([{"retryDelay": "12.5s"}], 12.5), ([{"retryDelay": 3}, "x"], 0.5), ("x", 0.5), (None, 0.5)],
)
def test_the_wait_that_stands_in_the_body_is_kept(details, wait):
    waits = Waits()
    busy = Reply({"error": {"code": 429, "message": "quota", "details": details}}, status=429)
    with serving([busy, Reply(gemini("no"))]) as server:
        assert ask(model(server, waits)).text == "no"
    assert waits == [wait]


def test_an_answer_that_breaks_off_is_asked_for_again():
    piece = gemini("<|Take")
    del piece["candidates"][0]["finishReason"]
    cut = Reply(raw=f"data: {json.dumps(piece)}\r\n\r\n".encode())
    whole = Reply(raw=f"data: {json.dumps(gemini('yes'))}\r\n\r\n".encode())
    with serving([cut, whole]) as server:
        assert ask(model(server, stream=True)).text == "yes"
    with serving([cut]) as server:
        found = fault(model(server, stream=True))
    assert (found.outcome, found.reason) == (Outcome.FAILED, "the answer broke off (3 tries)")


def test_other_refusals_are_not_repeated_and_show_no_key():
    with serving([error(400, f"API key not valid: {KEY}")]) as server:
        found = fault(model(server))
    assert (found.outcome, len(server.calls)) == (Outcome.FAILED, 1)
    assert found.reason == "the server answered 400: API key not valid: <key>"


def test_a_service_that_is_too_slow_is_a_timeout():
    with serving([Reply(gemini("x"), delay=0.8)]) as server:
        found = fault(model(server, timeout=0.2))
    assert found.outcome is Outcome.TIMEOUT


def test_half_an_answer_and_nobody_there_are_failures():
    with serving([Reply(raw=b'{"candidates": [')]) as server:
        made = model(server)
        found = fault(made)
    assert (found.outcome, len(server.calls)) == (Outcome.FAILED, 3)
    assert fault(made).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, Outcome.ABSTAINED),
        (gemini("", finish="SAFETY"), Outcome.ABSTAINED),
        ({}, Outcome.INVALID),
        ({"candidates": []}, Outcome.INVALID),
        ({"candidates": [{"finishReason": "STOP", "content": {"parts": [
            {"functionCall": {"name": "f", "args": {}}}]}}]}, Outcome.INVALID),
    ],
)  # fmt: skip
def test_answers_that_are_none(body, outcome):
    with serving([Reply(body)]) as server:
        assert fault(model(server)).outcome is outcome


def test_an_answer_cut_off_by_its_limit_says_so():
    with serving([Reply(gemini("<|Ta", finish="MAX_TOKENS"))]) as server:
        assert not ask(model(server)).finished


def test_too_much_sound_is_not_sent():
    turn = ChatTurn(role="user", parts=(Sound(bytes(LIMIT * 3 // 4 + 1), 1.0),))
    with serving([Reply(gemini("x"))]) as server, pytest.raises(ModelFault, match="20 MB"):
        model(server, hears=True).ask([turn], system="x", max_tokens=1)
    assert server.calls == []


def test_the_service_needs_a_key_and_a_replay_does_not(monkeypatch, tmp_path):
    with serving([Reply(gemini("yes"))]) as server:
        said = ask(model(server, replies=Replies(tmp_path)))
        monkeypatch.delenv("GEMINI_API_KEY")
        assert ask(model(server, replies=Replies(tmp_path, replay=True))) == said
        assert len(server.calls) == 1
    assert all(KEY not in file.read_text() for file in tmp_path.iterdir())
    with pytest.raises(EnvironmentProblem, match="FB421"):
        GeminiChat(model="gemini-x").load()


@pytest.mark.parametrize(
    ("version", "snapshot"),
    [
        ("gemini-3-pro-001", "gemini-3-pro-001"),
        (None, None),
        ("x" * 10_000_000, None),
        ("a\x1b[2Jb", None),
        (KEY, None),
    ],
    ids=["named", "none", "long", "control", "key"],
)
@pytest.mark.parametrize("stream", [False, True])
def test_the_version_that_answered_is_told(version, snapshot, stream):
    body = {**gemini("yes"), "modelVersion": version}
    reply = Reply(raw=f"data: {json.dumps(body)}\r\n\r\n".encode()) if stream else Reply(body)
    with serving([reply]) as server:
        said = ask(model(server, stream=stream))
    assert (said.text, said.served.snapshot) == ("yes", snapshot)
    assert said.served.at is not None


def test_a_replay_tells_the_version_of_the_recording(tmp_path):
    with serving([Reply({**gemini("yes"), "modelVersion": "v-1"})]) as server:
        first = ask(model(server, replies=Replies(tmp_path)))
        again = ask(model(server, replies=Replies(tmp_path, replay=True)))
        assert len(server.calls) == 1
    assert again.served == first.served
    assert (again.served.snapshot, again.served.at) == ("v-1", first.served.at)
