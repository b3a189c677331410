"""Qwen3-Omni's real class and processor with tiny random weights; its answers mean nothing."""

from __future__ import annotations

import json

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Question, Turn
from floorbench.core.vocab import Outcome, Role
from floorbench.errors import EnvironmentProblem, UsageError
from floorbench.systems.hf_omni import OmniChat, qwen3_omni_hf
from floorbench.systems.llm.chat import RATE, ChatTurn, samples_of, sound
from floorbench.systems.llm.protocol import ModelFault
from sounds import utterance
from support import omni_tiny

needs_hf = pytest.mark.needs_hf
HEARD = sound(utterance())
DIALOGUE = (
    ChatTurn(role="user", parts=(HEARD,)),
    ChatTurn(role="assistant", parts=("what can I do",)),
    ChatTurn(role="user", parts=("the user:", HEARD, "the system:", sound(np.zeros(800, "f4")))),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return omni_tiny.model(tmp_path_factory.mktemp("omni"))


@pytest.fixture(scope="module")
def made(folder):
    model = OmniChat(model=str(folder))
    model.load()
    return model


@needs_hf
def test_the_real_classes_and_the_weights_are_named(made):
    told = made.info.parameters
    assert told["class"] == "Qwen3OmniMoeForConditionalGeneration"
    assert told["processor"] == "Qwen3OmniMoeProcessor"
    assert [len(digest) for digest in made.info.weights.values()] == [64]
    assert not made._net.has_talker


@needs_hf
def test_the_dialogue_reaches_the_model_in_order_with_every_sound(made):
    given = made.inputs(DIALOGUE, system="answer")
    text = made._processor.tokenizer.decode(given["input_ids"][0])
    lengths = given["feature_attention_mask"].sum(-1).tolist()
    assert lengths == [
        round(HEARD.seconds * 100),
        round(HEARD.seconds * 100),
        10,
    ]  # the last is filled up to 0.1 s
    pads = [piece.count("<|audio_pad|>") for piece in text.split("<|audio_start|>")[1:]]
    assert pads[0] == pads[1] > pads[2] > 0
    said = text.replace("<|audio_pad|>", "")
    heard = "<|audio_start|><|audio_end|>"
    assert said == (
        f"<|system|>answer\n<|user|>{heard}\n<|assistant|>what can I do\n"
        f"<|user|>the user:{heard}the system:{heard}\n<|assistant|>"
    )


@needs_hf
def test_what_is_heard_and_what_was_said_before_change_the_answer(made):
    """Through the model's own scores: the tiny model's words may coincide."""
    import torch

    def logits(turns):
        given = made.inputs(turns, system="answer")
        with torch.inference_mode():
            return made._net.thinker(**given).logits[0, -1]

    whole = logits(DIALOGUE)
    other = ChatTurn(role="user", parts=(sound(utterance()[::-1].copy()),))
    assert torch.equal(whole, logits(DIALOGUE))
    for changed in ((other, *DIALOGUE[1:]), DIALOGUE[1:], (*DIALOGUE[:2], other)):
        assert not torch.equal(whole, logits(changed))


@needs_hf
def test_the_first_word_is_the_most_probable(made):
    import torch

    given = made.inputs(DIALOGUE, system="answer")
    with torch.inference_mode():
        best = int(made._net.thinker(**given).logits[0, -1].argmax())
    said = made.ask(DIALOGUE, system="answer", max_tokens=1)
    assert said.text == made._processor.tokenizer.decode([best], skip_special_tokens=True)
    assert said.usage.prompt == given["input_ids"].shape[1]
    assert made.ask(DIALOGUE, system="answer", max_tokens=1) == said


@needs_hf
def test_sampling_is_seeded_and_leaves_the_global_stream_alone(made):
    import torch

    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)

    def say(seed):
        return made.ask(DIALOGUE, system="", max_tokens=6, temperature=2.0, seed=seed).text

    drawn = [say(seed) for seed in range(4)]
    assert torch.rand(1) == expected
    assert say(2) == drawn[2]
    assert len(set(drawn)) > 1


@needs_hf
@pytest.mark.parametrize("answers", [("Takeover", "Dismiss"), ("Collaborative",)])
def test_both_stages_are_asked_with_history_and_sound(folder, answers):
    """A stage is its question; the answer comes back as text for the task to read."""
    system = qwen3_omni_hf(model=str(folder), device="cpu", max_tokens=4)
    system.load()
    past = ArrayAudio(utterance(), rate=RATE)
    seen = Observation(
        language="en",
        state="SystemIdle",
        channels={Role.USER: ArrayAudio(utterance(), rate=RATE)},
        turns=(Turn(role=Role.USER, audio=past), Turn(role=Role.SYSTEM, text="hello")),
        question=Question(text=f"one of {answers}", answers=answers),
    )
    decision = system.decide(seen)
    assert decision.outcome in (Outcome.OK, Outcome.INVALID)
    assert decision.raw is not None
    read, written = system.spent()
    assert read > 2 * len(samples_of(HEARD)) / RATE * 10
    assert 0 <= written <= 4


@needs_hf
def test_a_dialogue_that_does_not_fit_is_a_failure(made):
    long = (ChatTurn(role="user", parts=("word " * 500,)),)
    with pytest.raises(ModelFault) as caught:
        made.ask(long, system="", max_tokens=1)
    assert caught.value.outcome is Outcome.FAILED


@needs_hf
def test_a_template_that_fails_is_a_failed_answer(folder, tmp_path):
    import shutil

    broken = tmp_path / "omni"
    shutil.copytree(folder, broken)
    (broken / "chat_template.jinja").write_text("{{ raise_exception('no such role') }}")
    model = OmniChat(model=str(broken))
    with pytest.raises(ModelFault, match="no such role"):
        model.ask(DIALOGUE, system="", max_tokens=1)


@needs_hf
def test_a_folder_of_another_model_is_one_clear_message(folder, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "qwen2"}))
    with pytest.raises(EnvironmentProblem, match="FB554"):
        OmniChat(model=str(tmp_path)).load()


def test_parameters():
    for wrong in ({"model": ""}, {"model": "x", "dtype": "int4"}):
        with pytest.raises(UsageError, match="FB513"):
            OmniChat(**wrong)
    with pytest.raises(UsageError, match="structured"):
        OmniChat(model="x").ask(DIALOGUE, system="", max_tokens=1, answers=("a",))
