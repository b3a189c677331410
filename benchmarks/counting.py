"""Counts instead of seconds: calls, file openings, memory. They do not depend on the machine.

:func:`counted` runs a piece of work and counts, for floorbench's own code only: calls of its
functions (``calls``), calls of built-in and C functions from it (``built_in``), files opened by
anybody (``opens``), and by name the built-in calls asked for. Comprehensions are no calls, since
newer Pythons do not make any for them. ``peak`` is the most memory that was held, in KiB, measured
in a second run.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tracemalloc
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import floorbench

Counts = dict[str, float]
GOLDEN = Path(__file__).parent / "counts.json"
MARGIN = 0.05
"""Growth that is accepted, as a share; as much of a call is accepted where nothing was counted."""
ROUGH = {"peak": 0.15, "modules": 0.15}
"""Wider margins of figures that depend on the versions of Python and numpy."""
_INLINED = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})
_ROOT = f"{Path(floorbench.__file__).parent}{os.sep}"
_opened: Counter[str] = Counter()


def _hear(event: str, _: tuple[Any, ...]) -> None:
    if event == "open" and _opened:
        _opened["opens"] += 1


@cache
def _listen() -> None:
    """Hear of opened files; that cannot be ended, so it sleeps while nothing is counted."""
    sys.addaudithook(_hear)


def counted(work: Callable[[], object], *, names: tuple[str, ...] = ()) -> Counts:
    """Run work and count the calls that floorbench makes, in this thread.

    Parameters
    ----------
    work : callable
    names : tuple of str
        Built-in functions that are counted by themselves, such as ``write``.
    """
    _listen()
    found: Counter[str] = Counter()
    ours: dict[Any, bool] = {}

    def seen(frame: FrameType, event: str, argument: Any) -> None:
        if event not in ("call", "c_call"):
            return
        code = frame.f_code
        mine = ours.get(code)
        if mine is None:
            mine = ours[code] = code.co_filename.startswith(_ROOT)
        if not mine:
            return
        if event == "c_call":
            found["built_in"] += 1
            found[argument.__name__] += 1
        elif code.co_name not in _INLINED:
            found["calls"] += 1

    gc.collect()
    gc.disable()
    before = sys.getprofile()
    _opened["opens"] = 1  # wakes the hook
    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(before)
        opens = _opened["opens"] - 1
        _opened.clear()
        gc.enable()
    kept = {name: float(found[name]) for name in ("calls", "built_in", *names)}
    return {**kept, "opens": float(opens)}


def peak(work: Callable[[], object]) -> float:
    """Return the most memory in KiB that Python and numpy held during a piece of work."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1024
    finally:
        tracemalloc.stop()


def slope(work: Callable[[int], object], n: int, *, names: tuple[str, ...] = ()) -> Counts:
    """Return what one thing more costs: the counts of ``2 n`` things less those of ``n``, by n.

    ``work(n)`` is called once before, so that caches are filled. Work that grows faster than its
    size has a slope that grows with ``n``.
    """
    work(n)
    once = counted(lambda: work(n), names=names)
    twice = counted(lambda: work(2 * n), names=names)
    return {name: round((twice[name] - once[name]) / n, 4) for name in once}


def grown(golden: Mapping[str, Counts], found: Mapping[str, Counts]) -> list[str]:
    """Return a sentence for every count that is above its stored one, or has none."""
    out = []
    for path, counts in found.items():
        known = golden.get(path)
        if known is None:
            out.append(f"{path}: nothing is stored for it")
            continue
        for name, count in counts.items():
            margin = ROUGH.get(name, MARGIN)
            allowed = known.get(name, 0.0)
            if count > allowed + max(margin * allowed, MARGIN):
                out.append(f"{path}: {name} {allowed:g} -> {count:g}")
    out += [f"{path}: is stored, but no longer counted" for path in golden if path not in found]
    return out


def read() -> dict[str, Counts]:
    """Return the stored counts."""
    found: dict[str, Counts] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return found


def main(*, write: bool) -> int:
    """Count every path; store the counts, or print them and say which have grown."""
    from benchmarks.counted import PATHS

    found = {name: work() for name, work in PATHS.items()}
    if write:
        GOLDEN.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    golden = read()
    for name, counts in found.items():
        print(name)
        for what, count in counts.items():
            print(f"  {what:10} {count:12,.4g}   stored {golden.get(name, {}).get(what, 0):12,.4g}")
    bad = grown(golden, found)
    for line in bad:
        print(f"GROWN {line}", file=sys.stderr)
    if bad:
        print(
            "If the growth is wanted, say why in the commit and store it:"
            " python -m benchmarks --counts --write",
            file=sys.stderr,
        )
    return int(bool(bad))
