"""CoDeTT's tables: stage 1 (four actions) and stage 2 (fourteen scenarios with SMR).

Several systems and histories stand side by side, one table a language. Row averages are over the
actions a system declares; only ``all four``, where undeclared actions count as wrong, is ranked,
and it is not ranked on a starter set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from floorbench.core.score import Estimate
from floorbench.core.words import counted
from floorbench.report.languages import languages
from floorbench.report.published_check import action_accuracy
from floorbench.report.summary import is_reference, notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result

ACTIONS = {
    "Maintain": "Maintain",
    "StopandListen": "Stop & Listen",
    "Takeover": "Takeover",
    "Dismiss": "Dismiss",
}
STAGE1 = {
    **ACTIONS,
    "average": "Average",
    "all4": "All four",
    "auc": "AUC",
    "n": "n",
    "coverage": "coverage %",
}
SCENARIOS = {
    "Maintain": ("Backchannel", "Invalidation", "SideTalk", "Distraction"),
    "StopandListen": ("Interruption", "Dismissal", "Collaboration"),
    "Takeover": ("Completion", "Cooperation"),
    "Dismiss": ("Incomplete", "Invalidation", "Dismissal", "Exclusion", "SideTalk"),
}
# Rows of the papers that a catalogued system is set beside.
PUBLISHED = {"smart-turn": "Smart-Turn-v3"}
_PRINTED = {
    "Maintain": "maintain",
    "StopandListen": "stop_and_listen",
    "Takeover": "takeover",
    "Dismiss": "dismiss",
    "average": "macro",
}


def tables(results: Sequence[Result]) -> list[Table]:
    """Return every table of the task that the results can fill."""
    return [*stage1(results), *turn_ends(results), *stage2(results)]


def stage1(results: Sequence[Result]) -> list[Table]:
    """Return one stage-1 table per language, with the paper's own rows below."""
    out = []
    for language, name in languages(results).items():
        rows: list[Row] = []
        for result in results:
            rows += _stage1_rows(result, language)
        if not rows:
            continue
        rows = _marked(rows, "all4", results)
        rows += _baseline_rows(results, language)
        rows += _published_rows(results, language)
        out.append(
            Table(
                title=f"CoDeTT stage 1, {name}: action accuracy (%)",
                head="system",
                columns=STAGE1,
                rows=rows,
                notes=(
                    "Average: over the actions a system declares. All four: undeclared actions "
                    "count as wrong; only this column is ranked.",
                    *notes(results),
                ),
            )
        )
    return out


def turn_ends(results: Sequence[Result]) -> list[Table]:
    """Return, for scored systems, Completion against Incomplete: AUC and both accuracies.

    A starter set whose voices are right gives a good detector an AUC of at least 0.8 in English.
    """
    ends = ("Completion", "Incomplete")
    rows = []
    for result in results:
        for language, name in languages(results).items():
            cells: dict[str, Cell] = {}
            remark = None
            for e in result.estimates:
                if e.slice.get("language") != language or e.slice.get("condition") != "h0":
                    continue
                if e.slice.get("scenarios") == "Completion+Incomplete":
                    cells["auc"] = cell(e, scale=1.0, digits=3)
                    cells["n"] = text(str(e.units))
                    cells["coverage"] = Cell(value=e.coverage.share, scale=100, digits=1)
                    answered = e.metric == "auc_answered"
                    remark = _of_answered(e) if answered else None
                elif e.metric == "class_accuracy" and e.slice.get("scenario") in ends:
                    cells[e.slice["scenario"]] = cell(e)
            if "auc" in cells:
                rows.append(Row(name=f"{result.system.name} {name}", cells=cells, note=remark))
    if not rows:
        return []
    columns = {
        "auc": "AUC",
        "Completion": "Completion right",
        "Incomplete": "Incomplete right",
        "n": "n",
        "coverage": "scored %",
    }
    return [
        Table(
            title="Is the turn over? Completion against Incomplete (accuracy in %)",
            head="system",
            columns=columns,
            rows=rows,
            notes=notes(results),
        )
    ]


def stage2(results: Sequence[Result]) -> list[Table]:
    """Return one stage-2 table per language for the systems that answer with scenarios."""
    columns = {
        f"{action}/{scenario}": f"{_short(action)} {scenario}"
        for action, scenarios in SCENARIOS.items()
        for scenario in (*scenarios, "Avg", "action", "SMR")
    } | {"n": "n", "coverage": "coverage %"}
    out = []
    for language, name in languages(results).items():
        rows = [
            Row(
                name=_row_name(result, condition),
                cells=cells,
                note=of_smr(result, language, condition),
            )
            for result in results
            for condition in _conditions(result)
            if (cells := _stage2_cells(result, language, condition))
        ]
        if rows:
            out.append(
                Table(
                    title=f"CoDeTT stage 2, {name}: scenario accuracy and SMR (%)",
                    head="system",
                    columns=columns,
                    rows=rows,
                    notes=(
                        "Avg: mean of the scenarios. SMR: of the items with the right action, "
                        "those with another scenario; it can fall because the action accuracy did.",
                        *notes(results),
                    ),
                )
            )
    return out


