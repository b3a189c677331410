import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.vocab import ParserMode
from floorbench.datasets.codett_labels import INTENTS, STATES
from floorbench.tasks.parsing import Answer, parse_answer

GOLDEN = json.loads((Path(__file__).parents[1] / "golden/codett_parsing.json").read_text())


def spoken(answer: Answer) -> str | None:
    if answer.action is None:
        return None
    return answer.action + (f"/{answer.intent.scenario}" if answer.intent else "")


@pytest.mark.parametrize("row", GOLDEN["rows"], ids=lambda row: f"{row[1]}:{row[2][:40]}")
@pytest.mark.parametrize("mode", list(ParserMode))
def test_answers_are_read_as_written_down(row: list[str], mode: ParserMode) -> None:
    state, stage, text, strict, lenient = row
    answer = parse_answer(text, state=state, stage=stage, mode=mode)
    assert spoken(answer) == (strict if mode is ParserMode.STRICT else lenient)
    assert (answer.problem is None) == (answer.action is not None)


@pytest.mark.parametrize("row", GOLDEN["rows"], ids=lambda row: f"{row[1]}:{row[2][:40]}")
def test_leniency_is_reported_exactly_where_strict_failed(row: list[str]) -> None:
    state, stage, text, strict, lenient = row
    answer = parse_answer(text, state=state, stage=stage, mode=ParserMode.LENIENT)
    assert answer.relaxed == (lenient is not None and lenient != strict)


@pytest.mark.parametrize("intent", INTENTS, ids=lambda i: i.label)
@pytest.mark.parametrize("mode", list(ParserMode))
def test_every_label_reads_back(intent: object, mode: ParserMode) -> None:
    answer = parse_answer(intent.tags, state=intent.state, stage="intent", mode=mode)
    assert answer == Answer(intent.action, intent)


def test_problems_say_what_is_wrong() -> None:
    problem = parse_answer(
        "Takeover Completion and Dismiss Incomplete",
        state="SystemIdle",
        stage="intent",
        mode=ParserMode.LENIENT,
    ).problem
    assert problem == "two different labels: 'Takeover Completion' and 'Dismiss Incomplete'"


@given(
    text=st.text(alphabet="<|> TakeoverDismissCompletionSystemIdleSpeaking_&\n", max_size=60),
    state=st.sampled_from(STATES),
    stage=st.sampled_from(["action", "intent"]),
    mode=st.sampled_from(list(ParserMode)),
)
def test_any_text_gives_a_label_of_the_state_or_a_problem(
    text: str, state: str, stage: str, mode: ParserMode
) -> None:
    answer = parse_answer(text, state=state, stage=stage, mode=mode)
    assert (answer.action is None) == (answer.problem is not None)
    assert answer.intent is None or (answer.intent.state, answer.intent.action) == (
        state,
        answer.action,
    )
    assert stage == "action" or answer.problem is not None or answer.intent is not None
