"""Small two-channel calls in the ms98 layout: turns, pauses inside turns, backchannels."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

WORDS = ("we", "went", "there", "and", "it", "was", "so", "nice", "then", "you", "know", "home")
SPLITS = {
    "train": [f"sw90{n:02d}" for n in range(1, 5)],
    "validation": [f"sw90{n:02d}" for n in range(5, 9)],
    "test": [f"sw90{n:02d}" for n in range(9, 21)],
}
CALLS = tuple(c for ids in SPLITS.values() for c in ids)
Row = tuple[float, float, str]


def call(seed: int, *, seconds: float = 60.0) -> dict[str, list[Row]]:
    """Return tokens of both sides; ends of one side's turns lie more than 2 s apart."""
    rng = np.random.default_rng(seed)
    sides: dict[str, list[Row]] = {"A": [], "B": []}
    time, turn = 0.8, seed % 2
    while time < seconds - 8:
        speaker, listener = ("A", "B") if turn % 2 == 0 else ("B", "A")
        parts = int(rng.integers(1, 3))
        for part in range(parts):
            last = part == parts - 1
            middle = time + 1.2
            for k in range(6):
                word = "home" if k == 5 and last else WORDS[int(rng.integers(len(WORDS) - 1))]
                sides[speaker].append((time, time + 0.4, word))
                time = round(time + 0.4, 6)
            if rng.random() < 0.5:
                sides[listener].append((middle, middle + 0.4, "yeah"))
            time = round(time + (0.4 if last else 1.2), 6)
        turn += 1
    return {side: sorted(rows) for side, rows in sides.items()}


def write_side(path: Path, name: str, rows: list[Row], end: float) -> None:
    """Write one call side; gaps become [silence]."""
    lines, before = [], 0.0
    for start, stop, token in [*rows, (end, end, "")]:
        if start > before:
            lines.append(f"{name}-ms98-a-0001 {before:.6f} {start:.6f} [silence]")
        if token:
            lines.append(f"{name}-ms98-a-0001 {start:.6f} {stop:.6f} {token}")
        before = stop
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def build(folder: Path, calls: tuple[str, ...] = CALLS, *, seconds: float = 60.0) -> Path:
    """Write calls and ``splits.json`` to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(calls):
        for side, rows in call(number, seconds=seconds).items():
            path = folder / f"{name}{side}-ms98-a-word.text"
            write_side(path, f"{name}{side}", rows, seconds)
    here = {k: [c for c in ids if c in calls] for k, ids in SPLITS.items()}
    (folder / "splits.json").write_text(json.dumps(here), encoding="utf-8")
    return folder


def stereo(
    path: Path, sides: dict[str, list[Row]], *, seconds: float, swapped: bool = False
) -> None:
    """Write a stereo file with a tone where each side speaks, side A first unless swapped."""
    import soundfile

    rate = 8000
    rng = np.random.default_rng(0)
    samples = 0.001 * rng.standard_normal((int(seconds * rate), 2))
    for channel, side in enumerate("BA" if swapped else "AB"):
        for start, stop, _ in sides[side]:
            span = slice(int(start * rate), int(stop * rate))
            time = np.arange(span.stop - span.start) / rate
            samples[span, channel] += 0.3 * np.sin(2 * np.pi * 220 * time)
    soundfile.write(str(path), samples.astype(np.float32), rate, subtype="PCM_16")
