"""Chat with sound over the OpenAI API, against a server that misbehaves as told."""

from __future__ import annotations

import json

import pytest

from fake_server import Reply, chat, serving
from floorbench.core.vocab import Outcome
from floorbench.systems.llm.chat import ChatTurn, Sound
from floorbench.systems.llm.openai_chat import OpenAIChat
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy

TURNS = (
    ChatTurn(role="user", parts=(Sound(b"RIFF-one", 1.0),)),
    ChatTurn(role="assistant", parts=("well",)),
    ChatTurn(role="user", parts=("user:", Sound(b"RIFF-two", 1.0))),
)


class Waits(list):
    def __call__(self, seconds):
        self.append(seconds)


def model(server, waits=None, **more):
    policy = Policy(timeout=5.0, attempts=3, sleep=Waits() if waits is None else waits)
    return OpenAIChat(model="m", base_url=server.url + "/v1", policy=policy, **more)


def ask(made, **more):
    return made.ask(TURNS, system="Judge.", max_tokens=8, **more)


def fault(made):
    with pytest.raises(ModelFault) as caught:
        ask(made)
    return caught.value


def sse(*pieces, done=True):
    lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
    return Reply(raw="".join([*lines, "data: [DONE]\n\n" if done else ""]).encode())


def piece(text, finish=None, **delta):
    choice = {"index": 0, "delta": {"content": text, **delta}, "finish_reason": finish}
    return {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m",
            "choices": [choice]}  # fmt: skip


def test_sound_and_words_cross_as_the_service_takes_them():
    with serving([Reply(chat("<|Takeover|>"))]) as server:
        said = ask(model(server, hears=True), seed=3, answers=["a", "b"])
    assert said.text == "<|Takeover|>"
    body = server.calls[0].body
    assert body["modalities"] == ["text"]
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    part = body["messages"][1]["content"][0]
    assert part == {"type": "input_audio", "input_audio": {"data": "UklGRi1vbmU=", "format": "wav"}}
    assert body["messages"][2]["content"] == "well"
    assert body["messages"][3]["content"][0] == {"type": "text", "text": "user:"}
    form = body["response_format"]["json_schema"]
    assert form["schema"]["properties"]["answer"]["enum"] == ["a", "b"]
    assert (body["seed"], body["max_tokens"]) == (3, 8)


def test_a_vllm_server_takes_sound_as_a_data_url():
    with serving([Reply(chat("x"))]) as server:
        ask(model(server, hears=True, audio_part="audio_url"))
    part = server.calls[0].body["messages"][1]["content"][0]
    assert part["audio_url"]["url"] == "data:audio/wav;base64,UklGRi1vbmU="


def test_an_answer_in_pieces_is_put_together():
    usage = {"prompt_tokens": 20, "completion_tokens": 2, "total_tokens": 22}
    pieces = [piece("<|Take"), piece("over|>"), piece("", "stop"),
              {**piece(""), "choices": [], "usage": usage}]  # fmt: skip
    with serving([sse(*pieces)]) as server:
        said = ask(model(server, stream=True))
    assert (said.text, said.finished) == ("<|Takeover|>", True)
    assert (said.usage.prompt, said.usage.generated) == (20, 2)
    assert server.calls[0].body["stream"] is True


def test_an_answer_that_breaks_off_is_asked_for_again():
    with serving([sse(piece("<|Ta"), done=False), sse(piece("yes", "stop"))]) as server:
        assert ask(model(server, stream=True)).text == "yes"
    with serving([sse(piece("<|Ta"), done=False)]) as server:
        found = fault(model(server, stream=True))
    assert (found.outcome, found.reason) == (Outcome.FAILED, "the answer broke off (3 tries)")


@pytest.mark.parametrize("stream", [False, True])
def test_a_busy_server_is_asked_again_when_it_says(stream):
    waits = Waits()
    busy = Reply({}, status=429, headers={"retry-after-ms": "1500", "Retry-After": "9"})
    good = sse(piece("no", "stop")) if stream else Reply(chat("no"))
    with serving([busy, good]) as server:
        assert ask(model(server, waits, stream=stream)).text == "no"
    assert waits == [1.5]


def test_a_used_up_quota_is_waited_for_before_the_next_request():
    waits = Waits()
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s"}
    with serving([Reply(chat("one"), headers=headers), Reply(chat("two"))]) as server:
        made = model(server, waits)
        ask(made)
        assert waits == []
        ask(made)
    assert len(waits) == 1
    assert 20 < waits[0] <= 30


def test_a_call_of_a_tool_is_no_answer():
    body = chat("")
    body["choices"][0]["message"] = {
        "content": None, "tool_calls": [{"id": "1", "type": "function"}],
    }  # fmt: skip
    with serving([Reply(body)]) as server:
        found = fault(model(server))
    assert (found.outcome, found.reason) == (
        Outcome.INVALID, "the model called a tool instead of answering",
    )  # fmt: skip
    call = [{"index": 0, "id": "1", "type": "function", "function": {"name": "f"}}]
    with serving([sse(piece(None, tool_calls=call), piece(None, "tool_calls"))]) as server:
        assert fault(model(server, stream=True)).outcome is Outcome.INVALID


def test_recorded_replies_replay_without_server_or_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-0123456789")
    with serving([Reply(chat("yes")), Reply(chat("other"))]) as server:
        first = ask(model(server, replies=Replies(tmp_path)))
        again = ask(model(server, replies=Replies(tmp_path)))
        assert len(server.calls) == 1
        other = ask(model(server, replies=Replies(tmp_path)), repeat=1)
        address = server.url
    assert first == again
    assert other.text == "other"
    monkeypatch.delenv("OPENAI_API_KEY")
    gone = OpenAIChat(model="m", base_url=address + "/v1", replies=Replies(tmp_path, replay=True))
    gone.load()
    assert ask(gone) == first
    assert all("secret" not in f.read_text() for f in tmp_path.iterdir())


def test_the_snapshot_is_told_whole_and_in_pieces():
    named = {"model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_1"}
    with serving([Reply({**chat("yes"), **named})]) as server:
        assert ask(model(server)).served.snapshot == "gpt-4o-2024-08-06"
    with serving([sse({**piece("ye"), **named}, {**piece("s", "stop"), **named})]) as server:
        by = ask(model(server, stream=True)).served
    assert (by.snapshot, by.build) == ("gpt-4o-2024-08-06", "fp_1")


def test_pieces_with_hostile_names_are_an_answer_all_the_same():
    named = {"model": ["x"], "system_fingerprint": "a\nb"}
    with serving([sse({**piece("yes", "stop"), **named})]) as server:
        said = ask(model(server, stream=True))
    assert (said.text, said.served.snapshot, said.served.build) == ("yes", None, None)
