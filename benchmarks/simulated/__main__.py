"""``python -m benchmarks.simulated``: count, print the tables, keep the counts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # read when numpy is imported
_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT / "src"), str(_ROOT)]  # a checkout need not be installed

import argparse
import json
from collections.abc import Sequence

from benchmarks.simulated.coverage import coverage
from benchmarks.simulated.gates import CHANGES, passes
from benchmarks.simulated.levels import levels
from benchmarks.simulated.nulls import NULLS
from benchmarks.simulated.worlds import FAMILIES, SHAPES

SIZES = (10, 20, 30, 50, 150)
PARTS = {
    "coverage": ("95 %", "wider"),
    "levels": ("p", "no note"),
    "gates": ("95 %", "gate"),
}
"""What the two columns of each number of clusters are: what is printed, and what stands beside."""


def main(argv: Sequence[str] | None = None) -> int:
    """Count what is asked for, one line of JSON a cell, and print the tables."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.simulated", description=__doc__)
    made.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    made.add_argument("--worlds", type=int, default=400, help="replicates of each cell")
    made.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="clusters")
    made.add_argument("--only", help="one family, null or change")
    made.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=tuple(SHAPES))
    made.add_argument("--seed", type=int, default=0)
    made.add_argument("--json", type=Path, help="append the counts to this file")
    made.add_argument("--table", type=Path, help="print the tables of such a file, count nothing")
    given = made.parse_args(argv)
    if given.table is not None:
        print(tables([json.loads(line) for line in given.table.read_text().splitlines()]))
        return 0
    rows: list[dict[str, object]] = []

    def keep(**row: object) -> None:
        rows.append(row)
        if given.json is not None:
            with given.json.open("a") as out:
                out.write(json.dumps(row) + "\n")

    n_worlds, seed = given.worlds, given.seed
    for part in given.parts or PARTS:
        for n in given.sizes:
            if part == "coverage":
                for family in [f for f in FAMILIES if given.only in (None, f)]:
                    for shape in given.shapes:
                        found = coverage(family, shape, n, worlds=n_worlds, seed=seed)
                        for name, c in found.items():
                            keep(
                                part=part, metric=name, shape=shape, clusters=n, given=c.given,
                                hits=c.held, beside=c.wider, warned=c.warned,
                                hits_unwarned=c.held_unwarned,
                            )  # fmt: skip
            elif part == "levels":
                for null in [k for k in NULLS if given.only in (None, k)]:
                    for name, cell in levels(null, n, worlds=n_worlds, seed=seed).items():
                        keep(
                            part=part, metric=name, shape=null, clusters=n, given=cell.tested,
                            hits=cell.rejected, beside=cell.unnoted, intervals=cell.given,
                            held=cell.held, held_wider=cell.wider,
                        )  # fmt: skip
            else:
                for change in [k for k in CHANGES if given.only in (None, k)]:
                    found_kept = passes(change, n, worlds=n_worlds, seed=seed)
                    keep(
                        part=part, metric="accuracy", shape=change, clusters=n, given=n_worlds,
                        hits=found_kept.plain, beside=found_kept.kept,
                    )  # fmt: skip
    print(tables(rows))
    return 0


def tables(rows: Sequence[dict[str, object]]) -> str:
    """Return Markdown tables: a line per metric and world, two columns per number of clusters."""
    out: list[str] = []
    for part, kinds in PARTS.items():
        cells = {(r["shape"], r["metric"], r["clusters"]): r for r in rows if r["part"] == part}
        if not cells:
            continue
        sizes = sorted({int(str(n)) for _, _, n in cells})
        heads = [f"{n}, {kind}" for n in sizes for kind in kinds]
        out += ["", f"| {part}: world | metric | " + " | ".join(heads) + " |"]
        out.append("|---|---|" + "---:|" * len(heads))
        for shape, metric in dict.fromkeys((s, m) for s, m, _ in cells):
            line = " | ".join(
                _share(cells.get((shape, metric, n)), key)
                for n in sizes
                for key in ("hits", "beside")
            )
            out.append(f"| {shape} | {metric} | {line} |")
    return "\n".join(out)


def _share(row: dict[str, object] | None, key: str) -> str:
    """Return a share in per cent with its Monte-Carlo error, `w` where most were warned of."""
    if row is None:
        return ""
    n, hits = int(str(row["given"])), int(str(row[key]))
    if n < 40:
        return "-"
    p = hits / n
    error = (p * (1 - p) / n) ** 0.5
    mark = " w" if key == "hits" and int(str(row.get("warned", 0))) > n / 2 else ""
    return f"{100 * p:.1f} ± {100 * error:.1f}{mark}"


if __name__ == "__main__":
    sys.exit(main())
