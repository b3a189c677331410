"""A tiny set in the released CoDeTT layout, made of tones, for tests of any room.

``CodettSource(build(tmp_path))`` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from floorbench.datasets.codett_labels import INTENTS, Intent

RATE = 16_000
WRAPPERS = ("输入内容：", "输入:", "Input:")


def tone(path: Path, *, hertz: float, seconds: float = 0.2, rate: int = RATE) -> None:
    """Write one mono tone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    time = np.arange(int(seconds * rate)) / rate
    soundfile.write(path, 0.3 * np.sin(2 * np.pi * hertz * time), rate, subtype="PCM_16")


def wrap(state: str, text: str, *, variant: int = 0) -> str:
    """Wrap a text as the released files do."""
    return f"系统当前状态: <|{state}|> {WRAPPERS[variant]}{text}"


def user(state: str, text: str, audio: str | None, *, variant: int = 0) -> dict[str, Any]:
    """Return one user message."""
    message = {"role": "user", "content": wrap(state, text, variant=variant)}
    return message if audio is None else {**message, "audio": audio}


def assistant(text: str) -> dict[str, Any]:
    """Return one assistant message."""
    return {"role": "assistant", "content": text}


def line(
    intent: Intent,
    *,
    text: str,
    audio: str | None,
    history: Sequence[dict[str, Any]] = (),
    state_in_gold: bool = False,
    **fields: Any,
) -> dict[str, Any]:
    """Return one dialogue, ready to be written as a line."""
    gold = (f"<|{intent.state}|>" if state_in_gold else "") + intent.tags
    return {
        "messages": [
            {"role": "system", "content": "You decide about turns."},
            *history,
            user(intent.state, text, audio),
            assistant(gold),
        ],
        **fields,
    }


def rounds(count: int, *, name: str, folder: str, audio: bool = True) -> list[dict[str, Any]]:
    """Return ``count`` rounds of history: a user message, then the system's answer."""
    out: list[dict[str, Any]] = []
    for k in range(count):
        path = f"{folder}/{name}_h{k}.wav" if audio else None
        out.append(user("SystemIdle", f"{name} question {k}", path))
        out.append(assistant(f"{name} answer {k}"))
    return out


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> None:
    """Write JSONL."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in lines)
    path.write_text(text, encoding="utf-8")


def build(
    root: Path,
    *,
    per_scenario: int = 1,
    languages: Sequence[str] = ("EN", "ZH"),
    history: int = 5,
    audio: bool = True,
    dialogue: bool = False,
) -> Path:
    """Write ``per_scenario`` items of all fourteen labels per language and return the root.

    Parameters
    ----------
    root : Path
        Empty folder; ``jsonls`` and ``audios`` are written below it.
    history : int
        Rounds before each target.
    audio : bool
        Write the tones; paths are named either way.
    dialogue : bool
        Give each line a ``dialogue`` field, shared by the scenarios of one number.
    """
    hertz = 200.0
    for language in languages:
        for k, intent in enumerate(INTENTS):
            folder = f"audios/{language}/syn/{intent.label}"
            lines = []
            for n in range(per_scenario):
                name = f"{language}{k}x{n}"  # texts must not tell the label
                clip = f"u{language}{n}"  # the same name in every folder: it must not matter
                turns = rounds(history, name=name, folder=folder)
                extra = {"dialogue": f"{language}-{n}"} if dialogue else {}
                lines.append(
                    line(
                        intent,
                        text="" if intent.scenario == "Invalidation" else f"{name} says this",
                        audio=f"{folder}/{clip}.wav",
                        history=turns,
                        **extra,
                    )
                )
                if audio:
                    names = [m["audio"] for m in turns if "audio" in m]
                    for path in [*names, f"{folder}/{clip}.wav"]:
                        hertz = 200.0 + (hertz * 1.37) % 2000
                        tone(root / path, hertz=hertz)
            write_lines(root / f"jsonls/{language}/syn/{intent.label}.jsonl", lines)
    return root
