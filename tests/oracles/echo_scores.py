"""ECHO's scores counted one by one, from the definition: no arrays, no shared code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def action(sample: Any, decision: Any, tail: float) -> str:
    """Return yield, keep, premature or wrong for one sample."""
    if decision is None or decision.outcome.value != "ok":
        return "wrong"
    events = sample.target["events"]
    onset = events["insertion_start"]
    end = min(events["insertion_end"] + tail, events["system_end"])
    times = [e.time for e in decision.events if e.label == "yield"]
    heard = [e.time for e in decision.events if e.kind == "observed"]
    if any(t < onset for t in times):
        return "premature"
    if any(onset <= t < end - 1e-12 for t in times):
        return "yield"
    return "keep" if heard and heard[0] >= end - 1e-9 else "wrong"


def plain_scores(items: Sequence[tuple[Any, Any]], *, tail: float) -> dict[str, float]:
    """Count everything that a task prints about binary actions."""
    said = {s.id: action(s, d, tail) for s, d in items}
    role = {s.id: s.target["role"] for s, _ in items}
    right = {i: said[i] == ("yield" if role[i] == "interruption" else "keep") for i in said}
    out: dict[str, float] = {}
    for name in ("interruption", "backchannel", "off_talk"):
        mine = [right[i] for i in role if role[i] == name]
        out[name] = sum(mine) / len(mine)
    out["macro"] = (out["interruption"] + out["backchannel"] + out["off_talk"]) / 3
    for name in ("yield", "premature"):
        out[name] = sum(a == name for a in said.values()) / len(said)
    pairs: dict[str, list[str]] = {}
    contrast: dict[str, str] = {}
    for s, _ in items:
        for pair, kind, _side in s.target["pairs"]:
            pairs.setdefault(pair, []).append(s.id)
            contrast[pair] = kind
    won = {p: all(right[i] for i in members) for p, members in pairs.items()}
    for kinds, name in ((("I-B", "I-O"), "pasr"), (("B-O",), "pkc"), (("I-B",), "I-B"),
                        (("I-O",), "I-O")):  # fmt: skip
        chosen = [won[p] for p in pairs if contrast[p] in kinds]
        out[name] = sum(chosen) / len(chosen)
    for kind in ("I-B", "I-O"):
        members = [i for p, m in pairs.items() if contrast[p] == kind for i in m]
        yes = [right[i] for i in members if role[i] == "interruption"]
        no = [right[i] for i in members if role[i] != "interruption"]
        out[f"{kind} independent"] = sum(yes) / len(yes) * sum(no) / len(no)
    return out


def plain_prsr(items: Sequence[tuple[Any, Any]], contrast: str | None = None) -> float:
    """Count the pairs of which both members were given their own role."""
    right = {
        s.id: d is not None and d.outcome.value == "ok" and d.label == s.target["role"]
        for s, d in items
    }
    pairs: dict[str, list[bool]] = {}
    for s, _ in items:
        for pair, kind, _side in s.target["pairs"]:
            if contrast in (None, kind):
                pairs.setdefault(pair, []).append(right[s.id])
    return sum(all(members) for members in pairs.values()) / len(pairs)
