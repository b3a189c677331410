"""The real classes of transformers with tiny random weights; their scores mean nothing."""

from __future__ import annotations

import math
import socket
from dataclasses import asdict

import pytest

from floorbench.core.vocab import Outcome
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.systems.hf_model import HfModel
from floorbench.systems.llm.protocol import ModelFault, Prompt
from floorbench.systems.llm.together import Call
from support import hf_tiny

CHAT = Prompt(opening="could you", system="wait", chat=True)
RAW = Prompt(opening="could you", pieces=(" book", " a"))
needs_hf = pytest.mark.needs_hf


@pytest.fixture(scope="module", params=hf_tiny.KINDS)
def made(request, tmp_path_factory):
    model = HfModel(model=str(hf_tiny.model(tmp_path_factory.mktemp("hf"), request.param)))
    model.load()
    return model


@needs_hf
def test_candidates_are_a_distribution_over_the_vocabulary(made):
    said = made.complete(RAW, max_tokens=1, top=1_000)
    assert len(said.first) == hf_tiny.VOCABULARY
    assert math.fsum(math.exp(t.logprob) for t in said.first) == pytest.approx(1.0, abs=1e-4)
    assert [t.logprob for t in said.first] == sorted((t.logprob for t in said.first), reverse=True)
    assert said.usage.prompt == len(RAW.text)


@needs_hf
def test_the_first_word_is_the_most_probable_and_the_same_again(made):
    first = made.complete(CHAT, max_tokens=6, top=3)
    assert made.complete(CHAT, max_tokens=6, top=3) == first
    assert first.usage.generated <= 6
    if first.first[0].text != "<end>":
        assert first.text.startswith(first.first[0].text.strip())


@needs_hf
def test_reading_word_by_word_is_reading_at_once(made):
    """What is kept from step to step gives what reading everything again would give."""
    import torch

    said = made.complete(RAW, max_tokens=5)
    ids = made._tokens(RAW.text, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        for _ in range(5):
            step = made._net(input_ids=ids, use_cache=False).logits[0, -1].argmax().reshape(1, 1)
            if int(step) in made._ends():
                break
            ids = torch.cat([ids, step], dim=1)
    assert said.text == made._tokens.decode(ids[0, len(RAW.text) :], skip_special_tokens=True)


@needs_hf
def test_sampling_is_seeded_and_leaves_the_global_stream_alone(made):
    import torch

    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    drawn = {seed: made.complete(CHAT, max_tokens=5, temperature=2.0, seed=seed).text
             for seed in range(6)}  # fmt: skip
    assert torch.rand(1) == expected
    assert made.complete(CHAT, max_tokens=5, temperature=2.0, seed=3).text == drawn[3]
    assert len(set(drawn.values())) > 1


@needs_hf
def test_side_by_side_is_one_after_the_other(made):
    calls = [
        Call(prompt=CHAT, max_tokens=6, top=5),
        Call(prompt=RAW, max_tokens=1, top=300),
        Call(prompt=Prompt(opening="a"), max_tokens=9, temperature=2.0, seed=3),
        Call(prompt=Prompt(opening="could " * 200), max_tokens=1),
        Call(prompt=RAW, max_tokens=4, stop=("e",)),
    ]
    *together, last = made.complete_all(calls)
    assert isinstance(together.pop(3), ModelFault)
    alone = [made.complete(**{**asdict(c), "prompt": c.prompt}) for c in (*calls[:3], calls[4])]
    for one, other in zip([*together, last], alone, strict=True):
        assert (one.text, one.finished, one.usage) == (other.text, other.finished, other.usage)
        values = [t.logprob for t in one.first or ()]
        assert values == pytest.approx([t.logprob for t in other.first or ()], abs=1e-5)
    assert made.complete_all([]) == []


@needs_hf
def test_the_real_class_and_the_weights_are_named(made):
    assert made.info.parameters["class"].endswith("ForCausalLM")
    assert all(len(digest) == 64 for digest in made.info.weights.values())
    assert made.info.weights


@needs_hf
def test_a_prompt_that_does_not_fit_is_a_failure(made):
    with pytest.raises(ModelFault) as caught:
        made.complete(Prompt(opening="could " * 200), max_tokens=1)
    assert caught.value.outcome is Outcome.FAILED


@needs_hf
def test_a_template_without_a_system_role_gets_it_in_the_users_message(tmp_path):
    model = HfModel(model=str(hf_tiny.model(tmp_path, "gemma2", template=hf_tiny.NO_SYSTEM)))
    model.load()
    ids = model._ids(CHAT)[0].tolist()
    assert "user : wait\n\ncould you" in model._tokens.decode(ids)


@needs_hf
def test_a_stop_text_ends_the_answer(tmp_path):
    model = HfModel(model=str(hf_tiny.model(tmp_path, "llama")))
    whole = model.complete(RAW, max_tokens=6)
    cut = model.complete(RAW, max_tokens=6, stop=(whole.text[-1],))
    assert cut.finished
    assert cut.text == whole.text[: whole.text.index(whole.text[-1])]


@needs_hf
def test_a_broken_folder_and_a_hub_out_of_reach_are_one_clear_message(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(EnvironmentProblem, match="FB554"):
        HfModel(model=str(tmp_path)).load()

    def nobody(*args, **more):
        raise OSError("no network")

    monkeypatch.setattr(socket, "getaddrinfo", nobody)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(EnvironmentProblem, match="FB559") as caught:
        HfModel(model="some/model-nobody-has").load()
    assert "--set model=PATH" in str(caught.value)


def test_parameters():
    for wrong in ({"model": ""}, {"model": "x", "dtype": "int4"}):
        with pytest.raises(UsageError, match="FB513"):
            HfModel(**wrong)
    assert HfModel(model="folder/name").info.name == "name"
