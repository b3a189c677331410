"""Two processes on one folder: the second is refused with its code, or both do their work.

Run folder, build, cache, estimates, notes, review and listening session. A process that is killed
leaves no lock behind.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from torture.child import LONGEST, Ended, Running, again, command
from torture.figures import Tally
from torture.work import Build, Run, Score, Work

SLOW = {"TORTURE_PAUSE": "0.25"}
HELD = {"TORTURE_PAUSE": "2"}
"""Slow enough to be stopped in the middle, even on a busy machine."""


class Case:
    """One case under way: its name, its folder, and where findings go."""

    def __init__(self, tally: Tally, name: str, home: Path, seed: int) -> None:
        self.tally, self.name, self.home = tally, name, home
        self.how = again("two", seed, name)
        self.good = True

    def fault(self, what: str, kind: str = "other") -> None:
        """Note that something went wrong."""
        self.good = False
        self.tally.fault(kind, self.name, what, self.how)

    def ends(self, ended: Ended, *, code: str | None = None, status: int | None = 0) -> None:
        """Check how a command ended: well, or refused with a code."""
        if ended.hung:
            self.fault("it does not end", "hang")
        elif ended.trace:
            self.fault(ended.err.strip().splitlines()[-1], "trace")
        elif code is not None:
            if ended.code != code or ended.status == 0:
                self.fault(f"{ended.status} {ended.code} where {code} is due: {ended.err[-300:]}")
            else:
                self.tally.refused[code] += 1
        elif ended.status != status:
            self.fault(f"status {ended.status}: {ended.err[-300:]}")

    def same(self, work: Work, home: Path, expected: dict[str, str]) -> None:
        """Check that the outcome is the undisturbed one."""
        try:
            if work.outcome(home) != expected:
                self.fault("the outcome differs", "wrong")
        except Exception as error:  # whatever is wrong with the outcome is the finding
            self.fault(f"the outcome is broken: {error}", "wrong")


def campaign(
    *, seed: int = 0, short: bool = False, only: str = "", root: Path | None = None
) -> list[Tally]:
    """Try all cases; return the figures (``only``: the name of a case)."""
    tally = Tally("two-processes")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="torture-two-", dir=root) as made:
        shared = Path(made)
        cases: dict[str, Callable[[Case, Path], None]] = {
            "run folder": run_folder,
            "build": build_folder,
            "review": review,
            "listening session": listening,
            "notes": notes,
        }
        if not short:
            cases |= {
                "two resumes at once": two_resumes,
                "two new runs": new_runs,
                "one cache": one_cache,
                "two scores": two_scores,
                "score while it runs": score_while_running,
                "recorded answers of one reviewer": one_reviewer,
            }
        for name, case in cases.items():
            if only not in ("", name):
                continue
            home = Path(tempfile.mkdtemp(dir=shared))
            under = Case(tally, name, home, seed)
            tally.tried += 1
            case(under, shared)
            tally.equal += under.good
    tally.seconds = time.monotonic() - begun
    return [tally]


def _appears(pattern: str, home: Path, running: Running) -> bool:
    until = time.monotonic() + LONGEST
    while time.monotonic() < until and running.process.poll() is None:
        if any(home.glob(pattern)):
            return True
        time.sleep(0.02)
    return any(home.glob(pattern))


def run_folder(case: Case, shared: Path) -> None:
    """The second is refused with FB503; after kill -9 of the first it goes on."""
    work = Run(shared, "serial")
    expected = work.reference()
    first = Running(work.first(case.home), home=case.home, faults=HELD)
    _appears("runs/*/*/*/predictions.jsonl", case.home, first)
    first.stop()
    case.ends(command(work.resumed(case.home), home=case.home), code="FB503")
    first.kill()
    first.end()
    case.ends(command(work.resumed(case.home), home=case.home))
    case.same(work, case.home, expected)


def two_resumes(case: Case, shared: Path) -> None:
    """Started in the same moment, one is refused, or the second finds all done."""
    work = Run(shared, "serial")
    expected = work.reference()
    for _ in range(6):
        home = Path(tempfile.mkdtemp(dir=shared))
        faults = {"TORTURE_KILL_AT": "14", "TORTURE_UNDER": str(home)}
        command(work.first(home), home=home, faults=faults)
        both = [Running(work.resumed(home), home=home) for _ in range(2)]
        ended = [one.end() for one in both]
        for one in ended:
            case.ends(one, code="FB503" if one.status else None)
        if all(one.status for one in ended):
            case.fault("both are refused")
        case.same(work, home, expected)


def new_runs(case: Case, shared: Path) -> None:
    """Two new runs in one base folder, in the same second, get a folder each."""
    work = Run(shared, "serial")
    expected = work.reference()
    both = [Running(work.first(case.home), home=case.home) for _ in range(2)]
    for one in both:
        case.ends(one.end())
    if len(work.folders(case.home)) != 2:
        case.fault(f"{len(work.folders(case.home))} folders of two runs", "wrong")
    case.same(work, case.home, expected)


def build_folder(case: Case, shared: Path) -> None:
    """The second is refused with FB853; after kill -9 of the first it goes on."""
    work = Build(shared, 1)
    expected = work.reference()
    first = Running(work.first(case.home), home=case.home, faults=HELD)
    _appears("cache/results/*/*", case.home, first)
    first.stop()
    case.ends(command(work.first(case.home), home=case.home), code="FB853")
    first.kill()
    first.end()
    case.ends(command(work.first(case.home), home=case.home))
    case.same(work, case.home, expected)


def one_cache(case: Case, shared: Path) -> None:
    """Two builds of two folders share a cache; both are whole and equal."""
    work = Build(shared, 2)
    expected = work.reference()
    homes = [Path(tempfile.mkdtemp(dir=shared)) for _ in range(2)]
    both = []
    for home in homes:
        words = [w.replace(str(home / "cache"), str(case.home / "cache")) for w in work.first(home)]
        both.append(Running(words, home=home, faults={"TORTURE_PAUSE": "0.02"}))
    for one in both:
        case.ends(one.end())
    for home in homes:
        case.same(work, home, expected)


def two_scores(case: Case, shared: Path) -> None:
    """Two scores of one run write the same file."""
    work = Score(shared)
    expected = work.reference()
    work.prepare(case.home)
    both = [Running(work.first(case.home), home=case.home) for _ in range(2)]
    for one in both:
        case.ends(one.end())
    case.same(work, case.home, expected)


def score_while_running(case: Case, shared: Path) -> None:
    """A score beside a run that goes on reads what is there, and changes nothing of the run."""
    work = Run(shared, "serial")
    expected = work.reference()
    first = Running(work.first(case.home), home=case.home, faults=SLOW)
    _appears("runs/*/*/*/predictions.jsonl", case.home, first)
    for _ in range(3):
        ended = command(["score", str(work.folders(case.home)[-1])], home=case.home)
        case.ends(ended, code="FB505" if ended.status else None)
    case.ends(first.end())
    case.same(work, case.home, expected)


def review(case: Case, shared: Path) -> None:
    """A review is served by one process at a time."""
    work = Run(shared, "serial")
    words = ["review", "starter:codett", "--session", str(case.home / "review")]
    _served(case, words, work)


def listening(case: Case, shared: Path) -> None:
    """A listening session is served by one process at a time."""
    from torture.fuzz.of_pages import _listening_set

    words = ["listen", str(_listening_set()), "--mode", "key"]
    _served(case, [*words, "--session", str(case.home / "session")], Run(shared, "serial"))


def _served(case: Case, words: list[str], _: Work) -> None:
    first = Running(words, home=case.home)
    folder = words[words.index("--session") + 1]
    _appears(f"{Path(folder).name}/.lock", case.home, first)
    if first.process.poll() is not None:
        return case.fault(f"the first does not serve: {first.end().err[-300:]}")
    second = Running(words, home=case.home)
    case.ends(second.end(), code="FB503")
    first.kill()
    first.end()
    third = Running(words, home=case.home)
    served = third.says(b"http://")
    third.kill()
    said = third.end().err
    if not served:
        case.fault(f"after kill -9 of the first it is refused: {said[-300:]}")
    return None


def notes(case: Case, shared: Path) -> None:
    """Two viewers of one run keep the notes of both."""
    from floorbench.web.notes import Notes

    both = Notes(case.home), Notes(case.home)
    both[0].put("a", text="from the first", tags="")
    both[1].put("b", text="from the second", tags="")
    both[0].put("c", text="from the first again", tags="")
    if set(Notes(case.home).all()) != {"a", "b", "c"}:
        case.fault(f"of three notes {sorted(Notes(case.home).all())} are left", "wrong")


def one_reviewer(case: Case, shared: Path) -> None:
    """Answers appended by several threads of one process are all there."""
    import threading

    from floorbench.web.review_plan import Sampling
    from floorbench.web.review_store import Plan, Review

    items = tuple(f"i{n}" for n in range(120))
    plan = Plan(name="x", data="0" * 64, sampling=Sampling(share=1.0), items=items)
    kept = Review.begin(case.home, plan)
    threads = [
        threading.Thread(
            target=lambda part=part: [kept.answer("r1", i, "reject", heard=True) for i in part]
        )
        for part in (items[0::3], items[1::3], items[2::3])
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if set(Review(case.home).answers("r1")) != set(items):
        case.fault("an answer is lost", "wrong")
