"""A system, data and a recipe that are quick, deterministic and tell what they were asked."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from floorbench.build.pipeline.stage import (
    Bench,
    Export,
    Gathered,
    Item,
    Outcome,
    Rejected,
    Retried,
    Store,
    Work,
    made,
)
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role

RATE = 8000
CLIPS = 14


def told(what: str) -> None:
    """Leave a line in the file that TORTURE_LOG names, in one write, so that lines stay whole."""
    name = os.environ.get("TORTURE_LOG")
    if name:
        handle = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        os.write(handle, f"{what}\n".encode())
        os.close(handle)
    time.sleep(float(os.environ.get("TORTURE_PAUSE", "0.004")))


def clips(folder: Path) -> Path:
    """Write the clips: tones whose label is by their number."""
    for number in range(CLIPS):
        label = ("complete", "incomplete")[number % 2]
        (folder / label).mkdir(parents=True, exist_ok=True)
        tone = np.sin(2 * np.pi * (100 + 10 * number) * np.arange(RATE // 8) / RATE)
        soundfile.write(folder / label / f"{number}.wav", 0.05 * (number + 1) * tone, RATE)
    return folder


class Level:
    """Answers by the level of what it hears."""

    def __init__(self) -> None:
        self.spec = SystemSpec(
            name="level", version="1", labels=("complete", "incomplete"), score="level",
            threshold=0.5, label_map="smart-turn",
        )  # fmt: skip

    def load(self) -> None:
        """Nothing to load."""

    def decide(self, observation: Observation) -> Decision:
        """Answer."""
        heard = observation.channels[Role.USER].read()
        told(hashlib.sha256(heard.tobytes()).hexdigest()[:16])
        level = float(np.abs(heard).max())
        return Decision(
            label="complete" if level > 0.5 else "incomplete",
            scores={"level": level},
            raw="é" * 8,  # letters of two bytes, so that a cut may fall inside one
        )


class Stage:
    """What all stages of the recipe share."""

    name = ""
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, Any]:
        """No settings."""
        return {}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Tell, then treat."""
        told(f"{self.name} {item.id} {bench.attempt}")
        return self.treat(item, bench)

    def treat(self, item: Item, bench: Bench) -> Outcome:
        """Treat one item."""
        raise NotImplementedError


class Text(Stage):
    """Draws a word."""

    name = "text"

    def treat(self, item: Item, bench: Bench) -> Outcome:
        return made(item.having(text="".join(bench.rng.choice(list("abcdefg"), 5))))


class Voice(Stage):
    """Turns the word into tones."""

    name = "voice"

    def treat(self, item: Item, bench: Bench) -> Outcome:
        level = float(bench.rng.uniform(0.05, 0.6))
        at = np.arange(RATE // 8) / RATE
        tones = [np.sin(2 * np.pi * 100 * (ord(c) - 90) * at) for c in item.fields["text"]]
        sound = (level * np.concatenate(tones)).astype(np.float32)
        return made(item.having(audio={"target": bench.keep(sound, RATE)}))


class Gate(Stage):
    """Rejects what is quiet, so that the maker is asked again."""

    name = "gate"

    def treat(self, item: Item, bench: Bench) -> Outcome:
        sound, _ = bench.load(item.audio["target"])
        peak = float(np.max(np.abs(sound)))
        if peak < 0.2:
            return Rejected(reason="quiet", detail=f"peak {peak:.3f}")
        return made(item.having(peak=round(peak, 4)))


class Mix(Stage):
    """Adds noise."""

    name = "mix"

    def treat(self, item: Item, bench: Bench) -> Outcome:
        sound, rate = bench.load(item.audio["target"])
        noise = bench.rng.normal(scale=0.01, size=sound.size)
        mixed = np.clip(sound + noise, -1, 1).astype(np.float32)
        return made(item.having(audio={"target": bench.keep(mixed, rate)}))


class Halve:
    """Gives every item a half of the set."""

    name = "halve"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, Any]:
        """No settings."""
        return {}

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Number the items."""
        return Gathered(items=tuple(item.having(half=n % 2) for n, item in enumerate(items)))


class Recipe:
    """Text to tone, a gate that rejects quiet tones, noise, halves."""

    name = "torture"
    presets: Mapping[str, Mapping[str, Any]] = {}

    def work(self, settings: Mapping[str, Any]) -> Work:
        """Return seeds and steps."""
        return Work(
            seeds=tuple(Item(id=f"item-{n}", fields={"n": n}) for n in range(8)),
            steps=(Text(), Retried(maker=Voice(), checker=Gate(), attempts=6), Mix(), Halve()),
        )

    def export(self, items: Sequence[Item], store: Store, out: Export) -> None:
        """Write the tracks and the table."""
        for item in items:
            out.sound(f"audio/{item.id}.wav", item.audio["target"])
        out.lines("manifest.jsonl", ({"id": i.id, **i.fields} for i in items))
