"""A disk that is full: at many levels of filling, then freed and gone on with.

The disk is a tmpfs of a few megabytes in a mount namespace of the command's own, filled up to a
chosen rest. Where no namespace can be had, ``RLIMIT_FSIZE`` lets no file grow beyond a limit
instead (the error is EFBIG, not ENOSPC). The command must end with a code, nothing half may lie
under a final name, and after the space is freed it must come to the undisturbed outcome.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from torture.child import ROOT, Ended, again, command, environment
from torture.figures import Tally, each
from torture.spaces import in_namespace
from torture.work import Work, everything

Disturb = Callable[[Work, Path, int, dict[str, str], Tally, str, str], None]
CODES = ("FB504", "FB858", "FB402", "FB709")
LIMITS = (80, 400, 1200, 3000, 9000, 30_000)
"""Bytes; what the command says is a file of its own, which must hold a code at least."""
SIZE = 6 << 20


def campaign(
    *, seed: int = 0, short: bool = False, only: str = "", root: Path | None = None
) -> list[Tally]:
    """Fill the disk under everything; return the figures.

    Parameters
    ----------
    seed : int
    short : bool
        Two levels of run and build.
    only : str
        Repeat one case, as ``run-serial-tmpfs=8192`` or ``build-1-limit=400``.
    root : Path or None
        Folder for everything.
    """
    tallies = []
    with tempfile.TemporaryDirectory(prefix="torture-disk-", dir=root) as made:
        shared = Path(made)
        works = [w for w in everything(shared) if w.name != "report" or not short]
        if short:
            works = [w for w in works if w.name in ("run-serial", "build-1")]
        for work in works:
            if only and not only.startswith(f"{work.name}-"):
                continue
            expected = work.reference()
            for kind in ("tmpfs", "limit"):
                tally = Tally(f"disk-full/{work.name}-{kind}")
                levels = _levels(work, kind, seed, short)
                if only:
                    levels = [int(only.partition("=")[2])] if f"-{kind}=" in only else []
                disturb = _in_tmpfs if kind == "tmpfs" else _limited

                def one(
                    level: int, part: Tally, kind: str = kind, work: Work = work,
                    disturb: Disturb = disturb, expected: dict[str, str] = expected,
                ) -> None:  # fmt: skip
                    case = f"{work.name}-{kind}={level}"
                    with tempfile.TemporaryDirectory(dir=shared) as home:
                        how = again("disk", seed, case)
                        disturb(work, Path(home), level, expected, part, case, how)

                each(tally, levels, one)
                if tally.tried:
                    tallies.append(tally)
    return tallies


def _levels(work: Work, kind: str, seed: int, short: bool) -> list[int]:
    if kind == "limit":
        return [400, 3000] if short else list(LIMITS)
    if in_namespace("true", []) is None:
        return []
    rng = random.Random(f"{seed} {work.name}")
    some = [0, 4096] if short else [0, 4096, 8192, 12_288, 16_384, 20_480, 24_576, 32_768]
    most = 200_000 if work.name.startswith("build") else 80_000
    return (
        some if short else sorted({*some, *(rng.randrange(most) // 4096 * 4096 for _ in range(6))})
    )


def _limited(
    work: Work, home: Path, limit: int, expected: dict[str, str], tally: Tally, case: str, how: str
) -> None:
    work.prepare(home)
    first = command(work.first(home), home=home, faults={"TORTURE_LARGEST": str(limit)})
    second = command(work.resumed(home), home=home)
    judge(work, home, first, second, expected, tally, case, how)


def judge(
    work: Work, home: Path, first: Ended, second: Ended, expected: dict[str, str], tally: Tally,
    case: str, how: str,
) -> None:  # fmt: skip
    """Judge a command under a fault and the one that goes on after it."""
    tally.tried += 1
    for name, ended in (("the command", first), ("going on", second)):
        if ended.hung:
            return tally.fault("hang", case, f"{name} does not end", how)
        if ended.trace:
            return tally.fault("trace", case, f"{name}: {ended.err.strip().splitlines()[-1]}", how)
    if first.status == 0:
        tally.notes["fitted"] += 1
    elif first.code not in CODES:
        return tally.fault("other", case, f"refused with {first.code}: {first.err[-300:]}", how)
    else:
        tally.refused[str(first.code)] += 1
    if second.status != 0:
        return tally.fault("other", case, f"going on is refused: {second.err.strip()[-300:]}", how)
    try:
        outcome = work.outcome(home)
    except Exception as error:  # whatever is wrong with the outcome is the finding
        return tally.fault("wrong", case, f"the outcome is broken: {error}", how)
    if outcome != expected:
        names = [n for n in {*outcome, *expected} if outcome.get(n) != expected.get(n)]
        return tally.fault("wrong", case, f"the outcome differs in {sorted(names)[:3]}", how)
    tally.equal += 1
    return None


def _in_tmpfs(
    work: Work, home: Path, rest: int, expected: dict[str, str], tally: Tally, case: str, how: str
) -> None:
    """Do all of it in one namespace, whose tmpfs is gone with it: see :func:`inside`."""
    disk = home / "disk"
    disk.mkdir()
    script = f"mount -t tmpfs -o size={SIZE} tmpfs '{disk}'"
    asked = json.dumps([work.name, str(work.shared), str(disk), rest])
    words = in_namespace(script, [sys.executable, "-m", "torture.disk", asked])
    done = subprocess.run(
        words or [], capture_output=True, timeout=300,
        env={**environment(home, mark="disk"), "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
    )  # fmt: skip
    try:
        first, second, outcome, problems = json.loads(done.stdout)
    except ValueError:
        tally.tried += 1
        said = done.stderr.decode("utf-8", "replace").strip()[-300:]
        return tally.fault("other", case, f"the disk could not be made: {said}", how)
    for problem in problems:
        tally.fault("wrong", case, problem, how)
    seen = _Seen(work, outcome)
    judge(seen, home, Ended(*first), Ended(*second), expected, tally, case, how)
    return None


class _Seen(Work):
    """A work whose outcome was looked at in the namespace."""

    def __init__(self, work: Work, outcome: dict[str, str] | str) -> None:
        super().__init__(work.shared)
        self._outcome = outcome

    def outcome(self, home: Path) -> dict[str, str]:
        if isinstance(self._outcome, str):
            raise ValueError(self._outcome)
        return self._outcome


def inside(name: str, shared: str, disk: str, rest: int) -> None:
    """Fill the disk up to a rest, run, free it, go on, and print what came of it."""
    work = next(w for w in everything(Path(shared)) if w.name == name)
    home = Path(disk)
    work.prepare(home)
    filler = home / "filler"
    with filler.open("wb") as out:
        free = os.statvfs(home).f_bavail * os.statvfs(home).f_frsize
        out.write(bytes(max(0, free - rest)))
    # What the programs say, and their caches, must not stand on the full disk.
    first = command(work.first(home), home=Path(shared) / "said")
    problems = work.broken(home)
    filler.unlink()
    second = command(work.resumed(home), home=Path(shared) / "said")
    try:
        outcome: dict[str, str] | str = work.outcome(home)
    except Exception as error:
        outcome = str(error)
    print(json.dumps([first, second, outcome, problems]))


if __name__ == "__main__":
    inside(*json.loads(sys.argv[1]))
