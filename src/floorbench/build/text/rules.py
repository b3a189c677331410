"""What can be told of a dialogue without understanding it: the judge that needs no model.

Each rule gives one short reason. They hold for every writer; a model's judge comes on top.

``empty``
    A turn without a letter, or a noise with a text.
``role``
    The target is spoken by somebody that its scenario does not allow.
``history``
    No round or more than five, or an utterance of it said twice.
``state``
    While the system is speaking, what it says is too short to be broken into.
``length``
    A target, or an utterance of the history, is shorter or longer than its bounds.
``language``
    Letters of another script than the language's.
``markup``
    Brackets, marks or line breaks that no voice can read.
``leak``
    A word that names the label, the state or the task.
``form``
    A target without a closing mark, or a backchannel that asks.
``cut``
    A cut where there must be none, none where there must be one, at the end of the sentence, or at
    a place where the turn might be over.
``repetition``
    A target that the history holds already, or words that go round in a loop.
``related``
    Background speech that shares words with the conversation.

Deviations
----------
The paper on CoDeTT has a model judge alone and prints no bounds; the rules and bounds are our own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

from floorbench.build.pipeline.stage import Rejected
from floorbench.build.text.dialogue import ROLES, ROUNDS, Dialogue, units
from floorbench.build.text.similarity import similarity
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import SPEAKING, STATES

BOUNDS: dict[str, dict[str, tuple[int, int]]] = {
    "en": {"Backchannel": (1, 6), "Incomplete": (3, 30), "": (2, 30)},
    "zh": {"Backchannel": (1, 9), "Incomplete": (4, 45), "": (3, 45)},
}
"""Units of what is heard of a target, at least and at most, by scenario."""
WHOLE = {"en": 40, "zh": 60}
"""Units of a target with what is cut off, at most."""
TURN = {"en": 80, "zh": 130}
"""Units of an utterance of the history, at most."""
IN_PROGRESS = {"en": 12, "zh": 20}
"""Units that the system must be saying when it is broken into, at least."""
LEFT = 2
"""Units that a cut takes away, at least."""
LOOP = 3
"""How often the same three units may follow each other in one utterance: less than so often."""
SAME = 0.8
"""Likeness of trigrams from which a target repeats an utterance."""
_CLOSING = ".?!…。？！"
_MARKUP = re.compile(r"[<>\[\]{}()|#*_=\\/\n\r\t（）【】《》]|^\w+\s*[:：]")
_LEAKS = (
    *(state.casefold() for state in STATES),
    "stopandlisten", "backchannel", "side talk", "sidetalk", "side-talk", "turn-taking",
    "takeover", "target utterance", "third party", "话轮", "反馈语", "第三方", "目标语句", "旁白",
)  # fmt: skip


def problem_of(dialogue: Dialogue) -> Rejected | None:
    """Return the first rule that a dialogue breaks, or ``None``."""
    for reason, check in _RULES:
        detail = check(dialogue)
        if detail is not None:
            return Rejected(reason=reason, detail=detail)
    return None


def loops(text: str, language: str) -> str | None:
    """Return the first three units that come ``LOOP`` times in a text, or ``None``.

    Examples
    --------
    >>> loops("I see you there and I see you here and I see you now", "en")
    'i see you'
    """
    words = [text[a:b].casefold() for a, b in units(text, language)]
    counts = Counter(zip(words, words[1:], words[2:], strict=False))
    gap = "" if language == "zh" else " "
    return next((gap.join(w) for w, n in counts.items() if n >= LOOP), None)


def foreign(text: str, language: str) -> str | None:
    """Return the first letter that a text of this language does not have, or ``None``.

    English is Latin, accents included. Chinese is Han; up to three Latin letters in a row are let
    pass (``A座``, ``Wi-Fi`` in two runs).
    """
    if language == "en":
        return next((c for c in text if c.isalpha() and ord(c) > 0x24F), None)
    other = re.search(r"[A-Za-z]{4,}", text)
    if other is not None:
        return other[0]
    return next((c for c in text if c.isalpha() and not c.isascii() and not _han(c)), None)


def _han(c: str) -> bool:
    return 0x3400 <= ord(c) <= 0x9FFF or 0x20000 <= ord(c) <= 0x3FFFF or c in "〇々"


def _turns(dialogue: Dialogue) -> Iterator[str]:
    for said in dialogue.history:
        yield said.user
        yield said.assistant


def _all(dialogue: Dialogue) -> Iterator[str]:
    yield from _turns(dialogue)
    if dialogue.target.role != "noise":
        yield dialogue.target.text


def _empty(dialogue: Dialogue) -> str | None:
    if dialogue.target.role == "noise" and dialogue.target.text:
        return f"a noise with the text {dialogue.target.text!r}"
    found = any(not units(text, dialogue.language) for text in _all(dialogue))
    return "a turn without a word" if found else None


def _role(dialogue: Dialogue) -> str | None:
    role, allowed = dialogue.target.role, ROLES[dialogue.scenario]
    return None if role in allowed else f"{role}, not {' or '.join(allowed)}"


def _history(dialogue: Dialogue) -> str | None:
    count = len(dialogue.history)
    if not 1 <= count <= ROUNDS:
        return f"{counted(count, 'round')}, not 1 to {ROUNDS}"
    said = Counter("".join(c for c in t.casefold() if c.isalnum()) for t in _turns(dialogue))
    twice = next((text for text, n in said.items() if n > 1), None)
    return None if twice is None else f"said twice: {twice[:40]}"


def _state(dialogue: Dialogue) -> str | None:
    if dialogue.state != SPEAKING:
        return None
    have, need = len(units(dialogue.assistant_text, dialogue.language)), IN_PROGRESS
    need_here = need[dialogue.language]
    return (
        None
        if have >= need_here
        else f"the system says {counted(have, 'word')}, not {need_here} or more"
    )


def _length(dialogue: Dialogue) -> str | None:
    language = dialogue.language
    most = TURN[language]
    for text in _turns(dialogue):
        if len(units(text, language)) > most:
            return (
                f"{counted(len(units(text, language)), 'word')} "
                f"in one turn of the history, over {most}"
            )
    if dialogue.target.role == "noise":
        return None
    total = len(units(dialogue.target.text, language))
    cut = dialogue.target.cut_after
    heard = total if cut is None else cut
    low, high = BOUNDS[language].get(dialogue.scenario, BOUNDS[language][""])
    if not low <= heard <= high:
        return f"{counted(heard, 'word is', 'words are')} heard, not {low} to {high}"
    return None if total <= WHOLE[language] else f"{counted(total, 'word')}, over {WHOLE[language]}"


def _language(dialogue: Dialogue) -> str | None:
    found = (foreign(text, dialogue.language) for text in _all(dialogue))
    return next((f"{odd!r} is not {dialogue.language}" for odd in found if odd), None)


def _markup(dialogue: Dialogue) -> str | None:
    found = (_MARKUP.search(text) for text in _all(dialogue))
    return next((f"{odd[0]!r} cannot be said" for odd in found if odd), None)


def _leak(dialogue: Dialogue) -> str | None:
    said = " ".join(_all(dialogue)).casefold()
    return next((f"names {word!r}" for word in _LEAKS if word in said), None)


def _form(dialogue: Dialogue) -> str | None:
    text = dialogue.target.text
    if dialogue.target.role == "noise":
        return None
    if text[-1] not in _CLOSING:
        return f"ends with {text[-1]!r}"
    if dialogue.scenario == "Backchannel" and ("?" in dialogue.heard or "？" in dialogue.heard):
        return "a backchannel that asks"
    return None


def _cut(dialogue: Dialogue) -> str | None:
    text, cut = dialogue.target.text, dialogue.target.cut_after
    if dialogue.scenario != "Incomplete":
        return None if cut is None else f"{dialogue.scenario} is cut"
    if cut is None:
        return "no cut"
    found = units(text, dialogue.language)
    if not 1 <= cut <= len(found) - LEFT:
        return f"cut after {cut} of {counted(len(found), 'word')}"
    between = text[found[cut - 1][1] : found[cut][0]].strip()
    return f"the cut is at {between!r}" if between else None


def _repetition(dialogue: Dialogue) -> str | None:
    for text in _all(dialogue):
        found = loops(text, dialogue.language)
        if found is not None:
            return f"{found!r} again and again"
    for text in _turns(dialogue):
        alike = similarity(text, dialogue.heard)
        if dialogue.scenario != "Backchannel" and alike is not None and alike >= SAME:
            return f"the target is {alike:.2f} alike with {text[:40]!r}"
    return None


def _related(dialogue: Dialogue) -> str | None:
    if dialogue.scenario != "Distraction":
        return None
    said = set().union(*(_content(text, dialogue.language) for text in _turns(dialogue)))
    shared = sorted(said & _content(dialogue.target.text, dialogue.language))
    return f"shares {', '.join(shared[:3])}" if shared else None


def _content(text: str, language: str) -> set[str]:
    """Return what stands for the content: words of five letters or more, three characters in a row.

    Words that any conversation may hold are left out.
    """
    words = [text[a:b].casefold() for a, b in units(text, language)]
    if language == "zh":
        return {"".join(w) for w in zip(words, words[1:], words[2:], strict=False)}
    return {w for w in words if len(w) >= 5 and w not in _COMMON}


_COMMON = frozenset([
    "about", "after", "again", "another", "before", "being", "could", "early", "evening",
    "every", "first", "found", "going", "house", "inside", "least", "little", "looks", "maybe",
    "might", "minutes", "never", "other", "people", "please", "really", "right", "should",
    "since", "something", "still", "their", "there", "these", "thing", "think", "third", "those",
    "three", "twenty", "under", "until", "walks", "weeks", "where", "which", "while", "without",
    "would", "years",
])  # fmt: skip

_RULES: tuple[tuple[str, Callable[[Dialogue], str | None]], ...] = (
    ("empty", _empty),
    ("role", _role),
    ("history", _history),
    ("state", _state),
    ("cut", _cut),
    ("length", _length),
    ("language", _language),
    ("markup", _markup),
    ("leak", _leak),
    ("form", _form),
    ("repetition", _repetition),
    ("related", _related),
)
