from __future__ import annotations

import pytest

from floorbench.systems.llm.answers import parse_answer


@pytest.mark.parametrize(
    ("text", "label", "confidence"),
    [
        ('{"decision": 1, "confidence": 0.8, "justification": "done"} END', "yes", 0.8),
        ('{"decision": 0, "confidence": 0, "justification": ""}', "no", 0.0),
        ('Sure!\n```json\n{"decision": "1"}\n```\nEND', "yes", None),
        ('{"decision": true, "confidence": true}', "yes", None),
        ('{"decision": "No", "confidence": 90}', "no", None),
        ('{"decision": 1, "confidence": "high"} {"decision": "yes"}', "yes", None),
        ('{"decision": 1} {"note": 2} {"decision"', "yes", None),
        ('{"decision": 1} END\nNext: {"decision": 0} END', "yes", None),
        ('{"decision": 1, "decision": true}', "yes", None),
    ],
)
def test_what_can_be_read(text: str, label: str, confidence: float | None) -> None:
    answer = parse_answer(text)
    assert (answer.label, answer.confidence, answer.problem) == (label, confidence, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "no JSON object"),
        ("Yes.", "no JSON object"),
        ('{"decision": 1, "confid', "broken"),
        ("{" * 100_000, "broken"),
        ('{"confidence": 0.5}', "no 'decision'"),
        ('{"decision": 2}', "neither 0 nor 1"),
        ('{"decision": 0.7}', "neither 0 nor 1"),
        ('{"decision": null}', "neither 0 nor 1"),
        ('{"decision": 1} {"decision": 0}', "two different decisions"),
        ('{"decision": 0, "decision": 1}', "two different decisions"),
        ('{"decision": 1}\n{"note": 2}\n{"decision": "no"} END', "two different decisions"),
        ('END {"decision": 1}', "no JSON object"),
    ],
)
def test_what_cannot_be_read_says_why(text: str, problem: str) -> None:
    answer = parse_answer(text)
    assert answer.label is None
    assert problem in (answer.problem or "")


def test_a_number_that_is_no_confidence_is_left_out() -> None:
    assert parse_answer('{"decision": 1, "confidence": NaN}').confidence is None


@pytest.mark.parametrize("written", ["1" * 400, "-" + "9" * 400, "1e400"])
def test_a_confidence_too_large_for_a_float_is_left_out(written: str) -> None:
    assert parse_answer(f'{{"decision": 1, "confidence": {written}}}').confidence is None
