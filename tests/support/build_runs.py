"""Builds of the toy recipe, and what is looked at afterwards."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from floorbench.build.pipeline.engine import Built, build
from floorbench.build.pipeline.export import UNLISTED

RECIPE = "support.build_toy:ToyRecipe"
ROOT = Path(__file__).parents[2]


def made(tmp: Path, name: str = "a", *, cache: str = "cache", **more: Any) -> Built:
    workers, limit = more.pop("workers", 0), more.pop("limit", None)
    redo_from, preset = more.pop("redo_from", None), more.pop("preset", None)
    item_timeout = more.pop("item_timeout", None)
    return build(
        RECIPE,
        out=tmp / name,
        cache=tmp / cache,
        workers=workers,
        limit=limit,
        redo_from=redo_from,
        preset=preset,
        item_timeout=item_timeout,
        settings={"log": str(tmp / "log"), **more},
    )


def content(out: Path) -> dict[str, bytes]:
    """All files but those that tell of one sitting."""
    files = [p for p in sorted(out.rglob("*")) if p.is_file() and p.name not in UNLISTED]
    return {p.relative_to(out).as_posix(): p.read_bytes() for p in files}


def stages(built: Built) -> dict[str, Any]:
    return {s.stage: s for s in built.record.stages}


def start(tmp: Path, name: str, *, workers: int, **settings: Any) -> subprocess.Popen[str]:
    call = {
        "out": str(tmp / name),
        "cache": str(tmp / "cache"),
        "workers": workers,
        "settings": {"log": str(tmp / "log"), **settings},
    }
    return subprocess.Popen(
        [sys.executable, "-m", "support.build_main", json.dumps(call)],
        env=os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}"},
        stderr=subprocess.PIPE,
        text=True,
    )


def results(cache: Path) -> set[tuple[str, str, int]]:
    """Stage, item and attempt of what is kept, but gathering and what follows it."""
    found = [
        json.loads(p.read_text().splitlines()[1]) for p in (cache / "results").rglob("*.jsonl")
    ]
    return {(r["stage"], r["item"], r["attempt"]) for r in found if r["stage"] != "last"}
