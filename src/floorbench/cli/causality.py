"""``floorbench check-causality``."""

from __future__ import annotations

import dataclasses
from itertools import islice

from floorbench.cli import console
from floorbench.cli.options import (
    ReaderSettings,
    Settings,
    TaskSettings,
    make_task,
    open_data,
    settings,
)
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.run.causality import check_causality as check
from floorbench.run.deciding import SystemChoice
from floorbench.run.references import REFERENCES

SHOWN = 10


def check_causality(
    system: str,
    /,
    *,
    task: str = "echo",
    data: str | None = None,
    reader: str | None = None,
    reader_sets: ReaderSettings = None,
    sets: Settings = None,
    task_sets: TaskSettings = None,
    limit: int = 12,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Change the future of some samples and see whether past decisions move.

    Exits 1 when one does, or when nothing could be compared.

    Parameters
    ----------
    system
        A system of ``floorbench list systems`` or ``path.py:Class``.
    task
        Task whose observations are used.
    data
        Folder or file, or ``starter:NAME``; the task's starter set by default.
    reader
        Reader of the data.
    limit
        Samples, spread over the data.
    seed
        Seed of the noise.
    json
        Print JSON.
    """
    if limit < 1:
        raise UsageError("FB103", f"--limit {limit} is not a number of samples from 1 up")
    if system in REFERENCES:
        raise UsageError(
            "FB103",
            f"'{system}' is a reference: it answers from the labels and hears nothing",
            hint="Name a system of `floorbench list systems`; only `run` takes references.",
        )
    task_ = make_task(task, task_sets)
    source = open_data(task, data, reader, reader_sets)
    made = SystemChoice(name=system, parameters=settings(sets)).build()
    condition = task_.conditions(made.spec)[0]
    due = [s for s in source.samples() if task_.due(s, made.spec)]
    spread = islice(due, 0, None, max(1, len(due) // limit))
    chosen = list(spread)[:limit]
    with console.progress(f"causality of {system}") as tick:
        shown = []
        for number, sample in enumerate(chosen, start=1):
            shown.append((sample.id, task_.observe(sample, condition, system=made.spec)))
            tick(number, len(chosen))
        found = check(made, shown, seed=seed)
    if json:
        console.data_json({"system": system, **dataclasses.asdict(found)})
        return 0 if found.causal else 1
    console.data(
        f"{system}: {counted(found.samples, 'sample')}, {counted(found.decisions, 'decision')}, "
        f"{counted(found.comparisons, 'changed future')} compared"
    )
    if found.nondeterministic:
        console.data(
            "nondeterministic: the unchanged run did not repeat on "
            f"{counted(found.nondeterministic, 'sample')}; labels only "
            "are compared there, and nothing of scores per frame"
        )
    for violation in found.violations[:SHOWN]:
        console.data(f"not causal: {violation}")
    if len(found.violations) > SHOWN:
        console.data(f"... and {len(found.violations) - SHOWN} more")
    failed = {k: v for k, v in found.outcomes.items() if k != "ok"}
    if failed:
        console.data("not answered: " + ", ".join(f"{k} {v}" for k, v in failed.items()))
    verdict = {True: "causal", False: "NOT causal", None: "nothing could be compared"}
    console.data(verdict[found.causal])
    return 0 if found.causal else 1
