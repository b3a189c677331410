"""kill -9 at random moments of run, score, report and build, and at every file operation.

The moments are spread over the life of the undisturbed process, measured before: three in five
evenly from its start, two in five over the last quarter, where the final files are written. After
each kill whatever lies there must be whole or absent, no process may be left, and the command that
goes on must come to the undisturbed outcome, bit by bit, redoing no more than was under way.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from torture.child import LONGEST, Running, again, command
from torture.figures import Tally, each
from torture.work import Work, everything, named

MOMENTS = {
    "run-serial": 40, "run-thread": 34, "run-process": 36, "score": 24, "build-1": 26,
    "build-2": 26, "report": 14,
}  # fmt: skip


def campaign(
    *, seed: int = 0, short: bool = False, only: str = "", root: Path | None = None
) -> list[Tally]:
    """Kill everything; return the figures.

    Parameters
    ----------
    seed : int
    short : bool
        One moment and three file operations of three works.
    only : str
        Repeat cases, as ``run-serial@0.4123`` or ``build-1#17`` (the moment as a share of the
        life, the number of the file operation), several with commas between.
    root : Path or None
        Folder for everything.
    """
    with tempfile.TemporaryDirectory(prefix="torture-kill-", dir=root) as made:
        shared = Path(made)
        works = (
            named(shared, ("run-serial", "run-process", "build-1")) if short else everything(shared)
        )
        if only:
            works = [w for w in everything(shared) if _chosen(only, f"{w.name}@", f"{w.name}#")]
        tallies = []
        for work in works:
            expected = work.reference()
            rng = random.Random(f"{seed} {work.name}")
            tallies += [
                _timed(work, expected, rng, seed=seed, short=short, only=only),
                _steps(work, expected, rng, seed=seed, short=short, only=only),
            ]
        return [t for t in tallies if t.tried]


def _timed(
    work: Work, expected: dict[str, str], rng: random.Random, *, seed: int, short: bool, only: str
) -> Tally:
    tally = Tally(f"kill/{work.name}")
    count = 1 if short else MOMENTS[work.name]
    shares = [
        rng.uniform(0, 1.02) if rng.random() < 0.6 else rng.uniform(0.75, 1.02)
        for _ in range(count)
    ]
    if only:
        shares = [float(one) for one in _chosen(only, f"{work.name}@")]

    def one(share: float, part: Tally) -> None:
        case = f"{work.name}@{share:.4f}"
        with tempfile.TemporaryDirectory(dir=work.shared) as home_:
            home = Path(home_)
            work.prepare(home)
            log = {"TORTURE_LOG": str(home / "log")}
            running = Running(work.first(home), home=home, faults=log)
            time.sleep(max(0.0, share * work.seconds))
            running.kill()
            left = running.orphans()
            if running.end().status == 0:
                part.notes["had ended by itself"] += 1
            _judge(work, home, expected, part, case, again("kill", seed, case), left)

    each(tally, shares, one)
    return tally


def _steps(
    work: Work, expected: dict[str, str], rng: random.Random, *, seed: int, short: bool, only: str
) -> Tally:
    tally = Tally(f"kill-at-file-operation/{work.name}")
    if only:
        steps = [int(one) for one in _chosen(only, f"{work.name}#")]
    else:
        steps = _some_steps(work, rng, tally, short)

    def one(step: int, part: Tally) -> None:
        case = f"{work.name}#{step}"
        with tempfile.TemporaryDirectory(dir=work.shared) as home_:
            home = Path(home_)
            work.prepare(home)
            faults = {
                "TORTURE_LOG": str(home / "log"),
                "TORTURE_KILL_AT": str(step),
                "TORTURE_UNDER": str(home),
            }
            running = Running(work.first(home), home=home, faults=faults)
            with contextlib.suppress(subprocess.TimeoutExpired):
                running.process.wait(timeout=LONGEST)
            left = running.orphans()
            running.end(within=1.0)
            _judge(work, home, expected, part, case, again("kill", seed, case), left)

    each(tally, steps, one)
    return tally


def _chosen(only: str, *heads: str) -> list[str]:
    """Return what follows one of the heads in a list of cases separated by commas."""
    cases = only.split(",")
    return [case.removeprefix(head) for case in cases for head in heads if case.startswith(head)]


def _some_steps(work: Work, rng: random.Random, tally: Tally, short: bool) -> list[int]:
    """Count the file operations of an undisturbed command and choose some of them."""
    with tempfile.TemporaryDirectory(dir=work.shared) as home_:
        home = Path(home_)
        work.prepare(home)
        faults = {"TORTURE_COUNT": str(home / "count"), "TORTURE_UNDER": str(home)}
        command(work.first(home), home=home, faults=faults)
        total = int((home / "count").read_text())
    tally.notes["operations in all"] = total
    steps = list(range(1, total + 1))
    most = 3 if short else 60
    if len(steps) > most:  # the last ones put final files into place: all of those
        tail = steps[-most // 3 :]
        steps = sorted(rng.sample(steps[: -most // 3], most - len(tail)) + tail)
        if short:
            steps = [steps[0], steps[-2], steps[-1]]
    return steps


def _judge(
    work: Work,
    home: Path,
    expected: dict[str, str],
    tally: Tally,
    case: str,
    how: str,
    left: list[int],
) -> None:
    """Look at what the killed process left, go on, and compare."""
    tally.tried += 1
    if left:
        tally.fault("other", case, f"{len(left)} processes outlived their parent", how)
    for problem in work.broken(home):
        tally.fault("wrong", case, problem, how)
    ended = command(work.resumed(home), home=home, faults={"TORTURE_LOG": str(home / "log")})
    if ended.hung:
        tally.fault("hang", case, "going on does not end", how)
        return
    if ended.trace:
        tally.fault("trace", case, ended.err.strip().splitlines()[-1], how)
        return
    if ended.status != 0:
        tally.fault("other", case, f"going on is refused: {ended.err.strip()[-300:]}", how)
        return
    try:
        outcome = work.outcome(home)
    except Exception as error:  # whatever is wrong with the outcome is the finding
        tally.fault("wrong", case, f"the outcome is broken: {error}", how)
        return
    if outcome != expected:
        names = [n for n in {*outcome, *expected} if outcome.get(n) != expected.get(n)]
        tally.fault("wrong", case, f"the outcome differs in {sorted(names)[:3]}", how)
        return
    asked = work.items(home)
    if asked is not None and asked - work.asked > work.flying:
        what = f"{asked - work.asked} items were done again, {work.flying} were under way"
        tally.fault("other", case, what, how)
        return
    if asked is not None:
        tally.notes["items done again"] += asked - work.asked
    leftover = [p for p in home.rglob(".*.json.*") if p.is_file()]
    if leftover:
        tally.notes["unfinished hidden files left"] += len(leftover)
    tally.equal += 1
    shutil.rmtree(home / "fb-cache", ignore_errors=True)
