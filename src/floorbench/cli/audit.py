"""``floorbench audit``."""

from __future__ import annotations

import dataclasses
from typing import Literal

from floorbench.cli import console
from floorbench.cli.data_check import open_contrasts
from floorbench.run.shortcuts import audit as run_audit


def audit(
    data: str,
    /,
    *,
    reader: str | None = None,
    version: Literal["observable", "listening"] = "observable",
    seed: int = 0,
    draws: int = 500,
    json: bool = False,
) -> int:
    """Try to tell the action of a matched-contrast set without its context.

    From the insertion text alone, from loudness and duration alone, from the statistics of the
    two channels alone; 50 % is chance. Exits 1 when a shortcut exists.

    Parameters
    ----------
    data
        Folder, mapping file, or ``starter:NAME``.
    reader
        Reader of the data.
    version
        ``observable``: what systems get. ``listening``: what a listener hears; a positive control.
    seed
        Seed of the bootstrap.
    draws
        Draws of the bootstrap over groups.
    json
        Print JSON.
    """
    source = open_contrasts(data, reader)
    found = run_audit(source, version=version, seed=seed, draws=draws)
    if json:
        console.data_json(
            [
                dataclasses.asdict(f) | {"shortcut": f.shortcut, "sentence": f.sentence}
                for f in found
            ]
        )
    else:
        rows = [
            (
                f.language,
                f.probe,
                str(f.groups),
                str(f.pairs),
                _percent(f.pair, f.pair_interval),
                _percent(f.sample, f.sample_interval),
            )
            for f in found
        ]
        head = ("language", "told from", "groups", "pairs", "pair order %", "sample AUC %")
        console.data(console.columns(rows, head))
        for f in found:
            console.data(f.sentence)
    return 1 if any(f.shortcut for f in found) else 0


def _percent(value: float, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{100 * value:.1f} ({100 * low:.1f}–{100 * high:.1f})"
