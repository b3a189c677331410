"""``floorbench demo``: the main job on the starter set, from nothing to a table."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from floorbench.cli import console
from floorbench.cli.assets import get
from floorbench.core.ports import DatasetSource
from floorbench.datasets.open import open_dataset
from floorbench.report import codett
from floorbench.report.render import shared_notes_last
from floorbench.run.child import cores
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run as run_engine
from floorbench.run.executors import make_executor
from floorbench.run.references import make_reference
from floorbench.run.reuse import finished_run
from floorbench.run.scoring import Result, open_predictions, score
from floorbench.run.store import RunFolder
from floorbench.tasks.codett import CodettTask

MODELS = ("smart-turn-v3.2", "smart-turn-v3.1", "smart-turn-v3.0")
RULES = ("silence-silero", "silence-webrtc")
CONSTANTS = (
    "always-maintain",
    "always-stop",
    "always-takeover",
    "always-dismiss",
    "constant-per-state",
)
REFERENCES = ("prior", "oracle")
# None of these systems uses history, so none is shown any.
CONDITIONS = ("h0",)


def demo(
    *,
    out: Path = Path("runs"),
    limit: int | None = None,
    seed: int = 0,
    workers: int | None = None,
    draws: int = 2000,
    again: bool = False,
    json: bool = False,
) -> int:
    """Evaluate a real turn detector on the CoDeTT starter set and print the stage-1 table.

    Smart-Turn in three versions, two silence-timeout endpointers, the constant policies, the
    prior and the oracle. The set shows the machine running; it does not rank systems. Finished
    runs are reused.

    Parameters
    ----------
    out
        Folder of the runs.
    limit
        At most so many samples.
    seed
        Seed of everything random.
    workers
        Processes for the models; up to four by default.
    draws
        Draws of the cluster bootstrap.
    again
        Run everything again, even what is finished.
    json
        Print the results as JSON.
    """
    code = get("demo", quiet=True)
    if code:
        return code
    task, source = CodettTask(), open_dataset("starter:codett")
    results: list[Result] = []
    folders: list[Path] = []
    for name, system in _chosen(task, source, seed):
        job: dict[str, Any] = {
            "task": task, "source": source, "system": system, "conditions": CONDITIONS,
            "seed": seed, "limit": limit,
        }  # fmt: skip
        folder = None if again else finished_run(out, **job)
        if folder is None:
            parallel = (workers or min(4, cores())) if name in MODELS else 0
            folder = _run(name, job, out=out, workers=parallel)
        folders.append(folder.path)
        opened = open_predictions(folder.path, task=task, source=source)
        results.append(score(opened, draws=draws))
    if json:
        console.data_json(results)
    else:
        _print(results, folders)
    return 0


def _run(name: str, job: dict[str, Any], *, out: Path, workers: int) -> RunFolder:
    """Run a system, in so many processes or in this one, and say nothing but how far it is."""
    executor = make_executor("process", workers=workers) if workers else make_executor("serial")
    with console.progress(name) as tick:
        return run_engine(
            task_parameters={},
            executor=executor,
            out=out,
            progress=lambda p: tick(p.done, p.total),
            notify=lambda _: None,
            **job,
        )


def _print(results: Sequence[Result], folders: Sequence[Path]) -> None:
    made = [*codett.stage1(results), *codett.turn_ends(results)]
    for table in shared_notes_last(made, results):
        console.table(table)
    console.data("run folders:")
    for folder in folders:
        console.data(f"  {folder}")
    command = _command()
    console.data(
        f"next: {command} compare {folders[0]} {folders[1]}\n"
        f"      {command} score {folders[0]} --all\n"
        f"      {command} view {folders[0]} {folders[1]}   (see and hear the items)"
    )


def _command() -> str:
    """Return what the next command starts with: its path where the shell would not find it."""
    called = sys.argv[0]
    own = Path(called).name == "floorbench" and shutil.which("floorbench") is None
    return called if own else "floorbench"


def _chosen(task: CodettTask, source: DatasetSource, seed: int) -> Iterator[tuple[str, Any]]:
    for name in (*MODELS, *RULES, *CONSTANTS):
        yield name, SystemChoice(name=name)
    for name in REFERENCES:
        yield name, make_reference(name, task=task, source=source, seed=seed)
