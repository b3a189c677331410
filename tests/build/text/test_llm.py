"""Models that write and judge, against a server that answers as told."""

from __future__ import annotations

import json

import pytest

from fake_server import Reply, chat, serving
from floorbench.build.pipeline.stage import Rejected, Stage
from floorbench.build.text.dialogue import dialogue_of, seeds, with_dialogue
from floorbench.build.text.llm import LlmJudge, LlmWrite, named
from floorbench.build.text.writer import Write
from floorbench.errors import DataError, UsageError
from floorbench.systems.llm.openai_chat import OpenAIChat
from floorbench.systems.llm.retrying import Policy
from support.bench import FakeBench

LONG = (
    "First you pour the water in slowly, then you wait until it has settled, "
    "and after about ten minutes you"
)
HISTORY = [
    {"user": "Can you help me with a cake?", "assistant": "Of course I can."},
    {"user": "What comes first?", "assistant": LONG},
]
INTERRUPTION = "SystemSpeaking_StopandListen_Interruption"
GOOD = {"history": HISTORY, "speaker": "user", "target": "Hang on, how much flour?"}


def seed(label=INTERRUPTION, language="en"):
    return seeds(count=1, languages=[language], labels=[label])[0]


def model(server, name="writer", **more):
    policy = Policy(timeout=5.0, attempts=2, sleep=lambda seconds: None)
    return OpenAIChat(
        model=name, base_url=server.url + "/v1", key_env="WRITER_KEY", policy=policy, **more
    )


def write(answer, *, label=INTERRUPTION, language="en", attempt=0, finish="stop"):
    """Return what the stage makes of one answer, the lineage, and what was sent."""
    item = seed(label, language)
    bench = FakeBench(item.id, attempt=attempt)
    if isinstance(answer, Reply):
        reply = answer
    else:
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        reply = Reply(chat(text, finish=finish))
    with serving([reply]) as server:
        stage = LlmWrite(model=model(server))
        stage.start()
        outcome = stage.make(item, bench)
        return outcome, bench.notes, server.calls


def test_a_dialogue_is_read_from_the_answer():
    outcome, notes, calls = write(GOOD)
    dialogue = dialogue_of(outcome.items[0])
    assert [r.user for r in dialogue.history] == [r["user"] for r in HISTORY]
    assert (dialogue.target.text, dialogue.target.cut_after) == (GOOD["target"], None)
    assert (dialogue.assistant_text, dialogue.family) == (LONG, seed().id)
    body = calls[0].body
    form = body["response_format"]["json_schema"]["schema"]
    assert form["required"] == ["history", "speaker", "target"]
    assert form["properties"]["speaker"]["enum"] == ["user"]
    assert dialogue.topic in body["messages"][0]["content"]
    (kind, facts) = notes[0]
    assert kind == "call"
    assert facts["purpose"] == "write"
    assert facts["seed"] == body["seed"]
    assert (facts["prompt_tokens"], facts["generated_tokens"]) == (10, 1)
    assert len(facts["prompt"]) == len(facts["reply"]) == 64
    sent = [message["content"] for message in body["messages"]]
    assert [facts["system"], facts["asked"]] == sent
    assert json.loads(facts["answered"]) == GOOD


def test_words_and_fences_around_the_object_do_no_harm():
    outcome, _, _ = write(f"Here it is:\n```json\n{json.dumps(GOOD)}\n```")
    assert dialogue_of(outcome.items[0]).target.text == GOOD["target"]


def test_an_unfinished_turn_is_cut_where_the_model_says():
    label = "SystemIdle_Dismiss_Incomplete"
    said = {
        **GOOD,
        "target": "I think that we should take the big tin.",
        "heard": "I think that we…",
    }
    outcome, _, calls = write(said, label=label)
    dialogue = dialogue_of(outcome.items[0])
    assert (dialogue.target.cut_after, dialogue.heard) == (4, "I think that we")
    assert "heard" in calls[0].body["response_format"]["json_schema"]["schema"]["required"]
    zh = {
        "history": [{"user": "怎么做蛋糕？", "assistant": "先把面粉准备好。"}],
        "speaker": "user", "target": "我想，咱们还是用大的那个模子。", "heard": "我想，咱们还是用",
    }  # fmt: skip
    outcome, _, _ = write(zh, label=label, language="zh")
    assert dialogue_of(outcome.items[0]).target.cut_after == 7


