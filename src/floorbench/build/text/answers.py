"""Reading what a model has written: one JSON object, and in it a dialogue.

What is wrong with an answer is a rejection with one of these reasons, or one of
:mod:`floorbench.build.text.rules`:

``refused``
    The service or the model declined.
``blank``
    Nothing was written.
``too-long``
    The answer broke off at the token limit.
``json``
    There is no JSON object in it, or a broken one.
``fields``
    A field is missing, unknown or of another kind.
``heard``
    What is said to be heard is not the beginning of the sentence.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal, cast

import msgspec

from floorbench.build.pipeline.stage import Rejected
from floorbench.build.text.dialogue import ROLES, Dialogue, Role, Round, Target, units
from floorbench.core.words import counted
from floorbench.datasets.codett_labels import BY_LABEL

_OBJECT = re.compile(r"\{\s*[\"}]")
_DECLINES = re.compile(
    r"\b(i(’|')?m sorry|i can(no|')?t|i am (not able|unable)|i won(’|')?t|as an ai)\b"
    r"|抱歉|对不起|无法(满足|提供|协助|完成)|不能(提供|协助|生成)|作为(一个)?(人工智能|AI)",
    re.IGNORECASE,
)


class _Said(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    history: tuple[Round, ...]


class _Spoken(_Said, frozen=True, forbid_unknown_fields=True, kw_only=True):
    speaker: Role
    target: str


class _Broken(_Spoken, frozen=True, forbid_unknown_fields=True, kw_only=True):
    heard: str


def object_of(text: str, *, finished: bool = True) -> dict[str, Any] | Rejected:
    """Return the JSON object of an answer; words and fences around it do no harm.

    Parameters
    ----------
    text : str
        The answer.
    finished : bool
        Whether the model stopped by itself.
    """
    if not text.strip():
        return Rejected(reason="blank", detail="nothing was written")
    start = object_start(text)
    try:
        found, _ = json.JSONDecoder().raw_decode(text, max(start, 0))
    except (ValueError, RecursionError):
        if not finished:
            return Rejected(
                reason="too-long", detail=f"broken off after {counted(len(text), 'character')}"
            )
        if start < 0 and _DECLINES.search(text):
            return Rejected(reason="refused", detail=" ".join(text.split())[:80])
        return Rejected(reason="json", detail=" ".join(text.split())[:80])
    if not isinstance(found, dict):
        return Rejected(reason="json", detail=f"{type(found).__name__}, not an object")
    return found


def object_start(text: str) -> int:
    """Return where the first JSON object may begin, -1 where none does; ``{so}`` is prose.

    Examples
    --------
    >>> object_start('Sure {here it is}: {"a": 1}')
    19
    """
    found = _OBJECT.search(text)
    return -1 if found is None else found.start()


def draft(
    found: Mapping[str, Any], *, id: str, language: str, label: str, topic: str
) -> Dialogue | Rejected:
    """Return the dialogue that a model wrote, before any rule is asked."""
    scenario = BY_LABEL[label].scenario
    noise = ROLES[scenario] == ("noise",)
    shape = _Said if noise else _Broken if scenario == "Incomplete" else _Spoken
    try:
        said = msgspec.convert(found, shape)
    except msgspec.ValidationError as error:
        return Rejected(reason="fields", detail=str(error))
    text, cut = "", None
    role: Role = "noise"
    if isinstance(said, _Spoken):
        text, role = said.target.strip(), said.speaker
        if not units(text, language):
            return Rejected(reason="empty", detail="a target without a word")
    if isinstance(said, _Broken):
        heard = said.heard.strip().rstrip(".…。,，—- ")
        cut = len(units(heard, language))
        whole = units(text, language)
        if not 1 <= cut <= len(whole) or text[: whole[cut - 1][1]] != heard:
            return Rejected(reason="heard", detail=f"{heard[:60]!r} does not begin the sentence")
    elif scenario == "Backchannel" and text[-1].isalnum():
        text += "。" if language == "zh" else "."
    return Dialogue(
        id=id,
        language=cast(Literal["en", "zh"], language),
        topic=topic,
        family=id,
        history=tuple(
            Round(user=r.user.strip(), assistant=r.assistant.strip()) for r in said.history
        ),
        target=Target(role=role, text=text, cut_after=cut, label=label),
    )
