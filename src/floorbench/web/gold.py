"""The gold events of data that name their own times."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from floorbench.core.prediction import Decision


def gold_events(target: Mapping[str, Any], gold: Decision) -> list[dict[str, Any]]:
    """Return whatever of the gold answer stands on the time line.

    Events of the task's gold decision; in the data's own target, records with a time or a start,
    and named times, of which ``x_start`` and ``x_end`` make one span.
    """
    out = [{"kind": e.label or e.kind, "start": e.time, "end": e.end} for e in gold.events]
    for name, value in target.items():
        for record in value if isinstance(value, list | tuple) else ():
            if isinstance(record, Mapping) and _is_time(record.get("time", record.get("start"))):
                label = record.get("label", record.get("kind", name))
                start = float(record.get("time", record.get("start")))
                out.append({"kind": str(label), "start": start, "end": record.get("end")})
        if isinstance(value, Mapping) and value and all(_is_time(v) for v in value.values()):
            out += _named_times(value)
    return out


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _named_times(times: Mapping[str, float]) -> list[dict[str, Any]]:
    out = []
    for name, time in times.items():
        stem, _, edge = name.rpartition("_")
        if edge == "end" and f"{stem}_start" in times:
            continue
        end = times.get(f"{stem}_end") if edge == "start" else None
        kind = stem if edge == "start" and end is not None else name
        out.append({"kind": kind.replace("_", " "), "start": float(time), "end": end})
    return out
