"""One item in full: context, audio, gold, and for every run what it said and why that counted."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from floorbench.core.prediction import Decision, Prediction, PredictionKey
from floorbench.core.sample import AudioRef, Observation, Sample
from floorbench.core.words import counted
from floorbench.errors import FloorbenchError
from floorbench.metrics.base import OUTCOMES, DueItem, Scored
from floorbench.report.summary import is_reference
from floorbench.web.index import NOT_DUE, RIGHT, UNDECIDED, Group, RunView
from floorbench.web.line import TimeLine

TARGET = "target"


def tracks(sample: Sample) -> dict[str, list[tuple[str, AudioRef]]]:
    """Return every part of a sample that can be heard: ``turn-N`` and ``target``."""
    shown = sample.observation
    parts = {
        f"turn-{i}": [(str(turn.role), turn.audio)]
        for i, turn in enumerate(shown.turns)
        if turn.audio is not None
    }
    channels = [(str(role), ref) for role, ref in shown.channels.items()]
    if channels:
        parts[TARGET] = channels
    return parts


def item_payload(group: Group, key: PredictionKey, line: TimeLine) -> dict[str, Any]:
    """Return all that the item page shows beside the time line, ready for JSON."""
    row = group.row(key)
    sample = group.samples[row]
    shown = sample.observation
    runs = [_run(run, row, group, line) for run in group.runs]
    gold = group.runs[0].stored.opened.task.gold(sample)
    return {
        "key": {"sample": key.sample_id, "condition": key.condition, "trial": key.trial},
        "task": group.task,
        "seconds": line.seconds,
        "cluster": sample.cluster,
        "tags": dict(sample.tags),
        "gold": _gold(sample, gold),
        "language": shown.language,
        "state": shown.state,
        "spoken": shown.spoken_prefix,
        "cutoff": shown.cutoff,
        "text": shown.text,
        "turns": [
            {"role": str(t.role), "text": t.text, "audio": sound_of(f"turn-{i}", [t.audio])}
            for i, t in enumerate(shown.turns)
        ],
        "target": sound_of(TARGET, list(shown.channels.values())),
        "conditions": _siblings(group, key),
        "runs": runs,
    }


def sound_of(part: str, refs: Sequence[AudioRef | None]) -> dict[str, Any] | None:
    """Return length and rate of a part, or why it cannot be heard; ``None`` without audio."""
    there = [ref for ref in refs if ref is not None]
    if not there:
        return None
    try:
        seconds = max(ref.frames / ref.rate for ref in there)
        return {"part": part, "seconds": seconds, "rate": there[0].rate, "problem": None}
    except FloorbenchError as error:
        return {
            "part": part,
            "seconds": None,
            "rate": None,
            "problem": f"{error.code} {error.what}",
        }


def _gold(sample: Sample, gold: Decision) -> dict[str, str]:
    """Return the gold answer as the task reads it, then the data's own short fields."""
    out = {} if gold.label is None else {"answer": gold.label}
    out |= {name: f"{value:.4g}" for name, value in gold.scores.items()}
    for name, value in sample.target.items():
        if isinstance(value, str | int | float) and str(value) not in out.values():
            out[name] = str(value)
    return out


def _siblings(group: Group, key: PredictionKey) -> list[dict[str, Any]]:
    """Return the other conditions and trials of the sample, with every run's verdict."""
    found = [k for k in group.keys if k.sample_id == key.sample_id]
    layer = next(iter(group.layer_names), "label")
    return [
        {
            "condition": k.condition,
            "trial": k.trial,
            "verdicts": [_verdict(run, group.rows[k], layer) for run in group.runs],
        }
        for k in found
    ]


def _verdict(run: RunView, row: int, layer: str) -> str:
    if run.item[row] == NOT_DUE:
        return "not asked"
    right = run.layer(layer).right[row]
    return "undecided" if right == UNDECIDED else "right" if right == RIGHT else "wrong"


def _run(run: RunView, row: int, group: Group, line: TimeLine) -> dict[str, Any]:
    stored = run.stored
    spec = stored.record.system_spec
    head: dict[str, Any] = {
        "run": run.position,
        "name": run.name,
        "reference": is_reference(stored.result),
        "due": bool(run.item[row] != NOT_DUE),
    }
    if not head["due"]:
        return head
    item = stored.items[run.item[row]]
    task = stored.opened.task
    seen = task.observe(item.sample, item.condition, system=spec)
    units = _own_units(item, task.scored(run.cluster_of(item), system=spec))
    layers = [
        {
            "name": name,
            "verdict": _verdict(run, row, name),
            "gold": _label(run, name, row, "gold"),
            "predicted": _label(run, name, row, "predicted"),
        }
        for name in group.layer_names
        if name in run.layer_names
    ]
    return head | {
        "outcome": OUTCOMES[run.outcome[row]],
        "layers": layers,
        "seen": _seen(seen),
        "decision": _decision(item.prediction),
        "rule": [*rule(item, layers, units, run), *_tallies(line, run)],
        "units": unit_lines(units),
    }


def _own_units(item: DueItem, units: Mapping[str, Scored]) -> dict[str, Scored]:
    """Return the item's own units; of kinds whose units are no items, those of its cluster."""
    out = {}
    for kind, scored in units.items():
        names = scored.units or ()
        own = np.array([name == item.sample.id for name in names], dtype=np.bool_)
        if own.any() and "trial" in scored.columns:
            own &= scored.columns["trial"] == item.trial
        out[kind] = scored.where(own) if own.any() else scored
    return out


def _label(run: RunView, layer: str, row: int, column: str) -> str | None:
    found = run.layer(layer)
    code = int(getattr(found, column)[row])
    return found.labels[code] if 0 <= code < len(found.labels) else None


