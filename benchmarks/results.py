"""What was measured, on what, as text, as JSON and as the tables of the page about performance."""

from __future__ import annotations

import datetime
import importlib.metadata
import math
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.ratios import Row

PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "torch", "torchmetrics", "transformers", "librosa",
    "onnxruntime", "silero-vad", "pyannote.core", "lhotse", "datasets", "cyclopts", "lm-eval",
    "inspect-ai", "starlette", "uvicorn", "gradio", "streamlit",
)  # fmt: skip
"""Packages whose version a result may depend on: ours and those of the peers."""
HEAD = (
    "case", "floorbench", "beside", "takes", "floorbench / peer", "lowest to highest (rounds)",
)  # fmt: skip


def machine() -> dict[str, str]:
    """Return the kind of machine, without its name: system, processor, cores, versions, date."""
    found = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "load": f"{os.getloadavg()[0]:.1f}",
        "python": platform.python_version(),
    }
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "unknown"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


def number(value: float) -> str:
    """Return a number with three significant digits and no exponent."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{float(f'{value:.3g}'):,.0f}"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{value:.{min(digits, 7)}f}"


def amount(value: float, row: Row) -> str:
    """Return what one thing took, in the unit that suits it."""
    thing = row.per[1]
    if row.clock == "value":
        return f"{number(value / row.per[0])} {thing}"
    seconds = value / row.per[0]
    unit, scale = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    clock = " on the clock" if row.clock == "wall" else ""
    article = "an" if thing.startswith(("a", "e", "i", "o", "hour")) else "a"
    return f"{number(seconds * scale)} {unit} {article} {thing}{clock}"


class Cells(NamedTuple):
    """One line of a table; the columns are those of ``HEAD``."""

    case: str
    ours: str
    peer: str
    theirs: str
    ratio: str
    range: str


def cells(row: Row) -> Cells:
    """Return the line of a row."""
    case, ours = f"{row.case}; {row.size}", amount(row.ours.median, row)
    if row.theirs is None or row.ratio is None:
        return Cells(case, ours, row.peer, "", row.absent or "", "")
    theirs = amount(row.theirs.median, row) + (" (projected)" if row.projected else "")
    limit = "" if row.limit is None else f" (at most {number(row.limit)})"
    span = f"{number(row.ratio.low)} to {number(row.ratio.high)} ({row.rounds})"
    return Cells(case, ours, row.peer, theirs, number(row.ratio.median) + limit, span)


def shown(rows: Iterable[Row]) -> str:
    """Return rows for a terminal, one paragraph a case."""
    out: list[str] = []
    last = None
    for row in rows:
        c = cells(row)
        if c.case != last:
            last = c.case
            out.append(f"  {c.case}: {c.ours}")
        if row.ratio is None:
            out.append(f"    beside {c.peer}: {c.ratio}")
        else:
            bad = "" if row.kept else "   ABOVE ITS LIMIT"
            out.append(f"    beside {c.peer}, {c.theirs}: {c.ratio}, {c.range}{bad}")
    return "\n".join(out)


def table(rows: Sequence[Row], about: Mapping[str, str]) -> str:
    """Return rows as a table in Markdown, with the machine under it."""
    lines = [_line(HEAD), _line(["---"] * len(HEAD))]
    last = None
    for row in rows:
        c = cells(row)
        lines.append(_line(c._replace(case="", ours="") if c[:2] == last else c))
        last = c[:2]
    known = dict(about)
    place = (
        f"{known.pop('date')}, {known.pop('cores')} cores of {known.pop('processor')}, "
        f"{known.pop('system')}, load {known.pop('load')}"
    )
    versions = ", ".join(f"{name} {version}" for name, version in known.items())
    return "\n".join([*lines, "", f"Measured {place}; {versions}."])


def _line(values: Iterable[str]) -> str:
    return "| " + " | ".join(values) + " |"


def put(page: str, subject: str, text: str) -> str:
    """Return a page with the text between the two marks of a subject replaced.

    Raises
    ------
    ValueError
        When the page has no such marks.
    """
    marks = re.compile(rf"(<!-- {re.escape(subject)} -->\n).*?(<!-- end -->)", re.S)
    if not marks.search(page):
        raise ValueError(f"the page has no marks <!-- {subject} --> and <!-- end -->")
    return marks.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page, count=1)
