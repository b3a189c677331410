"""Tables of ``dualturn-4s`` and ``vap-1s``, and the counts of two-channel data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from floorbench.core.score import Estimate
from floorbench.core.words import counted
from floorbench.datasets.dualturn_labels import SIDE_COUNTS, LabelRules, SessionCounts, totals
from floorbench.events.dualturn import RATE
from floorbench.events.dualturn_actions import ACTIONS
from floorbench.events.dualturn_words import WORD_LABELS, PhraseList
from floorbench.report.published import number, rows
from floorbench.report.summary import is_reference, notes
from floorbench.report.tables import Cell, Row, Table, cell, text
from floorbench.run.scoring import Result
from floorbench.tasks.dualturn_features import MARGIN

OFFSETS = tuple(range(-12, 7))
ACTION_COLUMNS = {
    "wf1": "wF1",
    **{f"f:{a}": f"F1 {a}" for a in ACTIONS},
    "p:BC": "P BC",
    "r:BC": "R BC",
    "chance": "chance F1 BC",
    "always": "always-BC F1",
    "n": "n",
    "coverage": "coverage %",
}
WORD_COLUMNS = {
    **{f"auc:{c}": f"AUC {c}" for c in WORD_LABELS},
    "avg": "AUC avg",
    **{f"eer:{c}": f"EER {c}" for c in WORD_LABELS},
    "n": "n",
    "coverage": "coverage %",
}
END_COLUMNS = {
    **{f"auc:{d * 80:+d} ms": f"AUC {d * 80:+d} ms" for d in (-3, 0, 3, 6)},
    **{f"bacc:{d * 80:+d} ms": f"bAcc {d * 80:+d} ms" for d in (0, 3, 6)},
    "n": "n",
    "coverage": "coverage %",
}
QUESTIONS = ("shift_hold", "shift_prediction", "backchannel_prediction")


def tables(results: Sequence[Result]) -> list[Table]:
    """Return actions, words, turn ends and the anticipation curve, published rows below."""
    return [
        _table(
            "agent actions (%)", ACTION_COLUMNS, results, _action_rows, _published_actions(),
            _about_actions(results),
        ),
        _table(
            "words: C, B, T against the rest", WORD_COLUMNS, results, _word_rows,
            _published_words(), _remarks(results, "words", "auc_macro"),
        ),
        _table(
            "turn ends: EOT against HOLD", END_COLUMNS, results, _end_rows, _published_ends(),
            _remarks(results, "turn ends", "auc"),
        ),
        _curve(results, "auc"),
        _curve(results, "f_score"),
    ]  # fmt: skip


def vap_tables(results: Sequence[Result]) -> list[Table]:
    """Return the three questions of ``vap-1s``."""
    columns = {
        f"{m}:{q}": f"{name} {q.replace('_', ' ')}"
        for q in QUESTIONS
        for m, name in (("auc", "AUC"), ("balanced_accuracy", "bAcc"), ("weighted_f1", "wF1"))
    }
    sizes = {f"n:{q}": f"n {q.replace('_', ' ')}" for q in QUESTIONS} | {"coverage": "coverage %"}
    out = []
    for result in results:
        cells = {
            f"{e.metric}:{e.slice['question']}": _number(e)
            for e in result.estimates
            if f"{e.metric}:{e.slice['question']}" in columns
        }
        asked = [e for e in result.estimates if e.metric == "auc"]
        cells |= {f"n:{e.slice['question']}": text(str(e.units)) for e in asked}
        expected = sum(e.coverage.expected for e in asked)
        share = sum(e.coverage.ok for e in asked) / expected if expected else None
        cells["coverage"] = Cell(value=share, scale=100, digits=1)
        out.append(Row(name=_name(result), cells=cells))
    return [
        Table(
            title="vap-1s: shift and hold, shift prediction, backchannel prediction",
            head="system",
            columns=columns | sizes,
            rows=out,
            notes=_notes(results),
        )
    ]


def stats_tables(
    counts: Sequence[SessionCounts], rules: LabelRules, phrases: PhraseList, *, name: str
) -> list[Table]:
    """Return counts per session and side, and the sums."""
    sums = totals(counts)
    remarks = [
        f"protocol {rules.protocol}, min_gap {counted(rules.min_gap, 'frame')}, activity from "
        + ", ".join(sorted({c.source for c in counts})),
        *[f"{what}: {n}" for what, n in sorted(sums["counted"].items())],
        *[
            f"excluded, {why}: {counted(n, 'session')}"
            for why, n in sorted(sums["excluded"].items())
        ],
        *[
            f"stored {k} differs from ours in {counted(n, 'frame')}"
            for k, n in sorted(sums["stored"].items())
        ],
    ]
    checked = [c for c in counts if c.channels_db is not None]
    if checked:
        swapped = sum(c.channels == "swapped" for c in checked)
        remarks.append(f"channels against levels: {len(checked)} checked, {swapped} swapped")
    if sums["words"]:
        remarks.append(
            f"words: utterances end at {rules.utterance_gap:g} "
            f"s; {counted(len(phrases.phrases), 'phrase')}, "
            f"sha256 {phrases.digest()[:12]}"
        )
    sides = [
        Row(
            name=f"{c.session} {side}",
            cells={k: _count(n) for k, n in found.items()} | {"split": text(c.split or "")},
        )
        for c in counts
        for side, found in c.sides.items()
    ]
    out = []
    if sides:
        sides.append(Row(name="all", cells={k: _count(n) for k, n in sums["sides"].items()}))
        out.append(
            Table(
                title=f"{name}: segments and signals per side",
                head="session side",
                columns={**{k: k for k in SIDE_COUNTS}, "split": "split"},
                rows=sides,
            )
        )
    events = {**sums["events"], **sums["starts"], **sums["words"]}
    out.append(
        Table(
            title=f"{name}: events and words in all {counted(len(counts), 'session')}, "
            f"{sum(c.seconds for c in counts) / 3600:.2f} h",
            head="",
            columns={k: k for k in events},
            rows=[Row(name="all", cells={k: _count(n) for k, n in events.items()})],
            notes=remarks,
        )
    )
    return out


def _table(
    title: str,
    columns: Mapping[str, str],
    results: Sequence[Result],
    make: Callable[[Result], list[Row]],
    published: Sequence[Row],
    more: Sequence[str] = (),
) -> Table:
    found = [row for result in results for row in make(result)]
    return Table(
        title=f"dualturn-4s: {title}",
        head="system",
        columns=columns,
        rows=[*found, *published],
        notes=[*more, *_notes(results)],
    )


def _about_actions(results: Sequence[Result]) -> list[str]:
    """Return what a reader of the action figures must know of their gold and of the probe."""
    ported = all(r.task.parameters["port_compat"] for r in results)
    return [
        *_remarks(results, "actions", "weighted_f1"),
        f"the action probe reads {MARGIN} frames ({MARGIN / float(RATE):g} s) before and after an "
        "event, or the moment 2 frames before a backchannel: that far it looks ahead",
        "printed wF1 and BC figures count every overlap under both roles, backchannels also as CT, "
        "and random negatives, as port_compat=true does; "
        + ("so do these runs" if ported else "these runs do not: not to be set beside them"),
    ]


def _remarks(results: Sequence[Result], events: str, metric: str) -> list[str]:
    """Return what the results say about a metric, each remark once."""
    said = [
        e.note
        for r in results
        for e in r.estimates
        if e.note and e.metric == metric and e.slice.get("events") == events
    ]
    return list(dict.fromkeys(said))


def _action_rows(result: Result) -> list[Row]:
    cells: dict[str, Cell] = {}
    short = {"precision": "p", "recall": "r", "f_score": "f"}
    for e in result.estimates:
        if e.slice.get("events") != "actions":
            continue
        label = e.slice.get("class")
        if e.metric == "weighted_f1":
            cells |= {"wf1": cell(e), **_size(e)}
        elif e.metric in short:
            cells[f"{short[e.metric]}:{label}"] = cell(e)
        elif label == "BC" and e.metric in ("chance_f1", "always_f1"):
            cells[e.metric.removesuffix("_f1")] = cell(e)
    return [Row(name=_name(result), cells=cells)]


def _word_rows(result: Result) -> list[Row]:
    out = []
    for reading in ("probe", "heuristic"):
        cells: dict[str, Cell] = {}
        for e in result.estimates:
            if e.slice.get("reading") != reading:
                continue
            if e.metric == "auc_macro":
                cells |= {"avg": _number(e), **_size(e)}
            else:
                cells[f"{e.metric}:{e.slice['class']}"] = _number(e)
        out.append(Row(name=f"{_name(result)}, {reading}", cells=cells))
    return out


def _end_rows(result: Result) -> list[Row]:
    cells: dict[str, Cell] = {}
    short = {"auc": "auc", "balanced_accuracy": "bacc"}
    for e in result.estimates:
        if e.slice.get("events") == "turn ends" and e.metric in short:
            cells[f"{short[e.metric]}:{e.slice['at']}"] = _number(e)
            cells |= _size(e)
    return [Row(name=_name(result), cells=cells)]


def _curve(results: Sequence[Result], metric: str) -> Table:
    columns = {f"{d * 80:+d} ms": f"{d * 80:+d}" for d in OFFSETS}
    out = []
    for result in results:
        cells = {
            e.slice["at"]: Cell(value=e.value, digits=2, reason=e.reason)
            for e in result.estimates
            if e.metric == metric and e.slice.get("events") == "turn ends"
        }
        out.append(Row(name=_name(result), cells=cells))
    what = "AUC" if metric == "auc" else "F1 of EOT at the threshold that is best on validation"
    return Table(
        title=f"dualturn-4s: anticipation, {what}, by ms from the end of the segment",
        head="system",
        columns=columns,
        rows=out,
        notes=["look-ahead is folded into the time axis: a score counts when it was committed"],
    )


def _printed() -> Mapping[str, Mapping[str, float | None]]:
    out: dict[str, dict[str, float | None]] = {}
    for r in rows("dualturn"):
        name = f"{r['system']} ({r['dataset']})"
        out.setdefault(name, {})[r["metric"]] = number(r["value"])
    return out


def _published(names: Mapping[str, str], *, scale: float, digits: int) -> list[Row]:
    out = []
    for name, values in _printed().items():
        cells = {
            key: Cell(value=values[metric], scale=scale, digits=digits)
            for metric, key in names.items()
            if values.get(metric) is not None
        }
        if cells:
            out.append(Row(name=name, cells=cells, published=True))
    return out


def _published_actions() -> list[Row]:
    names = {"wf1": "wf1", "bc_f1": "f:BC", "bc_precision": "p:BC", "bc_recall": "r:BC"}
    return _published(names, scale=100, digits=1)


def _published_words() -> list[Row]:
    names = {f"word_auc_{c.lower()}": f"auc:{c}" for c in WORD_LABELS}
    return _published({**names, "word_auc_avg": "avg"}, scale=1, digits=3)


def _published_ends() -> list[Row]:
    return _published({"shift_hold_auc_-240ms": "auc:-240 ms"}, scale=1, digits=3)


def _size(estimate: Estimate) -> dict[str, Cell]:
    """Return how many events a row is about, and the share of them that was answered."""
    share = Cell(value=estimate.coverage.share, scale=100, digits=1)
    return {"n": text(str(estimate.units)), "coverage": share}


def _number(estimate: Estimate) -> Cell:
    return cell(estimate, scale=1.0, digits=3)


def _count(n: int) -> Cell:
    return Cell(value=float(n), digits=0)


def _name(result: Result) -> str:
    return f"{result.system.name} (reference)" if is_reference(result) else result.system.name


def _notes(results: Sequence[Result]) -> list[str]:
    gaps = sorted({r.task.parameters["min_gap"] for r in results if "min_gap" in r.task.parameters})
    return [
        *[
            f"gold: own gaps of at most {counted(gap, 'frame')} are closed (min_gap)"
            for gap in gaps
        ],
        "probes and thresholds are fitted on the validation sessions of the same run and read on "
        "test; intervals ignore that they are estimated",
        *notes(results),
    ]
