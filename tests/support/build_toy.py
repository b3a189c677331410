"""A toy recipe: text to tone, a gate that rejects quiet tones, cutting, gathering.

Every call of a stage leaves a line in the file that the setting ``log`` names.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from floorbench.build.pipeline.recipes import fill
from floorbench.build.pipeline.stage import (
    Bench,
    Export,
    Gather,
    Gathered,
    Item,
    Made,
    Outcome,
    Rejected,
    Retried,
    Store,
    Work,
    made,
)
from floorbench.errors import DataError, EnvironmentProblem

RATE = 8000
DEFAULTS: dict[str, Any] = {
    "items": 6,
    "pieces": 1,
    "threshold": 0.3,
    "attempts": 3,
    "log": "",
    "text_version": 1,
    "voice_version": 1,
    "trouble": "",  # stage:item:kind
    "slow": 0.0,
    "slow_export": 0.0,
}


class Toy:
    name = ""
    version = 1
    deterministic = True

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given

    def settings(self) -> Mapping[str, Any]:
        return {}

    def start(self) -> None:
        self.trouble("start")

    def make(self, item: Item, bench: Bench) -> Outcome:
        self.log(item.id, bench.attempt)
        if self.given["slow"]:
            time.sleep(self.given["slow"])
        self.trouble(item.id)
        return self.treat(item, bench)

    def treat(self, item: Item, bench: Bench) -> Outcome:
        raise NotImplementedError

    def log(self, item: str, attempt: int) -> None:
        if self.given["log"]:
            line = f"{self.name} {item} {attempt} {os.getpid()}\n".encode()
            file = os.open(self.given["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, line)
            os.close(file)

    def trouble(self, item: str) -> None:
        for one in self.given["trouble"].split(","):
            stage, _, rest = one.partition(":")
            which, _, kind = rest.partition(":")
            if stage != self.name or which != item:
                continue
            if kind == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            if kind == "hang":
                time.sleep(3600)
            if kind == "bug":
                raise ZeroDivisionError("a bug in a stage")
            if kind == "data":
                raise DataError("FB201", "a broken source")
            if kind == "stop":
                raise EnvironmentProblem("FB421", "no key for the service")
            if kind == "full":
                raise OSError(28, "No space left on device", "somewhere")


class Text(Toy):
    name = "text"

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.version = given["text_version"]

    def treat(self, item: Item, bench: Bench) -> Outcome:
        word = "".join(bench.rng.choice(list("abcdefg"), 5))
        bench.note("call", model="toy", prompt="0" * 64)
        return made(item.having(text=word))


class Voice(Toy):
    name = "voice"

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__(given)
        self.version = given["voice_version"]

    def treat(self, item: Item, bench: Bench) -> Outcome:
        level = float(bench.rng.uniform(0.05, 0.6))
        time = np.arange(RATE // 4) / RATE
        tones = [np.sin(2 * np.pi * 100 * (ord(c) - 90) * time) for c in item.fields["text"]]
        sound = (level * np.concatenate(tones)).astype(np.float32)
        bench.note("voice", voice="sine", level=level)
        return made(item.having(audio={"target": bench.keep(sound, RATE)}))


class Gate(Toy):
    name = "gate"

    def settings(self) -> Mapping[str, Any]:
        return {"threshold": self.given["threshold"]}

    def treat(self, item: Item, bench: Bench) -> Outcome:
        sound, _ = bench.load(item.audio["target"])
        peak = float(np.max(np.abs(sound)))
        if peak < self.given["threshold"]:
            return Rejected(reason="quiet", detail=f"peak {peak:.3f}")
        return made(item.having(peak=round(peak, 4), attempt=bench.attempt))


class Cut(Toy):
    name = "cut"

    def settings(self) -> Mapping[str, Any]:
        return {"pieces": self.given["pieces"]}

    def treat(self, item: Item, bench: Bench) -> Outcome:
        sound, rate = bench.load(item.audio["target"])
        parts = np.array_split(sound, self.given["pieces"])
        return Made(
            items=tuple(
                Item(
                    id=f"{item.id}-{n}",
                    fields={**item.fields, "piece": n},
                    audio={"target": bench.keep(part, rate)},
                )
                for n, part in enumerate(parts)
            )
        )


class Balance:
    name = "balance"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, Any]:
        return {}

    def gather(self, items: Sequence[Item]) -> Gathered:
        odd = {
            item.id: Rejected(reason="odd", detail="one too many")
            for item in (items[-1:] if len(items) % 2 else ())
        }
        kept = [item for item in items if item.id not in odd]
        return Gathered(
            items=tuple(item.having(split=n % 2) for n, item in enumerate(kept)), rejected=odd
        )


class Last(Toy):
    name = "last"

    def treat(self, item: Item, bench: Bench) -> Outcome:
        return made(item.having(done=True))


class ToyRecipe:
    name = "toy"
    presets: Mapping[str, Mapping[str, Any]] = {"tiny": {"items": 2}, "small": {"items": 6}}

    def work(self, settings: Mapping[str, Any]) -> Work:
        given = fill(settings, DEFAULTS)
        self.slow_export = given["slow_export"]
        balance: Gather = Balance()
        return Work(
            seeds=tuple(Item(id=f"item-{n}", fields={"n": n}) for n in range(given["items"])),
            steps=(
                Text(given),
                Retried(maker=Voice(given), checker=Gate(given), attempts=given["attempts"]),
                Cut(given),
                balance,
                Last(given),
            ),
        )

    def export(self, items: Sequence[Item], store: Store, out: Export) -> None:
        for item in items:
            time.sleep(self.slow_export)
            out.sound(f"audio/{item.id}.wav", item.audio["target"])
        out.lines("manifest.jsonl", ({"id": i.id, **i.fields} for i in items))


def calls(log: Path) -> list[tuple[str, str, int]]:
    """Return stage, item and attempt of every call."""
    if not log.exists():
        return []
    rows = [line.split() for line in log.read_text().splitlines()]
    return [(stage, item, int(attempt)) for stage, item, attempt, _ in rows]
