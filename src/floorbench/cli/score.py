"""``floorbench score`` and ``floorbench check``."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench.cli import console
from floorbench.cli.opening import UNSAID, PredictionOptions, ThresholdsFrom, opened
from floorbench.cli.options import Form
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.report.methods import methods as methods_of
from floorbench.report.naming import settings_that_differ
from floorbench.report.published_layout import beside_paper
from floorbench.report.render import tables
from floorbench.run.checking import check as check_file
from floorbench.run.predictions import predictions_file
from floorbench.run.scoring import Result, stored_otherwise
from floorbench.run.scoring import score as score_run


def score(
    *paths: Path,
    options: PredictionOptions = UNSAID,
    thresholds_from: ThresholdsFrom = None,
    draws: int = 2000,
    level: float = 0.95,
    seed: int | None = None,
    form: Form = "text",
    every: Annotated[bool, Parameter(name="--all", negative=())] = False,
    store: Annotated[bool, Parameter(negative=())] = False,
    paper: Annotated[bool, Parameter(name="--paper", negative=())] = False,
    methods: Annotated[bool, Parameter(name="--methods", negative=())] = False,
    json: bool = False,
) -> int:
    """Score runs or predictions files; no system is needed.

    The estimates are stored in the run folder, where report and view read them. Those that are
    there and were asked for with other settings (draws, level, seed, threshold ...) are not
    replaced, unless with --store.

    Parameters
    ----------
    paths
        Run folders, or predictions files (JSONL, CSV, Parquet).
    draws
        How often the cluster bootstrap draws the data again; the intervals come from it.
    level
        Level of the intervals; 0.95 for 95 %.
    seed
        Seed of the bootstrap; by default that of the run.
    form
        Form of the tables.
    every
        Every cell with its coverage, one a line, instead of the task's own tables.
    store
        Replace stored estimates that were asked for with other settings.
    paper
        The tables of the task's paper in their own rows, columns and units, these rows below.
    methods
        After the tables, a paragraph for the methods section of a paper.
    json
        Print the results as JSON.
    """
    if not paths:
        raise UsageError("FB103", "name a run folder or a predictions file")
    _refuse_pairs(form, every=every, paper=paper, methods=methods, json=json)
    results, printed = [], defaultdict[str, list[Path]](list)
    for path, found in zip(
        paths, opened(paths, options, thresholds_from=thresholds_from, seed=seed), strict=True
    ):
        if found.artefact is not None and found.artefact.dataset == found.source.digest():
            console.say(f"{path}: the threshold was chosen on these very data")
        result = score_run(found, draws=draws, level=level, write=True if store else None)
        kept = stored_otherwise(path, result)
        if kept:
            told = ", ".join(f"{d.path} {d.first}, here {d.second}" for d in kept)
            printed[told].append(path)
        results.append(result)
    for told, where in printed.items():
        about = str(where[0]) if len(where) == 1 else counted(len(where), "run")
        console.say(
            f"{about}: printed, not stored; what is stored stays ({told}); --store replaces it"
        )
    if json:
        console.data_json(results)
        return 0
    print_results(results, form, every=every, paper=paper)
    if methods:
        for group in grouped(results):
            console.data(methods_of(told_apart(group), form))
    return 0


def _refuse_pairs(form: Form, *, every: bool, paper: bool, methods: bool, json: bool) -> None:
    """Refuse options of which one would silently do nothing, or spoil the other's output."""
    if paper and every:
        raise UsageError("FB103", "--paper and --all are two ways to print: name one")
    for name, asked in (("--paper", paper), ("--methods", methods)):
        if asked and json:
            raise UsageError("FB103", f"--json prints results as they are: leave {name} out")
    if methods and form in ("csv", "json"):
        what = f"--methods is a paragraph of text, which --form {form} has no place for"
        raise UsageError("FB103", what, hint="--form text, markdown or latex")


def check(
    path: Path,
    /,
    *,
    options: PredictionOptions = UNSAID,
    json: bool = False,
) -> int:
    """Check predictions made anywhere and name every fault with its line.

    Needs neither audio nor the system. Exits 1 when there is a fault.

    Parameters
    ----------
    path
        A predictions file (JSONL, CSV, Parquet) or a run folder.
    json
        Print JSON.
    """
    (found,) = opened([path], options)
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
        console.say(counted(len(faults), "fault", zero="no"))
    return 1 if faults else 0


def print_results(
    results: Sequence[Result], form: Form, *, every: bool, paper: bool = False
) -> None:
    """Print the tables of results, grouped by task and data; with ``paper`` in the paper's layout.

    Raises
    ------
    UsageError
        ``FB103`` for a task whose paper printed no table of results.
    """
    for group in grouped(results):
        named = told_apart(group)
        for table in beside_paper(named) if paper else tables(named, every=every):
            console.table(table, form)


def grouped(results: Sequence[Result]) -> list[list[Result]]:
    """Return results of one task and one dataset together, in the order given."""
    groups: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        key = (result.task.name, str(result.signature.protocol.get("dataset")))
        groups.setdefault(key, []).append(result)
    return list(groups.values())


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
