"""Journals cut at every byte of their last two lines, as after a power failure, and worse.

Each cut journal must open, say so, and go on to the undisturbed outcome: of a run, of a review, of
a listening session. A stored result or sound of a build that is cut anywhere counts as not there
and is made again. Zeros at the end, which some file systems leave, count as an unfinished line.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy as np

from floorbench import codec
from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.export import UNLISTED
from floorbench.build.pipeline.store import Folder, ResultCache, SoundStore
from floorbench.core.prediction import Prediction
from floorbench.datasets.clips import ClipsSource
from floorbench.errors import FloorbenchError
from floorbench.run import provenance
from floorbench.run.deciding import SystemChoice
from floorbench.run.engine import run
from floorbench.run.store import RunFolder
from floorbench.tasks.clips import ClipsTask
from floorbench.web.listen_person import KeyPress, read_person
from floorbench.web.listen_store import Session
from floorbench.web.review_plan import Sampling
from floorbench.web.review_store import Plan, Review
from torture import toys
from torture.child import again
from torture.figures import Tally

ENDS = (b"\0", b"\0" * 100, b"\0" * 4096, b"{", b'{"sample_id":"', b"\xff\xfe", b"\r")
"""What may stand behind the last whole line instead of a piece of the next."""


def campaign(
    *, seed: int = 0, short: bool = False, only: str = "", root: Path | None = None
) -> list[Tally]:
    """Cut everything; return the figures.

    Parameters
    ----------
    seed : int
        Unused: every byte is tried.
    short : bool
        A sample of the cuts: tests have to end on busy machines.
    only : str
        Repeat one case, as ``run=417`` (the bytes that are kept).
    root : Path or None
        Folder for everything.
    """
    tallies = []
    with (
        tempfile.TemporaryDirectory(prefix="torture-cut-", dir=root) as made,
        mock.patch.dict("os.environ", {"TORTURE_PAUSE": "0"}),
        mock.patch.multiple(  # asking git and the machine again takes most of the time
            provenance,
            code=functools.cache(provenance.code),
            packages=functools.cache(provenance.packages),
            hardware=functools.cache(provenance.hardware),
        ),
    ):
        home = Path(made)
        parts: dict[str, Callable[[Path, Tally, str, bool], None]] = {
            "run": _runs, "review": _reviews, "listening": _listening, "build": _builds,
        }  # fmt: skip
        for name, part in parts.items():
            if only and not only.startswith(f"{name}="):
                continue
            tally = Tally(f"truncate/{name}")
            (home / name).mkdir()
            part(home / name, tally, only.partition("=")[2], short)
            tallies.append(tally)
    return tallies


def cuts(data: bytes, only: str = "", *, short: bool = False) -> Iterator[tuple[str, bytes]]:
    """Yield every way in which the last two lines of a journal may have been lost.

    In the short form the last line alone, and every seventh byte of it.
    """
    last = data.rstrip(b"\n").rfind(b"\n") + 1
    before = data[: max(0, last - 1)].rfind(b"\n") + 1
    for kept in range(last, len(data), 7) if short else range(before, len(data)):
        if only in ("", str(kept)):
            yield str(kept), data[:kept]
    for number, end in enumerate(ENDS):
        for name, whole in (("last", data[:last]), ("none", data)):
            case = f"{name}+{number}"
            if only in ("", case):
                yield case, whole + end


def _attempt(tally: Tally, case: str, do: Callable[[], None]) -> None:
    """Count an attempt; an exception is a finding."""
    tally.tried += 1
    part = tally.name.partition("/")[2]
    how = again("truncate", 0, f"{part}={case}")
    try:
        do()
        tally.equal += 1
    except AssertionError as error:
        tally.fault("wrong", case, str(error), how)
    except FloorbenchError as error:
        tally.fault("other", case, f"refused: {error}", how)
    except Exception as error:
        tally.fault("trace", case, f"{type(error).__name__}: {error}", how)


def check(holds: object, what: str) -> None:
    """Raise ``AssertionError`` unless something holds."""
    if not holds:
        raise AssertionError(what)


def _runs(home: Path, tally: Tally, only: str, short: bool) -> None:
    source = ClipsSource(toys.clips(home / "data"))
    system = SystemChoice(name="level", factory=toys.Level)

    def go(resume: Path | None = None) -> tuple[RunFolder, list[str]]:
        said: list[str] = []
        folder = run(
            task=ClipsTask(), system=system, source=source, limit=6, out=home / "runs",
            resume=resume, notify=said.append,
        )  # fmt: skip
        return folder, said

    folder, _ = go()
    whole = folder.journal.read_bytes()
    wanted = _said(folder)

    def one(case: str, data: bytes) -> None:
        folder.journal.write_bytes(data)
        torn = folder.torn()
        check((torn > 0) == (data != b"" and not data.endswith(b"\n")), f"{torn} torn bytes")
        resumed, said = go(folder.path)
        check(_said(resumed) == wanted, "the predictions differ, or one stands twice")
        check(resumed.record().status == "complete", "the run is not complete")
        warned = any("unfinished last line" in s for s in said)
        check(warned == (torn > 0), "an unfinished line is cut without a word")

    for case, data in cuts(whole, only, short=short):
        _attempt(tally, case, lambda case=case, data=data: one(case, data))


def _said(folder: RunFolder) -> list[str]:
    lines: list[Prediction] = list(folder.predictions())
    return sorted(codec.digest([p.key, p.decision, p.observed]) for p in lines)


def _reviews(home: Path, tally: Tally, only: str, short: bool) -> None:
    plan = Plan(name="x", data="0" * 64, sampling=Sampling(share=1.0), items=("a", "b", "é"))
    kept = Review.begin(home, plan)
    for item in plan.items:
        kept.answer("r1", item, "reject", heard=True)
    path = home / "reviewers" / "r1" / "log.jsonl"
    whole = path.read_bytes()

    def one(data: bytes) -> None:
        path.write_bytes(data)
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        found = Review.begin(home, plan)
        check(len(found.answers("r1")) == len(lines), f"{len(found.answers('r1'))} answers")
        for item in plan.items:
            found.answer("r1", item, "reject", heard=True)
        check(set(Review(home).answers("r1")) == set(plan.items), "an answer is lost")

    for case, data in cuts(whole, only, short=short):
        _attempt(tally, case, lambda data=data: one(data))


def _listening(home: Path, tally: Tally, only: str, short: bool) -> None:
    def opened() -> Session:
        return Session.open(home, stimuli="x", data="0" * 64, lists="1" * 64, seed=1)

    session = opened()
    session.join("p1", lists=[("A", False)], mode="key", consent="c")
    for number in range(3):
        session.add("p1", KeyPress(item=0, visit=1, time=1.0 + number, at="é"))
    path = home / "participants" / "p1" / "log.jsonl"
    whole = path.read_bytes()

    def one(data: bytes) -> None:
        path.write_bytes(data)
        lines = data[: data.rfind(b"\n") + 1].splitlines()
        person = opened().person("p1")
        check(len(person.presses) == len(lines) - 1, f"{len(person.presses)} presses")
        again_ = opened()
        again_.add("p1", KeyPress(item=0, visit=2, time=9.0, at="x"))
        read = read_person(path)
        check(read is not None and len(read.presses) == len(lines), "a press is lost")

    for case, data in cuts(whole, only, short=short):
        _attempt(tally, case, lambda data=data: one(data))


def _builds(home: Path, tally: Tally, only: str, short: bool) -> None:
    def go() -> dict[str, bytes]:
        build(toys.Recipe(), out=home / "set", cache=home / "cache")
        return {
            p.relative_to(home).as_posix(): p.read_bytes()
            for p in (home / "set").rglob("*")
            if p.is_file() and p.name not in UNLISTED
        }

    wanted = go()
    store = Folder(home / "cache")
    sounds = SoundStore(store)
    results = ResultCache(store, sounds)
    texts = sorted((home / "cache" / "results").rglob("*.jsonl"))
    tones = sorted((home / "cache" / "sounds").rglob("*.flac"))

    def one(path: Path, data: bytes, kept: int) -> None:
        path.write_bytes(data[:kept])
        if path.suffix == ".jsonl":
            found = results.get(path.stem)
            check(found is None, "a result that was cut passes for whole")
        else:
            try:
                pcm, _ = sounds.pcm(path.stem)
            except FloorbenchError:
                check(not path.exists(), "a damaged sound stays in its place")
            else:
                path.write_bytes(data)
                check(np.array_equal(pcm, sounds.pcm(path.stem)[0]), "other samples for its name")

    for path in (texts[0], tones[0]):
        data = path.read_bytes()
        # The seal stands in the first line; the newline at the end is not under it.
        end = len(data) - 1 if path.suffix == ".jsonl" else len(data)
        for kept in range(0, end, 29 if short else 1):
            case = f"{path.suffix[1:]}-{kept}"
            if only in ("", case):
                _attempt(tally, case, lambda p=path, d=data, k=kept: one(p, d, k))
                path.write_bytes(data)

    def remade(path: Path, kept: int) -> None:
        path.write_bytes(path.read_bytes()[:kept])
        check(go() == wanted, "the dataset differs after a part of the cache was cut")

    for path in (*texts[:: 16 if short else 3], *tones[:: 16 if short else 3]):
        case = f"remade-{path.name[:8]}"
        if only in ("", case):
            size = path.stat().st_size
            _attempt(tally, case, lambda p=path, s=size: remade(p, s // 2))
