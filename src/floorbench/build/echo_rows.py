"""The tables of a matched-contrast set, as the starter set and the recipe write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from floorbench.build.echo_render import Placed
from floorbench.build.echo_texts import ROLES, Scene

NOTICE = "This set shows that the machine runs; it does not rank systems."
LISTENING = {"emphasis_db": 3.0, "emphasis_s": 0.4, "reaction_s": 0.35, "fade_s": 0.3}


def sample_row(
    scene: Scene, made: Placed, *, audio: Mapping[str, str], **tags: str
) -> dict[str, Any]:
    """Return one line of the samples table.

    Parameters
    ----------
    scene : Scene
    made : Placed
    audio : mapping of str to str
        Path of the track of either role.
    tags : str
        More tags of the sample.
    """
    return {
        "sample_id": scene.id,
        "group_id": scene.group,
        "language": scene.language,
        "role": scene.role,
        "insertion": scene.insertion,
        "history": [{"role": role.value, "text": text} for role, text in scene.history],
        "spoken_prefix": scene.before,
        "audio": {role: {"path": path} for role, path in audio.items()},
        "events": {
            "system_start": made.system_start,
            "insertion_start": made.onset,
            "insertion_end": made.end,
            "system_end": made.system_end,
        },
        "words": [{"text": w.text, "start": w.start, "end": w.end} for w in made.words],
        "listening": LISTENING if scene.role == "interruption" else None,
        "tags": {"source": "synthetic", "voice": made.voice, "speed": str(made.speed), **tags},
    }


def pair_rows(todo: Sequence[Scene]) -> list[dict[str, str]]:
    """Return the pairs table: every two roles of a group, in the order of the roles."""
    rows = []
    for group in dict.fromkeys(s.group for s in todo):
        members = {s.role: s.id for s in todo if s.group == group}
        for i, first in enumerate(ROLES):
            for second in ROLES[i + 1 :]:
                if first in members and second in members:
                    a, b = members[first], members[second]
                    rows.append(
                        {"pair_id": f"{group}-{first[0]}{second[0]}", "group_id": group}
                        | {"sample_a": a, "sample_b": b}
                    )
    return rows


def dump(value: object) -> str:
    """Return indented JSON text."""
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
