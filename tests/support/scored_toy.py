"""Two splits of made-up clips and a system that scores them, for choosing thresholds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role
from floorbench.datasets.open import open_dataset
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.tasks.clips import ClipsTask

RATE = 8000


class Level:
    """Scores a clip by its level; says complete above 0.5, which is never."""

    def __init__(self, *, gain: float = 1.0, silent: float = 0.0) -> None:
        self._gain, self._silent = gain, silent
        self.spec = SystemSpec(
            name="level",
            version="1",
            labels=("complete", "incomplete"),
            score="level",
            threshold=0.5,
            label_map="smart-turn",
            parameters={"gain": gain, "silent": silent},
        )

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Score the peak; a clip at or below ``silent`` is decided without a score."""
        peak = float(np.abs(observation.channels[Role.USER].read(rate=RATE)).max()) * self._gain
        if peak <= self._silent:
            return Decision(label="incomplete")
        return Decision(label="incomplete", scores={"level": peak})


def clips(folder: Path, levels: dict[str, list[float]]) -> Path:
    """Write clips of given peaks by label."""
    for label, peaks in levels.items():
        for number, peak in enumerate(peaks):
            (folder / label).mkdir(parents=True, exist_ok=True)
            tone = np.sin(2 * np.pi * (100 + 10 * number) * np.arange(RATE // 5) / RATE)
            soundfile.write(
                folder / label / f"{number}.wav", peak * tone / np.abs(tone).max(), RATE, "FLOAT"
            )
    return folder


def dev(root: Path) -> Path:
    """Peaks .10 .12 .22 against .18 .30 .40: one pair stands the wrong way round."""
    return clips(root / "dev", {"incomplete": [0.10, 0.12, 0.22], "complete": [0.18, 0.30, 0.40]})


def test(root: Path) -> Path:
    """Another split."""
    return clips(root / "test", {"incomplete": [0.11, 0.19, 0.20], "complete": [0.21, 0.17, 0.5]})


def ran(root: Path, data: Path, **parameters: float) -> Path:
    """Run the system on a folder of clips and return the run folder."""
    choice = SystemChoice(
        name="level", factory=lambda: Level(**parameters), parameters=dict(parameters)
    )
    folder = run(
        task=ClipsTask(),
        system=choice,
        source=open_dataset(data),
        out=root / "runs",
        notify=lambda _: None,
    )
    return folder.path
