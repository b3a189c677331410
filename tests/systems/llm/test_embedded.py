"""The embedded model: real weights, offline, the same numbers whatever came before."""

from __future__ import annotations

import pytest

from floorbench.audio import assets
from floorbench.core.vocab import Outcome
from floorbench.errors import SystemProblem, UsageError
from floorbench.systems.llm import embedded
from floorbench.systems.llm.embedded import EmbeddedModel
from floorbench.systems.llm.openai_api import OpenAIModel
from floorbench.systems.llm.protocol import END_OF_TEXT, ModelFault, Prompt, Usage

TURN = "well we went to the lake on saturday and the kids swam all day"
WORDS = TURN.split()


@pytest.fixture(scope="module")
def model() -> EmbeddedModel:
    made = EmbeddedModel()
    made.load()
    return made


def plain(words: int, closing: str = "") -> Prompt:
    pieces = tuple(f" {w}" for w in WORDS[:words])
    return Prompt(opening="A: How was it?\nB:", pieces=pieces, closing=closing)


def chatting(words: int) -> Prompt:
    pieces = tuple(f" {w}" for w in WORDS[:words])
    return Prompt(opening="Answer yes or no:", pieces=pieces, closing="?", system="S.", chat=True)


def test_what_it_is(model):
    assert model.info.weights == {
        "SmolLM2-135M-Instruct.Q4_1.gguf": assets.asset(embedded.ASSET).sha256
    }
    assert model.info.licence == "Apache-2.0"
    assert model.info.parameters["threads"] == 1


def test_candidates_are_probabilities_most_probable_first(model):
    first = model.complete(plain(3), max_tokens=1, top=50).first
    assert len(first) == 50
    logs = [t.logprob for t in first]
    assert logs == sorted(logs, reverse=True)
    assert logs[0] <= 0


def test_without_being_asked_it_gives_no_candidates(model):
    assert model.complete(plain(3), max_tokens=1).first is None


def test_numbers_do_not_depend_on_what_was_asked_before(model):
    forwards = [model.complete(plain(n), max_tokens=1, top=5).first for n in range(1, 15)]
    chats = {n: model.complete(chatting(n), max_tokens=1, top=5).first for n in (2, 7, 9)}
    fresh = EmbeddedModel()
    for n in (9, 14, 3, 3):
        assert fresh.complete(plain(n), max_tokens=1, top=5).first == forwards[n - 1]
        if n in chats:
            assert fresh.complete(chatting(n), max_tokens=1, top=5).first == chats[n]
    fresh.complete(plain(6, closing="\nC: I see.\nB:"), max_tokens=6)
    assert fresh.complete(plain(8), max_tokens=1, top=5).first == forwards[7]


def test_each_token_is_evaluated_once_along_a_turn(model):
    fresh = EmbeddedModel()
    total = Usage()
    for n in range(1, len(WORDS) + 1):
        said = fresh.complete(plain(n), max_tokens=1, top=5)
        total += said.usage
    assert total.evaluated == said.usage.prompt
    assert total.generated == len(WORDS)


def test_a_closing_is_all_that_is_evaluated_again(model):
    fresh = EmbeddedModel()
    evaluated = [fresh.complete(chatting(n), max_tokens=1).usage.evaluated for n in range(1, 8)]
    prompts = [fresh.complete(chatting(n), max_tokens=1).usage.prompt for n in (1, 7)]
    closing = evaluated[1] - 1
    assert evaluated[0] == prompts[0]
    assert evaluated[1:] == [1 + closing] * 6
    assert sum(evaluated) == prompts[1] + 6 * closing


def test_more_openings_than_slots_still_give_the_same(model):
    small = EmbeddedModel(slots=1)
    a = small.complete(plain(4), max_tokens=1, top=3).first
    b = small.complete(chatting(4), max_tokens=1, top=3).first
    assert small.complete(plain(4), max_tokens=1, top=3).first == a
    assert small.complete(chatting(4), max_tokens=1, top=3).first == b
    assert model.complete(plain(4), max_tokens=1, top=3).first == a


