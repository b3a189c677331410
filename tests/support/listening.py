"""A tiny set of turns with lists, and microphone files, for tests of the listening session."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile

from floorbench import codec
from floorbench.build.stimuli_lists import make_lists
from floorbench.datasets.trp_files import SpokenWord, Stimulus
from floorbench.datasets.trp_lists import Lists

RATE = 16_000
TURNS = {"bread": 3.0, "train": 3.5}
"""Seconds of each turn; a word every half second."""


def make_set(root: Path, *, count: int = 1, turns: dict[str, float] | None = None) -> Lists:
    """Write a set of hummed turns and its lists."""
    (root / "audio").mkdir(parents=True)
    stimuli = []
    for name, seconds in (turns or TURNS).items():
        words = tuple(
            SpokenWord(text=f"w{i}", start=0.1 + 0.5 * i, end=0.4 + 0.5 * i)
            for i in range(int(seconds / 0.5))
        )
        stimuli.append(Stimulus(id=name, list="A", words=words, turn_end=seconds))
        time = np.arange(round(seconds * RATE)) / RATE
        spoken = ((time - 0.1) % 0.5 < 0.3) * 0.2 * np.sin(2 * np.pi * 200 * time)
        soundfile.write(root / "audio" / f"{name}.wav", spoken.astype(np.float32), RATE)
    lines = (codec.encode(s) + b"\n" for s in stimuli)
    (root / "stimuli.jsonl").write_bytes(b"".join(lines))
    return make_lists(root, count=count, seed=5, gap=1.0)


def clicks(path: Path, *, period: float = 1.0, seconds: int = 60, rate: int = 48_000) -> None:
    """Write a click every ``period`` seconds, the first at 0.25 s."""
    samples = np.zeros(seconds * rate, dtype=np.float32)
    length = int(0.02 * rate)
    click = np.exp(-np.arange(length) / (0.004 * rate)) * np.sin(
        2 * np.pi * 1500 * np.arange(length) / rate
    )
    for start in np.arange(0.25, seconds - 0.1, period):
        at = round(start * rate)
        samples[at : at + length] = 0.7 * click
    soundfile.write(path, samples, rate, subtype="PCM_16")


def speaking_metronome(path: Path, *, seconds: int = 120, rate: int = 48_000) -> None:
    """Write a click with a short spoken sound behind it every second, the first at 0.25 s.

    The sound is a vowel: pulses at 120 Hz through three resonances.
    """
    clicks(path, seconds=seconds, rate=rate)
    samples, _ = soundfile.read(path, dtype="float32")
    length = int(0.35 * rate)
    pulses = np.zeros(length)
    pulses[:: rate // 120] = 1.0
    vowel = pulses
    for hertz, width in ((700, 80), (1200, 90), (2600, 120)):
        vowel = _resonance(vowel, hertz, width, rate)
    vowel *= np.hanning(length) ** 0.3 * 0.35 / np.abs(vowel).max()
    for start in np.arange(0.25, seconds - 1, 1.0):
        at = round((start + 0.02) * rate)
        samples[at : at + length] += vowel.astype(np.float32)
    soundfile.write(path, samples, rate, subtype="PCM_16")


def _resonance(signal: np.ndarray, hertz: float, width: float, rate: int) -> np.ndarray:
    radius = np.exp(-np.pi * width / rate)
    first, second = 2 * radius * np.cos(2 * np.pi * hertz / rate), -(radius**2)
    out = np.zeros(len(signal) + 2)
    for i, value in enumerate(signal):
        out[i + 2] = value + first * out[i + 1] + second * out[i]
    return out[2:]


@dataclass
class LoudVad:
    """Speech is where a frame is loud; frames are as coarse as those of the real ones."""

    name: str = "loud"
    hop: int = 512

    def weights(self) -> dict[str, str]:
        return {}

    def load(self) -> None:
        return None

    def activity(self, samples: np.ndarray) -> np.ndarray:
        count = -(-len(samples) // self.hop)
        padded = np.zeros(count * self.hop)
        padded[: len(samples)] = samples
        loud = np.sqrt((padded.reshape(count, self.hop) ** 2).mean(axis=1)) > 0.05
        return loud.astype(np.float32)


def spoken(*starts: float, seconds: float = 4.0, length: float = 0.3) -> np.ndarray:
    random = np.random.default_rng(3)
    out = random.normal(0, 0.001, round(seconds * RATE))
    for start in starts:
        at = round(start * RATE)
        out[at : at + round(length * RATE)] += random.normal(0, 0.2, round(length * RATE))
    return out.astype(np.float32)
