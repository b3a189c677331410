"""Text models that name a role: what they read, how an answer is taken, what a fault becomes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from floorbench.core.prediction import Served
from floorbench.core.sample import Observation, Question, Turn
from floorbench.core.vocab import Level, Outcome, Role
from floorbench.errors import UsageError
from floorbench.systems.build import build_system
from floorbench.systems.llm.protocol import (
    Capabilities,
    Completion,
    ModelFault,
    ModelInfo,
    Prompt,
    Token,
)
from floorbench.systems.role_texts import ROLES, RoleTexts, dialogue
from floorbench.tasks.echo import question


class Model:
    """Gives prepared answers."""

    def __init__(self, answer: Any, *, top: int = 0) -> None:
        self.can = Capabilities(top=top, deterministic=True)
        self.info = ModelInfo(
            name="m", level=Level.CONTRACT, licence="none", weights={"w": "0" * 64}
        )
        self.asked: list[tuple[Prompt, dict[str, Any]]] = []
        self._answer = answer

    def load(self) -> None:
        self.info = ModelInfo(name="m", level=Level.CONTRACT, licence="none", parameters={"n": 1})

    def complete(self, prompt: Prompt, **kw: Any) -> Completion:
        self.asked.append((prompt, kw))
        if isinstance(self._answer, Exception):
            raise self._answer
        if isinstance(self._answer, str):
            return Completion(text=self._answer)
        tokens = tuple(Token(text, logprob) for text, logprob in self._answer)
        return Completion(text="x", first=tokens)


def seen(language: str = "en", **kw: Any) -> Observation:
    return Observation(
        **{
            "language": language,
            "turns": (
                Turn(role=Role.USER, text="Order a present."),
                Turn(role=Role.SYSTEM, text="Gladly."),
            ),
            "spoken_prefix": "I am putting the blue rabbit",
            "text": "Not the blue one.",
            "question": question(language, "v1"),
            **kw,
        }
    )


def system(answer: Any, *, top: int = 0, **kw: Any) -> RoleTexts:
    return RoleTexts(model=Model(answer, top=top), name="roles-m", **kw)


def test_the_dialogue_ends_with_the_insertion_and_holds_what_was_said_so_far() -> None:
    assert dialogue(seen()).splitlines() == [
        "User: Order a present.",
        "Assistant: Gladly.",
        "Assistant: I am putting the blue rabbit ...",
        ">>> User: Not the blue one.",
    ]
    assert dialogue(seen("zh")).startswith("用户: ")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("interruption", "interruption"),
        ("**Off-talk.**", "off_talk"),
        ("Backchannel\n", "backchannel"),
    ],
)
def test_a_written_answer_is_read(text: str, label: str) -> None:
    made = system(text)
    decision = made.decide(seen())
    assert (decision.label, decision.raw) == (label, text)
    prompt, _ = made.model.asked[0]
    assert prompt.system == question("en", "v1").text
    assert prompt.chat


@pytest.mark.parametrize("text", ["", "I cannot say", "interruption or backchannel"])
def test_an_answer_that_names_not_exactly_one_is_invalid(text: str) -> None:
    decision = system(text).decide(seen())
    assert (decision.outcome, decision.raw) == (Outcome.INVALID, text)


def test_with_probabilities_the_most_probable_beginning_wins() -> None:
    tokens = [("the", -0.1), (" Inter", -2.0), ("back", -1.5), ("Off", -1.8), ("off", -1.9)]
    decision = system(tokens, top=10).decide(seen())
    assert decision.label == "off_talk"  # two spellings add up
    assert sum(decision.scores.values()) == pytest.approx(1.0)
    assert set(decision.scores) == set(ROLES)
    nothing = system([("the", -0.1)], top=10).decide(seen())
    assert nothing.outcome is Outcome.INVALID


def test_a_failed_call_is_an_outcome() -> None:
    decision = system(ModelFault(Outcome.TIMEOUT, "too slow")).decide(seen())
    assert (decision.outcome, decision.reason) == (Outcome.TIMEOUT, "too slow")


@pytest.mark.parametrize(
    "observation",
    [
        seen(text=""),
        seen(question=None),
        seen("zh"),
    ],
)
def test_what_it_cannot_answer_is_unsupported(observation: Observation) -> None:
    decision = system("interruption", languages=("en",)).decide(observation)
    assert decision.outcome is Outcome.UNSUPPORTED
    assert decision.reason


def test_a_question_about_something_else_is_not_answered() -> None:
    other = seen(question=Question(text="?", answers=("yes", "no")))
    decision = system("interruption").decide(other)
    assert decision.outcome is Outcome.ABSTAINED
    assert "yes, no" in str(decision.reason)


def test_the_spec_follows_the_model_and_parameters_have_ranges() -> None:
    made = system("x", temperature=0.4)
    assert made.spec.weights == {"w": "0" * 64}
    assert not made.spec.deterministic
    made.load()
    assert made.spec.parameters["n"] == 1
    assert set(made.spec.labels or ()) == set(ROLES)
    with pytest.raises(UsageError, match="temperature"):
        system("x", temperature=9.0)


@pytest.mark.parametrize(
    ("name", "given"),
    [("roles-smollm2", {}), ("roles-openai", {"model": "m"}), ("roles-ollama", {"model": "m:1"})],
)
def test_rows_of_the_catalogue_build(name: str, given: dict[str, str]) -> None:
    spec = build_system(name, **given).spec
    assert spec.name == (
        name if not given else {"m": "roles-m", "m:1": "roles-m-1"}[given["model"]]
    )
    assert spec.modalities == ("text", "question")


@pytest.mark.parametrize("top", [0, 20])
def test_who_answered_is_told(top: int) -> None:
    by = Served(snapshot="m-1")

    class Service(Model):
        def complete(self, prompt: Prompt, **kw: Any) -> Completion:
            return replace(super().complete(prompt, **kw), served=by)

    answer = [("backchannel", -0.1)] if top else "backchannel"
    assert RoleTexts(model=Service(answer, top=top), name="x").decide(seen()).served == by
    fault = ModelFault(Outcome.ABSTAINED, "no")
    fault.served = by
    assert RoleTexts(model=Model(fault, top=top), name="x").decide(seen()).served == by
