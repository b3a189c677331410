"""What a campaign counts, and how it is printed."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Finding:
    """One thing that went wrong.

    Parameters
    ----------
    case : str
        Which attempt it was.
    what : str
        What went wrong, in one line.
    again : str
        The command that repeats it.
    data : bytes
        The input, where there is one.
    """

    case: str
    what: str
    again: str
    data: bytes = b""


@dataclass
class Tally:
    """The figures of one row of the table.

    Parameters
    ----------
    name : str
        Campaign and part: ``kill/run-serial``.
    tried : int
        Attempts.
    equal : int
        Attempts whose outcome is the undisturbed one, bit by bit (readers: values that passed
        every law).
    refused : Counter
        Refusals by code.
    hangs, traces, wrong, other : int
        Findings by kind: no end in time, a Python traceback, a silent wrong outcome, other faults.
    notes : Counter
        Anything else worth a figure.
    """

    name: str
    tried: int = 0
    equal: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    hangs: int = 0
    traces: int = 0
    wrong: int = 0
    other: int = 0
    notes: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0

    def fault(self, kind: str, case: str, what: str, again: str, data: bytes = b"") -> None:
        """Count a finding of a kind: ``hang``, ``trace``, ``wrong`` or ``other``."""
        name = {"hang": "hangs", "trace": "traces", "wrong": "wrong"}.get(kind, "other")
        setattr(self, name, getattr(self, name) + 1)
        if len(self.findings) < 50:
            self.findings.append(Finding(case, f"{kind}: {what}", again, data))

    def add(self, other: Tally) -> None:
        """Add the figures of a part."""
        for name in ("tried", "equal", "hangs", "traces", "wrong", "other"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.refused += other.refused
        for what, count in other.notes.items():  # Counter's own sum drops zeros
            self.notes[what] += count
        self.findings += other.findings

    @property
    def bad(self) -> int:
        """Number of findings."""
        return self.hangs + self.traces + self.wrong + self.other


HEAD = (
    "part",
    "tried",
    "equal",
    "refused",
    "hangs",
    "traces",
    "wrong",
    "other",
    "seconds",
    "notes",
)


def each(tally: Tally, cases: Sequence[T], do: Callable[[T, Tally], None]) -> None:
    """Do every case, two at a time where there are two cores, and add up the figures."""
    ticker = Ticker(tally, len(cases))

    def one(case: T) -> Tally:
        part = Tally(tally.name)
        do(case, part)
        return part

    with ThreadPoolExecutor(max_workers=min(2, os.cpu_count() or 1)) as pool:
        for part in pool.map(one, cases):
            tally.add(part)
            ticker.tick()
    if cases:
        ticker.done()


def table(tallies: list[Tally]) -> str:
    """Return the figures as a Markdown table with a line of sums."""
    rows = [HEAD]
    for t in tallies:
        codes = " ".join(f"{code}:{n}" for code, n in sorted(t.refused.items()))
        notes = ", ".join(f"{n} {what}" for what, n in sorted(t.notes.items()))
        shown = f"{sum(t.refused.values())}" + (f" ({codes})" if len(codes) <= 60 and codes else "")
        rows.append(
            (t.name, str(t.tried), str(t.equal), shown, str(t.hangs), str(t.traces), str(t.wrong),
             str(t.other), f"{t.seconds:.0f}", notes)
        )  # fmt: skip
    sums = [sum(getattr(t, n) for t in tallies) for n in ("tried", "equal")]
    bad = [sum(getattr(t, n) for t in tallies) for n in ("hangs", "traces", "wrong", "other")]
    refused = sum(sum(t.refused.values()) for t in tallies)
    total = f"{sum(t.seconds for t in tallies):.0f}"
    rows.append(("all", *map(str, (*sums, refused, *bad)), total, ""))
    widths = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(r, widths, strict=True)) + " |" for r in rows
    ]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return "\n".join((lines[0], rule, *lines[1:]))


def keep(tallies: list[Tally], folder: Path) -> int:
    """Write the findings into a folder, with the command that repeats each; return how many."""
    count = 0
    for tally in tallies:
        for found in tally.findings:
            count += 1
            folder.mkdir(parents=True, exist_ok=True)
            mark = hashlib.sha256(found.data + found.what.encode()).hexdigest()[:8]
            stem = "".join(c if c.isalnum() or c in "-_." else "-" for c in tally.name)
            base = folder / f"{stem}-{mark}"
            base.with_name(base.name + ".txt").write_text(
                f"{tally.name}: {found.case}\n{found.what}\nagain: {found.again}\n", "utf-8"
            )
            if found.data:
                base.with_name(base.name + ".input").write_bytes(found.data)
    return count


class Ticker:
    """Progress on standard error, at most once a second."""

    def __init__(self, tally: Tally, total: int) -> None:
        self._tally, self._total = tally, total
        self._begun = self._said = time.monotonic()

    def tick(self) -> None:
        """Say how far it is."""
        now = time.monotonic()
        self._tally.seconds = now - self._begun
        if now - self._said >= 1.0 and sys.stderr.isatty():
            self._said = now
            t = self._tally
            print(f"\r{t.name}: {t.tried}/{self._total}, findings {t.bad}   ", end="",
                  file=sys.stderr, flush=True)  # fmt: skip

    def done(self) -> None:
        """End the line."""
        self._tally.seconds = time.monotonic() - self._begun
        t = self._tally
        print(f"\r{t.name}: {t.tried} tried, {t.equal} equal, "
              f"{sum(t.refused.values())} refused, findings {t.bad} ({t.seconds:.0f} s)   ",
              file=sys.stderr, flush=True)  # fmt: skip