def _stage1_rows(result: Result, language: str) -> Iterator[Row]:
    for condition in _conditions(result):
        cells: dict[str, Cell] = {}
        remark = None
        for e in _cells(result, language, condition):
            if "baseline" in e.slice:
                continue
            if e.metric == "class_accuracy" and "scenario" not in e.slice:
                cells[e.slice["action"]] = cell(e)
            elif e.metric == "macro_accuracy":
                cells["average"] = cell(e)
                cells["n"] = text(str(e.units)) if e.value is not None else text("0")
                cells["coverage"] = Cell(value=e.coverage.share, scale=100, digits=1)
            elif e.metric == "average_all4":
                cells["all4"] = cell(e)
            elif e.metric == "auc" and "scenarios" not in e.slice:
                cells["auc"] = cell(e, scale=1.0, digits=3)
            elif e.metric == "auc_answered" and "scenarios" not in e.slice:
                cells["auc"] = cell(e, scale=1.0, digits=3)
                remark = _of_answered(e)
        if cells:
            yield Row(name=_row_name(result, condition), cells=cells, note=remark)


def _of_answered(e: Estimate) -> str:
    return f"AUC over the {counted(e.coverage.ok, 'scored item')} of {e.units}"


def _stage2_cells(result: Result, language: str, condition: str) -> dict[str, Cell]:
    cells: dict[str, Cell] = {}
    beside: dict[str, Cell] = {}
    for e in _cells(result, language, condition):
        key = e.slice.get("action")
        if e.metric == "scenario_accuracy":
            cells[f"{key}/{e.slice['scenario']}"] = cell(e)
        elif e.metric == "action_average":
            cells[f"{key}/Avg"] = cell(e)
        elif e.metric == "smr":
            cells[f"{key}/SMR"] = replace(cell(e), units=None)  # the note of the row says over what
        elif e.metric == "class_accuracy" and "scenario" not in e.slice:
            beside[f"{key}/action"] = cell(e)
        elif e.slice.get("stage") == "intent":
            beside["n"] = text(str(e.units))
            beside["coverage"] = Cell(value=e.coverage.share, scale=100, digits=1)
    return {**cells, **beside} if any(c.value is not None for c in cells.values()) else {}


def of_smr(result: Result, language: str, condition: str) -> str | None:
    """Say over how many items each SMR is, which neither n nor the size of the action tells."""
    found = [
        f"{_short(e.slice['action'])} {e.note.partition(' ')[0]}"
        for e in _cells(result, language, condition)
        if e.metric == "smr" and e.note
    ]
    return f"SMR is over the items with the right action: {', '.join(found)}" if found else None


def _baseline_rows(results: Sequence[Result], language: str) -> list[Row]:
    """Baselines computed on the data at hand, from the result that covers most actions."""
    best: dict[str, Estimate] = {}
    for result in results:
        for e in result.estimates:
            if e.slice.get("language") != language or "baseline" not in e.slice:
                continue
            name = e.slice["baseline"]
            covered = len(e.slice["actions"].split("+"))
            if name not in best or covered > len(best[name].slice["actions"].split("+")):
                best[name] = e
    return [
        Row(
            name=f"({name})",
            cells={"all4" if e.slice["actions"].count("+") == 3 else "average": cell(e)},
        )
        for name, e in best.items()
    ]


def _published_rows(results: Sequence[Result], language: str) -> list[Row]:
    wanted = {
        printed
        for result in results
        for prefix, printed in PUBLISHED.items()
        if result.system.name.startswith(prefix)
    }
    rows = []
    for row, printed in action_accuracy().items():
        if row.system in wanted and row.language == language:
            cells = {
                key: Cell(value=printed[name], digits=2)
                if name in printed
                else Cell(value=None, undeclared=True)
                for key, name in _PRINTED.items()
            }
            rows.append(Row(name=f"{row.system} (paper)", cells=cells, published=True))
    return rows


def _marked(rows: list[Row], column: str, results: Sequence[Result]) -> list[Row]:
    """Mark the best value of a column, unless the data do not rank systems."""
    if any(r.dataset.get("ranks") is False for r in results):
        return rows
    references = {_row_name(r, c) for r in results if is_reference(r) for c in _conditions(r)}
    values = {
        row.name: value
        for row in rows
        if row.name not in references
        and isinstance(value := row.cells.get(column, Cell(value=None)).value, float)
    }
    if not values:
        return rows
    top = max(values.values())
    return [
        replace(row, cells={**row.cells, column: replace(row.cells[column], best=True)})
        if values.get(row.name) == top
        else row
        for row in rows
    ]


def _cells(result: Result, language: str, condition: str) -> Iterator[Estimate]:
    where: Mapping[str, str] = {"language": language, "condition": condition}
    for e in result.estimates:
        if all(e.slice.get(k) == v for k, v in where.items()):
            yield e


def _conditions(result: Result) -> list[str]:
    return list(dict.fromkeys(e.slice["condition"] for e in result.estimates))


def _row_name(result: Result, condition: str) -> str:
    name = result.system.name
    if is_reference(result):
        name += " [reference]"
    return name if len(_conditions(result)) == 1 else f"{name} {condition}"


def _short(action: str) -> str:
    return {"Maintain": "M", "StopandListen": "S&L", "Takeover": "T", "Dismiss": "D"}[action]
