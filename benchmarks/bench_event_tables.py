"""Labels and event tables of two-channel sessions: time of a table, and memory that stays flat.

Sessions of ten minutes are made as words and labelled one at a time; the table is written as JSON
lines. The peer of the time is the same reading without labels. Each size of the memory case runs
in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import peaks
from benchmarks.generated import Conversations
from benchmarks.ratios import Case, Work
from floorbench.datasets.dualturn_labels import (
    LabelRules,
    labelled,
    training_phrases,
    write_table,
)
from floorbench.datasets.two_channel import TwoChannelSource

MINUTES = 10
RULES = LabelRules(protocol="dualturn-4s", min_gap=0)


def conversations(hours: float) -> Conversations:
    return Conversations(sessions=max(1, round(hours * 60 / MINUTES)), minutes=MINUTES)


def label(source: TwoChannelSource, folder: Path) -> int:
    """Label everything and write the table; return the number of events."""
    phrases = training_phrases(source, RULES)
    found = (row for one in labelled(source, RULES, phrases) for row in one.rows)
    return write_table(folder / "events.jsonl", found)


def read_twice(source: TwoChannelSource) -> int:
    """Read every session as often as labelling does."""
    return sum(1 for _ in range(2) for _ in source.sessions())


def peak(hours: float) -> Work:
    """Return what measures the peak of labelling in a fresh process, in MiB."""

    def work() -> float:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.bench_event_tables", str(hours)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).resolve().parents[1],
        )
        return float(done.stdout)

    return work


def cases(full: bool) -> Iterator[Case]:
    hours = 20.0 if full else 4.0
    with tempfile.TemporaryDirectory() as folder:
        yield Case(
            name="DualTurn labels and event table",
            size=f"{hours:g} h of words in sessions of {MINUTES} minutes",
            ours=lambda: label(conversations(hours), Path(folder)),
            peers={"making and reading the sessions alone": lambda: read_twice(
                conversations(hours)
            )},
            per=(hours, "hour of audio"),
            rounds=5,
        )  # fmt: skip
    small, large = (10.0, 1000.0) if full else (10.0, 100.0)
    yield Case(
        name="peak memory of labels and event table",
        size=f"{large:g} h",
        ours=peak(large),
        peers={f"{small:g} h": peak(small)},
        clock="value",
        rounds=1,
        per=(1, "MiB"),
        limit=1.2,
    )


def main() -> None:
    """Label so many hours in this process and print its peak."""
    with tempfile.TemporaryDirectory() as folder:
        label(conversations(float(sys.argv[1])), Path(folder))
    print(peaks.own() / 2**20)


if __name__ == "__main__":
    main()
