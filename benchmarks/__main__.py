"""``python -m benchmarks``: measure, count, and write down what was found."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is imported
_ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(_ROOT / "src"), str(_ROOT / "tests")]  # a checkout need not be installed
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, [*sys.path[:2], os.environ.get("PYTHONPATH")])
)  # the same for the programs that are started

import argparse
import cProfile
import importlib
import json
import pstats
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict

from benchmarks import counting, results
from benchmarks.ratios import Case, Row, measure

SUBJECTS = tuple(sorted(p.stem[6:] for p in Path(__file__).parent.glob("bench_*.py")))


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Ratios of floorbench to references, with spread."
    )
    made.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    made.add_argument("--rounds", type=int, help="rounds instead of each case's own number")
    made.add_argument("--full", action="store_true", help="large sizes; takes an hour")
    made.add_argument("--json", type=Path, help="write everything that was measured to this file")
    made.add_argument(
        "--write", action="store_true", help="write docs/performance.md (with --counts: the counts)"
    )
    made.add_argument(
        "--profile", type=int, metavar="N", help="show the N costliest functions instead"
    )
    made.add_argument("--counts", action="store_true", help="count calls instead of seconds")
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Measure what is asked for; 1 when a ratio is above its limit or a count has grown."""
    given = parser().parse_args(argv)
    unknown = [s for s in given.subjects if s not in SUBJECTS]
    if unknown:
        print(f"no subject {', '.join(unknown)}; there are {', '.join(SUBJECTS)}", file=sys.stderr)
        return 2
    if given.counts:
        return counting.main(write=given.write)
    found: dict[str, list[Row]] = {}
    for subject in given.subjects or SUBJECTS:
        started = time.perf_counter()
        print(f"{subject}", flush=True)
        found[subject] = []
        for case in _cases(subject)(given.full):
            if given.profile is not None:
                profile(case, given.profile)
                continue
            rows = measure(case, rounds=given.rounds)
            print(results.shown(rows), flush=True)
            found[subject] += rows
        print(f"  ({time.perf_counter() - started:.0f} s)", flush=True)
    about = results.machine()
    if given.json is not None:
        plain = {name: [asdict(row) for row in rows] for name, rows in found.items()}
        given.json.write_text(json.dumps({"machine": about, "results": plain}, indent=1) + "\n")
    if given.write:
        page = results.PAGE.read_text(encoding="utf-8")
        for subject, rows in found.items():
            page = results.put(page, subject, results.table(rows, about))
        results.PAGE.write_text(page, encoding="utf-8")
    return int(any(not row.kept for rows in found.values() for row in rows))


def profile(case: Case, lines: int) -> None:
    """Print which functions take the time of floorbench's side of a case, after a warm-up."""
    case.ours()
    with cProfile.Profile() as found:
        case.ours()
    print(f"  {case.name}; {case.size}")
    pstats.Stats(found).strip_dirs().sort_stats("tottime").print_stats(lines)


def _cases(subject: str) -> Callable[[bool], Iterator[Case]]:
    found: Callable[[bool], Iterator[Case]] = importlib.import_module(
        f"benchmarks.bench_{subject}"
    ).cases
    return found


if __name__ == "__main__":
    sys.exit(main())
