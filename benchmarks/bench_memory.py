"""Does a run's memory stay flat? Peak of many samples beside that of a tenth of them.

Each size runs in a process of its own; the peak is the resident set size that the operating system
reports.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import peaks
from benchmarks.ratios import Case, Work


def peak(samples: int, *, resumed: bool) -> Work:
    """Return what measures the peak of a run in a fresh process, in MiB."""
    command = [sys.executable, "-m", "benchmarks.bench_memory", str(samples)]

    def work() -> float:
        done = subprocess.run(
            [*command, *(["--resumed"] if resumed else [])],
            check=True,
            capture_output=True,
            text=True,
            cwd=Path(__file__).resolve().parents[1],
        )
        return float(done.stdout)

    return work


def cases(full: bool) -> Iterator[Case]:
    small = 10_000 if full else 3_000
    for resumed in (False, True):
        yield Case(
            name="peak memory of a run" + (" and its resume" if resumed else ""),
            size=f"{10 * small:,} samples",
            ours=peak(10 * small, resumed=resumed),
            peers={f"{small:,} samples": peak(small, resumed=resumed)},
            clock="value",
            rounds=3 if full else 1,
            per=(1, "MiB"),
            limit=1.2,
        )


def main() -> None:
    """Run once in this process and print its peak."""
    from benchmarks.generated import run_texts

    parser = argparse.ArgumentParser()
    parser.add_argument("samples", type=int)
    parser.add_argument("--resumed", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as out:
        folder = run_texts(given.samples, out=Path(out))
        if given.resumed:
            run_texts(given.samples, out=Path(out), resume=folder.path)
        with folder.journal.open("rb") as file:
            if sum(1 for _ in file) != given.samples:
                raise AssertionError("lines are missing")
    print(peaks.own() / 2**20)


if __name__ == "__main__":
    main()
