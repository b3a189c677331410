"""The numbers of a group of runs: tables whose cells lead to items, matrices, comparisons."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from floorbench import codec
from floorbench.report.comparison import comparison_table
from floorbench.report.render import tables
from floorbench.report.tables import Cell, Table
from floorbench.run.compare import compare_runs
from floorbench.web.index import NO_ANSWER, NOT_DUE, RIGHT, UNDECIDED, Group

DRAWS = 1000


def group_tables(group: Group, *, every: bool = False) -> list[dict[str, Any]]:
    """Return the task's printed tables (or all cells) for the runs of a group."""
    results = [run.stored.result for run in group.runs]
    owners = {id(e.slice): i for i, result in enumerate(results) for e in result.estimates}
    return [table_json(table, owners) for table in tables(results, every=every)]


def table_json(table: Table, owners: Mapping[int, int]) -> dict[str, Any]:
    """Return a table with each cell as shown, its interval and what it is a value of.

    ``owners`` gives the run of an estimate by the identity of its slice.
    """
    return {
        "title": table.title,
        "head": table.head,
        "columns": [{"key": k, "name": v} for k, v in table.columns.items()],
        "rows": [
            {
                "name": row.name,
                "published": row.published,
                "note": row.note,
                "cells": {key: _cell_json(cell, owners) for key, cell in row.cells.items()},
            }
            for row in table.rows
        ],
        "notes": list(table.notes),
    }


def _cell_json(cell: Cell, owners: Mapping[int, int]) -> dict[str, Any]:
    about = cell.about
    own = about is not None and "baseline" not in about.slice
    run = owners.get(id(about.slice)) if about is not None and own else None
    return {
        "shown": cell.shown(),
        "interval": cell.interval(),
        "number": isinstance(cell.value, float),
        "units": cell.units,
        "coverage": cell.coverage,
        "best": cell.best,
        "reason": cell.reason,
        "about": {"metric": about.metric, **about.slice} if about is not None else None,
        "run": run,
    }


def matrix(group: Group, *, run: int, layer: str, tags: Mapping[str, str]) -> dict[str, Any]:
    """Return the counts of gold by predicted labels of one run on a part of the items.

    Rows are the gold labels that occur, columns the labels that are gold or were predicted, then
    items without a usable answer.
    """
    view = group.run(run)
    found = view.layer(layer)
    mask = view.item != NOT_DUE
    for name, value in tags.items():
        values, codes = group.tags.get(name, ((), np.zeros(len(mask), dtype=np.int32)))
        mask = mask & (codes == (values.index(value) if value in values else -1))
    mask = mask & (found.gold >= 0)
    size = len(found.labels)
    counts = np.zeros((size, size + 1), dtype=np.int64)
    columns = np.where(found.predicted[mask] < 0, size, found.predicted[mask])
    np.add.at(counts, (found.gold[mask], columns), 1)
    golds = [i for i in range(size) if counts[i].any()]
    heads = [i for i in range(size) if i in golds or counts[:, i].any()]
    if counts[:, size].any():
        heads.append(size)
    names = (*found.labels, NO_ANSWER)
    return {
        "run": run,
        "layer": layer,
        "tags": dict(tags),
        "gold": [names[i] for i in golds],
        "predicted": [names[i] for i in heads],
        "counts": [[int(counts[i, j]) for j in heads] for i in golds],
    }


def contingency(group: Group, *, first: int, second: int, layer: str) -> list[dict[str, Any]]:
    """Return, per condition and language, how often both, one or none of two runs were right."""
    a, b = group.run(first), group.run(second)
    one, two = a.layer(layer), b.layer(layer)
    judged = (
        (a.item != NOT_DUE)
        & (b.item != NOT_DUE)
        & (one.right != UNDECIDED)
        & (two.right != UNDECIDED)
    )
    parts: list[dict[str, str]] = [{}]
    for name in ("language", "condition"):
        if name in group.tags:
            parts = [{**p, name: v} for p in parts for v in group.tags[name][0]]
    out = []
    for part in parts:
        mask = judged.copy()
        for name, value in part.items():
            values, codes = group.tags[name]
            mask &= codes == values.index(value)
        if not mask.any():
            continue
        x, y = one.right[mask] == RIGHT, two.right[mask] == RIGHT
        out.append(
            {
                "tags": part,
                "both": int((x & y).sum()),
                "first-only": int((x & ~y).sum()),
                "second-only": int((~x & y).sum()),
                "neither": int((~x & ~y).sum()),
                "differ": int((one.predicted[mask] != two.predicted[mask]).sum()),
            }
        )
    return out


def paired(group: Group, *, first: int, second: int, draws: int = DRAWS) -> dict[str, Any]:
    """Return the paired comparison of two runs as a table (scores both anew)."""
    a, b = group.run(first).stored, group.run(second).stored
    found = compare_runs(a.opened, b.opened, draws=draws)
    return table_json(comparison_table(found), {})


def provenance(group: Group) -> list[dict[str, Any]]:
    """Return what each run of a group is: system, status, data, versions, remarks."""
    out = []
    for run in group.runs:
        record = run.stored.record
        out.append(
            {
                "run": run.position,
                "name": run.name,
                "reference": str(record.system_spec.level) == "reference",
                "version": record.system_spec.version,
                "path": str(run.stored.path),
                "run_id": record.run_id,
                "status": record.status,
                "created": record.created,
                "intervals": run.stored.fresh,
                "remarks": list(run.stored.remarks),
                "conditions": list(record.conditions),
                "trials": record.trials,
                "score": record.system_spec.score,
                "threshold": record.system_spec.threshold,
                "coverage": codec.to_builtins(run.stored.result.coverage),
                "layers": list(run.layer_names),
            }
        )
    return out
