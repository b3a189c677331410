"""Reading a generated answer: one JSON object, then END. Deterministic; nothing is guessed."""

from __future__ import annotations

import json
from typing import NamedTuple

VERSION = "2"
END = "END"
_DECODER = json.JSONDecoder(object_pairs_hook=list)
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
        The model's text, unchanged. Words around the object and a missing END do no harm; what
        comes after END is not read.

    Returns
    -------
    Answer
        ``label`` is yes or no. ``confidence`` is ``None`` unless it is a number in [0, 1]. Two
        different decisions, in one object or in two before END, are no answer.

    Examples
    --------
    >>> parse_answer('{"decision": 1, "confidence": 0.8, "justification": "complete"} END')
    Answer(label='yes', confidence=0.8, problem=None)
    >>> parse_answer('Yes, certainly.').problem
    'no JSON object in the answer'
    """
    start = text.find("{")
    if start < 0 or END in text[:start]:
        return Answer(problem="no JSON object in the answer")
    answer, end = _read(text, start)
    start = text.find("{", end)
    while answer.label is not None and start >= 0 and END not in text[end:start]:
        other, end = _read(text, start)
        if other.label not in (None, answer.label):
            return Answer(problem="two different decisions in one answer")
        start = text.find("{", end)
    return answer


def _read(text: str, start: int) -> tuple[Answer, int]:
    """Read the object that begins at ``start``; also return where it ends."""
    try:
        pairs, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return Answer(problem="the JSON object of the answer is broken"), start + 1
    said = [str(value).strip().lower() for name, value in pairs if name == "decision"]
    if not said:
        return Answer(problem="the answer has no 'decision'"), end
    labels = {(_YES | _NO).get(word) for word in said}
    if len(labels) > 1:
        return Answer(problem="two different decisions in one answer"), end
    label = labels.pop()
    if label is None:
        return Answer(problem=f"decision {said[0][:40]!r} is neither 0 nor 1"), end
    return Answer(label=label, confidence=_confidence(dict(pairs).get("confidence"))), end


def _confidence(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= 1 else None  # false for NaN, too
