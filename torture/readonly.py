"""Folders that may be read but not written: of data, runs, caches, datasets and reviews.

As root the folder is mounted read-only in a namespace of the command's own (permissions mean
nothing to root), or, where there are no namespaces, the command is root without the right to pass
over permissions; as another user the permissions alone are taken away. What only reads must work
and give the undisturbed outcome; what must write is refused with its code and changes nothing.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Sequence
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
        cases = _Cases(Path(made), tally, seed)
        for name, case in CASES.items():
            if only in ("", name) and not (short and name in SLOW):
                case(cases, name)
    mounted = spaces.root() and spaces.private_mounts() is not None
    tally.notes["mounted read-only" if mounted else "without permission"] = tally.tried
    return [tally]


class _Cases:
    """The cases, each in a home of its own, and what undisturbed commands give."""

    def __init__(self, shared: Path, tally: Tally, seed: int) -> None:
        self._shared, self._tally, self._seed = shared, tally, seed
        self._run, self._score, self._build = Run(shared, "serial"), Score(shared), Build(shared)
        self._expected_run, self._expected_build = self._run.reference(), self._build.reference()
        self._score.reference()

    def data(self, name: str) -> None:
        self._runs(name, self._home(), self._run.data)

    def cache(self, name: str) -> None:
        home = self._home()
        self._runs(name, home, _folder(home / "fb-cache"))

    def base_of_runs(self, name: str) -> None:
        home = self._home()
        ended = _under(_folder(home / "runs"), self._run.first(home), home)
        self._judge(name, ended, works=False)

    def run_resumed(self, name: str) -> None:
        home = self._scored_home()
        self._unchanged(name, home, self._run.resumed(home))

    def run_scored(self, name: str) -> None:
        home = self._scored_home()
        self._unchanged(name, home, self._score.first(home))

    def run_checked(self, name: str) -> None:
        home = self._scored_home()
        words = ["check", str(self._run.folders(home)[-1])]
        self._judge(name, _under(home / "runs", words, home), works=True)

    def run_reported(self, name: str) -> None:
        home = self._scored_home()
        ended = _under(home / "runs", Report(self._shared).first(home), home)
        self._judge(name, ended, works=True, untouched=(home / "page.html").exists())

    def dataset_built(self, name: str) -> None:
        home = self._home()
        there = _folder(home / "there")
        words = [w.replace(str(home / "set"), str(there / "set")) for w in self._build.first(home)]
        ended = _under(there, words, home)
        self._judge(name, ended, works=False, untouched=not any(there.iterdir()))

    def build_cache(self, name: str) -> None:
        home = self._home()
        ended = _under(_folder(home / "cache"), self._build.first(home), home)
        self._judge(name, ended, works=False, untouched=not (home / "set").exists())

    def full_build_cache(self, name: str) -> None:
        """All is there; measured factors, which would be kept for later plans, are let go."""
        home = self._home()
        Running(self._build.first(home), home=home).end()
        ended = _under(home / "cache", self._build.first(home), home)
        same = self._build.outcome(home) == self._expected_build
        self._judge(name, ended, works=True, untouched=same)

    def _home(self) -> Path:
        return Path(tempfile.mkdtemp(dir=self._shared))

    def _scored_home(self) -> Path:
        home = self._home()
        self._score.prepare(home)
        return home

    def _runs(self, name: str, home: Path, folder: Path) -> None:
        ended = _under(folder, self._run.first(home), home)
        same = ended.status == 0 and self._run.outcome(home) == self._expected_run
        self._judge(name, ended, works=True, untouched=same)

    def _unchanged(self, name: str, home: Path, words: Sequence[str]) -> None:
        before = _print(home / "runs")
        ended = _under(home / "runs", words, home)
        self._judge(name, ended, works=False, untouched=_print(home / "runs") == before)

    def _judge(self, name: str, ended: Ended, *, works: bool, untouched: bool = True) -> None:
        self._tally.tried += 1
        how = again("readonly", self._seed, name)
        if ended.hung:
            self._tally.fault("hang", name, "it does not end", how)
        elif ended.trace:
            self._tally.fault("trace", name, ended.err.strip().splitlines()[-1], how)
        elif works and ended.status != 0:
            what = f"it only reads, and is refused: {ended.err[-300:]}"
            self._tally.fault("other", name, what, how)
        elif not works and (ended.status == 0 or ended.code not in WRITES):
            what = f"status {ended.status}, {ended.code}: {ended.err[-200:]}"
            self._tally.fault("other", name, what, how)
        elif not untouched:
            what = "the folder has changed, or the outcome differs"
            self._tally.fault("wrong", name, what, how)
        elif works:
            self._tally.equal += 1
        else:
            self._tally.refused[str(ended.code)] += 1


CASES: dict[str, Callable[[_Cases, str], None]] = {
    "data": _Cases.data,
    "cache": _Cases.cache,
    "base of runs": _Cases.base_of_runs,
    "run resumed": _Cases.run_resumed,
    "run scored": _Cases.run_scored,
    "run checked": _Cases.run_checked,
    "run reported": _Cases.run_reported,
    "dataset built": _Cases.dataset_built,
    "build cache": _Cases.build_cache,
    "build cache, full": _Cases.full_build_cache,
}
SLOW = ("run reported",)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


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
