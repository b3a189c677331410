"""Stored runs of a frame protocol on small two-channel calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from floorbench import codec
from floorbench.datasets.dualturn_labels import LabelRules, training_phrases
from floorbench.datasets.two_channel_calls import SwitchboardSource
from floorbench.metrics.base import ScoringTask
from floorbench.report.stored import StoredRun, read_run
from floorbench.systems.frames import PersistenceFrames, SilenceFrames
from floorbench.tasks.dualturn import DualTurnTask, Phrases
from support import two_channel_tiny as tiny
from support.viewing import write_run

CALLS = ("sw9001", "sw9005", "sw9006", "sw9009", "sw9010")
"""One call to train on, two of validation, two of test."""


def calls(folder: Path, *, seconds: float = 120.0, audio: bool = False) -> SwitchboardSource:
    """Write the calls, with stereo sound if asked for."""
    tiny.build(folder, CALLS, seconds=seconds)
    if audio:
        for number, name in enumerate(CALLS):
            tiny.stereo(folder / f"{name}.wav", tiny.call(number, seconds=seconds), seconds=seconds)
    return SwitchboardSource(folder, splits=str(folder / "splits.json"))


def phrases(folder: Path, source: SwitchboardSource) -> str:
    """Write the list of backchannel phrases of the training call."""
    found = training_phrases(source, LabelRules(protocol="dualturn-4s", min_gap=0))
    path = folder / "phrases.json"
    made = Phrases(utterance_gap=0.5, phrases=found.phrases, counts=found.counts)
    path.write_text(codec.encode_pretty(made))
    return str(path)


def runs(
    base: Path, source: SwitchboardSource, task: ScoringTask | None = None
) -> tuple[list[Path], Callable[[Path], StoredRun]]:
    """Write runs of two systems; returns their folders and what reads them."""
    task = task if task is not None else DualTurnTask(min_gap=0)
    paths = [
        write_run(
            base,
            task=task,
            source=source,
            spec=system.spec,
            answer=lambda sample, _, system=system: system.decide(sample.observation),
        )
        for system in (PersistenceFrames(), SilenceFrames(timeout=0.24))
    ]
    return paths, lambda path: read_run(path, task=task, source=source)


def relabel(folder: Path, words: str) -> None:
    """Say something else in every word of the calls: hostile text, for example."""
    for path in sorted(folder.glob("*-word.text")):
        lines = [line.rsplit(" ", 1) for line in path.read_text().splitlines()]
        path.write_text(
            "\n".join(
                f"{front} {word if word.startswith('[') else json.dumps(words)[1:-1]}"
                for front, word in lines
            )
            + "\n"
        )
