"""The Ollama client against a stand-in for its server."""

from __future__ import annotations

import pytest

from fake_server import Call, Reply, serving
from floorbench.catalog import SYSTEMS
from floorbench.core.sample import Observation, Question
from floorbench.core.vocab import Outcome
from floorbench.errors import SystemProblem
from floorbench.systems.build import build_system
from floorbench.systems.llm.ollama import OllamaModel
from floorbench.systems.llm.protocol import ModelFault, Prompt
from floorbench.systems.llm.retrying import Policy

TEMPLATE = "{{ .System }} {{ .Prompt }}"

PAPER_TAGS = (
    "phi3:3.8b",
    "phi3:14b",
    "gemma2:9b",
    "gemma2:27b",
    "llama3.1:8b",
    "mistral:7b",
)
"""Tags of the within-turn TRP study. What a tag stands for can change: the digest tells."""


def ollama(call: Call) -> Reply:
    if call.path == "/api/version":
        return Reply({"version": "0.12.11"})
    if call.path == "/api/tags":
        known = {"other": "0", "mistral:7b": "f974", "mistral:latest": "f974"}
        return Reply({"models": [{"name": n, "digest": d} for n, d in known.items()]})
    if call.path == "/api/show":
        if call.body["model"] not in ("mistral:7b", "mistral"):
            return Reply({"error": "model 'x' not found"}, status=404)
        details = {"quantization_level": "Q4_0", "parameter_size": "7.2B"}
        return Reply({"details": details, "template": TEMPLATE, "license": "Apache License\nmore"})
    cost = {"prompt_eval_count": 9, "eval_count": 2, "done_reason": "stop"}
    if call.path == "/api/generate":
        tops = [{"token": ".", "logprob": -0.3}, {"token": "", "logprob": -1.0}]
        return Reply({"response": ".", "logprobs": [{"token": ".", "top_logprobs": tops}], **cost})
    return Reply({"message": {"content": '{"decision": 1} END'}, **cost})


def test_what_the_tag_stands_for_is_recorded():
    with serving(ollama) as server:
        model = OllamaModel(tag="mistral:7b", host=server.url)
        model.load()
    assert model.info.weights == {"mistral:7b": "f974"}
    assert model.info.licence == "Apache License"
    found = {k: model.info.parameters[k] for k in ("quantisation", "size", "template", "ollama")}
    assert found == {
        "quantisation": "Q4_0",
        "size": "7.2B",
        "template": TEMPLATE,
        "ollama": "0.12.11",
    }


def test_a_tag_without_a_version_is_the_latest():
    with serving(ollama) as server:
        model = OllamaModel(tag="mistral", host=server.url)
        model.load()
    assert model.info.weights == {"mistral": "f974"}


def test_a_chat_call():
    with serving(ollama) as server:
        system = build_system("generate-mistral-7b", host=server.url, seed=3)
        system.load()
        decision = system.decide(
            Observation(language="en", text="so yes", question=Question(text="Judge.", answers=()))
        )
    assert (decision.label, system.spec.name) == ("yes", "generate-mistral-7b")
    body = server.calls[-1].body
    assert body["options"]["temperature"] == 0.4
    assert body["options"]["num_ctx"] == 4096
    assert body["options"]["stop"] == ["END"]
    assert body["messages"][0] == {"role": "system", "content": "Judge."}
    assert body["messages"][1]["content"].endswith("\n so yes")
    assert "logprobs" not in body
    assert system.spec.weights == {"mistral:7b": "f974"}


def test_plain_text_with_probabilities():
    with serving(ollama) as server:
        system = build_system("boundary-ollama", model="mistral:7b", host=server.url)
        decision = system.decide(Observation(language="en", text="so yes"))
    assert decision.scores["boundary"] == pytest.approx(0.7408 + 0.3679, abs=1) == 1.0
    assert server.calls[-1].body["raw"] is True
    assert server.calls[-1].body["top_logprobs"] == 20


def test_a_server_that_gives_no_probabilities_gives_no_score():
    with serving(ollama) as server:
        system = build_system("yesno-ollama", model="mistral:7b", host=server.url)
        decision = system.decide(
            Observation(language="en", text="so", question=Question(text="?", answers=()))
        )
    assert (decision.outcome, decision.scores) == (Outcome.INVALID, {})


def test_a_tag_that_is_not_there_says_how_to_get_it():
    with serving(ollama) as server, pytest.raises(SystemProblem, match="not found") as caught:
        OllamaModel(tag="phi3:14b", host=server.url).load()
    assert caught.value.code == "FB551"
    assert "ollama pull phi3:14b" in caught.value.hint


def test_no_server_and_another_server():
    with serving([]) as server:
        url = server.url
    policy = Policy(attempts=1)
    with pytest.raises(SystemProblem, match="no connection"):
        OllamaModel(tag="mistral:7b", host=url, policy=policy).load()
    with serving([Reply({"hello": 1})]) as server, pytest.raises(SystemProblem, match="speak like"):
        OllamaModel(tag="mistral:7b", host=server.url, policy=policy).load()


@pytest.mark.parametrize("body", [{}, {"message": None}, {"message": {"content": None}}])
def test_an_answer_of_another_shape_is_invalid(body):
    def reply(call: Call) -> Reply:
        return Reply(body) if call.path == "/api/chat" else ollama(call)

    with serving(reply) as server, pytest.raises(ModelFault) as caught:
        OllamaModel(tag="mistral:7b", host=server.url).complete(
            Prompt(opening="x", chat=True), max_tokens=1
        )
    assert caught.value.outcome is Outcome.INVALID


def test_every_model_of_the_study_has_its_row():
    names = {f"generate-{tag.replace(':', '-')}" for tag in PAPER_TAGS} | {"generate-gpt-4o"}
    assert names <= set(SYSTEMS.entries())
    for name in names:
        assert build_system(name).spec.name == name


@pytest.mark.parametrize(
    ("said", "snapshot"),
    [
        ("mistral:7b", "mistral:7b@f974"),
        ("m" * 118, "m" * 118),
        (None, None),
        (7, None),
        ("x" * 10_000_000, None),
        ("a\nb", None),
    ],
    ids=["named", "no room", "none", "number", "long", "control"],
)
@pytest.mark.parametrize("prompt", [Prompt(opening="a"), Prompt(opening="a", chat=True)])
def test_an_answer_names_the_tag_and_the_digest_behind_it(said, snapshot, prompt):
    def named(call):
        reply = ollama(call)
        if call.path in ("/api/chat", "/api/generate"):
            reply.body["model"] = said
        return reply

    with serving(named) as server:
        by = OllamaModel(tag="mistral:7b", host=server.url).complete(prompt, max_tokens=1).served
    assert by.snapshot == snapshot
    assert by.at is not None
