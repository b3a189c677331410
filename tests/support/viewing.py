"""Stored runs for tests of reports and of the viewer, written without an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.audio.ref import ArrayAudio
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Compute, Decision, Event, Prediction
from floorbench.core.sample import Observation, Sample, Turn, Word
from floorbench.core.spec import SystemSpec
from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.metrics.base import DueItem, Scored, ScoringTask
from floorbench.report.stored import StoredRun, read_run
from floorbench.run.due import Plan, due_items
from floorbench.run.store import DatasetRecord, Given, RunFolder, RunRecord
from support.engine_toys import LABELS, Source, Task

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
RATE = 8000
SECONDS = 2.0
Answer = Callable[[Sample, str], Decision | None]


def _speech(hertz: float, seconds: float = SECONDS) -> ArrayAudio:
    time = np.arange(int(seconds * RATE)) / RATE
    swell = 0.5 - 0.5 * np.cos(2 * np.pi * time * 2)
    return ArrayAudio(0.4 * swell * np.sin(2 * np.pi * hertz * time), rate=RATE)


class DuoSource(Source):
    """Two-channel items with words, a turn of context and gold events; sample 3 is hostile."""

    name = "duo"

    def __init__(self, n: int = 12, *, audio: bool = True) -> None:
        super().__init__(n)
        self._sound = (_speech(220), _speech(330), _speech(440, 1.0)) if audio else None

    def sample(self, i: int) -> Sample:
        text = HOSTILE if i == 3 else f"说 {i} number {i}"
        user = system = before = None
        if self._sound is not None:
            user, system, before = self._sound
        channels = {} if user is None or system is None else {Role.USER: user, Role.SYSTEM: system}
        return Sample(
            id=HOSTILE if i == 3 else f"s{i}",
            cluster=f"c{i // 2}",
            observation=Observation(
                language="en" if i % 3 else "zh",
                text=text,
                turns=(
                    Turn(role=Role.USER, text="before", audio=before),
                    Turn(role=Role.SYSTEM, text="and then"),
                ),
                channels=channels,
                words=(
                    Word(text="one", span=Span(0.2, 0.6)),
                    Word(text="two", span=Span(0.7, 1.1)),
                    Word(text="untimed"),
                ),
                cutoff=None,
            ),
            target={
                "gold": LABELS[i % 2],
                "events": [
                    {"kind": "shift", "time": 1.25},
                    {"kind": "overlap", "start": 0.5, "end": 0.8},
                ],
            },
            tags={"language": "en" if i % 3 else "zh", "scenario": f"kind {i % 4}"},
        )


class DuoTask(Task):
    """The toy task with named units and coded conditions, as tasks proper have them."""

    def observe(
        self, sample: Sample, condition: str, *, system: SystemSpec | None = None
    ) -> Observation:
        kept = sample.observation.turns if condition == "h1" else ()
        return replace(sample.observation, turns=kept)

    def scored(self, items: Iterable[DueItem], *, system: SystemSpec) -> Mapping[str, Scored]:
        rows = list(items)
        made = super().scored(rows, system=system)["sample"]
        codes = [self.spec.conditions.index(r.condition) for r in rows]
        scores = [_score(r) for r in rows]
        return {
            "sample": replace(
                made,
                columns={
                    **made.columns,
                    "condition": np.array(codes, dtype=np.int64),
                    "score": np.array(scores, dtype=np.float64),
                },
                vocab={**made.vocab, "condition": self.spec.conditions},
                units=tuple(r.sample.id for r in rows),
            )
        }

    def measures(self, scored: Mapping[str, Scored], *, system: SystemSpec) -> Any:
        whole = scored["sample"]
        names = np.array([whole.vocab["condition"][c] for c in whole.column("condition")])
        vocab = {k: v for k, v in whole.vocab.items() if k != "condition"}
        plain = replace(whole, columns={**whole.columns, "condition": names}, vocab=vocab)
        return super().measures({"sample": plain}, system=system)


def _score(row: DueItem) -> float:
    if row.prediction is None:
        return float("nan")
    return row.prediction.decision.scores.get("yes", float("nan"))


def answers(*, wrong_every: int = 5, fail_every: int = 0) -> Answer:
    """Return answers that are right but for every so many items, with events and a commit time."""

    def answer(sample: Sample, condition: str) -> Decision:
        i = 3 if sample.id == HOSTILE else int(sample.id[1:])
        if fail_every and i % fail_every == 0:
            return Decision(outcome="failed", reason=f"no luck {HOSTILE}")  # type: ignore[arg-type]
        label = LABELS[i % 2] if i % wrong_every else LABELS[1 - i % 2]
        return Decision(
            label=label,
            scores={"yes": 0.9 - 0.01 * (i % 30) if label == "yes" else 0.1 + 0.01 * (i % 30)},
            events=(Event(kind="shift", time=1.3, commit=1.5),),
            commit=1.5,
        )

    return answer


def system(name: str = "one", **fields: Any) -> SystemSpec:
    """Return a system spec whose score is ``yes`` against 0.5."""
    known = {"context": "text", "score": "yes", "threshold": 0.5, **fields}
    return SystemSpec(name=name, version="1", **known)


def write_run(
    base: Path,
    *,
    task: ScoringTask,
    source: DatasetSource,
    spec: SystemSpec,
    answer: Answer,
    status: str = "complete",
    only: int | None = None,
    torn: bool = False,
    run_id: str = "r1",
) -> Path:
    """Write a run folder; ``only`` so many predictions, ``torn`` with half a line at the end."""
    folder = RunFolder.create(base, task=task.spec.name, system=spec.name, run_id=run_id)
    plan = Plan(task.conditions(spec))
    folder.write_record(
        RunRecord(
            run_id=folder.path.name,
            status=status,
            created="2026-01-01T00:00:00Z",
            task=Given(name=task.spec.name),
            task_spec=task.spec,
            system=Given(name=spec.name),
            system_spec=spec,
            dataset=DatasetRecord(
                name=source.name,
                digest=source.digest(),
                locator=source.locator(),
                describe=source.describe(),
            ),
            conditions=plan.conditions,
            trials=1,
            limit=None,
            seed=0,
            hashes={},
            code={},
            packages={},
            hardware={},
        )
    )
    lines = b"".join(_lines(task, source, spec, plan, answer, only))
    folder.journal.write_bytes(lines + (b'{"sample_id": "s' if torn else b""))
    return folder.path


def _lines(
    task: ScoringTask,
    source: DatasetSource,
    spec: SystemSpec,
    plan: Plan,
    answer: Answer,
    only: int | None,
) -> Iterator[bytes]:
    for count, due in enumerate(due_items(task, source, spec, plan)):
        if only is not None and count >= only:
            return
        decision = answer(due.sample, due.condition)
        if decision is not None:
            prediction = Prediction(
                sample_id=due.sample.id,
                condition=due.condition,
                decision=decision,
                compute=Compute(wall=0.001 * (count % 7 + 1)),
            )
            yield codec.encode(prediction) + b"\n"


def duo_runs(base: Path, n: int = 12, *, audio: bool = True) -> list[Path]:
    """Write two runs of the duo task that disagree here and there."""
    task, source = DuoTask(), DuoSource(n, audio=audio)
    return [
        write_run(
            base, task=task, source=source, spec=system("one"), answer=answers(wrong_every=5)
        ),
        write_run(
            base,
            task=task,
            source=source,
            spec=system("two"),
            answer=answers(wrong_every=3, fail_every=7),
        ),
    ]


def duo_reader(n: int = 12, *, audio: bool = True) -> Callable[[Path], StoredRun]:
    """Return what reads such runs."""
    task, source = DuoTask(), DuoSource(n, audio=audio)
    return lambda path: read_run(path, task=task, source=source)
