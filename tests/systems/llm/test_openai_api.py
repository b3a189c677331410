"""The OpenAI client against a server that answers, is busy, is slow, breaks off and refuses."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from email.utils import formatdate

import pytest

from fake_server import Reply, chat, serving
from floorbench import codec
from floorbench.core.sample import Observation, Question
from floorbench.core.vocab import Outcome
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.systems.llm.asking import Boundary, Generated, YesNo
from floorbench.systems.llm.openai_api import OpenAIModel, pause_of
from floorbench.systems.llm.protocol import END_OF_TEXT, ModelFault, Prompt
from floorbench.systems.llm.recorded import Replies
from floorbench.systems.llm.retrying import Policy

KEY = "sk-test-0123456789abcdef"
PROMPT = Prompt(opening="Q:", pieces=(" one", " two"), closing="\nA:", system="Judge.", chat=True)


class Waits(list):
    """Takes the place of sleeping."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return KEY


def model(server, waits=None, *, timeout=5.0, attempts=3, **more):
    policy = Policy(
        timeout=timeout, attempts=attempts, sleep=waits if waits is not None else Waits()
    )
    made = OpenAIModel(model="fake-1", base_url=server.url + "/v1", policy=policy, **more)
    made.load()
    return made


def fault(made, prompt=PROMPT, **more) -> ModelFault:
    with pytest.raises(ModelFault) as caught:
        made.complete(prompt, max_tokens=5, **more)
    return caught.value


def test_an_answer_with_its_cost(key):
    reply = chat("yes", {"no": -2.0, "yes": -0.2, "<|im_end|>": -9.0}, prompt=50, cached=40)
    with serving([Reply(reply)]) as server:
        said = model(server).complete(PROMPT, max_tokens=1, top=50, seed=7, stop=("END",))
    assert said.text == "yes"
    assert [t.text for t in said.first] == ["yes", "no", END_OF_TEXT]
    assert (said.usage.prompt, said.usage.evaluated, said.usage.generated) == (50, 10, 1)
    (call,) = server.calls
    assert call.path == "/v1/chat/completions"
    assert call.headers["authorization"] == f"Bearer {KEY}"
    assert call.body == {
        "model": "fake-1",
        "max_tokens": 1,
        "temperature": 0.0,
        "seed": 7,
        "stop": ["END"],
        "logprobs": True,
        "top_logprobs": 20,
        "messages": [
            {"role": "system", "content": "Judge."},
            {"role": "user", "content": "Q: one two\nA:"},
        ],
    }


@pytest.mark.parametrize(
    "logprobs",
    [
        {"tokens": ["."], "token_logprobs": [-0.5], "top_logprobs": [{".": -0.5, " and": -1.5}]},
        {"content": [{"token": ".", "top_logprobs": [
            {"token": ".", "logprob": -0.5}, {"token": " and", "logprob": -1.5}]}]},
    ],
)  # fmt: skip
def test_plain_text_is_continued_in_both_forms_of_the_api(key, logprobs):
    body = {"choices": [{"text": ".", "logprobs": logprobs, "finish_reason": "length"}]}
    with serving([Reply(body)]) as server:
        said = model(server, raw=True).complete(
            Prompt(opening="B:", pieces=(" well",)), max_tokens=1, top=5
        )
    assert [t.text for t in said.first] == [".", " and"]
    assert not said.finished
    assert server.calls[0].path == "/v1/completions"
    assert server.calls[0].body["prompt"] == "B: well"
    assert server.calls[0].body["logprobs"] == 5


def test_a_busy_server_is_asked_again_when_it_says(key):
    waits = Waits()
    busy = {"error": {"message": "slow down"}}
    replies = [
        Reply(busy, status=429, headers={"Retry-After": "7"}),
        Reply(busy, status=503),
        Reply(chat("no")),
    ]
    with serving(replies) as server:
        said = model(server, waits).complete(PROMPT, max_tokens=1)
    assert said.text == "no"
    assert waits == [7.0, 1.0]
    assert len(server.calls) == 3


def test_a_date_in_retry_after_and_the_longest_wait(key):
    waits = Waits()
    date = formatdate(time.time() + 3600, usegmt=True)
    replies = [Reply({}, status=429, headers={"Retry-After": date}), Reply(chat("no"))]
    with serving(replies) as server:
        model(server, waits).complete(PROMPT, max_tokens=1)
    assert waits == [60.0]


def test_a_server_that_stays_busy_is_a_failure_with_its_words(key):
    waits = Waits()
    with serving([Reply({"error": {"message": "quota used up"}}, status=429)]) as server:
        found = fault(model(server, waits))
    assert found.outcome is Outcome.FAILED
    assert found.reason == "the server answered 429: quota used up (3 tries)"
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422])
def test_other_refusals_are_not_repeated(key, status):
    with serving([Reply({"error": {"message": "no"}}, status=status)]) as server:
        found = fault(model(server))
    assert (found.outcome, len(server.calls)) == (Outcome.FAILED, 1)
    assert f"{status}: no" in found.reason


