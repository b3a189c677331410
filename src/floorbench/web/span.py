"""What a page gets of a time line: the whole in little, one span in full, the next event.

Every answer has a largest size, whatever the length of the recording.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from floorbench.errors import UsageError
from floorbench.events.spans import Floats
from floorbench.events.tokens import is_speech
from floorbench.web.line import (
    LONGEST_TEXT,
    RIGHT,
    WRONG,
    Event,
    Reading,
    TimeLine,
    signals_of,
)

BUCKETS = 600
MOST_EVENTS = 400
MOST_WORDS = 600
MOST_SIGNALS = 6
POINTS = 1000
"""Largest numbers of what a page gets of one span."""


def overview(line: TimeLine, *, kind: str | None, reading: str | None, run: int) -> dict[str, Any]:
    """Return the whole item in little: who speaks, where errors are, what can be chosen."""
    chosen = line.kind(kind)
    found = line.pick(chosen, reading, run)
    times = np.array([e.time for e in chosen.events]) if chosen else np.zeros(0)
    wrong = times[found.right == WRONG] if found and found.reason is None else np.zeros(0)
    scores = line.scores[run]
    return {
        "seconds": line.seconds,
        "roles": list(line.activity),
        "words": len(line.words),
        "activity": {r: _packed(_share(line, spans)) for r, spans in line.activity.items()},
        "events": _packed(_density(line, times)),
        "errors": _packed(_density(line, wrong)),
        "kinds": [
            {
                "name": name,
                "title": k.title,
                "count": len(k.events),
                "labels": _counted(k.events),
                "readings": [r.name for r in k.readings[run]],
            }
            for name, k in line.kinds.items()
        ],
        "kind": None if chosen is None else line.name_of(chosen),
        "reading": None if found is None else found.name,
        "reason": None if found is None else found.reason,
        "right": None if found is None else int((found.right == RIGHT).sum()),
        "wrong": None if found is None else int((found.right == WRONG).sum()),
        "signals": [] if scores is None else signals_of(scores.columns),
        "look_ahead": None if scores is None else scores.look_ahead,
        "frame": None if scores is None else scores.step,
    }


def span(
    line: TimeLine,
    start: float,
    end: float,
    *,
    kind: str | None,
    reading: str | None,
    run: int,
    signals: Sequence[str],
) -> dict[str, Any]:
    """Return what lies in ``[start, end]``, thinned where it would be too much to draw.

    Raises
    ------
    UsageError
        ``FB805`` for a span that is none, or names that the item does not have.
    """
    if not start < end:
        raise UsageError("FB805", f"{start:g} to {end:g} s is no span")
    line.pick(None, None, run)
    if len(signals) > MOST_SIGNALS:
        raise UsageError("FB805", f"at most {MOST_SIGNALS} signals are drawn at once")
    words = [w for w in line.words if w[1] > start and w[0] < end]
    chosen = line.kind(kind)
    inside = [
        i for i, e in enumerate(chosen.events if chosen else ())
        if (e.end if e.end is not None else e.time) >= start and e.time <= end
    ]  # fmt: skip
    finds = [line.pick(chosen, reading, i) for i in range(len(line.runs))]
    said = [
        {"run": i, **s}
        for i, events in enumerate(line.said)
        for s in events
        if (s["end"] if s["end"] is not None else s["start"]) >= start and s["start"] <= end
    ]
    return {
        "start": start,
        "end": end,
        "words": [
            {"start": s, "end": e, "role": r, "text": t, "speech": is_speech(t)}
            for s, e, r, t in (words if len(words) <= MOST_WORDS else ())
        ],
        "words_left": len(words) if len(words) > MOST_WORDS else 0,
        "activity": {role: _spans_in(spans, start, end) for role, spans in line.activity.items()},
        "events": [
            _event_json(chosen.events[i], i, finds) for i in _thin(inside, MOST_EVENTS) if chosen
        ],
        "events_left": max(0, len(inside) - MOST_EVENTS),
        "said": _thin(said, MOST_EVENTS),
        "said_left": max(0, len(said) - MOST_EVENTS),
        "cutoff": line.cutoff,
        "traces": _curves(line, run, signals, start, end),
    }


def step(
    line: TimeLine,
    at: float,
    *,
    back: bool,
    errors: bool,
    kind: str | None,
    reading: str | None,
    run: int,
) -> dict[str, Any] | None:
    """Return the nearest event (or error) after or before a time, ``None`` at the end."""
    chosen = line.kind(kind)
    if chosen is None:
        return None
    found = line.pick(chosen, reading, run)
    times = np.array([e.time for e in chosen.events])
    fits = times < at - 1e-6 if back else times > at + 1e-6
    if errors:
        if found is None or found.reason is not None:
            return None
        fits &= found.right == WRONG
    rows = fits.nonzero()[0]
    if not len(rows):
        return None
    i = int(rows[-1] if back else rows[0])
    finds = [line.pick(chosen, reading, n) for n in range(len(line.runs))]
    return _event_json(chosen.events[i], i, finds)


def _share(line: TimeLine, spans: Floats) -> Floats:
    """Return how much of each bucket is covered by spans that do not overlap."""
    edges = np.linspace(0.0, line.seconds, BUCKETS + 1)
    if not len(spans) or not line.seconds:
        return np.zeros(BUCKETS)
    corners = spans.ravel()
    done = np.concatenate([[0.0], np.cumsum(spans[:, 1] - spans[:, 0])])
    covered = np.interp(edges, corners, np.stack([done[:-1], done[1:]], axis=1).ravel())
    out: Floats = np.diff(covered) / (line.seconds / BUCKETS)
    return out


def _density(line: TimeLine, times: Floats) -> Floats:
    if not len(times) or not line.seconds:
        return np.zeros(BUCKETS)
    counts = np.histogram(times, bins=BUCKETS, range=(0.0, line.seconds))[0]
    out: Floats = counts / max(1, counts.max())
    return out


def _curves(
    line: TimeLine, run: int, signals: Sequence[str], start: float, end: float
) -> list[dict[str, Any]]:
    scores = line.scores[run]
    if scores is None:
        return []
    known = signals_of(scores.columns)
    for name in signals:
        if name not in known:
            raise UsageError("FB805", f"the scores have no signal '{name[:80]}'")
    low = max(0, int((start - scores.first) / scores.step) - 1)
    high = min(len(scores.values), int((end - scores.first) / scores.step) + 2)
    if low >= high:
        return []
    out = []
    for k, column in enumerate(scores.columns):
        signal, _, role = column.partition(":")
        if signal not in signals:
            continue
        values = scores.values[low:high, k]
        every = -(-len(values) // POINTS)
        at = np.arange(0, len(values), every)
        out.append(
            {
                "signal": signal,
                "role": role,
                "first": scores.first + low * scores.step,
                "step": scores.step * every,
                "low": None if every == 1 else _rounded(np.minimum.reduceat(values, at)),
                "high": _rounded(np.maximum.reduceat(values, at)),
                "least": round(float(scores.values[:, k].min()), 4),
                "most": round(float(scores.values[:, k].max()), 4),
            }
        )
    return out


def _rounded(values: Floats) -> list[float]:
    out: list[float] = np.round(values, 4).tolist()
    return out


def _counted(events: Sequence[Event]) -> dict[str, int]:
    out: dict[str, int] = {}
    for event in events:
        name = event.label[:LONGEST_TEXT]
        if name in out or len(out) < 40:
            out[name] = out.get(name, 0) + 1
    return out


def _event_json(event: Event, index: int, finds: Sequence[Reading | None]) -> dict[str, Any]:
    answers = []
    for run, found in enumerate(finds):
        if found is not None and found.reason is None:
            verdict = "right" if found.right[index] == RIGHT else "wrong"
            answers.append({"run": run, "label": found.predicted[index], "verdict": verdict})
    return {
        "time": event.time,
        "end": event.end,
        "role": event.role,
        "label": event.label[:LONGEST_TEXT],
        "rule": event.rule,
        "answers": answers,
    }


def _thin(found: Sequence[Any], most: int) -> list[Any]:
    """Return at most so many, evenly chosen."""
    if len(found) <= most:
        return list(found)
    return [found[i * len(found) // most] for i in range(most)]


def _spans_in(spans: Floats, start: float, end: float) -> list[list[float]]:
    """Return spans inside a window; what lies closer than a pixel is drawn as one."""
    near = (end - start) / 2000
    out: list[list[float]] = []
    for a, b in spans[(spans[:, 1] > start) & (spans[:, 0] < end)].tolist():
        if out and a - out[-1][1] < near:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([max(a, start), b])
    return [[round(a, 4), round(min(b, end), 4)] for a, b in out]


def _packed(share: Floats) -> str:
    values = np.ceil(np.clip(share, 0.0, 1.0) * 255).astype(np.uint8)
    return base64.b64encode(values.tobytes()).decode()
