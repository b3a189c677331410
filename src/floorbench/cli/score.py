"""``floorbench score`` and ``floorbench check``."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.options import (
    Conditions,
    Declared,
    Form,
    ReaderSettings,
    TaskSettings,
    ThresholdsFrom,
    declarations,
    make_task,
    open_data,
    open_given,
)
from floorbench.core.spec import SystemSpec
from floorbench.errors import DataError, Place, UsageError
from floorbench.report.naming import settings_that_differ
from floorbench.report.render import tables
from floorbench.report.tables import render
from floorbench.run.artefact import ThresholdArtefact, artefact_for, read_artefact
from floorbench.run.checking import check as check_file
from floorbench.run.predictions import predictions_file
from floorbench.run.scoring import Opened, Result, open_predictions
from floorbench.run.scoring import score as score_run
from floorbench.run.store import RUN_FILE, runs_below

Task = Annotated[str | None, Parameter(help="Task of a predictions file made elsewhere.")]


def score(
    *paths: Path,
    task: Task = None,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    task_sets: TaskSettings = None,
    systems: Declared = None,
    conditions: Conditions = None,
    thresholds_from: ThresholdsFrom = None,
    draws: int = 2000,
    level: float = 0.95,
    seed: int | None = None,
    form: Form = "text",
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    json: bool = False,
) -> int:
    """Score runs or predictions files; no system is needed.

    Parameters
    ----------
    paths
        Run folders, or predictions files (JSONL, CSV, Parquet).
    data
        Data to score against; those of the run by default.
    reader
        Reader of the data.
    draws
        Draws of the cluster bootstrap.
    level
        Level of the intervals.
    seed
        Seed of the bootstrap; the run's by default.
    form
        Form of the tables.
    every
        All cells, in the plain form.
    json
        Print the results as JSON.
    """
    if not paths:
        raise UsageError("FB103", "name a run folder or a predictions file")
    thresholds = [read_artefact(path) for path in thresholds_from or ()]
    results = []
    for path, system in zip(paths, declarations(paths, systems), strict=True):
        found = opened(
            path,
            system=system,
            conditions=conditions,
            task=task,
            data=data,
            reader=reader,
            reader_sets=reader_sets,
            task_sets=task_sets,
            seed=seed,
            thresholds=thresholds,
        )
        if found.artefact is not None and found.artefact.dataset == found.source.digest():
            console.say(f"{path}: the threshold was chosen on these very data")
        results.append(score_run(found, draws=draws, level=level))
    if json:
        console.data_json(results)
        return 0
    print_results(results, form, every=every)
    return 0


def check(
    path: Path,
    /,
    *,
    task: Task = None,
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    task_sets: TaskSettings = None,
    systems: Declared = None,
    conditions: Conditions = None,
    json: bool = False,
) -> int:
    """Check predictions made anywhere and name every fault with its line.

    Needs neither audio nor the system. Exits 1 when there is a fault.

    Parameters
    ----------
    path
        A predictions file (JSONL, CSV, Parquet) or a run folder.
    data
        Data the predictions are about.
    reader
        Reader of the data.
    json
        Print JSON.
    """
    found = opened(
        path,
        system=declarations([path], systems)[0],
        conditions=conditions,
        task=task,
        data=data,
        reader=reader,
        reader_sets=reader_sets,
        task_sets=task_sets,
        seed=None,
    )
    faults = check_file(
        path,
        found.task,
        found.source,
        system=found.system,
        conditions=found.plan.conditions,
        trials=found.plan.trials,
        limit=found.plan.limit,
    )
    if json:
        console.data_json({"file": str(path), "faults": [f._asdict() for f in faults]})
    else:
        for fault in faults:
            console.data(fault.at(str(predictions_file(path))))
        console.say(f"{len(faults) or 'no'} fault{'s' * (len(faults) != 1)}")
    return 1 if faults else 0


def opened(
    path: Path,
    *,
    task: str | None,
    data: str | None,
    reader: str | None,
    reader_sets: Sequence[str] | None,
    task_sets: Sequence[str] | None,
    seed: int | None,
    system: SystemSpec | None = None,
    conditions: Sequence[str] | None = None,
    thresholds: Sequence[ThresholdArtefact] = (),
) -> Opened:
    """Open predictions with what the command line says about them."""
    if not path.exists():
        raise DataError("FB402", "there is no such file or folder", where=Place(str(path)))
    is_run = (path / RUN_FILE).is_file()
    if not is_run and task is None:
        hint = runs_below(path) or "name its task with --task, or give a run folder"
        raise UsageError("FB103", f"'{path}' is not a run folder", hint=hint)
    made = make_task(task, task_sets) if task is not None else None
    if not is_run and made is not None and system is not None and not task_sets:
        artefact = artefact_for(thresholds, task=made.spec, system=system)
        if artefact is not None:
            made = make_task(task or "", [f"threshold={artefact.threshold!r}"])
    if is_run and conditions:
        raise UsageError("FB103", "--condition is for predictions files; a run knows its own")
    if made is None and task_sets:
        raise UsageError("FB103", "--task-set needs --task")
    if reader_sets and data is None and is_run:
        raise UsageError(
            "FB103", "--reader-set needs --data", hint="a run opens its data as it did before"
        )
    source = None
    if task is not None and (data is not None or not is_run):
        source = open_data(task, data, reader, reader_sets)
    elif data is not None:
        source = open_given(data, reader, reader_sets)
    return open_predictions(
        path,
        task=made,
        source=source,
        system=system,
        conditions=conditions,
        seed=seed,
        thresholds=thresholds,
    )


def print_results(results: Sequence[Result], form: Form, *, every: bool) -> None:
    """Print the tables of results, grouped by task and data."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        key = (result.task.name, str(result.signature.protocol.get("dataset")))
        groups.setdefault(key, []).append(result)
    for group in groups.values():
        for table in tables(told_apart(group), every=every):
            console.data(render(table, form))


def told_apart(results: Sequence[Result]) -> list[Result]:
    """Give systems of one name different names for display: version and settings that differ.

    Where none differs, they are numbered in the order given.
    """
    systems = [r.system for r in results]
    names = [s.name for s in systems]
    told = [settings_that_differ(s, systems) for s in systems]
    out = []
    for number, (result, name, differs) in enumerate(zip(results, names, told, strict=True), 1):
        if names.count(name) > 1:
            twins = list(zip(names, told, strict=True)).count((name, differs)) > 1
            differs = f"{differs} #{number}".strip() if twins else differs
            system = dataclasses.replace(result.system, name=f"{name} ({differs})")
            result = dataclasses.replace(result, system=system)
        out.append(result)
    return out