def test_a_noise_has_a_history_only_and_a_backchannel_is_closed():
    outcome, _, calls = write({"history": HISTORY}, label="SystemSpeaking_Maintain_Invalidation")
    assert dialogue_of(outcome.items[0]).target.role == "noise"
    assert calls[0].body["response_format"]["json_schema"]["schema"]["required"] == ["history"]
    said = {**GOOD, "target": "Mm-hm, right"}
    outcome, _, _ = write(said, label="SystemSpeaking_Maintain_Backchannel")
    dialogue = dialogue_of(outcome.items[0])
    assert dialogue.heard == dialogue.target.text == "Mm-hm, right."


def without(name):
    return {k: v for k, v in GOOD.items() if k != name}


LOOP = "and then it stops " * 4
REJECTED = [
    ("json", '{"history": ['),
    ("json", "Sure, I will write something."),
    ("json", "[1, 2]"),
    ("refused", "I'm sorry, but I can't help with that."),
    ("refused", "抱歉，我无法提供这样的内容。"),
    ("blank", "  \n"),
    ("fields", without("target")),
    ("fields", without("history")),
    ("fields", {**GOOD, "label": "Interruption"}),
    ("fields", {**GOOD, "history": [{"user": "Hello."}]}),
    ("fields", {**GOOD, "target": 7}),
    ("empty", {**GOOD, "target": "..."}),
    ("role", {**GOOD, "speaker": "third_party"}),
    ("language", {**GOOD, "target": "等一下，要多少面粉？"}),
    ("repetition", {**GOOD, "target": "What comes first?"}),
    ("repetition", {**GOOD, "target": f"Wait, {LOOP}again."}),
    ("history", {**GOOD, "history": [HISTORY[0], HISTORY[0], HISTORY[1]]}),
    ("history", {**GOOD, "history": []}),
    ("length", {**GOOD, "target": "Well " * 35 + "no."}),
    ("state", {**GOOD, "history": HISTORY[:1]}),
    ("leak", {**GOOD, "target": "This is no backchannel, I want to speak."}),
]


@pytest.mark.parametrize(("reason", "answer"), REJECTED)
def test_a_bad_answer_is_rejected_with_its_reason(reason, answer):
    outcome, notes, _ = write(answer)
    assert isinstance(outcome, Rejected)
    assert outcome.reason == reason
    assert notes[0][0] == "call"


def test_an_answer_that_breaks_off_is_too_long():
    outcome, _, _ = write(json.dumps(GOOD)[:60], finish="length")
    assert outcome.reason == "too-long"


@pytest.mark.parametrize(
    "heard", ["I think which", "", "i think", "I think that we should take the big tin of"]
)
def test_what_is_heard_must_begin_the_sentence(heard):
    said = {**GOOD, "target": "I think that we should take the big tin.", "heard": heard}
    outcome, _, _ = write(said, label="SystemIdle_Dismiss_Incomplete")
    assert outcome.reason == "heard"


def test_a_refusal_and_a_broken_reply_of_the_service_are_rejections():
    refused = chat("")
    refused["choices"][0]["message"]["refusal"] = "no"
    outcome, notes, _ = write(Reply(refused))
    assert outcome.reason == "refused"
    assert notes[0][1]["fault"] == "abstained"
    outcome, _, _ = write(Reply({"choices": []}))
    assert outcome.reason == "json"


def test_a_service_that_is_down_fails_the_item():
    with pytest.raises(DataError, match=f"FB863 {seed().id}"):
        write(Reply({}, status=500))


def test_a_second_attempt_asks_with_another_seed_and_other_things():
    calls = [write(GOOD, attempt=n)[2][0].body for n in (0, 1)]
    assert calls[0]["seed"] != calls[1]["seed"]
    assert calls[0]["messages"][0] != calls[1]["messages"][0]
    assert write(GOOD)[2][0].body == calls[0]


