"""Reading a model's text answer into a CoDeTT label, strictly or leniently.

strict
    The released behaviour. ``<|...|>`` tags in order, a leading state tag ignored, then the first
    pair looked up under the given state; the first letter's case does not matter and later tags
    are ignored.
lenient
    Also other case, spaces, hyphens, ``&``, full-width brackets and missing brackets, and every
    such help is reported. Two different labels, or a state tag that contradicts the given state,
    make the answer invalid.

Both
    An answer of the other state is invalid. An action with an unknown scenario is invalid. An
    action alone is an answer only where the task asks for actions.

Source
------
CoDeTT's released scripts (strict). The lenient rules are ours.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import Literal, NamedTuple

from floorbench.core.vocab import ParserMode
from floorbench.datasets.codett_labels import (
    ACTIONS,
    BY_PAIR,
    SCENARIOS,
    STATE_OF,
    STATES,
    Intent,
    tags_of,
)

Stage = Literal["action", "intent"]


class Answer(NamedTuple):
    """What an answer says; ``problem`` is set exactly when there is no action."""

    action: str | None = None
    intent: Intent | None = None
    problem: str | None = None
    relaxed: bool = False


def parse_answer(text: str, *, state: str, stage: Stage, mode: ParserMode) -> Answer:
    """Read one answer.

    Parameters
    ----------
    text : str
        The model's answer, unchanged.
    state : str
        The state that was given to the model.
    stage : {'action', 'intent'}
        What the model was asked for.
    mode : ParserMode
    """
    strict = _strict(text, state, stage)
    if mode is ParserMode.STRICT:
        return strict
    return _lenient(text, state, stage, as_strict=strict)


# ---- strict ------------------------------------------------------------------------------------


def _strict(text: str, state: str, stage: Stage) -> Answer:
    tags = [_first_upper(tag) for tag in tags_of(text)]
    if tags and tags[0] in STATES:
        tags = tags[1:]
    if not tags:
        return Answer(problem="no <|...|> tag")
    if len(tags) == 1:
        return _alone(tags[0], state, stage)
    return _pair(tags[0], tags[1], state)


def _first_upper(name: str) -> str:
    return name[:1].upper() + name[1:]


def _alone(action: str, state: str, stage: Stage) -> Answer:
    if action not in ACTIONS:
        return Answer(problem=f"'{action}' is not an action")
    if stage != "action":
        return Answer(problem=f"action '{action}' without a scenario")
    if STATE_OF[action] != state:
        return Answer(problem=f"'{action}' is no action of {state}")
    return Answer(action=action)


def _pair(action: str, scenario: str, state: str) -> Answer:
    intent = BY_PAIR.get((state, action, scenario))
    if intent is None:
        return Answer(problem=f"'{action}' + '{scenario}' is no label of {state}")
    return Answer(action=action, intent=intent)


# ---- lenient -----------------------------------------------------------------------------------

_GAP = r"[\s_\-&]*"
_PIECES = {
    "SystemSpeaking": ("system", "speaking"),
    "SystemIdle": ("system", "idle"),
    "StopandListen": ("stop", rf"(?:and{_GAP})?listen"),
    "Takeover": ("take", "over"),
    "SideTalk": ("side", "talk"),
    "Backchannel": ("back", "channel"),
}


def _pattern(names: tuple[str, ...]) -> str:
    return "|".join(_GAP.join(_PIECES.get(name, (name.casefold(),))) for name in names)


_NAME = re.compile(
    rf"(?<![a-z])(?:(?P<state>{_pattern(STATES)})|(?P<action>{_pattern(ACTIONS)})"
    rf"|(?P<scenario>{_pattern(SCENARIOS)}))(?![a-z])"
)
_ONE = {name: re.compile(_pattern((name,))) for name in (*STATES, *ACTIONS, *SCENARIOS)}
_JOINT = re.compile(r"[\s<>|\[\](){}_\-+,;:/\"'`*.]*")
_UNKNOWN_SCENARIO = re.compile(r"\s*(?:\|?>\s*<\|?\s*\w|_\w)")
_BRACKETS = str.maketrans("【】〈〉《》「」『』〔〕", "<><><><><><>")


class _Name(NamedTuple):
    kind: str
    name: str
    start: int
    end: int


def _lenient(text: str, state: str, stage: Stage, *, as_strict: Answer) -> Answer:
    folded = unicodedata.normalize("NFKC", text).translate(_BRACKETS).casefold()
    names = _names(folded)
    for found in names:
        if found.kind == "state" and found.name != state:
            return Answer(problem=f"the answer says {found.name}, the state is {state}")
    said = _labels(names, folded)
    answers = {pair: _pair(*pair, state) for pair in said}
    broken = [a for a in answers.values() if a.problem is not None]
    if broken:
        return broken[0]
    if len(answers) > 1:
        both = " and ".join(f"'{a} {s}'" for a, s in answers)
        return Answer(problem=f"two different labels: {both}")
    if answers:
        (answer,) = answers.values()
        return answer._replace(relaxed=answer != as_strict)
    return _lenient_alone(names, folded, state, stage, as_strict)


def _names(folded: str) -> list[_Name]:
    out = []
    for match in _NAME.finditer(folded):
        kind = match.lastgroup or ""
        known = {"state": STATES, "action": ACTIONS, "scenario": SCENARIOS}[kind]
        name = next(n for n in known if _ONE[n].fullmatch(match[0]))
        out.append(_Name(kind, name, match.start(), match.end()))
    return out


def _labels(names: list[_Name], folded: str) -> list[tuple[str, str]]:
    """Return each action that a scenario follows directly, with that scenario, once."""
    pairs = [
        (first.name, second.name)
        for first, second in pairwise(names)
        if (first.kind, second.kind) == ("action", "scenario")
        and _JOINT.fullmatch(folded, first.end, second.start)
    ]
    return list(dict.fromkeys(pairs))


def _lenient_alone(
    names: list[_Name], folded: str, state: str, stage: Stage, as_strict: Answer
) -> Answer:
    actions = [n for n in names if n.kind == "action"]
    if not actions:
        return Answer(problem="no action in the answer")
    if len({a.name for a in actions}) > 1:
        both = " and ".join(dict.fromkeys(f"'{a.name}'" for a in actions))
        return Answer(problem=f"two different actions: {both}")
    for action in actions:
        if _UNKNOWN_SCENARIO.match(folded, action.end):
            return Answer(problem=f"action '{action.name}' with an unknown scenario")
    answer = _alone(actions[0].name, state, stage)
    return answer._replace(relaxed=answer.problem is None and answer != as_strict)
