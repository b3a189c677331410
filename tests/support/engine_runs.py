"""Runs of the toy task, and what is looked at afterwards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.scoring import open_predictions, score
from floorbench.run.store import RunFolder
from support.engine_toys import Source, Task, choice, quiet


def go(
    tmp_path: Path, system: SystemChoice | None = None, n: int = 20, **options: Any
) -> RunFolder:
    given: dict[str, Any] = {"task": Task(), "source": Source(n), "out": tmp_path, "notify": quiet}
    return run(system=system or choice(), **{**given, **options})


def estimates(folder: RunFolder, n: int) -> bytes:
    score(open_predictions(folder.path, task=Task(), source=Source(n)), draws=200)
    return (folder.path / "estimates.json").read_bytes()


def keys(folder: RunFolder) -> list[tuple[str, str, int]]:
    return [tuple(p.key) for p in folder.predictions()]


def everything(n: int, trials: int = 1) -> set[tuple[str, str, int]]:
    return {(f"s{i}", c, t) for i in range(n) for c in ("h0", "h1") for t in range(trials)}