def test_no_key_is_in_settings_or_lineage(monkeypatch):
    monkeypatch.setenv("WRITER_KEY", "sk-secret-123")
    item, bench = seed(), FakeBench()
    with serving([Reply(chat(json.dumps(GOOD)))]) as server:
        stage = LlmWrite(model=model(server))
        stage.make(item, bench)
        assert server.calls[0].headers["authorization"] == "Bearer sk-secret-123"
    assert "sk-secret" not in json.dumps([stage.settings(), bench.notes])
    assert stage.settings()["prompt"] == "dialogue-v1"
    assert isinstance(stage, Stage)
    assert not stage.deterministic


def judge(*answers, label=INTERRUPTION):
    item = seed(label)
    (written,) = Write().make(item, FakeBench(item.id)).items
    bench = FakeBench(item.id, stage="judge")
    replies = [Reply(chat(a if isinstance(a, str) else json.dumps(a))) for a in answers]
    with serving(replies) as server:
        stage = LlmJudge(model=model(server, "judge"))
        return stage.make(written, bench), bench.notes, server.calls, written


SEES = {"answer": "StopandListen_Interruption"}


def test_a_judge_that_agrees_passes_the_item_on():
    outcome, notes, calls, written = judge(SEES, {"ok": True, "why": "It fits."})
    assert outcome.items == (written,)
    assert [kind for kind, _ in notes] == ["call", "call", "judge"]
    assert notes[2][1]["seen"] == SEES["answer"]
    blind = json.dumps(calls[0].body, ensure_ascii=False)
    dialogue = dialogue_of(written)
    assert dialogue.heard in json.loads(blind)["messages"][1]["content"]
    assert (
        len(
            calls[0].body["response_format"]["json_schema"]["schema"]["properties"]["answer"][
                "enum"
            ]
        )
        == 7
    )
    assert "Interruption" not in calls[0].body["messages"][1]["content"]
    assert "was meant to be" not in blind


@pytest.mark.parametrize(
    ("reason", "answers"),
    [
        ("judge-label", [{"answer": "Maintain_SideTalk"}]),
        ("judge-text", [SEES, {"ok": False, "why": "Nobody says that."}]),
        ("judge-unreadable", ["An interruption, I would say."]),
        ("judge-unreadable", [{"answer": "Takeover_Completion"}]),
        ("judge-unreadable", [SEES, "{"]),
        ("judge-unreadable", [SEES, {"ok": "maybe", "why": ""}]),
        ("judge-unreadable", [""]),
    ],
)
def test_a_judge_that_does_not_agree_rejects(reason, answers):
    outcome, notes, calls, _ = judge(*answers)
    assert outcome.reason == reason
    assert notes[-1][0] == "judge"
    assert notes[-1][1]["reason"] == reason
    assert len(calls) == len(answers)


def test_a_model_may_not_judge_itself():
    with serving([Reply(chat("x"))]) as server:
        one, other = model(server), model(server, "judge")
        with pytest.raises(UsageError, match="FB864 writer would judge"):
            LlmJudge(model=model(server), writer=one)
        assert LlmJudge(model=other, writer=one).name == "judge"
        assert named(one) == f"writer at {server.url}/v1"


def test_sampling_out_of_range_is_refused():
    with serving([Reply(chat("x"))]) as server:
        for wrong in ({"temperature": 3.0}, {"max_tokens": 0}, {"prompt": "v0"}):
            with pytest.raises(UsageError, match="FB861"):
                LlmWrite(model=model(server), **wrong)


def test_a_damaged_item_is_named():
    with serving([Reply(chat("x"))]) as server, pytest.raises(DataError, match="FB862"):
        LlmJudge(model=model(server)).make(seed(), FakeBench())


def test_the_judge_reads_the_dialogue_of_the_item():
    (written,) = Write().make(seed(), FakeBench()).items
    assert with_dialogue(written, dialogue_of(written)) == written
