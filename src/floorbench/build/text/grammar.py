"""The embedded writer: dialogues put together from sentences, alternatives and slots.

The texts are in ``grammar/``: ``topics.LANGUAGE.json`` holds what belongs to a topic,
``shared.LANGUAGE.json`` what fits any of them. In a sentence ``{name}`` is a slot, ``[a|b]`` an
alternative, and ``^`` a place where an unfinished turn may be cut.

The n-th dialogue of a language and label takes the n-th topic and, each time the topics have been
gone through, the next sentence, the next rounds of history and the next filling of each slot, in an
order drawn from the seed.
Different numbers therefore get different combinations for as long as there are any; the dialogue
does not depend on how many are written. The slots of a dialogue are filled once, so that history
and target speak of the same thing.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import combinations, product
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from floorbench.build.text.dialogue import Dialogue, Role, Round, Target, units
from floorbench.datasets.codett_labels import BY_LABEL, LABELS, SPEAKING

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
_CARRIERS = {
    "en": ("{heard}, that is what I had in mind.", "{heard}, I was thinking the same.",
           "{heard}, please tell me more about it.", "{heard}, that sounds good to me."),
    "zh": ("{heard}，我也是这么想的。", "{heard}，你接着往下讲吧。",
           "{heard}，听起来挺不错的。", "{heard}，我都记下来了。"),
}  # fmt: skip


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
        Counts the dialogues of this language and label from 0; decides topic, sentence and slots.
    seed : int
        Orders topics, sentences and slots.
    rng : numpy.random.Generator
        Decides everything else: alternatives and the place of the cut.
    attempt : int
        Each attempt takes another sentence and other slots.
    """
    by_topic, shared = texts_of(language)
    names = _order(tuple(by_topic), seed, language, label)
    topic = names[number % len(names)]
    again = number // len(names)
    material = by_topic[topic]
    slots = _fill(shared["slots"], number + attempt, seed, language, label)
    slots |= _fill(material["slots"], again + attempt, seed, language, label, topic)
    intent = BY_LABEL[label]
    role, pool, index = _pool(label, material, shared, number, again)
    speaking = intent.state == SPEAKING
    turn = (again + attempt) * len(LABELS) + LABELS.index(label)
    history = _history(material, speaking, turn, seed, slots, rng, (language, topic))
    text, cut = "", None
    if pool:
        index += attempt * (len(pool) + 7)
        chosen = _order(tuple(pool), seed, language, label, role)[index % len(pool)]
        tails = _tails(intent.scenario, shared)
        if tails and index >= len(pool):
            tail = tails[(index + index // len(pool)) % len(tails)]
            chosen += ("" if language == "zh" else " ") + tail
        text = say(chosen, slots, rng, language)
        if intent.scenario == "Incomplete":
            text, cut = _cut(text, rng, language)
        elif intent.scenario == "Backchannel":
            text, cut = _carried(text, number, language)
    return Dialogue(
        id=id,
        language=language,
        topic=topic,
        family=f"{language}-{topic}",
        history=history,
        target=Target(role=role, text=text, cut_after=cut, label=label),
    )


def say(sentence: str, slots: Mapping[str, str], rng: np.random.Generator, language: str) -> str:
    """Choose the alternatives of a sentence, fill its slots, and set its capitals.

    Examples
    --------
    >>> say("{who} [came], [didn't he|did he]?", {"who": "my dad"}, np.random.default_rng(0), "en")
    "My dad came, did he?"
    """
    while found := re.search(r"\[([^\[\]]*)\]", sentence):
        options = found[1].split("|")
        pick = options[int(rng.integers(len(options)))]
        sentence = sentence[: found.start()] + pick + sentence[found.end() :]
    text = re.sub(r"\{(\w+)\}", lambda m: slots[m[1]], sentence)
    if language == "zh":
        return text
    return re.sub(r"(^|[.?!] )([a-z])", lambda m: m[1] + m[2].upper(), text)


def _history(
    material: Mapping[str, Any],
    speaking: bool,
    turn: int,
    seed: int,
    slots: Mapping[str, str],
    rng: np.random.Generator,
    where: tuple[str, str],
) -> tuple[Round, ...]:
    """Take the rounds whose turn it is, of all the ways there are to choose them."""
    last = "talk" if speaking else "last"
    ways = tuple(
        product(
            range(len(material["open"])),
            combinations(range(len(material["middle"])), MIDDLE),
            range(len(material[last])),
        )
    )
    first, between, end = _order(ways, seed, *where, last)[turn % len(ways)]
    rounds = [
        material["open"][first],
        *(material["middle"][i] for i in between),
        material[last][end],
    ]
    return tuple(
        Round(user=say(user, slots, rng, where[0]), assistant=say(assistant, slots, rng, where[0]))
        for user, assistant in rounds
    )


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
            return role, material[_TOPICAL[scenario]], again


def _tails(scenario: str, shared: Mapping[str, Any]) -> Sequence[str]:
    """Return what may follow the sentences of a scenario that have all been used once."""
    name = {"Dismissal": "reasons", "Distraction": "distraction"}.get(scenario)
    return shared[name] if name else ()


def _cut(text: str, rng: np.random.Generator, language: str) -> tuple[str, int]:
    """Take the marks out of a sentence and cut it at one of them."""
    pieces = text.split("^")
    places = [len(units("".join(pieces[: i + 1]), language)) for i in range(len(pieces) - 1)]
    return "".join(pieces), places[int(rng.integers(len(places)))]


def _carried(text: str, number: int, language: str) -> tuple[str, int]:
    """Put a backchannel at the head of a sentence, of which only it will be heard."""
    heard = text.rstrip(".。")
    carrier = _CARRIERS[language][number % len(_CARRIERS[language])]
    return carrier.format(heard=heard), len(units(heard, language))


def _fill(slots: Mapping[str, Sequence[str]], turn: int, seed: int, *where: str) -> dict[str, str]:
    """Fill each slot with the value whose turn it is.

    Values move on by one each turn, and by one more each time a slot has been gone through, by an
    amount of its own, so that two slots do not keep step.
    """
    out: dict[str, str] = {}
    for nth, (name, values) in enumerate(slots.items()):
        size = len(values)
        ordered = _order(tuple(values), seed, *where, name)
        out[name] = ordered[(turn + (turn // size) * nth) % size]
    return out


@cache
def _order(values: tuple[V, ...], seed: int, *where: str) -> tuple[V, ...]:
    digest = hashlib.sha256("\0".join((str(seed), *where)).encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8], "little"))
    return tuple(values[int(i)] for i in rng.permutation(len(values)))


def distinct_targets(language: str, label: str) -> int:
    """Return how many different targets the sentences of a label can give, all slots counted.

    It counts combinations, near-duplicates of each other included. 0 for a noise, which has no
    text.
    """
    by_topic, shared = texts_of(language)
    total: dict[tuple[str, str], int] = {}
    for topic, material in by_topic.items():
        for number in (0, 4):
            role, pool, _ = _pool(label, material, shared, number, 0)
            scope = topic if BY_LABEL[label].scenario in _TOPICAL else ""
            slots = {**shared["slots"], **material["slots"]}
            ways = sum(_ways(sentence, slots) for sentence in pool)
            tails = _tails(BY_LABEL[label].scenario, shared)
            total[scope, role] = ways * (1 + len(tails))
    return sum(total.values())


def _ways(sentence: str, slots: Mapping[str, Sequence[str]]) -> int:
    options = [len(set(found.split("|"))) for found in re.findall(r"\[([^\[\]]*)\]", sentence)]
    filled = [len(slots[name]) for name in set(re.findall(r"\{(\w+)\}", sentence))]
    return int(np.prod([*options, *filled, max(1, sentence.count("^"))], dtype=np.int64))
