"""The papers' result tables as they were laid out: their rows, columns, units and decimals.

Results of ours can be added as rows below the printed ones, in the same columns. A cell that ours
does not define alike stays empty, and the notes say why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from floorbench.core.score import Estimate
from floorbench.errors import UsageError
from floorbench.report.codett import of_smr
from floorbench.report.languages import NAMES, languages
from floorbench.report.published import number, rows, table
from floorbench.report.published_check import check
from floorbench.report.render import shared_notes_last
from floorbench.report.summary import notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result

ACTIONS = {
    "maintain": ("Maintain", "Maintain"),
    "stop_and_listen": ("StopandListen", "Stop & Listen"),
    "takeover": ("Takeover", "Takeover"),
    "dismiss": ("Dismiss", "Dismiss"),
}
"""Action of the CSV files: ours, and as printed."""
SCENARIOS = {
    "maintain": ("Backchannel", "Invalidation", "SideTalk", "Distraction"),
    "stop_and_listen": ("Interruption", "Dismissal", "Collaboration"),
    "takeover": ("Completion", "Cooperation"),
    "dismiss": ("Incomplete", "Invalidation", "Dismissal", "Exclusion", "SideTalk"),
}
SHORT = {
    "Backchannel": "BC", "Invalidation": "Inv.", "SideTalk": "Side.", "Distraction": "Dist.",
    "Interruption": "Int.", "Dismissal": "Dism.", "Collaboration": "Col.", "Completion": "Cmp.",
    "Cooperation": "Cop.", "Incomplete": "Inc.", "Exclusion": "Exc.",
}  # fmt: skip
ECHO = {
    "acc_interruption": "Acc I", "acc_backchannel": "Acc B", "acc_offtalk": "Acc O",
    "macro": "Macro", "pasr_ib": "PASR I-B", "pasr_io": "PASR I-O", "pkc_bo": "PKC", "prsr": "PRSR",
}  # fmt: skip
ROLES = {
    "interruption": "acc_interruption", "backchannel": "acc_backchannel", "off_talk": "acc_offtalk",
}  # fmt: skip
TRP = {
    "precision": ("slot_precision", "Precision"), "recall": ("slot_recall", "Recall"),
    "f1": ("slot_f", "F1"), "kappa_free_all": ("kappa_all", "k_free all"),
    "kappa_free_true": ("", "k_free true"), "nmae": ("nmae", "NMAE"), "nmse": ("nmse", "NMSE"),
    "nmae_da": ("mae_density", "NMAE_DA"),
}  # fmt: skip
"""Column of the CSV file: our metric, and as printed; there is none for k_free true."""
DUALTURN = {
    "wf1": "wF1", "bc_f1": "BC F1", "bc_precision": "BC P", "bc_recall": "BC R",
    "word_auc_c": "AUC C", "word_auc_b": "AUC B", "word_auc_t": "AUC T", "word_auc_avg": "AUC avg",
    "shift_hold_auc_-240ms": "shift/hold AUC at -240 ms",
}  # fmt: skip

Cells = dict[str, Cell]
Rows = dict[str, Cells]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """How one table is laid out: columns, printed rows, rows of ours, and what to know of them."""

    task: str
    columns: Mapping[str, str]
    printed: Callable[[], Rows]
    own: Callable[[Result, str], Iterator[Row]]
    says: tuple[str, ...] = ()


def laid_out(table_id: str, results: Sequence[Result] = ()) -> list[Table]:
    """Return a published table in its own layout, results of its task below the printed rows.

    Parameters
    ----------
    table_id : str
        Of :data:`floorbench.report.published.TABLES`.
    results : sequence of Result
        Of the table's task.

    Returns
    -------
    list of Table
        One table, one per language for ``codett-3``, none for a table that holds no results.

    Raises
    ------
    UsageError
        ``FB101`` for an unknown table.
    """
    about = table(table_id)
    out = []
    for part, form in _FORMS.get(table_id, {}).items():
        printed = [Row(name=n, cells=c, published=True) for n, c in form.printed().items()]
        own = [row for result in results for row in form.own(result, part)]
        beside = [
            "rows without a mark: measured here; beside the printed ones only if on the same data",
            *form.says,
        ]
        out.append(
            Table(
                title=f"{about.title}{f', {NAMES[part]}' if part else ''} ({about.source})",
                head="system",
                columns=form.columns,
                rows=[*printed, *own],
                notes=[
                    *_misprints(table_id, part),
                    *((*beside, *notes(results)) if results else ()),
                ],
            )
        )
    return shared_notes_last(out, results) if results else out


def beside_paper(results: Sequence[Result]) -> list[Table]:
    """Return the published tables of the results' task, in their layout, with the results in them.

    Parameters
    ----------
    results : sequence of Result
        Of one task and one dataset.

    Raises
    ------
    UsageError
        ``FB103`` for a task without a published table of results.
    """
    task = results[0].task.name
    ids = [i for i, parts in _FORMS.items() if {f.task for f in parts.values()} == {task}]
    if not ids:
        raise UsageError("FB103", f"there is no published table for the task '{task}'")
    return [made for i in ids for made in laid_out(i, results)]


def _misprints(table_id: str, part: str) -> list[str]:
    return [
        f"misprint: {f.id.split('/', 1)[1]}: {f.says}"
        for f in check()
        if f.kind == "misprint" and f.id.startswith(f"{table_id}/{part}")
    ]


def _as_printed(value: str, digits: int, *, scale: float = 1.0) -> Cell:
    found = number(value)
    return Cell(value=found, scale=scale, digits=digits, undeclared=found is None)


# ---- CoDeTT ------------------------------------------------------------------------------------


def _table2() -> Rows:
    out: Rows = {}
    for r in rows("codett-2"):
        cells = out.setdefault(f"{r['system']} h{r['history']}", {"h": text(r["history"])})
        cells[f"{r['language']}/{r['action']}"] = _as_printed(r["value_percent"], 2)
    return out


def _own2(result: Result, _: str) -> Iterator[Row]:
    for condition in _conditions(result):
        cells: Cells = {"h": text(condition[1:])}
        for language in NAMES:
            where = {"language": language, "condition": condition}
            for key, (action, _shown) in ACTIONS.items():
                found = _find(result, "class_accuracy", where | {"action": action})
                cells |= _cell(f"{language}/{key}", found)
            for e in _all(result, "macro_accuracy", where):
                if set(e.slice) == {"language", "condition", "actions"}:
                    cells |= _cell(f"{language}/macro", e)
        yield Row(name=f"{result.system.name} {condition}", cells=cells)


def _table3(language: str) -> Rows:
    out: Rows = {}
    for r in rows("codett-3"):
        if r["language"] == language:
            cells = out.setdefault(f"{r['system']} h{r['history']}", {"h": text(r["history"])})
            key = _scenario(r["scenario"]) or {"macro_accuracy": "Avg", "smr": "SMR"}[r["metric"]]
            cells[f"{r['action']}/{key}"] = _as_printed(r["value_percent"], 2)
    return out


def _scenario(name: str) -> str:
    return {s.lower(): s for s in SHORT}.get(name.replace("_", ""), "")


def _own3(result: Result, language: str) -> Iterator[Row]:
    for condition in _conditions(result):
        where = {"language": language, "condition": condition}
        cells: Cells = {}
        for key, (action, _) in ACTIONS.items():
            here = where | {"action": action}
            for scenario in SCENARIOS[key]:
                found = _find(result, "scenario_accuracy", here | {"scenario": scenario})
                cells |= _cell(f"{key}/{scenario}", found)
            cells |= _cell(f"{key}/Avg", _find(result, "action_average", here))
            smr = _cell(f"{key}/SMR", _find(result, "smr", here))
            cells |= {k: replace(c, units=None) for k, c in smr.items()}  # the note says over what
        if any(c.value is not None for c in cells.values()):
            yield Row(
                name=f"{result.system.name} {condition}",
                cells={"h": text(condition[1:]), **cells},
                note=of_smr(result, language, condition),
            )


def _conditions(result: Result) -> list[str]:
    return list(dict.fromkeys(e.slice["condition"] for e in result.estimates))


# ---- ECHO --------------------------------------------------------------------------------------


def _table4() -> Rows:
    out: Rows = {}
    for r in rows("echo-4"):
        mode = "" if r["mode"] == "binary" else f" {r['mode']}"
        found = _as_printed(r["value_percent"], 2)
        out.setdefault(f"{r['system']}{mode}", {})[r["metric"]] = found
    return out


def _own4(result: Result, _: str) -> Iterator[Row]:
    streams = any("anchor" in e.slice and e.coverage.expected for e in result.estimates)
    for language in languages([result]):
        for tail in ("0 s", "1 s") if streams else ("0 s",):
            where = {"language": language, "tail": tail}
            name = f"{result.system.name} ({language}{f', tail {tail}' if streams else ''})"
            cells = _accuracies(result, where)
            for key, contrast in (("pasr_ib", "I-B"), ("pasr_io", "I-O")):
                cells |= _cell(key, _find(result, "pasr", where | {"contrast": contrast}))
            cells |= _cell("pkc_bo", _find(result, "pkc", where))
            yield Row(name=name, cells=cells)
        where = {"language": language, "answers": "three-way"}
        prsr = _find(result, "prsr", where)
        if prsr is not None and prsr.value is not None:
            name = f"{result.system.name} three-way ({language})"
            yield Row(name=name, cells=_accuracies(result, where) | _cell("prsr", prsr))


def _accuracies(result: Result, where: Mapping[str, str]) -> Cells:
    cells: Cells = {}
    for role, key in ROLES.items():
        cells |= _cell(key, _find(result, "accuracy", {**where, "role": role}))
    return cells | _cell("macro", _find(result, "macro_accuracy", where))


# ---- within-turn TRP and DualTurn --------------------------------------------------------------


def _trp2() -> Rows:
    return {
        f"{r['system']} {r['condition']}": {k: _as_printed(r[k], 3) for k in TRP}
        for r in rows("trp-2")
    }


def _own_trp(result: Result, _: str) -> Iterator[Row]:
    shown = [result.estimates[i].slice["condition"] for i in result.headline]
    for condition in dict.fromkeys(shown):
        cells: Cells = {}
        for key, (metric, _shown) in TRP.items():
            found = _find(result, metric, {"condition": condition})
            cells |= _cell(key, found, scale=1.0, digits=3)
        name = result.system.name
        yield Row(name=name if condition == "none" else f"{name} {condition}", cells=cells)


def _dualturn() -> Rows:
    out: Rows = {}
    for r in rows("dualturn"):
        found = _as_printed(r["value"], 3)
        out.setdefault(f"{r['system']}, {r['dataset']}", {})[r["metric"]] = found
    return out


def _own_dualturn(result: Result, _: str) -> Iterator[Row]:
    actions, backchannel = {"events": "actions"}, {"events": "actions", "class": "BC"}
    cells = _plain("wf1", _find(result, "weighted_f1", actions))
    for key, metric in (
        ("bc_f1", "f_score"),
        ("bc_precision", "precision"),
        ("bc_recall", "recall"),
    ):
        cells |= _plain(key, _find(result, metric, backchannel))
    ends = {"events": "turn ends", "at": "-240 ms"}
    cells |= _plain("shift_hold_auc_-240ms", _find(result, "auc", ends))
    yield Row(name=result.system.name, cells=cells)
    for reading, shown in (("probe", "LR probe"), ("heuristic", "heuristic")):
        where = {"events": "words", "reading": reading}
        cells = _plain("word_auc_avg", _find(result, "auc_macro", where))
        for label in ("C", "B", "T"):
            found = _find(result, "auc", where | {"class": label})
            cells |= _plain(f"word_auc_{label.lower()}", found)
        yield Row(name=f"{result.system.name} ({shown})", cells=cells)


# ---- cells -------------------------------------------------------------------------------------


def _all(result: Result, metric: str, where: Mapping[str, str]) -> Iterator[Estimate]:
    for e in result.estimates:
        if e.metric == metric and where.items() <= e.slice.items():
            yield e


def _find(result: Result, metric: str, where: Mapping[str, str]) -> Estimate | None:
    """Return the cell of exactly this slice."""
    return next((e for e in _all(result, metric, where) if len(e.slice) == len(where)), None)


def _cell(key: str, found: Estimate | None, *, scale: float = 100.0, digits: int = 2) -> Cells:
    return {} if found is None else {key: cell(found, scale=scale, digits=digits)}


def _plain(key: str, found: Estimate | None) -> Cells:
    return _cell(key, found, scale=1.0, digits=3)


_CODETT = (
    "missing answers are wrong here; the released scripts leave them out (--task-set missing=drop)",
)
_TABLE2 = {"h": "History"} | {
    f"{language}/{key}": f"{language} {shown}"
    for language in NAMES
    for key, shown in (*((k, s) for k, (_, s) in ACTIONS.items()), ("macro", "Average"))
}
_TABLE3 = {"h": "H"} | {
    f"{key}/{name}": f"{shown[0] if key != 'stop_and_listen' else 'S&L'} {SHORT.get(name, name)}"
    for key, (_, shown) in ACTIONS.items()
    for name in (*SCENARIOS[key], "Avg", "SMR")
}
_FORMS: Mapping[str, Mapping[str, _Form]] = {
    "codett-2": {
        "": _Form(task="codett", columns=_TABLE2, printed=_table2, own=_own2, says=_CODETT)
    },
    "codett-3": {
        language: _Form(
            task="codett",
            columns=_TABLE3,
            printed=partial(_table3, language),
            own=_own3,
            says=_CODETT,
        )
        for language in NAMES
    },
    "echo-4": {
        "": _Form(
            task="echo",
            columns=ECHO,
            printed=_table4,
            own=_own4,
            says=("the paper's data are Chinese; it does not say what a missing answer counts as",),
        )
    },
    "trp-2": {
        "": _Form(
            task="trp",
            columns={k: shown for k, (_, shown) in TRP.items()},
            printed=_trp2,
            own=_own_trp,
            says=(
                "k_free true cannot be recovered from text or table; kappa_hit and kappa_near of "
                "the task's own table are other statistics",
                "pooled over all slots here, averaged over the stimulus lists in the paper "
                "(aggregation=list_mean among all cells); its norm of NMAE and NMSE may be another "
                "(norm=max_predicted fits its table); NMAE_DA is mae_density here, not normalised",
            ),
        )
    },
    "dualturn": {
        "": _Form(
            task="dualturn-4s",
            columns=DUALTURN,
            printed=_dualturn,
            own=_own_dualturn,
            says=(
                "wF1 and BC figures stand beside the printed ones only with --task-set "
                "port_compat=true",
            ),
        )
    },
}
