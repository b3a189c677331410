"""Running one target on many inputs: property-based first, then guided by coverage.

The first tenth of the inputs is drawn by Hypothesis (a valid input and a list of changes, or free
text and bytes). The rest is made by changing what has been kept; an input that reaches an arc (two
lines of the reader's own modules, one after the other) which no input before it has reached is
kept and changed further.
"""

from __future__ import annotations

import random
import resource
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from floorbench.errors import CODES, FloorbenchError
from torture.figures import Tally
from torture.fuzz.mutate import CHANGES, LARGEST_INPUT, mutated
from torture.fuzz.target import Target, Wrong

LONGEST = 2.0
"""Seconds of processor time after which an input counts as a hang."""
LARGEST = 500 << 20
"""Bytes of memory that one input may cost."""
TRACED = 4
"""Every n-th input is traced; tracing costs several times the reading."""


class Hang(BaseException):
    """The reader used up its time."""


def fuzz(target: Target, *, count: int, seed: int, scratch: Path) -> Tally:
    """Give a target so many inputs; return the figures and what was found.

    Parameters
    ----------
    target : Target
    count : int
    seed : int
    scratch : Path
        Folder for files; the input under way lies in ``scratch/current``.
    """
    tally = Tally(f"fuzz/{target.name}")
    run = _Run(target, tally, seed, scratch)
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        seeds = target.seeds()
        for one in seeds:
            run.give(one)
            if not run.accepted:
                tally.fault("other", "seed", f"a valid input is refused: {run.last}", "", one)
        drawn = max(1, count // 10)
        _draw(target, seeds, drawn, seed, run.give)
        _guide(target, seeds, max(0, count - drawn - len(seeds)), seed, run)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return tally


def repeat(target: Target, data: bytes, scratch: Path) -> Tally:
    """Give a target one input."""
    tally = Tally(f"fuzz/{target.name}")
    run = _Run(target, tally, 0, scratch)
    before = signal.signal(signal.SIGVTALRM, _late)
    try:
        run.give(data)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return tally


def _late(number: int, frame: FrameType | None) -> None:
    raise Hang


class _Run:
    """Gives inputs and judges what comes of them."""

    def __init__(self, target: Target, tally: Tally, seed: int, scratch: Path) -> None:
        self.target, self.tally, self.seed = target, tally, seed
        self.scratch = scratch
        self.accepted = False
        self.last = ""
        self._known: set[tuple[str, str]] = set()

    def give(self, data: bytes) -> None:
        """Give one input."""
        self.tally.tried += 1
        verdict, what, where = self._try(data)
        self.accepted, self.last = verdict == "equal", what
        if verdict == "equal":
            self.tally.equal += 1
        elif verdict == "refused":
            self.tally.refused[what] += 1
        elif (verdict, where) not in self._known:
            self._known.add((verdict, where))
            small = self._smaller(data, verdict, where)
            again = f"python -m torture --campaign fuzz --only '{self.target.name}:FILE'"
            self.tally.fault(verdict, f"{self.target.name}, {len(small)} bytes", what, again, small)

    def _try(self, data: bytes) -> tuple[str, str, str]:
        folder = self.scratch / "current"
        if not folder.is_dir() or any(folder.iterdir()):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        if self.target.native:
            (self.scratch / "input").write_bytes(data)
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
        try:
            self.target.read(data, folder)
        except Hang:
            return "hang", f"longer than {LONGEST:g} s", "hang"
        except FloorbenchError as error:
            if error.code in CODES:
                return "refused", error.code, ""
            return "trace", f"an error without a known code: {error.code}", error.code
        except Wrong as error:
            return "wrong", str(error), _place(error, own=True)
        except self.target.refusals as error:
            return "refused", type(error).__name__, ""
        except Exception as error:
            return (
                "trace",
                f"{type(error).__name__}: {error!s:.200} at {_place(error)}",
                _place(error),
            )
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - held) << 10
        if grown > LARGEST:
            return "other", f"{grown >> 20} MiB of memory", "memory"
        return "equal", "", ""

    def _smaller(self, data: bytes, verdict: str, where: str) -> bytes:
        """Take pieces out of an input for as long as it does the same."""
        tries = 8 if verdict == "hang" else 300
        size = max(1, len(data) // 2)
        while size and tries > 0:
            at = 0
            while at < len(data) and tries > 0:
                tries -= 1
                less = data[:at] + data[at + size :]
                found, _, place = self._try(less)
                if (found, place) == (verdict, where):
                    data = less
                else:
                    at += size
            size //= 2
        return data


def _place(error: BaseException, *, own: bool = False) -> str:
    """Return the innermost line of floorbench (or of the laws) that an exception came through."""
    frames = traceback.extract_tb(error.__traceback__)
    names = ("/torture/fuzz/",) if own else ("/floorbench/",)
    for frame in reversed(frames):
        if any(n in frame.filename for n in names) and frame.name not in ("law", "finite"):
            return f"{Path(frame.filename).name}:{frame.lineno}"
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"


def _draw(
    target: Target, seeds: list[bytes], count: int, seed: int, give: Callable[[bytes], None]
) -> None:
    """Let Hypothesis make inputs."""
    import hypothesis
    from hypothesis import strategies as st

    change = st.tuples(st.integers(0, len(CHANGES) - 1), st.integers(0, 2**32 - 1))

    def changed(base: bytes, changes: list[tuple[int, int]]) -> bytes:
        for which, luck in changes:
            base = CHANGES[which](random.Random(luck), base, seeds, target.tokens)
            base = base[:LARGEST_INPUT]
        return base

    valid = st.builds(changed, st.sampled_from(seeds), st.lists(change, min_size=1, max_size=5))
    free = st.text(max_size=200).map(lambda t: t.encode("utf-8", "surrogatepass"))
    words = st.lists(
        st.sampled_from([*target.tokens, *(w for s in seeds for w in s[:4000].split())] or [b"a"]),
        max_size=30,
    ).map(b" ".join)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(hypothesis.Phase.generate,),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.one_of(valid, valid, valid, free, st.binary(max_size=200), words))
    def each(data: bytes) -> None:
        give(data)

    each()


