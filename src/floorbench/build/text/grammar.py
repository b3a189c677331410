"""The embedded writer: dialogues put together from sentences, alternatives and slots.

The texts are in ``grammar/``: ``topics.LANGUAGE.json`` holds what belongs to a topic,
``shared.LANGUAGE.json`` what fits any of them. In a sentence ``{name}`` is a slot, ``[a|b]`` an
alternative, and ``^`` a place where an unfinished turn may be cut.

The n-th dialogues of a language share one :func:`skeleton`, whatever their labels: the n-th topic
and, each time the topics have been gone through, the next rounds of history and the next filling of
each slot, in an order drawn from the seed. Within a state all of the history is the same; the two
states differ in the last round. The history therefore says nothing about the label, and is spoken
once. The target takes the next sentence of its label. Different numbers get different combinations
for as long as there are any; a dialogue does not depend on how many are written. Slots of a topic
are filled once per skeleton, so that history and target speak of the same thing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from floorbench.build.text.dialogue import Dialogue, Role, Round, Target, units
from floorbench.datasets.codett_labels import BY_LABEL, SPEAKING
from floorbench.stats.streams import generator

V = TypeVar("V")
FOLDER = Path(__file__).parent / "grammar"
MIDDLE = 3
"""Rounds between the first and the last one."""
_TOPICAL = {
    "Interruption": "interruption",
    "Collaboration": "collaboration",
    "Completion": "completion",
    "Cooperation": "cooperation",
    "Incomplete": "incomplete",
}


@cache
def texts_of(language: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the topics and the shared sentences of a language."""
    topics, shared = (
        json.loads((FOLDER / f"{name}.{language}.json").read_text(encoding="utf-8"))
        for name in ("topics", "shared")
    )
    return topics, shared


def topics(language: str) -> tuple[str, ...]:
    """Return the names of a language's topics."""
    return tuple(texts_of(language)[0])