def _seen(seen: Observation) -> dict[str, Any]:
    """Say what the system was shown of the item."""
    return {
        "turns": len(seen.turns),
        "audio_turns": sum(t.audio is not None for t in seen.turns),
        "text_turns": sum(t.text is not None for t in seen.turns),
        "channels": [str(r) for r in seen.channels],
        "text": seen.text is not None,
        "words": len(seen.words),
        "cutoff": seen.cutoff,
        "question": None if seen.question is None else seen.question.text,
    }


def _decision(prediction: Prediction | None) -> dict[str, Any] | None:
    if prediction is None:
        return None
    decision = prediction.decision
    return {
        "label": decision.label,
        "scores": dict(decision.scores),
        "raw": decision.raw,
        "reason": decision.reason,
        "commit": decision.commit,
        "events": len(decision.events),
        "wall": prediction.compute.wall,
        "tokens_in": prediction.compute.tokens_in,
        "tokens_out": prediction.compute.tokens_out,
        "batch": prediction.compute.batch,
    }


def _tallies(line: TimeLine, run: RunView) -> list[str]:
    """Say how many events of each kind a run has right, by the first reading of its scores."""
    out = []
    for kind in line.kinds.values():
        for found in kind.readings[run.position][:1]:
            if found.reason is not None:
                out.append(f"{kind.title.capitalize()}: no answers ({found.reason}).")
            else:
                right, n = int((found.right == RIGHT).sum()), len(found.right)
                out.append(f"{kind.title.capitalize()}: {right} of {n} right ({found.name}).")
    return out


def rule(
    item: DueItem,
    layers: Sequence[Mapping[str, Any]],
    units: Mapping[str, Scored],
    run: RunView,
) -> list[str]:
    """Say in order how the native answer became right or wrong.

    Every statement is read off the stored prediction, the system's own declaration, the task's
    parameters or the units that the task made of this item.
    """
    spec = run.stored.record.system_spec
    parameters = run.stored.opened.task.spec.parameters
    prediction = item.prediction
    if prediction is None:
        return ["There is no prediction for this item (yet): it counts as absent."]
    decision = prediction.decision
    said = [f"The system answered {_native(prediction, spec.score)}."]
    threshold = parameters.get("threshold")
    whose = "task's"
    if threshold is None:
        threshold, whose = spec.threshold, "system's own"
    if threshold is not None and spec.score in decision.scores:
        value = decision.scores[str(spec.score)]
        side = "above" if value > threshold else "not above"
        said.append(f"Its score {value:.4g} is {side} the {whose} threshold {threshold:g}.")
    if decision.outcome.value != "ok":
        policy = parameters.get("missing")
        reason = f" ({decision.reason})" if decision.reason else ""
        counted = f"; with missing={policy}" if policy else ""
        said.append(f"Outcome {decision.outcome.value}{reason}{counted}.")
    for layer in layers:
        said.append(_step(layer, spec.label_map))
    relaxed = [bool(s.columns["relaxed"].any()) for s in units.values() if "relaxed" in s.columns]
    if any(relaxed):
        said.append("Only the lenient parser could read this answer.")
    if not any(len(s) for s in units.values()):
        said.append("The task makes no scoring unit of this item.")
    return said


def _native(prediction: Prediction, score: str | None) -> str:
    decision = prediction.decision
    if decision.label is not None:
        return f"“{decision.label}”"
    if decision.raw is not None:
        return f"with the text “{decision.raw[:200]}”"
    if score is not None and score in decision.scores:
        return f"{score} = {decision.scores[score]:.4g}"
    if decision.events:
        shown = [f"{e.label or e.kind} at {e.time:.2f} s" for e in decision.events[:6]]
        more = len(decision.events) - len(shown)
        return ", ".join(shown) + (f" and {counted(more, 'more event')}" if more else "")
    if decision.trace is not None:
        trace = decision.trace
        signals = ", ".join(dict.fromkeys(name.partition(":")[0] for name in trace.columns))
        ahead = f", {trace.look_ahead:g} s after its end" if trace.look_ahead else ""
        return f"in each of {counted(trace.frames, 'frame')} with {signals}{ahead}"
    return "nothing"


def _step(layer: Mapping[str, Any], label_map: str | None) -> str:
    name, gold, predicted = layer["name"], layer["gold"], layer["predicted"]
    through = f" through the label map {label_map}" if label_map is not None else ""
    if predicted is None:
        read = f"it gives no usable {name}"
    else:
        read = f"read as {name} “{predicted}”{through}"
    verdict = {"right": "right", "wrong": "wrong", "undecided": "not judged"}[layer["verdict"]]
    return f"{read[0].upper()}{read[1:]}; gold is “{gold}”: {verdict}."


def unit_lines(units: Mapping[str, Scored], *, limit: int = 200) -> list[dict[str, Any]]:
    """Return the task's scoring units of the item as tables of names and values."""
    out = []
    for kind, scored in units.items():
        if not len(scored):
            continue
        columns = list(scored.columns)
        lines = [
            [_value(scored, name, i) for name in columns] for i in range(min(limit, len(scored)))
        ]
        out.append({"kind": kind, "columns": columns, "rows": lines, "count": len(scored)})
    return out


def _value(scored: Scored, name: str, i: int) -> str:
    column = scored.columns[name]
    if column.ndim > 1:
        return " ".join(f"{v:.4g}" for v in column[i].ravel()[:24].tolist())
    value = column[i].item()
    if name in scored.vocab:
        return scored.vocab[name][value] if 0 <= value < len(scored.vocab[name]) else "-"
    if name == "outcome":
        return OUTCOMES[value]
    if isinstance(value, float):
        return "-" if math.isnan(value) else f"{value:.6g}"
    return str(value)
