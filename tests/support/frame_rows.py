"""Stored frame rows as Parquet: labels of random activity, one session a row."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import numpy as np

from floorbench.core.vocab import Role
from floorbench.events.dualturn import SignalRules, dualturn_signals

FRAMES = 600


def tracks(seed: int) -> dict[str, list[int]]:
    rng = np.random.default_rng(seed)
    vad = {}
    for role in (Role.USER, Role.SYSTEM):
        lengths = rng.integers(5, 40, size=80)
        vad[role] = np.repeat(np.arange(80) % 2 == 1, lengths)[:FRAMES]
    found = dualturn_signals(vad, SignalRules(min_gap=0))
    out = {}
    for channel, role in enumerate((Role.USER, Role.SYSTEM)):
        own = found.channels[role]
        for name in ("vad", "eot", "hold", "bot", "bc"):
            out[f"{name}_ch{channel}"] = getattr(own, name).astype(int).tolist()
        out[f"fvad_ch{channel}"] = np.nan_to_num(own.fvad).ravel().tolist()
    return out


def write(path: Path, rows: list[dict]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = path.with_suffix(".tmp.jsonl")
    lines.write_text("".join(json.dumps(r) + "\n" for r in rows))
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT * FROM read_json('{lines}')) TO '{path}' (FORMAT parquet)"
        )
    lines.unlink()
    return path


def row(name: str, seed: int = 0, **change) -> dict:
    head = {"session_id": name, "dataset": "x", "duration_s": FRAMES / 12.5, "num_frames": FRAMES}
    return {**head, **tracks(seed), **change}