def test_a_server_that_is_too_slow_is_a_timeout(key):
    with serving([Reply(chat("yes"), delay=0.8)]) as server:
        found = fault(model(server, timeout=0.2, attempts=2))
    assert (found.outcome, found.reason) == (Outcome.TIMEOUT, "no answer within 0.2 s (2 tries)")


def test_nobody_listens(key):
    with serving([]) as server:
        made = model(server)
    found = fault(made)
    assert found.outcome is Outcome.FAILED
    assert "no connection" in found.reason


@pytest.mark.parametrize("claim", [None, 500])
def test_half_an_answer_is_asked_for_again_and_then_counted(key, claim):
    half = json.dumps(chat("yes")).encode()[:60]
    with serving([Reply(raw=half, claim=claim)]) as server:
        found = fault(model(server))
    assert (found.outcome, len(server.calls)) == (Outcome.FAILED, 3)
    with serving([Reply(raw=half, claim=claim), Reply(chat("yes"))]) as server:
        assert model(server).complete(PROMPT, max_tokens=1).text == "yes"


@pytest.mark.parametrize(
    "body",
    [
        {"choices": []},
        {"choices": None},
        {},
        [],
        "yes",
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 3}}]},
    ],
)
def test_an_answer_without_a_choice_is_invalid(key, body):
    with serving([Reply(body)]) as server:
        assert fault(model(server)).outcome is Outcome.INVALID


def test_a_model_that_refuses_abstains(key):
    body = chat("")
    body["choices"][0]["message"] = {"content": None, "refusal": "I cannot"}
    with serving([Reply(body)]) as server:
        assert fault(model(server)).outcome is Outcome.ABSTAINED


def test_null_probabilities_are_no_score(key):
    question = Observation(language="en", text="well I", question=Question(text="?", answers=()))
    with serving([Reply(chat("yes"))]) as server:
        decision = YesNo(model=model(server), name="x").decide(question)
    assert decision.outcome is Outcome.INVALID
    assert decision.scores == {}
    assert decision.raw == "yes"


def test_one_word_without_the_other_gives_a_label_and_no_score(key):
    question = Observation(language="en", text="well I", question=Question(text="?", answers=()))
    with serving([Reply(chat("Yes", {"Yes": -0.1, " YES": -3.0, "Sure": -4.0}))]) as server:
        decision = YesNo(model=model(server), name="x").decide(question)
    assert (decision.outcome, decision.label, decision.scores) == (Outcome.OK, "yes", {})


def test_the_key_is_nowhere(key, monkeypatch):
    def echo(call):
        said = call.headers.get("authorization", "")
        return Reply({"error": {"message": f"bad credentials: {said}"}}, status=401)

    with serving(echo) as server:
        made = model(server)
        system = Generated(model=made, name="x")
        system.load()
        decision = system.decide(
            Observation(language="en", text="well", question=Question(text="?", answers=()))
        )
    assert KEY not in decision.reason
    assert "bad credentials: Bearer <key>" in decision.reason
    assert KEY.encode() not in codec.encode(system.spec)


def test_the_service_needs_a_key_and_other_servers_do_not(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(EnvironmentProblem, match="FB421"):
        OpenAIModel(model="gpt-4o").load()
    with serving([Reply(chat("no"))]) as server:
        assert model(server).complete(PROMPT, max_tokens=1).text == "no"


@pytest.mark.parametrize(
    "url", ["http://user:secret@host/v1", "https://host/v1?key=secret", "ftp://host", "host"]
)
def test_an_address_with_a_secret_is_refused_without_showing_it(url):
    with pytest.raises(UsageError, match="FB513") as caught:
        OpenAIModel(model="m", base_url=url)
    assert "secret" not in str(caught.value)


def test_a_server_without_completions_cannot_be_asked_for_boundaries(key):
    with serving([]) as server, pytest.raises(UsageError, match="continues plain text"):
        Boundary(model=model(server), name="x")


@pytest.mark.parametrize(
    ("reset", "seconds"), [("2s", 2.0), ("150ms", 0.15), ("1h2m3s", 3723.0), ("", 0.0), ("x", 0.0)]
)
def test_reset_times(reset, seconds):
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset}
    assert pause_of(headers) == pytest.approx(seconds)
    assert pause_of({}) == 0.0