def digests() -> dict[str, str]:
    """Return the SHA-256 of every file of sentences, by file name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(FOLDER.glob("*.json"))
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Skeleton:
    """What the n-th dialogues of a language have in common.

    Parameters
    ----------
    topic : str
    again : int
        How often the topics have been gone through before.
    slots : mapping of str to str
        The topic's slots, filled.
    speaking, idle : tuple of Round
        The history while the system is speaking and while it is idle.
    """

    topic: str
    again: int
    slots: Mapping[str, str]
    speaking: tuple[Round, ...]
    idle: tuple[Round, ...]


@cache
def skeleton(language: str, number: int, seed: int) -> Skeleton:
    """Return the skeleton of a number, counted from 0."""
    by_topic, _ = texts_of(language)
    names = _order(tuple(by_topic), seed, language)
    topic, again = names[number % len(names)], number // len(names)
    material = by_topic[topic]
    slots = _fill(material["slots"], 0, again, seed, language, topic)
    ways = tuple(
        product(
            range(len(material["open"])),
            combinations(range(len(material["middle"])), MIDDLE),
        )
    )
    first, between = _order(ways, seed, language, topic, "history")[again % len(ways)]
    rng = generator(seed, language, topic, str(again))

    def spoken(rounds: Sequence[Sequence[str]]) -> tuple[Round, ...]:
        return tuple(
            Round(user=say(user, slots, rng, language), assistant=say(system, slots, rng, language))
            for user, system in rounds
        )

    def last(kind: str) -> Sequence[str]:
        pool = tuple(map(tuple, material[kind]))
        chosen: Sequence[str] = _order(pool, seed, language, topic, kind)[again % len(pool)]
        return chosen

    begun = spoken([material["open"][first], *(material["middle"][i] for i in between)])
    return Skeleton(
        topic=topic,
        again=again,
        slots=slots,
        speaking=(*begun, *spoken([last("talk")])),
        idle=(*begun, *spoken([last("last")])),
    )


def compose(
    *,
    id: str,
    language: Literal["en", "zh"],
    label: str,
    number: int,
    seed: int,
    rng: np.random.Generator,
    attempt: int = 0,
) -> Dialogue:
    """Write one dialogue.

    Parameters
    ----------
    id : str
        Of the dialogue.
    language : {'en', 'zh'}
    label : str
        Canonical label of the target.
    number : int
        Counts the dialogues of this language and label from 0; decides skeleton and sentence.
    seed : int
        Orders topics, sentences and slots.
    rng : numpy.random.Generator
        Decides everything else of the target: alternatives and the place of the cut.
    attempt : int
        Each attempt takes another sentence and other slots; the history stays.
    """
    by_topic, shared = texts_of(language)
    frame = skeleton(language, number, seed)
    material = by_topic[frame.topic]
    intent = BY_LABEL[label]
    topical = intent.scenario in _TOPICAL
    role, pool, index = _pool(label, material, shared, number, frame.again)
    text, cut = "", None
    if pool:
        index += attempt * (1 if topical else len(pool) + 7)
        cycle, place = divmod(index, len(pool))
        where = (language, frame.topic) if topical else (language,)
        chosen = _order(tuple(pool), seed, *where, label, role)[place]
        tails = _tails(intent.scenario, shared)
        if tails and cycle:
            tail = tails[(index + cycle) % len(tails)]
            chosen += ("" if language == "zh" else " ") + tail
        slots = _fill(shared["slots"], place, cycle, seed, language, label)
        slots = {**slots, **frame.slots} if topical else slots
        text = say(chosen, slots, rng, language)
        if intent.scenario == "Incomplete":
            text, cut = _cut(text, rng, language)
    return Dialogue(
        id=id,
        language=language,
        topic=frame.topic,
        family=f"{language}-{frame.topic}",
        history=frame.speaking if intent.state == SPEAKING else frame.idle,
        target=Target(role=role, text=text, cut_after=cut, label=label),
    )


def say(sentence: str, slots: Mapping[str, str], rng: np.random.Generator, language: str) -> str:
    """Choose the alternatives of a sentence, fill its slots, and set its capitals.

    Examples
    --------
    >>> say("{who} came. [so there|so there]!", {"who": "my dad"}, np.random.default_rng(0), "en")
    'My dad came. So there!'
    """
    while found := re.search(r"\[([^\[\]]*)\]", sentence):
        options = found[1].split("|")
        pick = options[int(rng.integers(len(options)))]
        sentence = sentence[: found.start()] + pick + sentence[found.end() :]
    text = re.sub(r"\{(\w+)\}", lambda m: slots[m[1]], sentence)
    if language == "zh":
        return text
    return re.sub(r"(^|[.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)


def _pool(
    label: str,
    material: Mapping[str, Any],
    shared: Mapping[str, Any],
    number: int,
    again: int,
) -> tuple[Role, Sequence[str], int]:
    """Return who speaks, the sentences there are, and which of them is due."""
    intent = BY_LABEL[label]
    match intent.scenario:
        case "Invalidation":
            return "noise", (), 0
        case "Distraction":
            return "background", shared["distraction"], number
        case "Exclusion":
            # One in five is spoken by the user, to nobody.
            if number % 5 == 4:
                return "user", shared["exclusion_user"], number // 5
            return "third_party", shared["exclusion_third"], number - number // 5
        case "SideTalk":
            # The two states share the sentences: each has one half of them.
            half = [
                s for i, s in enumerate(shared["sidetalk"]) if i % 2 == (intent.state == SPEAKING)
            ]
            return "user", half, number
        case "Dismissal":
            state = "speaking" if intent.state == SPEAKING else "idle"
            return "user", shared[f"dismissal_{state}"], number
        case "Backchannel":
            return "user", shared["backchannel"], number
        case scenario:
            role: Role = "third_party" if scenario in ("Collaboration", "Cooperation") else "user"
            # A shift each time that the slots have been gone through: sentences meet all fillings.
            shift = again // max(len(values) for values in material["slots"].values())
            return role, material[_TOPICAL[scenario]], again + shift


def _tails(scenario: str, shared: Mapping[str, Any]) -> Sequence[str]:
    """Return what may follow the sentences of a scenario that have all been used once."""
    names = {"Dismissal": "reasons", "Distraction": "distraction", "SideTalk": "asides"}
    return shared[names[scenario]] if scenario in names else ()


def _cut(text: str, rng: np.random.Generator, language: str) -> tuple[str, int]:
    """Take the marks out of a sentence and cut it at one of them."""
    pieces = text.split("^")
    places = [len(units("".join(pieces[: i + 1]), language)) for i in range(len(pieces) - 1)]
    return "".join(pieces), places[int(rng.integers(len(places)))]


def _fill(
    slots: Mapping[str, Sequence[str]], place: int, cycle: int, seed: int, *where: str
) -> dict[str, str]:
    """Fill each slot with the value whose turn it is.

    A sentence at some place takes the next value of each slot each time that the sentences have
    been gone through; when a slot has been gone through as well, slots of equal size part company.
    """
    out: dict[str, str] = {}
    for nth, (name, values) in enumerate(slots.items()):
        size = len(values)
        ordered = _order(tuple(values), seed, *where, name)
        out[name] = ordered[(place + cycle + (cycle // size) * nth) % size]
    return out


@cache
def _order(values: tuple[V, ...], seed: int, *where: str) -> tuple[V, ...]:
    order = generator(seed, "texts", *where).permutation(len(values))
    return tuple(values[int(i)] for i in order)
