"""Reference predictors: they see the gold labels, so they are not systems.

They give a table its upper bound (oracle), its chance level (prior) and a way to score what was
predicted elsewhere (replay). What they write are ordinary predictions, marked ``reference``.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections import Counter
from itertools import accumulate
from pathlib import Path
from typing import Protocol

from floorbench import codec
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Decision, Prediction, PredictionKey
from floorbench.core.sample import Sample
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Level, Outcome
from floorbench.errors import UsageError, did_you_mean
from floorbench.metrics.base import ScoringTask
from floorbench.run.predictions import predictions_file, read_predictions
from floorbench.run.traces import get

REFERENCES = ("oracle", "prior", "replay")


class Reference(Protocol):
    """A predictor that may look at the sample."""

    spec: SystemSpec

    def decide(self, sample: Sample, condition: str, trial: int) -> Decision:
        """Return the decision for one key."""
        ...


def make_reference(
    name: str,
    *,
    task: ScoringTask,
    source: DatasetSource,
    seed: int = 0,
    predictions: Path | None = None,
) -> Reference:
    """Build a reference predictor by name.

    Parameters
    ----------
    name : {'oracle', 'prior', 'replay'}
    task : ScoringTask
    source : DatasetSource
    seed : int
        Of the prior's draws.
    predictions : Path or None
        File that ``replay`` replays.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown name, ``FB103`` when ``replay`` is not given its file.
    """
    if name == "oracle":
        return Oracle(task)
    if name == "prior":
        return Prior(task, source, seed=seed)
    if name == "replay":
        if predictions is None:
            raise UsageError(
                "FB103",
                "replay needs the predictions file to replay",
                hint="name it with --predictions FILE",
            )
        return Replay(predictions)
    near = did_you_mean(name, REFERENCES)
    raise UsageError(
        "FB101",
        f"there is no reference predictor '{name}'",
        hint=f"did you mean '{near}'?" if near else f"known: {', '.join(REFERENCES)}",
    )


class Oracle:
    """Answers with the gold decision."""

    def __init__(self, task: ScoringTask) -> None:
        self._task = task
        self.spec = SystemSpec(name="oracle", version="1", level=Level.REFERENCE, context="full")

    def decide(self, sample: Sample, condition: str, trial: int) -> Decision:
        """Return the task's gold decision."""
        return self._task.gold(sample)


class Prior:
    """Answers with a gold label drawn at its prevalence in the data, per state of the system.

    Each key has its own random stream, from the seed and the key, so neither order nor resuming
    changes a draw. Its scores are the prevalences themselves.
    """

    def __init__(self, task: ScoringTask, source: DatasetSource, *, seed: int = 0) -> None:
        self._seed = seed
        counts: dict[str | None, Counter[str]] = {}
        for sample in source.samples():
            label = task.gold(sample).label
            if label is not None:
                counts.setdefault(sample.observation.state, Counter())[label] += 1
        self._prevalence = {
            state: {label: n / sum(count.values()) for label, n in sorted(count.items())}
            for state, count in counts.items()
        }
        self.spec = SystemSpec(
            name="prior",
            version="1",
            level=Level.REFERENCE,
            context="full",
            parameters={
                "seed": seed,
                "prevalence": {str(state or ""): p for state, p in self._prevalence.items()},
            },
        )

    def decide(self, sample: Sample, condition: str, trial: int) -> Decision:
        """Draw one label."""
        prevalence = self._prevalence.get(sample.observation.state)
        if prevalence is None:
            return Decision(outcome=Outcome.UNSUPPORTED, reason="no gold label in this state")
        draw = _uniform(self._seed, PredictionKey(sample.id, condition, trial))
        edges = list(accumulate(prevalence.values()))
        place = min(bisect_right(edges, draw), len(edges) - 1)
        return Decision(label=list(prevalence)[place], scores=dict(prevalence))


def _uniform(seed: int, key: PredictionKey) -> float:
    text = codec.encode([seed, *key])
    return int.from_bytes(hashlib.sha256(text).digest()[:7]) / 2**56


class Replay:
    """Answers with the predictions of a file."""

    def __init__(self, path: Path) -> None:
        self._folder = predictions_file(path).parent
        self._predictions: dict[PredictionKey, Prediction] = {
            p.key: p for p in read_predictions(path)
        }
        self.spec = SystemSpec(
            name="replay",
            version="1",
            level=Level.REFERENCE,
            context="full",
            weights={
                "predictions": hashlib.sha256(codec.read_bytes(predictions_file(path))).hexdigest()
            },
        )

    def decide(self, sample: Sample, condition: str, trial: int) -> Decision:
        """Return the file's decision for the key."""
        found = self._predictions.get(PredictionKey(sample.id, condition, trial))
        if found is None:
            return Decision(outcome=Outcome.FAILED, reason="the replayed file has no such key")
        return get(self._folder, found.decision)
