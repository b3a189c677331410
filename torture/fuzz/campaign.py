"""Every target in a process of its own, two at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from torture.figures import Finding, Tally
from torture.fuzz.engine import repeat
from torture.fuzz.registry import TARGETS

ROOT = Path(__file__).resolve().parents[2]
LONGEST = 5400.0
"""Seconds that a target may take with all its inputs before it counts as hung."""


def campaign(
    *,
    seed: int = 0,
    short: bool = False,
    only: str = "",
    root: Path | None = None,
    inputs: int = 10_000,
) -> list[Tally]:
    """Fuzz every target; return the figures.

    Parameters
    ----------
    seed : int
    short : bool
        200 inputs each.
    only : str
        Name of a target or the beginning of names (several with commas between), or
        ``NAME:FILE`` to repeat one input.
    root : Path or None
        Folder for everything.
    inputs : int
        How many each reader gets; some slow ones get a declared share of it.
    """
    name, _, file = only.partition(":")
    if file:
        with tempfile.TemporaryDirectory(dir=root) as scratch:
            return [repeat(TARGETS[name], Path(file).read_bytes(), Path(scratch))]
    chosen = [t for t in TARGETS.values() if t.name.startswith(tuple(name.split(",")))]
    waiting = [(t.name, 200 if short else round(inputs * t.share)) for t in chosen]
    waiting.sort(key=lambda one: -one[1])
    tallies: list[Tally] = []
    flying: list[tuple[str, subprocess.Popen[bytes], Path, float]] = []
    with tempfile.TemporaryDirectory(prefix="torture-fuzz-", dir=root or _memory()) as made:
        while waiting or flying:
            while waiting and len(flying) < min(2, os.cpu_count() or 1):
                target, count = waiting.pop(0)
                folder = Path(made) / target
                folder.mkdir()
                flying.append(
                    (target, _start(target, count, seed, folder), folder, time.monotonic())
                )
            for one in list(flying):
                target, process, folder, begun = one
                late = time.monotonic() - begun > LONGEST
                if late:
                    process.kill()
                if process.poll() is None and not late:
                    continue
                process.wait()
                flying.remove(one)
                tallies.append(_read(target, process.returncode, folder, late=late))
                t = tallies[-1]
                print(f"{t.name}: {t.tried} tried, {t.equal} accepted, "
                      f"{sum(t.refused.values())} refused, findings {t.bad} ({t.seconds:.0f} s)",
                      file=sys.stderr, flush=True)  # fmt: skip
                for found in t.findings:
                    print(f"  {found.what}  {found.data[:200]!r}", file=sys.stderr, flush=True)
            time.sleep(0.05)
    return sorted(tallies, key=lambda t: t.name)


def _memory() -> str | None:
    """Return a folder in memory where there is one: most inputs are files of a moment."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _start(target: str, count: int, seed: int, folder: Path) -> subprocess.Popen[bytes]:
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT), str(ROOT / "tests")))
    words = [target, str(count), str(seed), str(folder)]
    with (folder / "said").open("wb") as said:
        return subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "torture.fuzz.one", *words],
            env={**os.environ, "PYTHONPATH": paths, "FLOORBENCH_CACHE": str(folder / "fb-cache")},
            cwd=folder, stdout=said, stderr=said,
        )  # fmt: skip


def _read(target: str, status: int, folder: Path, *, late: bool) -> Tally:
    tally = Tally(f"fuzz/{target}")
    result = folder / "result.json"
    if result.exists():
        plain = json.loads(result.read_text("utf-8"))
        found = [Finding(**{**f, "data": bytes.fromhex(f["data"])}) for f in plain.pop("findings")]
        return Tally(
            **{**plain, "refused": Counter(plain["refused"]), "notes": Counter(plain["notes"])},
            findings=found,
        )
    data = (folder / "input").read_bytes() if (folder / "input").exists() else b""
    said = (folder / "said").read_text("utf-8", "replace").strip().splitlines()
    what = f"the process ended with {status}: {said[-1] if said else ''}"
    tally.fault("hang" if late else "other", target, what, f"--only '{target}:FILE'", data)
    return tally