def test_only_the_beginning_of_a_prompt_gets_the_models_first_token(monkeypatch):
    """Llama and Gemma files need it; SmolLM2 has none, so only what is asked of llama.cpp shows."""
    made, asked = EmbeddedModel(), []
    made.load()
    post = made._post

    def watched(path, body):
        if path == "/tokenize":
            asked.append((body["content"], body["add_special"]))
        return post(path, body)

    monkeypatch.setattr(made, "_post", watched)
    made.complete(plain(2, closing=" and"), max_tokens=1)
    assert asked == [
        ("A: How was it?\nB:", True), (" well", False), (" we", False), (" and", False),
    ]  # fmt: skip


def test_seeds_sample_and_repeat(model):
    def write(seed: int) -> str:
        return model.complete(plain(9), max_tokens=12, temperature=1.0, seed=seed).text

    assert write(1) == write(1)
    assert len({write(seed) for seed in range(5)}) > 1


def test_stopping(model):
    said = model.complete(plain(14), max_tokens=40, stop=("\n",))
    assert "\n" not in said.text
    assert said.finished
    assert not model.complete(plain(2), max_tokens=1).finished


def test_words_cannot_smuggle_control_tokens(model):
    pieces = (" <|im_end|>", " <|im_start|>")
    normal = model.complete(Prompt(opening="x", pieces=pieces), max_tokens=1).usage.prompt
    control = model.complete(Prompt(opening="x <|im_end|> <|im_start|>"), max_tokens=1).usage.prompt
    assert normal > control + 4


def test_end_tokens_have_a_name(model):
    asked = Prompt(opening="Say hello.", chat=True)
    answer = model.complete(asked, max_tokens=30)
    assert answer.finished
    top = model.complete(plain(14), max_tokens=1, top=1_000_000).first
    assert END_OF_TEXT in {t.text for t in top}


def test_half_a_character_gives_no_score(model):
    said = model.complete(Prompt(opening="今天天气很"), max_tokens=1, top=5)
    assert said.first is None


def test_a_prompt_that_is_too_long_is_a_fault_and_the_next_one_works():
    small = EmbeddedModel(context=64, slots=1)
    with pytest.raises(ModelFault, match="do not fit") as caught:
        small.complete(Prompt(opening="word " * 200), max_tokens=1)
    assert caught.value.outcome is Outcome.FAILED
    assert small.complete(plain(3), max_tokens=1, top=3).first is not None


def test_a_broken_or_missing_file_says_so(tmp_path):
    broken = tmp_path / "model.gguf"
    broken.write_bytes(b"GGUF but not really")
    with pytest.raises(SystemProblem, match="FB501"):
        EmbeddedModel(path=broken).load()
    with pytest.raises(SystemProblem, match="no model file"):
        EmbeddedModel(path=tmp_path / "none.gguf").load()
    with pytest.raises(UsageError, match="FB513"):
        EmbeddedModel(slots=0)


def test_the_remote_client_reads_the_same_model(model):
    """The in-process server is a real OpenAI-style server: the remote client must agree with it."""
    remote = OpenAIModel(model="any", base_url=model._server.listening_address + "/v1", raw=True)
    here = model.complete(plain(9), max_tokens=1, top=5)
    there = remote.complete(plain(9), max_tokens=1, top=5)
    assert [t.text for t in there.first] == [t.text for t in here.first]
    assert [t.logprob for t in there.first] == pytest.approx(
        [t.logprob for t in here.first], abs=1e-3
    )
    assert there.usage.prompt == here.usage.prompt
    chat = remote.complete(chatting(5), max_tokens=1, top=5)
    assert {t.text for t in chat.first} == {
        t.text for t in model.complete(chatting(5), max_tokens=1, top=5).first
    }
    costs = [remote.complete(chatting(n), max_tokens=1).usage for n in range(6, 12)]
    assert all(c.evaluated < c.prompt / 2 for c in costs)
