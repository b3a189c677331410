"""The three ways to ask, on a scripted model and, for what they cost, on the embedded one."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from floorbench.core.sample import Observation, Question
from floorbench.core.vocab import Level, Outcome
from floorbench.errors import UsageError
from floorbench.systems.build import build_system
from floorbench.systems.llm.asking import MORE, TOP, Boundary, Generated, YesNo, form
from floorbench.systems.llm.protocol import (
    Capabilities,
    Completion,
    ModelFault,
    ModelInfo,
    Token,
    Usage,
)

ASKED = Observation(
    language="en", text="well I went", question=Question(text="Judge.", answers=("yes", "no"))
)
FULL = Capabilities(top=100_000, deterministic=True)


class Scripted:
    """Gives what it is told and remembers what it was asked."""

    def __init__(self, text="", probabilities=None, *, can=FULL, fault=None, hide_below=0):
        self.can = can
        self.info = ModelInfo(name="scripted", level=Level.MEASURED)
        self.asked = []
        self._text, self._fault, self._hide = text, fault, hide_below
        self._first = None
        if probabilities is not None:
            self._first = tuple(Token(t, math.log(p)) for t, p in probabilities.items())

    def load(self):
        self.info = replace(self.info, weights={"file": "abc"})

    def complete(self, prompt, **settings):
        self.asked.append((prompt, settings))
        if self._fault is not None:
            raise self._fault
        first = self._first if settings.get("top", 0) >= self._hide else (Token("x", -1.0),)
        return Completion(text=self._text, first=first, usage=Usage(prompt=9, evaluated=2))


def test_boundary_sums_sentence_ends():
    probabilities = {" and": 0.4, ".": 0.25, "\n": 0.125, "<end>": 0.125, "...": 0.05, ",": 0.05}
    model = Scripted(probabilities=probabilities)
    system = Boundary(model=model, name="b")
    decision = system.decide(ASKED)
    assert decision.scores == {"boundary": pytest.approx(0.5)}
    assert decision.label == "yes"
    prompt, settings = model.asked[0]
    assert prompt.text.endswith("B: well I went")
    assert (prompt.system, prompt.chat, settings["max_tokens"]) == (None, False, 1)
    strict = Boundary(model=Scripted(probabilities=probabilities), name="b", threshold=0.51)
    assert strict.decide(ASKED).label == "no"


def test_boundary_asks_for_more_candidates_before_it_gives_up():
    model = Scripted(probabilities={".": 0.001}, hide_below=MORE)
    assert Boundary(model=model, name="b").decide(ASKED).scores["boundary"] == pytest.approx(0.001)
    assert [s["top"] for _, s in model.asked] == [TOP, MORE]
    never = Scripted(probabilities={" and": 0.9})
    decision = Boundary(model=never, name="b").decide(ASKED)
    assert (decision.outcome, decision.scores) == (Outcome.INVALID, {})
    assert [s["top"] for _, s in never.asked] == [TOP, MORE, 100_000]


def test_boundary_ignores_the_instruction():
    model = Scripted(probabilities={".": 0.5})
    system = Boundary(model=model, name="b")
    assert system.decide(ASKED) == system.decide(replace(ASKED, question=None))
    assert model.asked[0] == model.asked[1]


def test_what_was_spent_is_told_once():
    system = Boundary(model=Scripted(probabilities={".": 0.5}), name="b")
    system.decide(ASKED)
    system.decide(ASKED)
    assert system.spent() == (4, 0)
    assert system.spent() == (0, 0)


def test_yes_against_no_over_their_spellings():
    model = Scripted("Yes", {"Yes": 0.2, " yes": 0.1, "no": 0.1, "Sure": 0.3})
    decision = YesNo(model=model, name="y").decide(ASKED)
    assert decision.scores == {"p_yes": pytest.approx(0.75), "mass": pytest.approx(0.4)}
    assert decision.label == "yes"
    prompt, _ = model.asked[0]
    assert prompt.messages[0] == {"role": "system", "content": "Judge."}
    assert prompt.text.endswith("\n well I went")


def test_yes_and_no_missing_is_no_answer():
    decision = YesNo(model=Scripted("Sure", {"Sure": 0.9}), name="y").decide(ASKED)
    assert (decision.outcome, decision.label, decision.scores) == (Outcome.INVALID, None, {})


def test_yes_and_no_without_any_probability_is_no_score():
    never = (Token(text="yes", logprob=-9999.0), Token(text="no", logprob=-9999.0))

    class Never(Scripted):
        def complete(self, *given, **more):
            return replace(super().complete(*given, **more), first=never)

    decision = YesNo(model=Never("yes", {"yes": 0.1}), name="y").decide(ASKED)
    assert (decision.outcome, decision.scores) == (Outcome.INVALID, {})


@pytest.mark.parametrize("kind", [Boundary, YesNo])
def test_no_probabilities_is_no_score(kind):
    decision = kind(model=Scripted("yes", None), name="x").decide(ASKED)
    assert (decision.outcome, decision.scores) == (Outcome.INVALID, {})


def test_generated_answers_are_read():
    text = '{"decision": 0, "confidence": 0.75, "justification": "open"} '
    decision = Generated(model=Scripted(text), name="g").decide(ASKED)
    assert (decision.label, decision.scores, decision.raw) == ("no", {"stated": 0.25}, text)
    broken = Generated(model=Scripted('{"decision": 1, "co'), name="g").decide(ASKED)
    assert (broken.outcome, broken.raw) == (Outcome.INVALID, '{"decision": 1, "co')
    assert "broken" in broken.reason


def test_each_repeat_and_each_prefix_samples_by_its_own_seed():
    model = Scripted("{}")
    system = Generated(model=model, name="g", seed=1)
    for repeat in (0, 1, 0):
        system.decide(replace(ASKED, repeat=repeat))
    system.decide(replace(ASKED, text="well I"))
    Generated(model=model, name="g", seed=2).decide(ASKED)
    seeds = [settings["seed"] for _, settings in model.asked]
    assert seeds[0] == seeds[2]
    assert len(set(seeds)) == 4
    assert all(0 <= s < 2**31 for s in seeds)
    assert model.asked[0][1]["temperature"] == 0.4


@pytest.mark.parametrize("outcome", [Outcome.TIMEOUT, Outcome.FAILED, Outcome.ABSTAINED])
def test_a_fault_is_an_outcome(outcome):
    model = Scripted(fault=ModelFault(outcome, "because"))
    for kind in (Boundary, YesNo, Generated):
        decision = kind(model=model, name="x").decide(ASKED)
        assert (decision.outcome, decision.reason) == (outcome, "because")


def test_what_cannot_be_asked_is_unsupported():
    model = Scripted("x", {".": 0.5})
    for shown in (replace(ASKED, text=None), replace(ASKED, text=" ")):
        assert Boundary(model=model, name="b").decide(shown).outcome is Outcome.UNSUPPORTED
    chinese = replace(ASKED, language="zh")
    english = Boundary(model=model, name="b", languages=("en",))
    assert english.decide(chinese).outcome is Outcome.UNSUPPORTED
    unasked = replace(ASKED, question=None)
    assert YesNo(model=model, name="y").decide(unasked).outcome is Outcome.UNSUPPORTED
    assert model.asked == []


def test_the_spec_names_weights_form_and_seed():
    system = Generated(model=Scripted("x"), name="g", seed=5)
    assert system.spec.weights == {}
    system.load()
    assert system.spec.weights == {"file": "abc"}
    assert system.spec.parameters["form_sha256"] == form("generate-v1").sha256
    assert system.spec.parameters["temperature"] == 0.4
    assert system.spec.parameters["seed"] == 5
    assert system.spec.modalities == ("text", "question")


@pytest.mark.parametrize(
    "make",
    [
        lambda: Boundary(model=Scripted(can=Capabilities(top=0)), name="x"),
        lambda: Boundary(model=Scripted(), name="x", threshold=1.5),
        lambda: YesNo(model=Scripted(can=Capabilities(top=0)), name="x"),
        lambda: YesNo(model=Scripted(can=Capabilities(chat=False, top=5)), name="x"),
        lambda: Generated(model=Scripted(), name="x", temperature=3.0),
        lambda: Generated(model=Scripted(), name="x", max_tokens=0),
    ],
)
def test_models_and_numbers_that_do_not_fit(make):
    with pytest.raises(UsageError, match="FB513"):
        make()


TURN_TEXT = (
    "so we finally got the allotment the one behind the old station and honestly it's a complete "
    "jungle there are brambles up to my shoulders and somebody left a bathtub in the middle of it "
    "my brother came over on Sunday with his big strimmer and we cleared maybe a quarter of it and "
    "then it started raining obviously but I found three apple trees at the back that nobody knew "
    "about so I'm thinking we leave those alone and put the beans along the fence and see what "
    "happens when the summer comes round again I suppose"
)
TURN = TURN_TEXT.split()


def spend(system, words):
    """Return tokens spent on all prefixes, and the sizes of their prompts."""
    sizes = []
    for n in range(1, words + 1):
        before = system.usage
        system.decide(replace(ASKED, text=" ".join(TURN[:n])))
        calls = system.usage.generated - before.generated
        sizes.append((system.usage.prompt - before.prompt) // calls)
    return system.usage.evaluated + system.usage.generated, sizes


def test_all_prefixes_of_95_words_cost_one_reading_and_one_token_each():
    words = 95
    system = build_system("boundary-smollm2")
    system.load()
    spent, sizes = spend(system, words)
    prompt_and_turn = sizes[-1]
    assert spent <= 1.2 * (prompt_and_turn + words)
    assert (sum(sizes) + words) / spent > 10


def test_a_question_about_each_prefix_costs_its_closing_again():
    words = 24
    system = build_system("yesno-smollm2")
    system.load()
    spent, sizes = spend(system, words)
    closing = len(system.model._read(system._prompt(ASKED)).tail)
    assert spent <= 1.2 * (sizes[-1] - closing + words * (closing + 1))
