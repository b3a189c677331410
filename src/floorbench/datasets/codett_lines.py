"""One line of a released CoDeTT file: dialogue, state, target turn and gold label.

A line holds ``messages``, each with a role, a content and, for user messages, an ``audio`` (or
``wav_path``). User contents wrap the system's state::

    系统当前状态: <|SystemIdle|> 输入内容：明天10:30见

The last message is the gold answer, ``<|Action|><|Scenario|>``; some files put the state tag
first. The message before it is the target turn.

Deviations
----------
The wrapper is recognised only at the start of a content and only with a state tag, so that a
colon in the text, or a text that mentions a state, changes nothing. Earlier assistant messages
that consist of tags alone are annotation, not speech, and are left out of the history.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from floorbench.codec import parse
from floorbench.core.vocab import Role
from floorbench.datasets.codett_labels import (
    ACTIONS,
    BY_PAIR,
    SCENARIOS,
    Intent,
    actions_of,
    find_action,
    find_scenario,
    find_state,
    tags_of,
)
from floorbench.errors import DataError, Place, did_you_mean

_HEADS = (
    "系统当前状态",
    "当前系统状态",
    "系统状态",
    "当前状态",
    "current system state",
    "system current state",
    "system state",
)
_WRAPPER = re.compile(
    rf"^\s*+(?:(?:{'|'.join(_HEADS)})\s*+[:：]?\s*+)?<\|\s*+(?P<state>[^|<>]*+)\|>\s*+"
    r"(?:[,，;；。]\s*+)?(?:(?:输入内容|输入|user input|input)\s*+[:：])?(?P<text>.*)$",
    re.DOTALL | re.IGNORECASE,
)
_ONLY_TAGS = re.compile(r"^\s*(?:<\|[^|<>]*\|>\s*)+$")
_ROLES = {"user": Role.USER, "assistant": Role.SYSTEM}
_LANGUAGES = {"chinese": "zh", "mandarin": "zh", "cn": "zh", "english": "en"}


@dataclass(frozen=True, slots=True)
class RawTurn:
    """A turn as written: role, text without wrapper, audio path as given or ``None``."""

    role: Role
    text: str
    audio: str | None


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One line, taken apart; nothing of it has been opened."""

    id: str | None
    dialogue: str | None
    language: str | None
    history: tuple[RawTurn, ...]
    target: RawTurn
    intent: Intent


def read_line(data: bytes, where: Place, *, hinted_state: str | None = None) -> Dialogue:
    """Take one JSONL line apart.

    Parameters
    ----------
    data : bytes
        The line.
    where : Place
        File and line, for messages.
    hinted_state : str or None
        State named by the file or its folder; used only when neither the target turn nor the
        gold answer states one.

    Raises
    ------
    DataError
        ``FB201`` broken JSON, ``FB212`` a dialogue without the expected shape, ``FB213`` an
        unknown label, ``FB214`` a missing or contradictory state.
    """
    line = parse(data, where=where)
    if not isinstance(line, dict):
        raise DataError("FB212", "the line is not a JSON object", where=where)
    messages = line.get("messages")
    if not isinstance(messages, list) or len(messages) < 2:
        raise DataError("FB212", "'messages' is not a list of two or more messages", where=where)
    for message in messages:
        _check_message(message, where)
    gold, last = messages[-1], messages[-2]
    if gold["role"] != "assistant":
        raise DataError(
            "FB212", f"the last message has role '{gold['role']}', not 'assistant'", where=where
        )
    if last["role"] != "user":
        raise DataError(
            "FB212", f"the message before the gold has role '{last['role']}'", where=where
        )
    stated, _ = unwrap(last["content"])
    intent = read_gold(gold["content"], stated=stated, hinted=hinted_state, where=where)
    return Dialogue(
        id=_optional_text(line, "id", where),
        dialogue=_optional_text(line, "dialogue", where),
        language=_language(line, where),
        history=tuple(
            _turn(m)
            for m in messages[:-2]
            if m["role"] == "user"
            or (m["role"] == "assistant" and not _ONLY_TAGS.match(m["content"]))
        ),
        target=_turn(last),
        intent=intent,
    )


