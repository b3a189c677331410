"""A system on within-turn TRPs whose score is the number of words so far, in tenths."""

from __future__ import annotations

from pathlib import Path

from floorbench.core.prediction import Decision
from floorbench.core.sample import Observation
from floorbench.core.score import Estimate
from floorbench.core.spec import SystemSpec
from floorbench.datasets.trp import TrpSource
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import Result
from floorbench.tasks.trp import TrpTask


class Count:
    """Says no, and how many words it has read; ``first`` prefixes have a label and no score."""

    def __init__(self, *, first: int = 0, scores: bool = True) -> None:
        self._first = first
        self.spec = SystemSpec(
            name="count",
            version="1",
            labels=("yes", "no"),
            modalities=("text",),
            score="words" if scores else None,
            threshold=1.0 if scores else None,
            parameters={"first": first},
        )

    def load(self) -> None:
        """Do nothing."""

    def decide(self, observation: Observation) -> Decision:
        """Count the words."""
        words = len((observation.text or "").split())
        scored = self.spec.score is not None and words > self._first
        return Decision(label="no", scores={"words": words / 10} if scored else {})


def ran(root: Path, data: Path, *, split: str | None = None, **parameters: int | bool) -> Path:
    """Run it on one split of a set and return the run folder."""
    choice = SystemChoice(
        name="count", factory=lambda: Count(**parameters), parameters=dict(parameters)
    )
    return run(
        task=TrpTask(),
        system=choice,
        source=TrpSource(data, split=split),
        out=root / "runs",
        notify=lambda _: None,
    ).path


def cell(result: Result, metric: str) -> Estimate:
    """Return the cell of the only condition."""
    (found,) = (
        e for e in result.estimates if e.metric == metric and e.slice == {"condition": "none"}
    )
    return found
