"""A toy task, its data and systems that behave badly in every way the engine must survive.

Everything here can be built again in a worker process by ``support.engine_toys:NAME``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.core.prediction import Decision, Event
from floorbench.core.sample import Observation, Sample
from floorbench.core.score import Coverage
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.vocab import Outcome
from floorbench.metrics.base import OUTCOMES, DueItem, Measure, Scored
from floorbench.metrics.classification import accuracy, macro_accuracy
from floorbench.run.deciding import SystemChoice

LABELS = ("no", "yes")


class Source:
    """``n`` samples; sample i carries the text ``i`` and the gold label of i's last bit."""

    name = "toy"

    def __init__(self, n: int = 40, *, salt: str = "", twice: int | None = None) -> None:
        self.n = n
        self.salt = salt
        self.twice = twice

    def locator(self) -> dict[str, Any]:
        return {"reader": "toy", "path": "toy", "n": self.n}

    def describe(self) -> dict[str, Any]:
        return {"name": self.name, "version": "1", "licence": "CC0-1.0"}

    def digest(self) -> str:
        return codec.digest({"toy": self.n})

    def samples(self) -> Iterator[Sample]:
        for i in range(self.n):
            yield self.sample(i)
            if i == self.twice:
                yield self.sample(i)

    def sample(self, i: int) -> Sample:
        return Sample(
            id=f"s{i}",
            cluster=f"c{i // 2}",
            observation=Observation(language="en" if i % 3 else "zh", text=f"{i}{self.salt}"),
            target={"gold": LABELS[i % 2]},
        )


class Task:
    """Two labels, conditions ``h0`` and ``h1``, accuracy by condition."""

    def __init__(self, *, missing: str = "wrong", version: str = "1") -> None:
        self._missing = missing
        self.spec = TaskSpec(
            name="toy",
            version=version,
            labels=LABELS,
            conditions=("h0", "h1"),
            parameters={"missing": missing},
        )

    def conditions(self, system: SystemSpec) -> tuple[str, ...]:
        return ("h0",) if system.context == "none" else self.spec.conditions

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        if system is not None and system.modalities == ("text",):
            return replace(sample.observation, spoken_prefix=condition)
        return sample.observation

    def due(self, sample: Sample, system: SystemSpec) -> bool:
        return system.languages is None or sample.observation.language in system.languages

    def gold(self, sample: Sample) -> Decision:
        return Decision(label=sample.target["gold"])

    def problem(self, sample: Sample, decision: Decision) -> str | None:
        known = decision.label in LABELS
        return None if known else f"label '{decision.label}' is none of {', '.join(LABELS)}"

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        rows = list(items)
        clusters = list(dict.fromkeys(r.sample.cluster for r in rows))
        place = {name: i for i, name in enumerate(clusters)}
        trials: dict[tuple[str, str], int] = {}
        for row in rows:
            key = (row.sample.id, row.condition)
            trials[key] = trials.get(key, 0) + 1

        def outcome(row: DueItem) -> str:
            return "absent" if row.prediction is None else row.prediction.decision.outcome.value

        def predicted(row: DueItem) -> int:
            if row.prediction is None or outcome(row) != "ok":
                return -1
            return LABELS.index(str(row.prediction.decision.label))

        scored = Scored(
            cluster=np.array([place[r.sample.cluster] for r in rows], dtype=np.int64),
            clusters=tuple(clusters),
            strata=np.zeros(len(clusters), dtype=np.int64),
            weight=np.array([1 / trials[r.sample.id, r.condition] for r in rows]),
            columns={
                "gold": np.array([LABELS.index(r.sample.target["gold"]) for r in rows]),
                "predicted": np.array([predicted(r) for r in rows], dtype=np.int64),
                "outcome": np.array([OUTCOMES.index(outcome(r)) for r in rows], dtype=np.int64),
                "condition": np.array([r.condition for r in rows]),
            },
            vocab={"gold": LABELS, "predicted": LABELS},
        )
        return {"sample": scored}

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Sequence[Measure]:
        whole = scored["sample"]
        made = []
        for condition in self.spec.conditions:
            part = whole.where(whole.column("condition") == condition)
            codes = part.column("outcome").tolist()
            counts = {name: codes.count(i) for i, name in enumerate(OUTCOMES)}
            undeclared = None
            if condition not in self.conditions(system):
                undeclared = "the system reads no history"
            declared = system.labels or LABELS
            for metric in (
                accuracy(missing=self._missing),
                macro_accuracy(labels=declared, missing=self._missing),
            ):
                made.append(
                    Measure(
                        metric=metric,
                        slice={"condition": condition},
                        scored=part,
                        coverage=Coverage(expected=len(part), **counts),
                        undeclared=undeclared,
                        headline=metric.spec.name == "accuracy",
                    )
                )
        return made


class System:
    """Answers from the text: right unless the number is a multiple of ``wrong_every``."""

    def __init__(self, wrong_every: int = 5, pause: float = 0.0, context: str = "text") -> None:
        self.spec = SystemSpec(
            name="toy-system",
            version="1",
            context=context,
            parameters={"wrong_every": wrong_every},
        )
        self.wrong_every = wrong_every
        self.pause = pause

    def load(self) -> None:
        pass

    def decide(self, observation: Observation) -> Decision:
        time.sleep(self.pause)
        number = int(observation.text or 0)
        right = number % self.wrong_every != 0
        label = LABELS[number % 2 if right else 1 - number % 2]
        return Decision(label=label, scores={"yes": float(label == "yes")})