def _guide(target: Target, seeds: list[bytes], count: int, seed: int, run: _Run) -> None:
    """Change what reached something new."""
    rng = random.Random(f"{seed} {target.name}")
    files = {str(import_module(name).__file__) for name in target.modules}
    reached: set[tuple[Any, int, int]] = set()
    kept = list(seeds)
    for one in seeds:
        reached |= _arcs(files, lambda one=one: run._try(one))
    for number in range(count):
        base = kept[-1 - min(int(rng.expovariate(0.2)), len(kept) - 1)] if rng.random() < 0.5 else (
            rng.choice(kept)
        )  # fmt: skip
        data = mutated(rng, base, kept, target.tokens)
        if number % TRACED:
            run.give(data)
            continue
        arcs = _arcs(files, lambda data=data: run.give(data))
        if not arcs <= reached:
            reached |= arcs
            kept.append(data)
    run.tally.notes["arcs"] = len(reached)
    run.tally.notes["inputs kept"] = len(kept) - len(seeds)


def _arcs(files: set[str], call: Callable[[], Any]) -> set[tuple[Any, int, int]]:
    """Return the arcs of some files that a call runs through."""
    arcs: set[tuple[Any, int, int]] = set()

    def globally(frame: FrameType, event: str, _: Any) -> Any:
        code = frame.f_code
        if code.co_filename not in files:
            return None
        last = [code.co_firstlineno]

        def locally(inner: FrameType, what: str, _: Any) -> Any:
            if what == "line":
                line = inner.f_lineno
                arcs.add((code, last[0], line))
                last[0] = line
            return locally

        return locally

    before = sys.gettrace()
    sys.settrace(globally)
    try:
        call()
    finally:
        sys.settrace(before)
    return arcs
