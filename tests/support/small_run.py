"""A small finished run whose answers took exactly what a rule says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

from floorbench import codec
from floorbench.core.prediction import Compute, Decision
from floorbench.core.sample import Observation
from floorbench.core.spec import SystemSpec
from floorbench.datasets.open import open_dataset
from floorbench.run.deciding import SystemChoice
from floorbench.run.due import due_items
from floorbench.run.engine import run
from floorbench.run.executors import make_executor
from floorbench.run.factors import shown_lengths
from floorbench.run.scoring import open_predictions
from floorbench.run.store import RunFolder
from floorbench.tasks.codett import CodettTask


class Hearing:
    """Hears every turn and says the same."""

    spec = SystemSpec(name="hearing", version="1", context="current user turn")

    def load(self) -> None:
        pass

    def decide(self, observation: Observation) -> Decision:
        return Decision(label="Takeover")


Rule = Callable[[int, float], Compute]


def small_run(
    out: Path,
    rule: Rule,
    *,
    samples: int = 24,
    loading: float | None = 2.0,
    outside: float = 0.01,
    workers: int = 1,
) -> Path:
    """Return the folder of a run on the starter set, its seconds replaced by a rule's.

    ``rule`` gets the number of the line and the seconds of sound shown. ``outside`` seconds a
    prediction are spent outside the answers.
    """
    folder: RunFolder = run(
        task=CodettTask(),
        system=SystemChoice(name="support.small_run:Hearing"),
        source=open_dataset("starter:codett"),
        executor=make_executor("serial"),
        conditions=["h0"],
        limit=samples,
        out=out,
        notify=lambda _: None,
    )
    opened = open_predictions(folder.path)
    dues = list(due_items(opened.task, opened.source, opened.system, opened.plan))
    lengths = dict(zip((d.key for d in dues), shown_lengths(opened, dues), strict=True))
    lines = [
        dataclasses.replace(p, compute=rule(number, lengths[p.key]))
        for number, p in enumerate(folder.predictions())
    ]
    folder.journal.write_bytes(b"".join(codec.encode(line) + b"\n" for line in lines))
    record = folder.record()
    spent = sum(line.compute.wall or 0.0 for line in lines) / workers
    sitting = dataclasses.replace(
        record.sittings[0],
        workers=workers,
        loading=loading,
        answering=None if loading is None else spent + outside * len(lines) / workers,
    )
    folder.write_record(dataclasses.replace(record, sittings=(sitting,)))
    return folder.path
