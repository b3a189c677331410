"""Prompts and answers of the fine-tuned judges, with a model that says what it is told."""

from __future__ import annotations

import hashlib
import math

import pytest

from floorbench.core.sample import Observation, Turn
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.errors import DataError, UsageError
from floorbench.systems.hf_turn import KeSemanticVad, TenTurn
from floorbench.systems.llm.protocol import (
    Capabilities,
    Completion,
    ModelFault,
    ModelInfo,
    Token,
    Usage,
)
from support import hf_tiny

TURNS = (Turn(role=Role.USER, text="你好"), Turn(role=Role.SYSTEM, text="您好，请讲"))


class Says:
    can = Capabilities(top=100)
    info = ModelInfo(name="says", level=Level.REAL_CODE_PATH)

    def __init__(self, *answers, first=None):
        self.answers, self.first, self.prompts = list(answers), first, []

    def load(self):
        pass

    def complete(self, prompt, **more):
        self.prompts.append(prompt)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Completion(text=answer, first=self.first, usage=Usage(prompt=5, evaluated=5))


def seen(text="我想订票", state="SystemIdle", **more):
    filled = {"language": "zh", "state": state, "text": text, "turns": TURNS}
    return Observation(**{**filled, **more})


@pytest.fixture
def prompts(tmp_path):
    (tmp_path / "agent_speaking.txt").write_text("agent mode")
    (tmp_path / "human_speaking.txt").write_text("human mode\n")
    return tmp_path


def test_ten_gets_one_user_message_and_no_other_turn():
    model = Says("finished")
    decision = TenTurn(model=model).decide(seen())
    (prompt,) = model.prompts
    assert prompt.messages == [{"role": "user", "content": "我想订票"}]
    assert (decision.label, decision.raw) == ("finished", "finished")
    model = Says("wait")
    TenTurn(model=model, system="context").decide(seen())
    assert model.prompts[0].messages[0] == {"role": "system", "content": "context"}


@pytest.mark.parametrize(
    ("text", "label"),
    [("finished", "finished"), (" Unfinished\n", "unfinished"), ("wait", "wait"),
     ("finished.", None), ("not finished", None), ("", None), ("fin", None)],
)  # fmt: skip
def test_ten_answers_with_one_of_three_words_or_not_at_all(text, label):
    decision = TenTurn(model=Says(text)).decide(seen())
    assert decision.label == label
    assert decision.outcome is (Outcome.OK if label else Outcome.INVALID)
    assert decision.raw == text


def test_ten_scores_are_the_first_tokens_of_the_words():
    first = (Token("fin", math.log(0.6)), Token("un", math.log(0.3)), Token(" w", math.log(0.05)),
             Token("finish", math.log(0.01)), Token("", -9.0))  # fmt: skip
    decision = TenTurn(model=Says("finished", first=first)).decide(seen())
    assert decision.scores == pytest.approx({"finished": 0.6, "unfinished": 0.3, "wait": 0.05})


@pytest.mark.parametrize(
    ("state", "system"), [("SystemIdle", "human mode"), ("SystemSpeaking", "agent mode")]
)
def test_ke_changes_its_prompt_with_the_state(prompts, state, system):
    model = Says("<打断>" if state == "SystemSpeaking" else "<完成>")
    made = KeSemanticVad(model=model, prompts=str(prompts))
    made.load()
    made.decide(seen(state=state))
    (prompt,) = model.prompts
    assert prompt.system == system
    assert prompt.text == "# Dialog\nHuman: 你好\nAgent: 您好，请讲\nHuman: 我想订票"


@pytest.mark.parametrize(
    ("state", "text", "label"),
    [
        ("SystemIdle", "<完成>", "完成"),
        ("SystemIdle", "<未完>", "未完"),
        ("SystemIdle", "未完成", "未完"),
        ("SystemIdle", "<打断>", None),
        ("SystemSpeaking", "<附和>", "附和"),
        ("SystemSpeaking", "<打断>", "打断"),
        ("SystemSpeaking", "未完成", None),
        ("SystemIdle", "完成吗", None),
    ],
)
def test_ke_answers_in_the_mode_of_the_state(prompts, state, text, label):
    made = KeSemanticVad(model=Says(text), prompts=str(prompts))
    made.load()
    decision = made.decide(seen(state=state))
    assert decision.label == label
    assert decision.outcome is (Outcome.OK if label else Outcome.INVALID)


def test_trained_prompts_are_hashed_and_their_absence_is_one_clear_error(prompts):
    made = KeSemanticVad(model=Says(), prompts=str(prompts))
    made.load()
    hashes = made.spec.parameters["prompts"]
    assert hashes["human_speaking.txt"] == hashlib.sha256(b"human mode").hexdigest()
    (prompts / "agent_speaking.txt").write_text(" \n")
    with pytest.raises(DataError, match=r"FB553 .*agent_speaking\.txt"):
        KeSemanticVad(model=Says(), prompts=str(prompts)).load()


def test_what_they_cannot_do(prompts):
    ke = KeSemanticVad(model=Says(), prompts=str(prompts))
    ke.load()
    for system in (ke, TenTurn(model=Says())):
        assert system.decide(seen(text="")).outcome is Outcome.UNSUPPORTED
        assert system.decide(seen(language="de")).outcome is Outcome.UNSUPPORTED
    assert ke.decide(seen(state=None)).outcome is Outcome.UNSUPPORTED
    assert ke.decide(seen(language="en")).outcome is Outcome.UNSUPPORTED
    failing = TenTurn(model=Says(ModelFault(Outcome.FAILED, "too long")))
    assert failing.decide(seen()).reason == "too long"
    for kind in (TenTurn, KeSemanticVad):
        with pytest.raises(UsageError, match="FB554"):
            kind().load()


def test_tokens_are_told_once():
    system = TenTurn(model=Says("wait"))
    system.decide(seen())
    assert (system.spent(), system.spent()) == ((5, 0), (0, 0))


@pytest.mark.needs_hf
@pytest.mark.parametrize("kind", [TenTurn, KeSemanticVad])
def test_they_run_on_the_real_class(tmp_path, kind):
    folder = hf_tiny.model(tmp_path, "qwen2")
    for name in ("agent_speaking.txt", "human_speaking.txt"):
        (folder / name).write_text("judge")
    system = kind(model=str(folder))
    system.load()
    decision = system.decide(seen())
    assert decision.outcome in (Outcome.OK, Outcome.INVALID)
    assert system.spec.parameters["class"] == "Qwen2ForCausalLM"
    assert system.spent()[0] > 0
