"""The tables behind the figures, computed from stored runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from floorbench.errors import DataError
from floorbench.metrics.base import Measure, Scored
from floorbench.metrics.calibration import reliability
from floorbench.metrics.thresholds import sweep
from floorbench.report.stored import StoredRun, label_pairs
from floorbench.report.summary import slice_text
from floorbench.run.compare import RunComparison

Rows = list[dict[str, Any]]
HISTORY_METRICS = {
    "average_all4": "action accuracy, all four",
    "smr": "SMR",
    "macro_accuracy": "macro accuracy",
    "pasr": "PASR",
}
BINS = 10
SWEEP_POINTS = 400


class Part(NamedTuple):
    """The rows of one figure and what they are about (language, condition ...)."""

    about: str
    rows: Rows


def confusions(run: StoredRun) -> Iterator[Part]:
    """Yield a confusion table per layer, language and condition of a run.

    Layers are the pairs of gold and predicted columns of the task's sample units, from the finest
    that the system answers.
    """
    units = run.scored.get("sample", next(iter(run.scored.values()), None))
    if units is None or not len(units):
        return
    pairs = label_pairs(units)
    if not pairs:
        return
    _, gold, predicted = max(pairs, key=lambda pair: len(units.vocab[pair.gold]))
    labels = units.vocab[gold]
    for where, mask in _parts(units, ("language", "condition")):
        g, p = units.column(gold)[mask], units.column(predicted)[mask]
        counts = np.zeros((len(labels), len(labels) + 1), dtype=np.int64)
        np.add.at(counts, (g, np.where(p < 0, len(labels), p)), 1)
        used = [i for i in range(len(labels)) if counts[i].any()]
        heads = [i for i in range(len(labels)) if counts[i].any() or counts[:, i].any()]
        if counts[:, -1].any():
            heads.append(len(labels))
        names = (*(_short(label) for label in labels), "no answer")
        rows = [
            {"gold": names[i], "predicted": names[j], "count": int(counts[i, j])}
            for i in used
            for j in heads
        ]
        if rows:
            yield Part(where, rows)


def _parts(units: Scored, names: Sequence[str]) -> Iterator[tuple[str, Any]]:
    parts: list[tuple[str, Any]] = [("", np.ones(len(units), dtype=np.bool_))]
    for name in names:
        if name in units.vocab:
            parts = [
                (f"{text} {value}".strip(), mask & (units.column(name) == code))
                for text, mask in parts
                for code, value in enumerate(units.vocab[name])
            ]
    return ((text, mask) for text, mask in parts if mask.any())


def _short(label: str) -> str:
    parts = label.split("_")
    return " ".join(parts[1:]) if len(parts) > 2 else label


def histories(runs: Sequence[StoredRun]) -> Iterator[Part]:
    """Yield, per language, metrics against history, for runs with several lengths of it."""
    rows: dict[str, Rows] = {}
    for run in runs:
        for e in run.result.estimates:
            condition = e.slice.get("condition", "")
            scale = HISTORY_METRICS.get(e.metric)
            plain = not {"scenario", "state", "baseline", "stage"} & set(e.slice)
            if scale is None or not plain or e.value is None or not condition[1:].isdecimal():
                continue
            action = f", {e.slice['action']}" if "action" in e.slice else ""
            low, high = e.interval.low, e.interval.high
            rows.setdefault(e.slice.get("language", ""), []).append(
                {
                    "system": run.result.system.name,
                    "metric": scale + action,
                    "history": int(condition[1:]),
                    "value": 100 * e.value,
                    "low": None if low is None else 100 * low,
                    "high": None if high is None else 100 * high,
                }
            )
    for language, found in rows.items():
        kept = [
            r for r in found
            if len({x["history"] for x in found if x["system"] == r["system"]}) > 1
        ]  # fmt: skip
        if kept:
            yield Part(language, kept)


def pair_successes(runs: Sequence[StoredRun]) -> Iterator[Part]:
    """Yield, per language, PASR against macro accuracy: systems (tail 0 s) and constant policies.

    Policies come from the first run; they are the same for all runs on the same data.
    """
    found: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    sizes: dict[tuple[str, tuple[str, str]], int] = {}
    for position, run in enumerate(runs):
        for e in run.result.estimates:
            plain = not {"contrast", "answers"} & set(e.slice) and e.slice.get("tail") != "1 s"
            policy = e.slice.get("baseline")
            if e.metric not in ("pasr", "macro_accuracy") or e.value is None or not plain:
                continue
            if policy is not None and position:
                continue
            who = ("system", run.result.system.name) if policy is None else ("policy", policy)
            at = found.setdefault(e.slice.get("language", ""), {}).setdefault(who, {})
            at["pasr" if e.metric == "pasr" else "macro"] = 100 * e.value
            if e.metric == "macro_accuracy" and policy is None:
                sizes[e.slice.get("language", ""), who] = e.units
    for language, points in found.items():
        rows = [
            {"name": name, "kind": kind, **at, "n": sizes.get((language, (kind, name)))}
            for (kind, name), at in points.items()
            if len(at) == 2
        ]
        if any(r["kind"] == "system" for r in rows):
            yield Part(language, rows)


def anticipations(runs: Sequence[StoredRun]) -> Iterator[Part]:
    """Yield AUC of turn ends against the time from them (slices ``at=-240 ms`` and the like).

    ``at`` is in seconds, negative before the end; a score counts from when it was committed.
    """
    rows = [
        {
            "system": run.result.system.name,
            "at": float(e.slice["at"].removesuffix(" ms")) / 1000,
            "value": e.value,
            "low": e.interval.low,
            "high": e.interval.high,
            "n": e.units,
        }
        for run in runs
        for e in run.result.estimates
        if e.metric == "auc" and e.value is not None and e.slice.get("at", "").endswith(" ms")
    ]
    if rows:
        yield Part("", rows)


def _ranked(run: StoredRun) -> Iterator[Measure]:
    """Yield the cells that rank items by score, one per slice: those over the most items.

    A cell that is not printed because it is over the items of a printed one is left out.
    """
    ranked = [
        m
        for m in run.measures
        if m.metric.spec.name == "auc" and m.undeclared is None and "score" in m.scored.columns
    ]
    printed = [tuple(m.scored.units or ()) for m in ranked if m.headline]
    for measure in ranked:
        if measure.headline or tuple(measure.scored.units or ()) not in printed:
            yield measure


def calibrations(runs: Sequence[StoredRun]) -> Iterator[Part]:
    """Yield, per ranked slice, the reliability curves of the runs whose scores are in [0, 1]."""
    found: dict[str, Rows] = {}
    for run in runs:
        for measure in _ranked(run):
            positive = measure.metric.spec.parameters["labels"][0]
            units = measure.scored
            answered = ~np.isnan(units.column("score"))
            units = units.where(answered)
            scores = units.column("score")
            if not len(units) or scores.min() < 0 or scores.max() > 1:
                continue
            for b in reliability(units, positive=positive, bins=BINS, binning="equal-width"):
                if b.score is not None:
                    found.setdefault(slice_text(measure.slice), []).append(
                        {
                            "system": run.result.system.name,
                            "score": b.score,
                            "positive": b.positive,
                            "units": b.units,
                        }
                    )
    yield from (Part(about, rows) for about, rows in found.items())


def trade_offs(runs: Sequence[StoredRun]) -> Iterator[Part]:
    """Yield, per ranked slice, false positives against misses; ``chosen`` is the declared one."""
    found: dict[str, Rows] = {}
    for run in runs:
        for measure in _ranked(run):
            positive = measure.metric.spec.parameters["labels"][0]
            units = measure.scored.where(~np.isnan(measure.scored.column("score")))
            try:
                s = sweep(units, positive=positive)
            except DataError:
                continue
            fpr, miss = 100 * s.fpr, 100 * (1 - s.recall)
            if not len(units) or np.isnan(fpr).any() or np.isnan(miss).any():
                continue
            keep = np.unique(np.linspace(0, len(fpr) - 1, SWEEP_POINTS).astype(int))
            own = run.record.system_spec.threshold
            chosen = -1
            if own is not None:
                above = np.flatnonzero(s.thresholds > own)
                chosen = int(above[-1]) if len(above) else 0
                keep = np.unique([*keep.tolist(), chosen])
            found.setdefault(slice_text(measure.slice), []).extend(
                {
                    "system": run.result.system.name,
                    "threshold": float(s.thresholds[i]),
                    "fpr": float(fpr[i]),
                    "miss": float(miss[i]),
                    "chosen": bool(i == chosen),
                    "n": len(units),
                }
                for i in keep.tolist()
            )
    yield from (Part(about, rows) for about, rows in found.items())


def differences(comparison: RunComparison) -> Part:
    """Return the paired differences of shares in points; ``shown``: p after Holm below .05."""
    a = comparison.first.system.get("name")
    b = comparison.second.system.get("name")
    rows = []
    for c in comparison.cells:
        if c.found is None or c.found.difference is None or "baseline" in c.slice or not c.share:
            continue
        low, high = c.found.interval.low, c.found.interval.high
        rows.append(
            {
                "name": " ".join([c.metric.replace("_", " "), *c.slice.values()]),
                "difference": 100 * c.found.difference,
                "low": None if low is None else 100 * low,
                "high": None if high is None else 100 * high,
                "shown": c.adjusted is not None and c.adjusted < 0.05,
            }
        )
    return Part(f"A = {a}, B = {b}", rows)
