"""A small within-turn TRP set, written word by word."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def stimulus(name: str, words: int, *, listed: str = "A", **more: Any) -> dict[str, Any]:
    """Return a turn of words of 0.4 s each, one after the other from 0."""
    spoken = [
        {"text": f"w{n}", "start": round(0.4 * n, 1), "end": round(0.4 * n + 0.4, 1)}
        for n in range(words)
    ]
    return {
        "id": name,
        "list": listed,
        "words": spoken,
        "turn_end": round(0.4 * words, 1),
        **more,
    }


def respond(person: str, name: str, *onsets: float) -> dict[str, Any]:
    return {"participant": person, "stimulus": name, "onsets": list(onsets)}


def people(listed: str, count: int) -> list[dict[str, Any]]:
    return [{"id": f"{listed}{n}", "list": listed, "reversed": n % 2 == 1} for n in range(count)]


def write(
    folder: Path,
    stimuli: list[dict[str, Any]],
    roster: list[dict[str, Any]] | None = None,
    responses: list[dict[str, Any]] | None = None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines(folder / "stimuli.jsonl", stimuli)
    if roster is not None:
        (folder / "roster.json").write_text(json.dumps(roster), encoding="utf-8")
    if responses is not None:
        lines(folder / "responses.jsonl", responses)
    return folder


def lines(path: Path, items: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")


def build(folder: Path) -> Path:
    """Write three turns: two in list A, heard by four, and one in list B, heard by three.

    Slot n of a turn begins at 0.4 n - 0.2 s (n from 1). In ``one`` three of four respond in slot 2
    and two of four in slot 4; in ``two`` one of four responds in slot 3 and nobody agrees; in
    ``three`` all respond in slot 1 and two of three after the turn.
    """
    return write(
        folder,
        [
            stimulus("one", 5, split="dev", conversation="c1"),
            stimulus("two", 4, split="dev"),
            stimulus("three", 4, listed="B", split="test"),
        ],
        [*people("A", 4), *people("B", 3)],
        [
            respond("A0", "one", 0.7, 1.5),
            respond("A1", "one", 0.6, 1.4, 0.1),
            respond("A2", "one", 0.9),
            respond("A0", "two", 1.1),
            respond("B0", "three", 0.3, 1.7),
            respond("B1", "three", 0.2, 2.0),
            respond("B2", "three", 0.5),
        ],
    )
