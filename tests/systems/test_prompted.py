from __future__ import annotations

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.sample import Observation, Question, Turn
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.errors import UsageError
from floorbench.systems.llm.chat import Sound
from floorbench.systems.llm.protocol import Completion, ModelFault, ModelInfo, Usage
from floorbench.systems.prompted import Prompted, phrases, seconds_of

QUESTION = Question(text="What now?", answers=("<|A|>", "<|B|>"))


def tone(seconds=0.5):
    return ArrayAudio(np.full(int(16_000 * seconds), 0.1, dtype=np.float32), rate=16_000)


class Said:
    """A chat model that says what it is told, and keeps what it was asked."""

    deterministic = True

    def __init__(self, *answers, hears=False):
        self.hears = hears
        self.answers = list(answers)
        self.asked = []
        self.info = ModelInfo(name="said", level=Level.REAL_CODE_PATH, licence="none")

    def load(self):
        pass

    def ask(self, turns, **more):
        self.asked.append((list(turns), more))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Completion):
            return answer
        return Completion(text=answer, usage=Usage(prompt=9, evaluated=7, generated=2))


def seen(**more):
    filled = {
        "language": "en",
        "state": "SystemIdle",
        "turns": (
            Turn(role=Role.USER, text="first", audio=tone()),
            Turn(role=Role.SYSTEM, text="second"),
            Turn(role=Role.USER),
        ),
        "channels": {Role.USER: tone(1.0)},
        "text": "now",
        "question": QUESTION,
    }
    return Observation(**{**filled, **more})


def test_a_reader_gets_words_as_messages():
    model = Said("<|A|>")
    decision = Prompted(model=model, name="x").decide(seen())
    assert (decision.outcome, decision.raw, decision.label) == (Outcome.OK, "<|A|>", None)
    ((turns, more),) = model.asked
    assert [(t.role, t.parts) for t in turns] == [
        ("user", ("first",)), ("assistant", ("second",)), ("user", ("(no words)",)),
        ("user", ("now",)),
    ]  # fmt: skip
    assert more["system"] == "What now?"
    assert more["answers"] is None


def test_a_hearer_gets_sound_of_the_user_and_words_of_the_system():
    model = Said("<|A|>", hears=True)
    decision = Prompted(model=model, name="x").decide(seen(text=None))
    ((turns, _),) = model.asked
    assert isinstance(turns[0].parts[0], Sound)
    assert turns[1].parts == ("second",)
    assert turns[2].parts == ("(the sound of this turn is missing)",)
    assert turns[3].parts[0].seconds == 1.0
    assert decision.commit == 1.0


def test_channels_are_sent_apart_with_their_names():
    model = Said("<|A|>", hears=True)
    both = {Role.SYSTEM: tone(0.5), Role.USER: tone(1.0)}
    Prompted(model=model, name="x").decide(seen(channels=both, language="zh"))
    parts = model.asked[0][0][-1].parts
    assert [p if isinstance(p, str) else p.seconds for p in parts] == [
        "用户一侧的声音：", 1.0, "系统一侧的声音：", 0.5,
    ]  # fmt: skip


def test_what_the_system_has_said_so_far_is_its_own_message():
    model = Said("off_talk")
    Prompted(model=model, name="x").decide(seen(turns=(), spoken_prefix="the weather is"))
    assert model.asked[0][0][0].parts == ("(said so far) the weather is",)
    assert model.asked[0][0][0].role == "assistant"


def test_an_empty_transcript_is_asked_about_and_none_is_not():
    model = Said("<|A|>")
    system = Prompted(model=model, name="x")
    assert system.decide(seen(text="")).outcome is Outcome.OK
    assert model.asked[0][0][-1].parts == ("(no words)",)
    assert system.decide(seen(text=None)).outcome is Outcome.UNSUPPORTED
    assert system.decide(seen(question=None)).outcome is Outcome.UNSUPPORTED


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ('{"answer": "<|A|>"}', "<|A|>"),
        ("<|A|>", "<|A|>"),
        ('{"answer": 3}', '{"answer": 3}'),
        ('{"other": "<|A|>"}', '{"other": "<|A|>"}'),
        ("[1]", "[1]"),
    ],
)
def test_a_structured_answer_is_unwrapped_and_nothing_is_guessed(text, raw):
    model = Said(text)
    assert Prompted(model=model, name="x", structured=True).decide(seen()).raw == raw
    assert model.asked[0][1]["answers"] == QUESTION.answers


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_invalid(text):
    decision = Prompted(model=Said(text), name="x").decide(seen())
    assert (decision.outcome, decision.reason) == (Outcome.INVALID, "an empty answer")
    cut = Completion(text=text, finished=False)
    decision = Prompted(model=Said(cut), name="x").decide(seen())
    assert decision.reason == "no room for an answer in max_tokens"


def test_a_fault_is_an_outcome_and_costs_are_told_once():
    model = Said(ModelFault(Outcome.TIMEOUT, "late"), "<|A|>")
    system = Prompted(model=model, name="x")
    assert system.decide(seen()).outcome is Outcome.TIMEOUT
    assert system.spent() == (0, 0)
    system.decide(seen())
    assert (system.spent(), system.spent()) == ((7, 2), (0, 0))


def test_repeats_draw_on_their_own():
    model = Said("<|A|>", "<|A|>")
    system = Prompted(model=model, name="x", seed=5, temperature=0.5)
    for repeat in (0, 1):
        system.decide(seen(repeat=repeat))
    assert [more["seed"] for _, more in model.asked] == [5, 6]
    assert [more["repeat"] for _, more in model.asked] == [0, 1]


def test_parameters_out_of_range():
    for wrong in ({"max_tokens": 0}, {"temperature": 3.0}):
        with pytest.raises(UsageError, match="FB513"):
            Prompted(model=Said(), name="x", **wrong)


def test_the_texts_are_in_both_languages_and_in_the_signature():
    assert phrases("en").keys() == phrases("zh").keys()
    assert "phrases_sha256" in Prompted(model=Said(), name="x").spec.parameters


def test_seconds_of_sound_that_are_sent():
    assert seconds_of(seen(), hears=True) == 1.5
    assert seconds_of(seen(), hears=False) == 0.0
