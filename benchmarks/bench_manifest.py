"""Many samples: listed, filtered, counted and scored, beside ``json.loads`` over the same lines.

A packed dataset of labelled clips is generated without audio, which nothing here listens to, and a
predictions file for it: a million samples with ``--full``. Each command runs as a program of its
own; its peak is that of its resident set. The peer parses every line of
the indexes (and, beside scoring, of the predictions) and keeps nothing.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import peaks
from benchmarks.ratios import Case, Work
from floorbench.core.sample import Observation, Sample
from floorbench.datasets.clips import LABELS
from floorbench.datasets.shard_pack import pack

LIMIT_MB = 2000
OF_A_SPEAKER = 10
PARSE = """
import json, sys
for name in sys.argv[1:]:
    for line in open(name, "rb"):
        json.loads(line)
"""


class Clips:
    """Labelled clips, one after the other."""

    name = "many"

    def __init__(self, samples: int) -> None:
        self._samples = samples

    def locator(self) -> dict[str, Any]:
        return {}

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "notices": [], "samples": self._samples}

    def digest(self) -> str:
        return f"{self._samples:064d}"

    def samples(self) -> Iterator[Sample]:
        for i in range(self._samples):
            label, language = LABELS[(i * 2654435761 >> 7) % len(LABELS)], ("en", "zh")[i % 3 == 0]
            yield Sample(
                id=name_of(i),
                cluster=f"given:s{i // OF_A_SPEAKER}",
                stratum=f"{label} x unknown",
                observation=Observation(language=language, text=f"what was said in clip {i}"),
                target={"label": label},
                tags={"language": language, "label": label, "source": "unknown"},
            )


def name_of(i: int) -> str:
    """Return the id of a sample."""
    return f"audio/{i % 1000:03d}/{i:09d}.wav"


def answered(path: Path, samples: int) -> Path:
    """Write one answer per sample, in the order of the data."""
    with path.open("w") as file:
        for i in range(samples):
            label = LABELS[i * 7 % 5 % 4]
            file.write(f'{{"sample_id": "{name_of(i)}", "decision": {{"label": "{label}"}}}}\n')
    return path


def program(*words: str) -> Work:
    """Return what runs a program to its end."""
    quiet = subprocess.DEVNULL
    return lambda: subprocess.run(words, check=True, stdout=quiet, stderr=quiet)


def megabytes(*words: str) -> float:
    """Return the peak of a program."""
    return peaks.of_program(*words) / 1e6


def cases(full: bool) -> Iterator[Case]:
    samples = 1_000_000 if full else 20_000
    rounds = 1 if full else 5
    with tempfile.TemporaryDirectory() as made_in:
        folder = Path(made_in)
        pack(Clips(samples), folder / "packed")
        answers = str(answered(folder / "answers.jsonl", samples))
        indexes = [str(p) for p in sorted((folder / "packed").glob("*.jsonl"))]
        floorbench, data = (sys.executable, "-m", "floorbench"), str(folder / "packed")
        score = ("score", answers, "--task", "clips", "--data", data, "--draws", "20")
        calls = {
            "list all samples": ("data", "list", data),
            "list those of one language": ("data", "list", data, "--where", "language=zh"),
            "count by tags": ("data", "show", data),
            "check and score, 20 draws": score,
        }
        for name, call in calls.items():
            lines = [*indexes, *([answers] if call is score else [])]
            yield Case(
                name=name,
                size=f"{samples:,} samples",
                ours=program(*floorbench, *call),
                peers={"json.loads, each line": program(sys.executable, "-c", PARSE, *lines)},
                rounds=rounds,
                per=(samples / 1000, "thousand"),
            )
            yield Case(
                name=f"memory: {name}",
                size=f"{samples:,} samples",
                ours=partial(megabytes, *floorbench, *call),
                peers={"2 GB": lambda: float(LIMIT_MB)},
                clock="value",
                rounds=1,
                per=(1, "MB"),
                limit=1.0,
            )