def test_a_used_up_quota_is_waited_for_before_the_next_prefix(key):
    waits = Waits()
    headers = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "30s"}
    with serving([Reply(chat("one"), headers=headers), Reply(chat("two"))]) as server:
        made = model(server, waits)
        made.complete(PROMPT, max_tokens=1)
        assert waits == []
        made.complete(PROMPT, max_tokens=1)
    assert len(waits) == 1
    assert 20 < waits[0] <= 30


def test_recorded_answers_replay_without_server_or_key(key, tmp_path, monkeypatch):
    top = {"yes": -0.2, "no": -2.0}
    seen = Observation(
        language="en", text="well I", question=Question(text="Judge.", answers=("yes", "no"))
    )
    with serving([Reply(chat("yes", top)), Reply(chat("no", top))]) as server:
        first, again = (
            YesNo(model=model(server, replies=Replies(tmp_path)), name="y").decide(seen)
            for _ in range(2)
        )
        assert len(server.calls) == 1
        second = YesNo(model=model(server, replies=Replies(tmp_path)), name="y").decide(
            replace(seen, repeat=1)
        )
        assert len(server.calls) == 2  # a repeat is asked anew: its agreement is worth something
        address = server.url
    monkeypatch.delenv("OPENAI_API_KEY")
    made = OpenAIModel(
        model="fake-1", base_url=address + "/v1", replies=Replies(tmp_path, replay=True)
    )
    replayed = YesNo(model=made, name="y").decide(seen)
    assert first == again == replayed
    assert (first.raw, second.raw) == ("yes", "no")
    assert KEY not in "".join(f.read_text() for f in tmp_path.iterdir())
    other = YesNo(model=made, name="y").decide(
        Observation(
            language="en", text="well", question=Question(text="Judge.", answers=("yes", "no"))
        )
    )
    assert (other.outcome, other.reason[:17]) == (Outcome.FAILED, "no recorded reply")


def test_what_a_refusal_cost_is_counted_and_so_is_what_the_service_knew(key):
    """A service bills the whole prompt, cached or not, and refusals too."""
    refused = chat("", prompt=30, cached=20)
    refused["choices"][0]["message"] = {"content": None, "refusal": "I cannot."}
    seen = Observation(
        language="en", text="well", question=Question(text="Judge.", answers=("yes", "no"))
    )
    with serving([Reply(refused), Reply(chat("{}", prompt=50, cached=40))]) as server:
        made = Generated(model=model(server), name="g")
        assert made.decide(seen).outcome is Outcome.ABSTAINED
        assert made.spent() == (30, 1)
        assert made.decide(seen).outcome is Outcome.INVALID
        assert made.spent() == (50, 1)


TEXT = {"choices": [{"text": ".", "finish_reason": "stop"}]}
NAMED = {"model": "gpt-4o-2024-08-06", "system_fingerprint": "fp_44709d6fcb"}


@pytest.mark.parametrize("body", [chat("yes"), TEXT], ids=["chat", "text"])
def test_the_snapshot_that_answered_is_told(key, body):
    prompt = PROMPT if body is not TEXT else Prompt(opening="B:")
    with serving([Reply({**body, **NAMED})]) as server:
        by = model(server, raw=True).complete(prompt, max_tokens=1).served
    assert (by.snapshot, by.build) == ("gpt-4o-2024-08-06", "fp_44709d6fcb")
    assert by.at is not None


@pytest.mark.parametrize("model_name", [None, 5, "x" * 10_000_000, "a\x1b[2Jb", f"m {KEY}"],
                         ids=["none", "number", "long", "control", "key"])  # fmt: skip
def test_a_snapshot_that_is_no_name_is_not_said(key, model_name):
    with serving([Reply({**chat("yes"), "model": model_name, "system_fingerprint": 7})]) as server:
        said = model(server).complete(PROMPT, max_tokens=1)
    assert (said.text, said.served.snapshot, said.served.build) == ("yes", None, None)


def test_who_refuses_is_told_too(key):
    refused = {**chat(""), **NAMED}
    refused["choices"][0]["message"]["refusal"] = "no"
    with serving([Reply(refused)]) as server:
        assert fault(model(server)).served.snapshot == "gpt-4o-2024-08-06"
    with serving([Reply({"error": {"message": "x"}}, status=401)]) as server:
        assert fault(model(server)).served is None


def test_a_replay_tells_the_snapshot_and_the_time_of_the_recording(key, tmp_path):
    with serving([Reply({**chat("yes"), **NAMED})]) as server:
        made = model(server, replies=Replies(tmp_path))
        made.complete(PROMPT, max_tokens=1)
        (file,) = tmp_path.glob("*.json")
        kept = json.loads(file.read_text())
        file.write_text(json.dumps({**kept, "at": "2025-12-24T12:00:00Z"}))
        by = made.complete(PROMPT, max_tokens=1).served
    assert (by.snapshot, by.at) == ("gpt-4o-2024-08-06", "2025-12-24T12:00:00Z")
