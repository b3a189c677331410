"""Reading a generated answer: one JSON object, then END. Deterministic; nothing is guessed."""

from __future__ import annotations

import json
from typing import NamedTuple

VERSION = "1"
END = "END"
_YES = {"1": "yes", "yes": "yes", "true": "yes"}
_NO = {"0": "no", "no": "no", "false": "no"}


class Answer(NamedTuple):
    """What an answer says; ``problem`` is set exactly when there is no label."""

    label: str | None = None
    confidence: float | None = None
    problem: str | None = None


def parse_answer(text: str) -> Answer:
    """Read the first JSON object of an answer, up to ``END``.

    Parameters
    ----------
    text : str
        The model's text, unchanged. Words around the object and a missing END do no harm.

    Returns
    -------
    Answer
        ``label`` is yes or no. ``confidence`` is ``None`` unless it is a number in [0, 1].

    Examples
    --------
    >>> parse_answer('{"decision": 1, "confidence": 0.8, "justification": "complete"} END')
    Answer(label='yes', confidence=0.8, problem=None)
    >>> parse_answer('Yes, certainly.').problem
    'no JSON object in the answer'
    """
    start = text.find("{")
    if start < 0:
        return Answer(problem="no JSON object in the answer")
    try:
        found, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return Answer(problem="the JSON object of the answer is broken")
    if "decision" not in found:
        return Answer(problem="the answer has no 'decision'")
    said = str(found["decision"]).strip().lower()
    label = (_YES | _NO).get(said)
    if label is None:
        return Answer(problem=f"decision {said[:40]!r} is neither 0 nor 1")
    return Answer(label=label, confidence=_confidence(found.get("confidence")))


def _confidence(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None  # false for NaN, too
