"""Folders that may be read but not written: of data, runs, caches, datasets and reviews.

As root the folder is mounted read-only in a namespace of the command's own (permissions mean
nothing to root), or, where there are no namespaces, the command is root without the right to pass
over permissions; as another user the permissions alone are taken away. What only reads must work
and give the undisturbed outcome; what must write is refused with its code and changes nothing.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

from torture import spaces
from torture.child import Ended, Running, again
from torture.figures import Tally
from torture.work import Build, Report, Run, Score

WRITES = ("FB504", "FB858", "FB402", "FB709")


def campaign(
    *, seed: int = 0, short: bool = False, only: str = "", root: Path | None = None
) -> list[Tally]:
    """Take away the right to write; return the figures (``only``: the name of a case)."""
    tally = Tally("read-only")
    with tempfile.TemporaryDirectory(prefix="torture-readonly-", dir=root) as made:
        shared = Path(made)
        run, score, build = Run(shared, "serial"), Score(shared), Build(shared)
        expected_run, expected_build = run.reference(), build.reference()
        score.reference()

        def new() -> Path:
            return Path(tempfile.mkdtemp(dir=shared))

        def judged(case: str, ended: Ended, *, works: bool, untouched: bool = True) -> None:
            tally.tried += 1
            how = again("readonly", seed, case)
            if ended.hung:
                tally.fault("hang", case, "it does not end", how)
            elif ended.trace:
                tally.fault("trace", case, ended.err.strip().splitlines()[-1], how)
            elif works and ended.status != 0:
                tally.fault(
                    "other", case, f"it only reads, and is refused: {ended.err[-300:]}", how
                )
            elif not works and (ended.status == 0 or ended.code not in WRITES):
                said = f"status {ended.status}, {ended.code}: {ended.err[-200:]}"
                tally.fault("other", case, said, how)
            elif not untouched:
                tally.fault("wrong", case, "the folder has changed, or the outcome differs", how)
            elif works:
                tally.equal += 1
            else:
                tally.refused[str(ended.code)] += 1

        def wanted(case: str) -> bool:
            return only in ("", case)

        if wanted("data"):
            home = new()
            ended = _under(run.data, run.first(home), home)
            judged("data", ended, works=True, untouched=ended.status == 0
                   and run.outcome(home) == expected_run)  # fmt: skip
        if wanted("cache"):
            home = new()
            (home / "fb-cache").mkdir()
            ended = _under(home / "fb-cache", run.first(home), home)
            judged("cache", ended, works=True, untouched=ended.status == 0
                   and run.outcome(home) == expected_run)  # fmt: skip
        if wanted("base of runs"):
            home = new()
            (home / "runs").mkdir()
            judged("base of runs", _under(home / "runs", run.first(home), home), works=False)
        for case, words in (
            ("run resumed", lambda h: run.resumed(h)),
            ("run scored", lambda h: score.first(h)),
        ):
            if wanted(case):
                home = new()
                score.prepare(home)
                before = _print(home / "runs")
                ended = _under(home / "runs", words(home), home)
                judged(case, ended, works=False, untouched=_print(home / "runs") == before)
        if wanted("run checked"):
            home = new()
            score.prepare(home)
            words_ = ["check", str(run.folders(home)[-1])]
            judged("run checked", _under(home / "runs", words_, home), works=True)
        if wanted("run reported") and not short:
            report, home = Report(shared), new()
            score.prepare(home)
            ended = _under(home / "runs", report.first(home), home)
            judged("run reported", ended, works=True, untouched=(home / "page.html").exists())
        if wanted("dataset built"):
            home = new()
            (home / "there").mkdir()
            words_ = [w.replace(str(home / "set"), str(home / "there" / "set"))
                      for w in build.first(home)]  # fmt: skip
            ended = _under(home / "there", words_, home)
            judged(
                "dataset built", ended, works=False, untouched=not any((home / "there").iterdir())
            )
        if wanted("build cache"):
            home = new()
            (home / "cache").mkdir()
            ended = _under(home / "cache", build.first(home), home)
            judged("build cache", ended, works=False, untouched=not (home / "set").exists())
        if wanted("build cache, full"):
            home = new()
            Running(build.first(home), home=home).end()
            ended = _under(home / "cache", build.first(home), home)
            # All is there; measured factors, which would be kept for later plans, are let go.
            judged("build cache, full", ended, works=True, untouched=build.outcome(home)
                   == expected_build)  # fmt: skip
    mounted = spaces.root() and spaces.private_mounts() is not None
    how_ = "mounted read-only" if mounted else "without permission"
    tally.notes[how_] = tally.tried
    return [tally]


def _under(folder: Path, words: Sequence[str], home: Path) -> Ended:
    prefix = spaces.read_only(folder) if spaces.root() else None
    if prefix is not None:
        return Running(words, home=home, prefix=prefix).end()
    spaces.permissions(folder, 0o555)
    try:
        return Running(words, home=home, prefix=spaces.bound()).end()
    finally:
        spaces.permissions(folder, 0o755)


def _print(folder: Path) -> dict[str, str]:
    return {
        p.relative_to(folder).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest()
        for p in sorted(folder.rglob("*"))
        if p.is_file()
    }
