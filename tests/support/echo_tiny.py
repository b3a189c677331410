"""A small matched-contrast set: tones for speech, all group types, both languages."""

from __future__ import annotations

import hashlib
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

RATE = 16_000
ROLES = ("interruption", "backchannel", "off_talk")
GROUPS = {"ib": ROLES[:2], "io": (ROLES[0], ROLES[2]), "bo": ROLES[1:], "ibo": ROLES}
ONSET, END, PLANNED = 1.0, 1.64, 3.0


def track(spans: list[tuple[float, float]], seconds: float, *, level: float) -> np.ndarray:
    """Buzz in the given spans, silence elsewhere."""
    time = np.arange(round(seconds * RATE)) / RATE
    sound = level * np.sign(np.sin(2 * np.pi * 140 * time)) * (1 + np.sin(2 * np.pi * 4 * time)) / 2
    inside = np.zeros(time.size, dtype=bool)
    for start, end in spans:
        inside |= (time >= start) & (time < end)
    return (sound * inside).astype(np.float32)


def rows(*, copies: int = 1, languages: tuple[str, ...] = ("zh", "en")) -> list[dict[str, Any]]:
    """Return the samples table."""
    out = []
    for language in languages:
        for copy in range(copies):
            for kind, roles in GROUPS.items():
                group = f"{language}-{kind}-{copy}"
                for number, role in enumerate(roles):
                    name = hashlib.sha256(group.encode()).hexdigest()[:6]  # does not tell the kind
                    shift = 0.05 * ((copy + number) % 3)
                    out.append(
                        {
                            "sample_id": f"{group}-{role[0]}",
                            "group_id": group,
                            "language": language,
                            "role": role,
                            "insertion": f"wait {name}",
                            "history": [{"role": "user", "text": f"tell me about {role[:3]}"}],
                            "spoken_prefix": "it began",
                            "audio": {
                                "user": {"path": f"audio/{group}-{role[0]}-u.wav"},
                                "system": {"path": f"audio/{group}-{role[0]}-s.wav"},
                            },
                            "events": {
                                "system_start": 0.25,
                                "insertion_start": ONSET + shift,
                                "insertion_end": END + shift,
                                "system_end": PLANNED,
                            },
                            "words": [
                                {"text": "wait", "start": ONSET + shift, "end": 1.3 + shift},
                                {"text": name, "start": 1.3 + shift, "end": END + shift},
                            ],
                            "listening": {
                                "emphasis_db": 3.0, "emphasis_s": 0.2,
                                "reaction_s": 0.3, "fade_s": 0.2,
                            } if role == ROLES[0] else None,
                        }
                    )  # fmt: skip
    return out


def pairs(samples: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the pairs table: all two-role contrasts of every group."""
    out = []
    for group in dict.fromkeys(s["group_id"] for s in samples):
        members = [s for s in samples if s["group_id"] == group]
        for a, b in combinations(members, 2):
            name = f"{group}-{a['role'][0]}{b['role'][0]}"
            out.append(
                {"pair_id": name, "group_id": group}
                | {"sample_a": a["sample_id"], "sample_b": b["sample_id"]}
            )
    return out


def write(folder: Path, samples: list[dict[str, Any]], links: list[dict[str, str]]) -> Path:
    """Write the tables and the manifest."""
    for name, lines in (("samples", samples), ("pairs", links)):
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    manifest = {
        "format": "floorbench-echo-1", "name": "tiny", "version": "1", "licence": "none",
        "samples": "samples.jsonl", "pairs": "pairs.jsonl", "system_channel": "planned",
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


def build(
    folder: Path,
    *,
    copies: int = 1,
    languages: tuple[str, ...] = ("zh", "en"),
    level: dict[str, float] | None = None,
) -> Path:
    """Write a whole set; ``level`` plants a loudness shortcut by role."""
    samples = rows(copies=copies, languages=languages)
    (folder / "audio").mkdir(parents=True)
    for sample in samples:
        events = sample["events"]
        loud = (level or {}).get(sample["role"], 0.2)
        user = track([(events["insertion_start"], events["insertion_end"])], 3.3, level=loud)
        system = track([(events["system_start"], events["system_end"])], 3.3, level=0.2)
        soundfile.write(folder / sample["audio"]["user"]["path"], user, RATE, "PCM_16")
        soundfile.write(folder / sample["audio"]["system"]["path"], system, RATE, "PCM_16")
    return write(folder, samples, pairs(samples))
