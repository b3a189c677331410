"""``floorbench run``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from floorbench.catalog import SYSTEMS
from floorbench.cli import console
from floorbench.cli.options import (
    NO_WISHES,
    RayWishes,
    ReaderSettings,
    Settings,
    TaskSettings,
    make_task,
    open_data,
    settings,
)
from floorbench.core.ports import DatasetSource
from floorbench.errors import UsageError, did_you_mean
from floorbench.metrics.base import ScoringTask
from floorbench.run.answer_times import answer_times
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run as run_engine
from floorbench.run.executors import Executor, make_executor
from floorbench.run.job import Progress
from floorbench.run.opening import source_of
from floorbench.run.references import REFERENCES, Reference, make_reference
from floorbench.run.store import RunFolder
from floorbench.systems.build import build_system
from floorbench.systems.stream import StreamDriver


def run(
    task: str,
    system: str,
    /,
    *,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    sets: Settings = None,
    task_sets: TaskSettings = None,
    conditions: Annotated[list[str] | None, Parameter(name="--condition", negative=())] = None,
    trials: int = 1,
    limit: int | None = None,
    seed: int = 0,
    executor: Literal["serial", "thread", "process", "ray"] = "serial",
    workers: int = 1,
    batch: int = 1,
    batch_seconds: float | None = None,
    timeout: float | None = None,
    load_timeout: float | None = None,
    wishes: RayWishes = NO_WISHES,
    out: Path = Path("runs"),
    resume: Path | None = None,
    recompute_changed: bool = False,
    predictions: Path | None = None,
    realtime: bool = False,
    dry_run: bool = False,
    prices: Path | None = None,
    budget: float | None = None,
    score: bool = True,
    json: bool = False,
) -> int:
    """Run a system on a task and keep its predictions; then score them.

    Parameters
    ----------
    task
        A task of ``floorbench list tasks``.
    system
        A system of ``floorbench list systems``, a reference (oracle, prior, replay), or
        ``path.py:Class``.
    data
        Folder or file, or ``starter:NAME``; the task's starter set by default, with --resume the
        data of the run.
    reader
        Reader of the data; found by looking at it by default.
    conditions
        Only these conditions (repeat the option); all of the task's by default.
    trials
        Predictions per sample and condition.
    limit
        Only the first so many samples.
    seed
        Seed of everything random.
    executor
        Where the system works: in this process one by one, in threads, in processes of its own, or
        on Ray. Only ``process`` and ``ray`` can cut off a system that hangs.
    workers
        Threads, processes or actors.
    batch
        Samples of about equal length that a system is asked at once, if it takes several.
    batch_seconds
        With --batch: fewer at once where their number times the longest sound is more than this.
    timeout
        Seconds one answer may take.
    load_timeout
        With --executor process or ray: seconds a worker may take to load the system, 3600 by
        default.
    out
        Folder of the runs.
    resume
        Run folder to go on with; nothing in it is computed again.
    recompute_changed
        With --resume: ask again where the data have changed.
    predictions
        File that the reference ``replay`` replays.
    realtime
        Streams only: push the steps no faster than the wall clock, and report overruns.
    dry_run
        For paid services: ask nothing, and say what would be sent and what it would cost.
    prices
        Your own dated price file, for --dry-run and --budget.
    budget
        Stop before the next question once so much is spent, by --prices.
    score
        Score the run and print its table.
    json
        Print JSON.
    """
    task_ = make_task(task, task_sets)
    source = _source(task, data, reader, reader_sets, resume)
    if recompute_changed and resume is None:
        raise UsageError("FB103", "--recompute-changed needs --resume")
    if dry_run or budget is not None:
        from floorbench.cli import paying

        if dry_run:
            return paying.dry_run(
                task_, source, system, settings(sets),
                conditions=conditions, limit=limit, trials=trials, prices=prices, json=json,
            )  # fmt: skip
    chosen = _choose(system, sets, predictions, task_, source, seed)
    paced: StreamDriver | None = None
    if realtime:
        paced = _paced(system, settings(sets), executor)
        chosen = SystemChoice(name=system, parameters=settings(sets), factory=lambda: paced)
    ray = wishes.options()
    where: Executor = make_executor(
        executor, workers=workers, batch=batch, batch_seconds=batch_seconds, timeout=timeout,
        load_timeout=load_timeout, ray=ray,
    )  # fmt: skip
    if budget is not None:
        where = paying.capped(where, system, settings(sets), budget=budget, prices=prices)
    with console.only_talk(), console.progress(f"{task} {system}") as tick:

        def told(p: Progress) -> None:
            tick(p.done, p.total)

        folder = run_engine(
            task=task_,
            task_parameters=settings(task_sets),
            system=chosen,
            source=source,
            executor=where,
            conditions=conditions,
            trials=trials,
            limit=limit,
            seed=seed,
            out=out,
            resume=resume,
            recompute_changed=recompute_changed,
            progress=told,
            notify=console.say,
        )
    console.say(f"run folder: {folder.path}")
    if folder.record().system_spec.streaming_step is None:  # of a stream the whole stream is timed
        times = answer_times(folder.predictions())
        if times is not None:
            console.say(str(times))
    if paced is not None:
        console.say(f"real time: {paced.report()}")
    if not score:
        if json:
            console.data_json({"run": str(folder.path)})
        else:
            console.data(str(folder.path))
        return 0
    from floorbench.cli.score import print_results
    from floorbench.run.scoring import open_predictions
    from floorbench.run.scoring import score as score_run

    result = score_run(open_predictions(folder.path, task=task_, source=source))
    if json:
        console.data_json({"run": str(folder.path), **dataclasses.asdict(result)})
    else:
        print_results([result], "text", every=False)
    return 0


def _source(
    task: str,
    data: str | None,
    reader: str | None,
    reader_sets: Sequence[str] | None,
    resume: Path | None,
) -> DatasetSource:
    """Return the named data; a run that goes on opens its own as it did before."""
    if resume is None or data is not None or reader is not None or reader_sets:
        return open_data(task, data, reader, reader_sets)
    return source_of(RunFolder.open(resume).record(), resume)


def _paced(system: str, parameters: dict[str, Any], executor: str) -> StreamDriver:
    """Return a stream with a driver that keeps to the wall clock."""
    if executor != "serial":
        raise UsageError("FB103", f"--realtime needs the serial executor, not {executor}")
    made = build_system(system, **parameters)
    if not isinstance(made, StreamDriver):
        raise UsageError("FB541", f"'{system}' does not stream, so --realtime means nothing to it")
    return StreamDriver(made.system, realtime=True)


def _choose(
    name: str,
    sets: Sequence[str] | None,
    predictions: Path | None,
    task: ScoringTask,
    source: DatasetSource,
    seed: int,
) -> SystemChoice | Reference:
    """Return the system or reference of a call, refusing options that it would not use."""
    if predictions is not None and name != "replay":
        raise UsageError("FB103", "--predictions is for the reference 'replay' only")
    if name in REFERENCES:
        if sets:
            raise UsageError("FB103", f"the reference '{name}' takes no --set")
        return make_reference(name, task=task, source=source, seed=seed, predictions=predictions)
    if ":" not in name and not name.endswith(".py") and name not in SYSTEMS.entries():
        near = did_you_mean(name, (*SYSTEMS.entries(), *REFERENCES))
        raise UsageError(
            "FB101",
            f"there is no system '{name}'",
            hint=f"did you mean '{near}'?" if near else "`floorbench list systems` shows all names",
        )
    return SystemChoice(name=name, parameters=settings(sets))
