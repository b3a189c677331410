"""Prompts for models that write and judge dialogues: versioned files, hashed into the settings."""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from floorbench.build.text import grammar
from floorbench.build.text.dialogue import ROLES, ROUNDS, Dialogue
from floorbench.build.text.rules import IN_PROGRESS
from floorbench.core.sample import JsonValue
from floorbench.datasets.codett_labels import BY_LABEL, INTENTS, SPEAKING
from floorbench.errors import UsageError

FOLDER = Path(__file__).parent / "prompts"
VERSIONS = tuple(sorted(path.name for path in FOLDER.iterdir() if path.is_dir()))
VERSION = "dialogue-v1"
THINGS = 3
"""Words of the topic that a prompt asks for, so that two dialogues of a topic differ."""


class Scenario(NamedTuple):
    """What a label means, and how it is written."""

    meaning: str
    instruction: str


def check_version(version: str) -> str:
    """Return the version of the prompts, when there is one of that name.

    Raises
    ------
    UsageError
        FB861 for an unknown one.
    """
    if version not in VERSIONS:
        raise UsageError(
            "FB861", f"no prompts {version!r}", hint=f"there are: {', '.join(VERSIONS)}"
        )
    return version


@cache
def prompt_digests(version: str) -> dict[str, str]:
    """Return the SHA-256 of every file of a version, by file name."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((FOLDER / version).iterdir())
    }


@cache
def scenarios(language: str, version: str) -> dict[str, Scenario]:
    """Return meaning and instruction of every label."""
    rows = (line.split("\t") for line in _read(f"scenarios.{language}.tsv", version).splitlines())
    return {label: Scenario(meaning, instruction) for label, meaning, instruction in rows}


def writing_prompt(
    *, language: str, label: str, topic: str, version: str, rng: np.random.Generator
) -> str:
    """Return the instruction for writing one dialogue.

    Parameters
    ----------
    topic : str
        One of the grammar's topics.
    rng : numpy.random.Generator
        Draws the things of the topic that may come up.
    """
    parts = _parts(language, version)
    intent = BY_LABEL[label]
    state = "speaking" if intent.state == SPEAKING else "idle"
    noise = ROLES[intent.scenario] == ("noise",)
    slots = list(grammar.texts_of(language)[0][topic]["slots"].values())
    things = [
        slots[i][int(rng.integers(len(slots[i])))] for i in rng.permutation(len(slots))[:THINGS]
    ]
    roles = ", ".join(f"{r} ({parts['roles'][r]})" for r in ROLES[intent.scenario])
    fields = [parts["history"].format(rounds=ROUNDS)]
    if not noise:
        fields += [parts["speaker"].format(roles=roles), parts["said"]]
    if intent.scenario == "Incomplete":
        fields.append(parts["heard"])
    scenario = scenarios(language, version)[label]
    target_rule = parts["noise" if noise else "target"]
    return (
        _read(f"write.{language}.txt", version)
        .format(
            topic=topic,
            things=", ".join(things),
            rounds=ROUNDS,
            state_rule=parts[state].format(least=IN_PROGRESS[language]),
            target_rule=target_rule.format(moment=parts[f"while_{state}"]),
            meaning=scenario.meaning,
            instruction=scenario.instruction,
            fields="\n".join(fields),
        )
        .strip()
    )


def start_of(language: str, version: str) -> str:
    """Return the message that follows the instruction."""
    return str(_parts(language, version)["start"])


def writing_schema(label: str) -> dict[str, JsonValue]:
    """Return the JSON Schema of a written dialogue."""
    scenario = BY_LABEL[label].scenario
    text: JsonValue = {"type": "string"}
    fields: dict[str, JsonValue] = {
        "history": {"type": "array", "items": _closed({"user": text, "assistant": text})}
    }
    if ROLES[scenario] != ("noise",):
        fields["speaker"] = {"type": "string", "enum": list(ROLES[scenario])}
        fields["target"] = text
    if scenario == "Incomplete":
        fields["heard"] = text
    return _closed(fields)


def label_prompt(*, language: str, state: str, version: str) -> tuple[str, tuple[str, ...]]:
    """Return the judge's first instruction, blind to the label, and its possible answers."""
    names = tuple(i.label for i in INTENTS if i.state == state)
    short = {label: f"{BY_LABEL[label].action}_{BY_LABEL[label].scenario}" for label in names}
    meanings = scenarios(language, version)
    options = "\n".join(f"{short[label]}: {meanings[label].meaning}" for label in names)
    text = _read(f"judge-label.{language}.txt", version).format(options=options)
    return text.strip(), tuple(short.values())


def text_prompt(*, language: str, label: str, version: str) -> str:
    """Return the judge's second instruction, which tells what was meant."""
    scenario = scenarios(language, version)[label]
    text = _read(f"judge-text.{language}.txt", version)
    return text.format(meaning=scenario.meaning, instruction=scenario.instruction).strip()


def text_schema() -> dict[str, JsonValue]:
    """Return the JSON Schema of the judge's second answer."""
    return _closed({"ok": {"type": "boolean"}, "why": {"type": "string"}})


def shown(dialogue: Dialogue, version: str) -> str:
    """Return a dialogue as a judge reads it: what is heard and by whom, never the label."""
    parts = _parts(dialogue.language, version)
    lines = [
        f"{parts[who]}: {text}"
        for r in dialogue.history
        for who, text in (("user", r.user), ("assistant", r.assistant))
    ]
    lines.append(parts["now_speaking" if dialogue.state == SPEAKING else "now_idle"])
    who = parts["roles"][dialogue.target.role]
    lines.append(parts["next"].format(who=who, text=dialogue.heard or parts["nothing"]))
    return "\n".join(lines)


def _closed(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    names: list[JsonValue] = [*fields]
    return {
        "type": "object",
        "properties": fields,
        "required": names,
        "additionalProperties": False,
    }


@cache
def _read(name: str, version: str) -> str:
    return (FOLDER / version / name).read_text(encoding="utf-8")


@cache
def _parts(language: str, version: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_read(f"parts.{language}.json", version))
    return found
