"""What a written dialogue is: a history, a target turn, and where the target is cut.

A dialogue travels through a recipe as the JSON value ``dialogue`` of an item's fields;
:func:`dialogue_of` reads it and :func:`with_dialogue` puts it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from floorbench.build.pipeline.stage import Item
from floorbench.core.sample import JsonValue
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import BY_LABEL, LABELS, SPEAKING
from floorbench.errors import DataError, Place, UsageError

LANGUAGES = ("en", "zh")
ROUNDS = 5
"""Rounds of history at most; the embedded writer always writes so many."""
Role = Literal["user", "third_party", "background", "noise"]
ROLES: dict[str, tuple[Role, ...]] = {
    "Backchannel": ("user",),
    "Invalidation": ("noise",),
    "SideTalk": ("user",),
    "Distraction": ("background",),
    "Interruption": ("user",),
    "Dismissal": ("user",),
    "Collaboration": ("third_party",),
    "Completion": ("user",),
    "Cooperation": ("third_party",),
    "Incomplete": ("user",),
    "Exclusion": ("user", "third_party"),
}
"""Who speaks the target of a scenario."""


class Round(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One exchange: what the user said and what the system said next."""

    user: str
    assistant: str


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The turn that a decision is asked about.

    Parameters
    ----------
    role : {'user', 'third_party', 'background', 'noise'}
        Who is heard; a noise has no text.
    text : str
        What the voice says in full.
    cut_after : int or None
        Number of units (:func:`units`) that are heard; ``None`` where all of ``text`` is.
    label : str
        Canonical label, ``State_Action_Scenario``.
    """

    role: Role
    text: str
    cut_after: int | None
    label: str


class Dialogue(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A dialogue with one target turn.

    Parameters
    ----------
    id : str
        Of the item.
    language : {'en', 'zh'}
    topic : str
        Short name of what it is about.
    family : str
        Dialogues of one family share texts or their source and belong into the same split.
    history : tuple of Round
        Oldest first, at most 5. While the system is speaking, the last ``assistant`` is the
        utterance that is in progress when the target begins.
    target : Target
    """

    id: str
    language: Literal["en", "zh"]
    topic: str
    family: str
    history: tuple[Round, ...]
    target: Target

    @property
    def state(self) -> str:
        """``SystemSpeaking`` or ``SystemIdle``."""
        return BY_LABEL[self.target.label].state

    @property
    def action(self) -> str:
        """The right decision."""
        return BY_LABEL[self.target.label].action

    @property
    def scenario(self) -> str:
        """Scenario of the target; ambiguous without the state."""
        return BY_LABEL[self.target.label].scenario

    @property
    def assistant_text(self) -> str:
        """What the system is saying while the target is heard; empty when it is idle."""
        return self.history[-1].assistant if self.state == SPEAKING else ""

    @property
    def heard(self) -> str:
        """What is heard of the target: its text up to the cut."""
        cut = self.target.cut_after
        return self.target.text if cut is None else kept(self.target.text, cut, self.language)


def units(text: str, language: str) -> tuple[tuple[int, int], ...]:
    """Return where the words of a text begin and end, as indices of its characters.

    Words of English are what stands between spaces, without the marks around them. Chinese has no
    spaces: each character is a unit, and so is each run of Latin letters or digits. Marks are no
    units.

    Examples
    --------
    >>> units("Well, it's ten.", "en")
    ((0, 4), (6, 10), (11, 14))
    >>> units("好，去A区", "zh")
    ((0, 1), (2, 3), (3, 4), (4, 5))
    """
    found: list[tuple[int, int]] = []
    start: int | None = None
    for i, c in enumerate([*text, " "]):
        word = c.isalnum()
        if language == "zh" and word and not c.isascii():
            if start is not None:
                found.append((start, i))
            found.append((i, i + 1))
            start = None
        elif word or (start is not None and c in "'’-" and text[i + 1 : i + 2].isalnum()):
            start = i if start is None else start
        elif start is not None:
            found.append((start, i))
            start = None
    return tuple(found)


def kept(text: str, cut_after: int, language: str) -> str:
    """Return the beginning of a text that ends with its ``cut_after``-th unit.

    Raises
    ------
    ValueError
        When the text has fewer units, or ``cut_after`` is not positive.
    """
    found = units(text, language)
    if not 1 <= cut_after <= len(found):
        raise ValueError(f"cut after {cut_after} of {counted(len(found), 'word')}")
    return text[: found[cut_after - 1][1]]


def seeds(
    *,
    count: int,
    languages: Sequence[str] = LANGUAGES,
    labels: Sequence[str] = LABELS,
) -> tuple[Item, ...]:
    """Return the items that a writer starts from: ``count`` of each language and label.

    Each has the fields ``language``, ``label`` and ``number`` (0 to ``count`` - 1), and an id made
    of them, such as ``en-idle-incomplete-007``.

    Raises
    ------
    UsageError
        FB861 for an unknown language or label, or a count below 1.
    """
    unknown = [
        *(x for x in languages if x not in LANGUAGES),
        *(x for x in labels if x not in LABELS),
    ]
    if unknown or count < 1:
        what = f"{unknown[0]!r} cannot be written" if unknown else f"count={count} is below 1"
        raise UsageError("FB861", what, hint=f"languages: {', '.join(LANGUAGES)}; labels: CoDeTT's")
    return tuple(
        Item(
            id=f"{language}-{_short(label)}-{number:03d}",
            fields={"language": language, "label": label, "number": number},
        )
        for language in languages
        for label in labels
        for number in range(count)
    )


def _short(label: str) -> str:
    intent = BY_LABEL[label]
    return f"{intent.state.removeprefix('System')}-{intent.scenario}".lower()


def order_of(item: Item) -> tuple[str, str, int]:
    """Return language, label and number that a seed asks for.

    Raises
    ------
    DataError
        FB862 when one of them is missing or has no meaning.
    """
    language, label = item.fields.get("language"), item.fields.get("label")
    number = item.fields.get("number")
    if language not in LANGUAGES or label not in LABELS or type(number) is not int or number < 0:
        raise DataError(
            "FB862",
            f"language {language!r}, label {label!r}, number {number!r}: not all known",
            where=Place(item=item.id),
        )
    return str(language), str(label), number


def with_dialogue(item: Item, dialogue: Dialogue) -> Item:
    """Return the item with a dialogue in its fields."""
    value: JsonValue = msgspec.json.decode(msgspec.json.encode(dialogue))
    return item.having(dialogue=value)


def dialogue_of(item: Item) -> Dialogue:
    """Read the dialogue of an item.

    Raises
    ------
    DataError
        FB862 when there is none, or its fields are of another kind.
    """
    raw: Any = item.fields.get("dialogue")
    try:
        found = msgspec.convert(raw, Dialogue)
    except msgspec.ValidationError as error:
        raise DataError("FB862", f"the dialogue: {error}", where=Place(item=item.id)) from None
    if found.target.label not in BY_LABEL:
        raise DataError("FB862", f"no label {found.target.label!r}", where=Place(item=item.id))
    return found
