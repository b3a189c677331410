"""A wall clock that jumps, forwards and backwards by hours, while runs and builds go on.

The clock is moved inside the child (``time.time`` and ``datetime``), not on the machine. Deadlines
must not notice (they count on the monotonic clock), ids and records must stay in order and
readable, no duration may be negative, and the outcome must be the undisturbed one.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from torture.child import again, command
from torture.figures import Tally, each
from torture.work import Build, Run, Work

PLANS = {
    "forward": "0.2:7200",
    "back": "0.2:-7200",
    "years back": "0.0:-700000000",
    "to and fro": "0.2:5000,0.35:-5000,0.5:90000,0.65:-90000",
    "back before the start": "0.0:86400,0.4:-86400",
}


_DURATIONS = ("wall", "cpu", "took", "seconds")


def campaign(
    *, seed: int = 0, short: bool = False, only: str = "", root: Path | None = None
) -> list[Tally]:
    """Move the clock; return the figures (``only``: as ``run-serial-forward``)."""
    tally = Tally("clock")
    with tempfile.TemporaryDirectory(prefix="torture-clock-", dir=root) as made:
        shared = Path(made)
        works: list[Work] = [Run(shared, "serial"), Run(shared, "process", 2), Build(shared, 2)]
        if short:
            works = works[:1]
        plans = dict(list(PLANS.items())[1::2]) if short else PLANS
        for work in works:
            if only and not only.startswith(work.name):
                continue
            expected = work.reference()

            def one(
                name: str, part: Tally, work: Work = work, expected: dict[str, str] = expected
            ) -> None:
                case = f"{work.name}-{name}"
                with tempfile.TemporaryDirectory(dir=shared) as home:
                    how = again("clock", seed, case)
                    _one(work, Path(home), plans[name], expected, part, case, how)

            each(tally, [n for n in plans if only in ("", f"{work.name}-{n}")], one)
    return [tally]


def _one(
    work: Work, home: Path, plan: str, expected: dict[str, str], tally: Tally, case: str, how: str
) -> None:
    """Kill it half-way under the first clock, go on under the moved one."""
    tally.tried += 1
    moved = {"TORTURE_CLOCK": plan, "TORTURE_PAUSE": "0.03"}
    words = list(work.first(home))
    if words[0] == "run":
        words += ["--timeout", "20"]
    first = command(
        words, home=home, faults={**moved, "TORTURE_KILL_AT": "9", "TORTURE_UNDER": str(home)}
    )
    resumed = list(work.resumed(home))
    if resumed[0] == "run":
        resumed += ["--timeout", "20"]
    second = command(resumed, home=home, faults=moved)
    for ended in (first, second):
        if ended.hung:
            return tally.fault("hang", case, "it does not end", how)
        if ended.trace:
            return tally.fault("trace", case, ended.err.strip().splitlines()[-1], how)
    if second.status != 0:
        return tally.fault("other", case, f"refused: {second.err.strip()[-300:]}", how)
    try:
        outcome = work.outcome(home)
    except Exception as error:  # whatever is wrong with the outcome is the finding
        return tally.fault("wrong", case, f"the outcome is broken: {error}", how)
    if outcome != expected:
        return tally.fault("wrong", case, "the outcome differs", how)
    negative = [
        where for path in (*home.glob("runs/*/*/*/*.json*"), *home.glob("set/build.json"))
        for where in _negative(path)
    ]  # fmt: skip
    if negative:
        return tally.fault("wrong", case, f"a duration below 0: {negative[0]}", how)
    tally.equal += 1
    return None


def _negative(path: Path) -> list[str]:
    """Return the durations of a file that are below 0."""
    found: list[str] = []

    def walk(value: Any, name: str) -> None:
        if isinstance(value, dict):
            for key, inner in value.items():
                walk(inner, key)
        elif isinstance(value, list):
            for inner in value:
                walk(inner, name)
        elif name in _DURATIONS and isinstance(value, int | float) and value < 0:
            found.append(f"{path.name} {name}={value}")

    lines = (
        path.read_text("utf-8").splitlines()
        if path.suffix == ".jsonl"
        else [path.read_text("utf-8")]
    )
    for line in lines:
        walk(json.loads(line), "")
    return found
