from typing import Any

import pytest

from floorbench.core.prediction import Decision, Prediction
from floorbench.core.vocab import Outcome, ParserMode
from floorbench.datasets.codett_labels import ACTIONS
from floorbench.errors import UsageError
from floorbench.metrics.base import ABSENT, FAILED, INVALID, OK, UNSUPPORTED
from floorbench.tasks.codett_answers import Meaning, capability, meaning, problem_of
from support.scoring import system

IDLE, SPEAKING = "SystemIdle", "SystemSpeaking"
COMPLETION = "SystemIdle_Takeover_Completion"


def read(
    decision: Decision | None, *, state: str = IDLE, spec: Any = None, **fields: Any
) -> Meaning:
    prediction = None if decision is None else Prediction(sample_id="a", decision=decision)
    options = {"stage": "intent", "mode": ParserMode.STRICT, "threshold": None, **fields}
    return meaning(prediction, state=state, system=spec or system(), **options)


# ---- capability --------------------------------------------------------------------------------


def test_an_endpoint_detector_covers_the_idle_actions() -> None:
    declared = capability(system(label_map="smart-turn"), stage="intent")
    assert declared.actions == ("Takeover", "Dismiss")
    assert not declared.intents


def test_maps_labels_states_and_languages_cut_the_capability() -> None:
    ten = capability(system(label_map="ten"), stage="intent")
    assert ten.actions == ("StopandListen", "Takeover", "Dismiss")
    idle = capability(system(label_map="easy-turn", states=(IDLE,)), stage="intent")
    assert idle.actions == ("Takeover", "Dismiss")
    two = capability(system(label_map="easy-turn", labels=("complete", "wait")), stage="intent")
    assert two.actions == ("StopandListen", "Takeover")
    zh = capability(system(label_map="easy-turn", languages=("zh",)), stage="intent")
    assert zh.covers("Maintain", "zh")
    assert not zh.covers("Maintain", "en")


def test_a_system_in_task_labels() -> None:
    assert capability(system(), stage="intent") == (ACTIONS, True, None)
    assert capability(system(), stage="action") == (ACTIONS, False, None)
    assert capability(system(labels=("Takeover",)), stage="intent") == (("Takeover",), False, None)
    assert capability(system(labels=(COMPLETION,)), stage="intent") == (("Takeover",), True, None)


def test_meaningless_declarations_are_errors() -> None:
    with pytest.raises(UsageError, match=r"FB221.*'nope'"):
        capability(system(labels=("nope",)), stage="intent")
    with pytest.raises(UsageError, match="FB221"):
        capability(system(label_map="nope"), stage="intent")


# ---- meaning -----------------------------------------------------------------------------------


def test_native_labels_are_mapped_when_scoring() -> None:
    spec = system(label_map="ke-semanticvad")
    assert read(Decision(label="<未完成>"), spec=spec).action == "Dismiss"
    assert read(Decision(label="<打断>"), spec=spec, state=SPEAKING).action == "StopandListen"
    assert read(Decision(label="什么"), spec=spec) == Meaning(INVALID)


def test_ignoring_the_state_is_wrong_and_not_invalid() -> None:
    said = read(Decision(label="complete"), spec=system(label_map="easy-turn"), state=SPEAKING)
    assert (said.outcome, said.action) == (OK, "Takeover")
    assert read(Decision(label="Takeover"), state=SPEAKING).outcome == OK


def test_full_labels_of_the_other_state_are_invalid() -> None:
    assert read(Decision(label=COMPLETION)) == Meaning(OK, "Takeover", COMPLETION)
    assert read(Decision(label=COMPLETION), state=SPEAKING).outcome == INVALID


def test_raw_answers_are_parsed() -> None:
    assert read(Decision(raw="<|Takeover|><|Completion|>")).intent == COMPLETION
    assert read(Decision(raw="Takeover Completion")).outcome == INVALID
    lenient = read(Decision(raw="Takeover Completion"), mode=ParserMode.LENIENT)
    assert (lenient.intent, lenient.relaxed) == (COMPLETION, True)
    assert read(Decision(label="<|Takeover|><|Completion|>")).intent == COMPLETION
    assert read(Decision(raw="<|Takeover|>"), stage="action").action == "Takeover"
    assert read(Decision(raw="<|Takeover|>")).outcome == INVALID


def test_a_threshold_decides_scored_systems_again() -> None:
    spec = system(label_map="smart-turn", score="complete")
    said = Decision(label="complete", scores={"complete": 0.6})
    assert read(said, spec=spec) == Meaning(OK, "Takeover", None, 0.6)
    assert read(said, spec=spec, threshold=0.6).action == "Dismiss"
    gated = Decision(label="incomplete")  # no score: the gate decided
    assert read(gated, spec=spec, threshold=0.6).action == "Dismiss"
    assert read(Decision(), spec=spec, threshold=0.6).outcome == INVALID


def test_outcomes_pass_through() -> None:
    assert read(None) == Meaning(ABSENT)
    assert read(Decision(outcome=Outcome.FAILED, label="Takeover")) == Meaning(FAILED)
    assert read(Decision(outcome=Outcome.UNSUPPORTED)) == Meaning(UNSUPPORTED)
    assert read(Decision()).outcome == INVALID


# ---- decisions made elsewhere ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("decision", "problem"),
    [
        (Decision(label="Takeover"), None),
        (Decision(label=COMPLETION), None),
        (Decision(label="<未完>"), None),
        (Decision(raw="<|Takeover|><|Completion|>"), None),
        (Decision(scores={"complete": 0.2}), None),
        (Decision(outcome=Outcome.ABSTAINED), None),
        (Decision(label="Takeovr"), "unknown label 'Takeovr'; did you mean 'Takeover'?"),
        (Decision(label="zzz"), "unknown label 'zzz'"),
        (Decision(), "neither a label nor a raw answer nor a score"),
        (Decision(raw="hm"), "the raw answer is not readable (strict): no <|...|> tag"),
        (
            Decision(label="SystemSpeaking_Maintain_Backchannel"),
            "label 'SystemSpeaking_Maintain_Backchannel' belongs to SystemSpeaking, not SystemIdle",
        ),
    ],
)
def test_problems_are_named(decision: Decision, problem: str | None) -> None:
    found = problem_of(decision, state=IDLE, stage="intent", mode=ParserMode.STRICT)
    assert found == problem
