"""The source texts of the CoDeTT starter set: reading and checking them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorbench.core.words import counted
from floorbench.errors import DataError, Place

LABELS = {
    ("SystemSpeaking", "Maintain"): ("Backchannel", "Invalidation", "SideTalk", "Distraction"),
    ("SystemSpeaking", "StopandListen"): ("Interruption", "Dismissal", "Collaboration"),
    ("SystemIdle", "Takeover"): ("Completion", "Cooperation"),
    ("SystemIdle", "Dismiss"): (
        "Incomplete",
        "Invalidation",
        "Dismissal",
        "Exclusion",
        "SideTalk",
    ),
}
ROUNDS = 5
AT_LEAST = 6
AT_LEAST_ENGLISH = {"Completion": 20, "Incomplete": 20}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One target turn.

    Attributes
    ----------
    id, state, action, scenario : str
        Identity and gold label.
    text : str
        What is heard; empty for a noise.
    source : str
        What the voice says before a cut: the full sentence of an incomplete turn, the carrier
        sentence of a backchannel, otherwise ``text``.
    noise : str or None
        Name of the recording of a non-speech item.
    """

    id: str
    state: str
    action: str
    scenario: str
    text: str
    source: str
    noise: str | None

    @property
    def cut_after(self) -> str | None:
        """The beginning of ``source`` after which the audio is cut, or ``None``."""
        return self.text.rstrip(".?!。？！") if self.source != self.text else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialogue:
    """Five rounds of (user, assistant) and the target turns that share them."""

    id: str
    language: str
    topic: str
    history: tuple[tuple[str, str], ...]
    items: tuple[Item, ...]


def read_texts(path: Path) -> tuple[Dialogue, ...]:
    """Read one language's texts and check their rules.

    Raises
    ------
    DataError
        FB905 on wrong counts, rounds, labels, markers or repeated texts.
    """
    raw = json.loads(path.read_text(encoding="utf-8"))
    dialogues = tuple(_dialogue(entry, raw["language"]) for entry in raw["dialogues"])
    check_texts(dialogues, where=path.name)
    return dialogues


def _dialogue(entry: dict[str, Any], language: str) -> Dialogue:
    return Dialogue(
        id=entry["dialogue"],
        language=language,
        topic=entry["topic"],
        history=tuple((turn["user"], turn["assistant"]) for turn in entry["history"]),
        items=tuple(
            Item(
                id=item["id"],
                state=item["state"],
                action=item["action"],
                scenario=item["scenario"],
                text=item["text"],
                source=item.get("full_text") or item.get("carrier") or item["text"],
                noise=item.get("noise"),
            )
            for item in entry["items"]
        ),
    )


def normal(text: str) -> str:
    """Return the letters and digits of a text in lower case, for comparing texts."""
    return "".join(c for c in text.lower() if c.isalnum())


def check_texts(dialogues: tuple[Dialogue, ...], *, where: str) -> None:
    """Raise ``DataError`` FB905 at the first rule that the texts of a language break."""

    def wrong(what: str, item: str | None = None) -> DataError:
        return DataError("FB905", what, where=Place(where, None, item))

    seen: dict[str, str] = {}
    ids: set[str] = set()
    counts: Counter[tuple[str, str, str]] = Counter()
    for dialogue in dialogues:
        if len(dialogue.history) != ROUNDS:
            raise wrong(
                f"{counted(len(dialogue.history), 'round')} of history, not {ROUNDS}", dialogue.id
            )
        labels = [(item.state, item.action, item.scenario) for item in dialogue.items]
        if len(set(labels)) != len(labels):
            raise wrong("two items of the same scenario in one dialogue", dialogue.id)
        counts.update(labels)
        spoken = [(dialogue.id, user) for user, _ in dialogue.history]
        spoken += [(item.id, item.text) for item in dialogue.items if not item.noise]
        for name, text in spoken:
            key = normal(text)
            if not key:
                raise wrong("a spoken turn without text", name)
            if key in seen:
                raise wrong(f"the text {text!r} already occurs in {seen[key]}", name)
            seen[key] = name
        for item in dialogue.items:
            if item.id in ids:
                raise wrong("an item id used twice", item.id)
            ids.add(item.id)
            _check_item(item, wrong)
    language = dialogues[0].language if dialogues else "?"
    for (state, action), scenarios in LABELS.items():
        for scenario in scenarios:
            need = AT_LEAST_ENGLISH.get(scenario, AT_LEAST) if language == "en" else AT_LEAST
            have = counts[state, action, scenario]
            if have < need:
                raise wrong(f"{counted(have, 'item')} of {state} {action} {scenario}, need {need}")


def _check_item(item: Item, wrong: Any) -> None:
    if item.scenario not in LABELS.get((item.state, item.action), ()):
        raise wrong(f"no label {item.state} {item.action} {item.scenario}", item.id)
    if (item.scenario == "Invalidation") != (item.noise is not None and item.text == ""):
        raise wrong("a noise without a recording, or a recording with a text", item.id)
    if (item.scenario in ("Incomplete", "Backchannel")) != (item.cut_after is not None):
        raise wrong("only incomplete turns and backchannels are cut, and they always are", item.id)
    if item.cut_after is not None and not item.source.startswith(item.cut_after):
        raise wrong("the sentence does not begin with the text that is kept", item.id)