def unwrap(content: str) -> tuple[str | None, str]:
    """Return the stated state, if any, and the text without the wrapper.

    Examples
    --------
    >>> unwrap("系统当前状态: <|SystemIdle|> 输入内容：明天10:30见")
    ('SystemIdle', '明天10:30见')
    >>> unwrap("What does SystemIdle mean?")
    (None, 'What does SystemIdle mean?')
    """
    match = _WRAPPER.match(content)
    state = find_state(match["state"]) if match else None
    if match is None or state is None:
        return None, content.strip()
    return state, match["text"].strip()


def read_gold(content: str, *, stated: str | None, hinted: str | None, where: Place) -> Intent:
    """Return the gold label from the last message and the state that was given."""
    tags = tags_of(content)
    tagged = find_state(tags[0]) if tags else None
    if tagged is not None:
        tags = tags[1:]
    if stated is not None and tagged is not None and stated != tagged:
        raise DataError(
            "FB214", f"the user turn says {stated}, the gold answer says {tagged}", where=where
        )
    state = stated or tagged or hinted
    if state is None:
        raise DataError("FB214", "no state tag in the target turn or the gold answer", where=where)
    if len(tags) != 2:
        raise DataError(
            "FB213", f"gold answer {content!r} is not <|Action|><|Scenario|>", where=where
        )
    action, scenario = find_action(tags[0]), find_scenario(tags[1])
    if action is None:
        raise _unknown("action", tags[0], ACTIONS, where)
    if scenario is None:
        raise _unknown("scenario", tags[1], SCENARIOS, where)
    intent = BY_PAIR.get((state, action, scenario))
    if intent is None:
        raise DataError(
            "FB213",
            f"label {action}/{scenario} does not exist in state {state}",
            where=where,
            hint=f"{state} allows {' and '.join(actions_of(state))}",
        )
    return intent


def history_key(turns: tuple[RawTurn, ...]) -> bytes | None:
    """Return a hash of the normalised history, or ``None`` when nothing was said before."""
    said = [
        f"{turn.role.value}:{' '.join(unicodedata.normalize('NFKC', turn.text).casefold().split())}"
        for turn in turns
        if turn.text
    ]
    return hashlib.sha256("\n".join(said).encode()).digest()[:16] if said else None


def _check_message(message: Any, where: Place) -> None:
    if not isinstance(message, dict) or not isinstance(message.get("content"), str):
        raise DataError("FB212", "a message lacks a text 'content'", where=where)
    role = message.get("role")
    if role not in ("system", "user", "assistant"):
        raise DataError("FB212", f"a message has role {role!r}", where=where)


def _turn(message: Mapping[str, Any]) -> RawTurn:
    role = _ROLES[message["role"]]
    text = unwrap(message["content"])[1] if role is Role.USER else message["content"].strip()
    audio = message.get("audio") or message.get("wav_path")
    audio = audio.strip() if isinstance(audio, str) else None
    return RawTurn(role, text, audio or None)


def _optional_text(line: Mapping[str, Any], key: str, where: Place) -> str | None:
    value = line.get(key)
    if value is None:
        return None
    if not isinstance(value, str | int) or isinstance(value, bool) or str(value) == "":
        raise DataError("FB212", f"'{key}' is {value!r}, not a name", where=where)
    return str(value)


def _language(line: Mapping[str, Any], where: Place) -> str | None:
    value = _optional_text(line, "language", where)
    return normal_language(value) if value is not None else None


def normal_language(name: str) -> str:
    """Return the BCP-47 primary subtag of a language name or tag (``EN``, ``zh-CN``, Chinese)."""
    folded = name.strip().casefold()
    return _LANGUAGES.get(folded, re.split(r"[-_]", folded)[0])


def _unknown(kind: str, name: str, known: tuple[str, ...], where: Place) -> DataError:
    near = did_you_mean(name, known)
    return DataError(
        "FB213",
        f"unknown {kind} '{name}' in the gold answer",
        where=where,
        hint=f"did you mean '{near}'?" if near else f"known: {', '.join(known)}",
    )
