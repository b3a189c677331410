"""What does the engine cost? Runs through it beside a bare loop that asks for the same decisions.

The engine also hashes what it shows, checks every answer, and writes and syncs its journal and its
record. With a real detector that is a small share; with a system that answers at once it is all.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.generated import AnyText, Constant, Texts, write_clips
from benchmarks.ratios import OURS, Case
from floorbench.audio import assets, ref
from floorbench.core.ports import System
from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Role
from floorbench.datasets.clips import ClipsSource
from floorbench.errors import FloorbenchError
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.tasks.clips import ClipsTask


class Fixed:
    """Reads the clip and hashes 64 MiB, a fixed piece of work of about 40 ms."""

    spec = SystemSpec(name="fixed-cost", version="1", label_map="smart-turn")

    def load(self) -> None:
        self._work = bytes(64 << 20)

    def decide(self, observation: Observation) -> Decision:
        audio = observation.channels[Role.USER].read(rate=16_000)
        hashlib.sha256(self._work).digest()
        return Decision(label="complete" if audio[-1] > 0 else "incomplete")


def pick() -> tuple[str, Callable[[], System]]:
    """Choose the detector and say which it is."""
    try:
        assets.locate("smart-turn-v3.2")
    except FloorbenchError:
        return "a fixed piece of work (Smart-Turn is not on this machine)", Fixed
    from floorbench.systems.smart_turn import SmartTurn

    return "smart-turn-v3.2", lambda: SmartTurn(gate="off")


def same(found: Mapping[str, Any]) -> None:
    """Raise when a side decided differently."""
    for name, labels in found.items():
        if labels != found[OURS] or None in labels:
            raise AssertionError(f"{name} decided differently")


def through(build: Callable[[], System], task: Any, source: Any, out: Path) -> list[str | None]:
    """Ask for every decision through the engine."""
    ref._DIGESTS.clear()  # a first run knows no hashes
    folder = run(
        task=task,
        system=SystemChoice(name="bench", factory=build),
        source=source,
        out=out,
        notify=lambda _: None,
    )
    return [p.decision.label for p in folder.predictions()]


def loop(build: Callable[[], System], task: Any, source: Any) -> list[str | None]:
    """Ask for every decision in a loop."""
    system = build()
    system.load()
    return [system.decide(task.observe(s, "")).label for s in source.samples()]


def loop_that_writes(source: Texts, out: Path) -> list[str | None]:
    """Ask for every decision in a loop that writes a JSON line and flushes it."""
    system, task = Constant(), AnyText()
    system.load()
    labels: list[str | None] = []
    with (out / "lines.jsonl").open("w", encoding="utf-8") as file:
        for sample in source.samples():
            said = system.decide(task.observe(sample, ""))
            line = {"id": sample.id, "label": said.label, "scores": dict(said.scores)}
            file.write(json.dumps(line) + "\n")
            file.flush()
            labels.append(said.label)
    return labels


def cases(full: bool) -> Iterator[Case]:
    name, build = pick()
    clips = 200 if full else 20
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_clips(root / "clips", clips)
        source = ClipsSource(root / "clips", cache=root / "cache")
        source.digest()
        yield Case(
            name=f"a run of {name}",
            size=f"{clips} clips of 1.5 to 8 s",
            ours=lambda: through(build, ClipsTask(), source, root),
            peers={"decide() in a loop": lambda: loop(build, ClipsTask(), source)},
            per=(clips, "clip"),
            agree=same,
            limit=1.10,
        )
        texts = Texts(20_000 if full else 4_000)
        yield Case(
            name="a run of a system that answers at once",
            size=f"{texts.count:,} texts",
            ours=lambda: through(Constant, AnyText(), texts, root),
            peers={
                "a loop that writes JSON lines": lambda: loop_that_writes(texts, root),
                "decide() in a loop": lambda: loop(Constant, AnyText(), texts),
            },
            per=(texts.count, "sample"),
            agree=same,
        )