class Batched(System):
    """Refuses a batch that holds the number 7, which alone is no problem."""

    def decide_batch(self, observations: list[Observation]) -> list[Decision]:
        if any(o.text == "7" for o in observations):
            raise RuntimeError("seven in a batch")
        return [self.decide(o) for o in observations]


class Bad(System):
    """Number i misbehaves in the i-th way; from the length of the list on it answers."""

    def decide(self, observation: Observation) -> Any:
        nonsense: list[Any] = [
            None,
            "yes",
            Decision(label=3),  # type: ignore[arg-type]
            Decision(label="maybe"),
            Decision(label="yes", scores={"yes": float("nan")}),
            Decision(label="yes", scores={"yes": float("inf")}),
            Decision(outcome="great"),  # type: ignore[arg-type]
            Decision(label="yes", events=(Event(kind="x", time=float("nan")),)),
            Decision(label="yes", commit=float("inf")),
            Decision(label="yes", raw="\ud800"),
            Decision(label="yes", scores={"yes": np.float32(0.5)}),
            Decision(outcome=Outcome.ABSTAINED, reason="unsure"),
        ]
        number = int(observation.text or 0)
        if number < len(nonsense):
            return nonsense[number]
        if number == len(nonsense):
            raise ValueError("first line\nsecond line with the traceback")
        if number == len(nonsense) + 1:
            raise SystemExit(3)
        return Decision(label="yes")


class Deadly(System):
    """Hangs on 3, kills its process on 5, exits hard on 6."""

    def decide(self, observation: Observation) -> Decision:
        if observation.text == "3":
            time.sleep(600)
        if observation.text == "5":
            os.kill(os.getpid(), 9)
        if observation.text == "6":
            os._exit(7)
        print("systems print things")
        return super().decide(observation)


class TellsThreads(System):
    """Says with how many threads its process was told to compute."""

    def decide(self, observation: Observation) -> Decision:
        return Decision(label=os.environ["OMP_NUM_THREADS"])


class DeadlyTogether(Deadly):
    """The same, several at once."""

    def decide_batch(self, observations: list[Observation]) -> list[Decision]:
        return [self.decide(o) for o in observations]


class Listening(System):
    """Reads standard input, itself and through a child."""

    def decide(self, observation: Observation) -> Decision:
        child = subprocess.run(["cat"], stdout=subprocess.PIPE, check=True)
        return Decision(label="yes", raw=repr(sys.stdin.read()) + repr(child.stdout))


class Unloadable(System):
    def load(self) -> None:
        raise OSError("weights are gone")


class DiesLoading(System):
    def load(self) -> None:
        os._exit(9)


class HangsLoading(System):
    """Does not come back from loading; the second time only where ``path`` names a file."""

    def __init__(self, path: str = "") -> None:
        super().__init__()
        self.path = path

    def load(self) -> None:
        if self.path and not Path(self.path).exists():
            Path(self.path).touch()
        else:
            time.sleep(600)

    def decide(self, observation: Observation) -> Decision:
        os._exit(9)


class SlowLoader(System):
    """Loads longer than an answer may take, and hangs on 1, so that it is loaded twice."""

    def load(self) -> None:
        time.sleep(0.8)

    def decide(self, observation: Observation) -> Decision:
        if observation.text == "1":
            time.sleep(600)
        return super().decide(observation)


class Interrupting(System):
    """Sends its own process a signal while it answers number ``at``."""

    def __init__(self, at: int = 5, number: int = 2) -> None:
        super().__init__()
        self.at, self.number = at, number

    def decide(self, observation: Observation) -> Decision:
        if observation.text == str(self.at):
            os.kill(os.getpid(), self.number)
        return super().decide(observation)


class Counting(System):
    """Writes the number of every observation that it is asked about to a file."""

    def __init__(self, path: str, pause: float = 0.0) -> None:
        super().__init__(pause=pause)
        self.path = path

    def decide(self, observation: Observation) -> Decision:
        with Path(self.path).open("a") as file:
            file.write(f"{observation.text}\n")
        return super().decide(observation)


class Told(System):
    """Writes the number of its process for each answer, and dies in the ways that it is told."""

    def __init__(self, path: str, pause: float = 0.0, once: int = -1, alone: int = -1) -> None:
        super().__init__(pause=pause)
        self.path = path
        self.once, self.alone = once, alone

    def decide(self, observation: Observation) -> Decision:
        number = int(observation.text or 0)
        with Path(self.path).open("a") as file:
            file.write(f"{number} {os.getpid()}\n")
        if number == self.once and Path(self.path).read_text().count(f"\n{number} ") == 1:
            os.kill(os.getpid(), 9)
        if number == self.alone:
            raise MemoryError
        return super().decide(observation)

    def decide_batch(self, observations: list[Observation]) -> list[Decision]:
        return [self.decide(o) for o in observations]


def choice(kind: type[System] = System, **parameters: Any) -> SystemChoice:
    return SystemChoice(name=f"support.engine_toys:{kind.__name__}", parameters=parameters)


def quiet(text: str) -> None:
    pass
