"""What does the engine cost? Runs through it beside a bare loop that asks for the same decisions.

The system is Smart-Turn v3.2 when its weights are on this machine, else a fake that computes for a
fixed time. Both sides load the system, read the same generated clips and must come to the same
decisions; the engine also hashes what it shows, writes and syncs its journal and its record.
Exit code 1 when the median ratio is above the limit.

    PYTHONPATH=src python benchmarks/bench_engine.py
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import soundfile
from ratios import spread

from floorbench.audio import assets
from floorbench.core.ports import System
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role
from floorbench.datasets.clips import ClipsSource
from floorbench.errors import FloorbenchError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.tasks.clips import ClipsTask

LIMIT = 1.10
RATE = 16_000


class Fixed:
    """Reads the clip and hashes 64 MiB, a fixed piece of work of about 40 ms."""

    spec = SystemSpec(name="fixed-cost", version="1", label_map="smart-turn")

    def load(self) -> None:
        self._work = bytes(64 << 20)

    def decide(self, observation: Observation) -> Decision:
        audio = observation.channels[Role.USER].read(rate=RATE)
        hashlib.sha256(self._work).digest()
        return Decision(label="complete" if audio[-1] > 0 else "incomplete")


def write_clips(folder: Path, count: int) -> None:
    """Write noise in syllable-like bursts, 1.5 to 8 s long, and their table."""
    rng = np.random.default_rng(7)
    rows = ["path,label,language"]
    for i in range(count):
        seconds = rng.uniform(1.5, 8.0)
        clock = np.arange(int(seconds * RATE)) / RATE
        envelope = np.clip(np.sin(2 * np.pi * 4 * clock + rng.uniform(0, 6)), 0, 1)
        noise = rng.standard_normal(len(clock)) * envelope * 0.1
        label = ("complete", "incomplete")[i % 2]
        soundfile.write(folder / f"{i}.wav", noise.astype(np.float32), RATE, "PCM_16")
        rows.append(f"{i}.wav,{label},en")
    (folder / "labels.csv").write_text("\n".join(rows) + "\n")


def pick() -> tuple[str, Callable[[], System]]:
    """Choose the system and say which it is."""
    try:
        assets.locate("smart-turn-v3.2")
    except FloorbenchError:
        return "a fixed piece of work (Smart-Turn is not on this machine)", Fixed
    from floorbench.systems.smart_turn import SmartTurn

    return "smart-turn-v3.2, gate off", lambda: SmartTurn(gate="off")


class Side(NamedTuple):
    """What one side took, and what it decided."""

    wall: float
    cpu: float
    labels: list[str | None]


def bare(build: Callable[[], System], source: ClipsSource) -> Side:
    """Ask for every decision in a loop."""
    start, cpu = time.perf_counter(), time.process_time()
    system, task = build(), ClipsTask()
    system.load()
    labels = [system.decide(task.observe(s, "")).label for s in source.samples()]
    assert None not in labels, "the system refused a clip"
    return Side(time.perf_counter() - start, time.process_time() - cpu, labels)


def engine(build: Callable[[], System], source: ClipsSource, out: Path) -> Side:
    """Ask for every decision through the engine."""
    start, cpu = time.perf_counter(), time.process_time()
    folder = run(
        task=ClipsTask(),
        system=SystemChoice(name="bench", factory=build),
        source=source,
        executor=make_executor("serial"),
        out=out,
        notify=lambda _: None,
    )
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return Side(wall, used, [p.decision.label for p in folder.predictions()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    name, build = pick()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "clips").mkdir()
        write_clips(root / "clips", given.clips)
        source = ClipsSource(root / "clips", cache=root / "cache")
        source.digest()
        bare(build, source)  # files and libraries warm
        ratios = []
        for repeat in range(given.repeats):
            from floorbench.audio import ref

            ref._DIGESTS.clear()  # a first run knows no hashes
            sides = [lambda: bare(build, source), lambda: engine(build, source, root)]
            order = (0, 1) if repeat % 2 else (1, 0)
            found = {side: sides[side]() for side in order}
            one, two = found[0], found[1]
            assert one.labels == two.labels, "the two sides decided differently"
            ratios.append((two.wall / one.wall, two.cpu / one.cpu))
            print(
                f"bare {one.wall:7.3f} s ({one.cpu:7.3f} s of processor)   "
                f"engine {two.wall:7.3f} s ({two.cpu:7.3f} s)   ratio {ratios[-1][0]:.3f}",
                flush=True,
            )
    print(f"{name}, {given.clips} clips, {given.repeats} repeats, limit {LIMIT}")
    for kind, values in zip(("time", "processor time"), zip(*ratios, strict=True), strict=True):
        print(f"{kind:15} ratio {spread(values, digits=3)}")
    return int(statistics.median(r[0] for r in ratios) > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
