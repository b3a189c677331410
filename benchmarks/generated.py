"""Data that is generated while it is read: cheap samples, clips of noise, two-channel sessions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation, Sample
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.vocab import Role
from floorbench.datasets.two_channel import TwoChannelSource
from floorbench.datasets.two_channel_session import TwoChannelSession, words_session
from floorbench.errors import Place
from floorbench.events.dualturn_words import TimedWord
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.store import RunFolder

RATE = 16_000
WORDS = ("so", "yeah", "we", "went", "there", "okay", "right", "and", "it", "was")


class Texts:
    """So many samples of one short text each."""

    name = "generated"

    def __init__(self, count: int) -> None:
        self.count = count

    def locator(self) -> dict[str, Any]:
        return {}

    def describe(self) -> dict[str, Any]:
        return {"name": self.name}

    def digest(self) -> str:
        return str(self.count)

    def samples(self) -> Iterator[Sample]:
        for i in range(self.count):
            yield Sample(
                id=f"generated-sample-{i:09d}",
                cluster=f"c{i // 10}",
                observation=Observation(language="en", text=f"text number {i}"),
                target={"gold": "yes"},
            )


class AnyText:
    """A task without conditions that shows a sample as it is and takes every answer."""

    spec = TaskSpec(name="any-text", version="1", labels=("yes",))

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        return ("",)

    def observe(self, sample: Sample, condition: str, *, system: Any = None) -> Observation:
        return sample.observation

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        return True

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        return None


class Constant:
    """A system that always says yes."""

    spec = SystemSpec(name="constant", version="1")

    def load(self) -> None:
        pass

    def decide(self, observation: Observation) -> Decision:
        return Decision(label="yes", scores={"yes": 0.75})


def run_texts(count: int, *, out: Path, resume: Path | None = None) -> RunFolder:
    """Run the constant system over so many texts."""
    task: Any = AnyText()  # it is run here, never scored
    return run(
        task=task,
        system=SystemChoice(name="constant", factory=Constant),
        source=Texts(count),
        out=out,
        resume=resume,
        notify=lambda _: None,
    )


def write_clips(folder: Path, count: int) -> None:
    """Write noise in syllable-like bursts, 1.5 to 8 s long, and the table of their labels."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(7)
    rows = ["path,label,language"]
    for i in range(count):
        seconds = rng.uniform(1.5, 8.0)
        clock = np.arange(int(seconds * RATE)) / RATE
        envelope = np.clip(np.sin(2 * np.pi * 4 * clock + rng.uniform(0, 6)), 0, 1)
        noise = rng.standard_normal(len(clock)) * envelope * 0.1
        soundfile.write(folder / f"{i}.wav", noise.astype(np.float32), RATE, "PCM_16")
        rows.append(f"{i}.wav,{('complete', 'incomplete')[i % 2]},en")
    (folder / "labels.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


Activity = dict[Role, np.ndarray]


def activity(number: int, minutes: float, rate: Fraction) -> Activity:
    """Return a random conversation: turns of about 2 s, pauses of about 0.5 s, some overlap."""
    frames = int(minutes * 60 * rate)
    rng = np.random.default_rng(number)
    many = max(4, int(frames / float(rate)))
    length = np.maximum(rng.exponential(1.2 * float(rate), 2 * many), 1).astype(np.int64)
    state = np.repeat(rng.choice(4, size=2 * many, p=[0.3, 0.32, 0.32, 0.06]), length)[:frames]
    return {Role.USER: (state & 1) == 1, Role.SYSTEM: (state & 2) == 2}


class Conversations(TwoChannelSource):
    """Random conversations as timed words; each exists only while it is labelled."""

    reader = "generated"

    def __init__(self, *, sessions: int, minutes: float) -> None:
        self._count, self._minutes = sessions, minutes
        super().__init__(Path("generated"), splits="none")

    def _find(self) -> Mapping[str, int]:
        return {f"m{n:06d}": n for n in range(self._count)}

    def _load(self, session_id: str, found: Any) -> TwoChannelSession:
        rng = np.random.default_rng(found)
        sides: dict[Role, list[TimedWord]] = {Role.USER: [], Role.SYSTEM: []}
        for words in sides.values():
            now = 0
            while now < self._minutes * 60_000_000:
                for _ in range(int(rng.integers(1, 14))):
                    length = int(rng.integers(120_000, 450_000))
                    words.append(TimedWord(WORDS[int(rng.integers(10))], now, now + length))
                    now += length + (int(rng.integers(0, 120_000)) if rng.random() < 0.2 else 0)
                now += int(rng.exponential(2_500_000)) + 200_000
        return words_session(session_id, sides, where=Place("generated"))
