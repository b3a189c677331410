"""``python -m torture``: run campaigns, print figures, keep what was found."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [p for p in (str(ROOT / "src"), str(ROOT)) if p not in sys.path]

from torture.figures import Tally, keep, table  # noqa: E402 -- the path comes first

CAMPAIGNS = {
    "truncate": "torture.truncate",
    "kill": "torture.kill",
    "disk": "torture.disk",
    "readonly": "torture.readonly",
    "clock": "torture.clock",
    "two": "torture.two",
    "fuzz": "torture.fuzz.campaign",
}


def main(given: list[str] | None = None) -> int:
    """Run campaigns; 1 when there is any finding."""
    parser = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    parser.add_argument("--campaign", choices=tuple(CAMPAIGNS), action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--short", action="store_true", help="a small sample of each campaign")
    parser.add_argument("--inputs", type=int, default=10_000, help="per reader, for fuzz")
    parser.add_argument("--only", default="", help="one case, as a finding names it")
    parser.add_argument("--out", type=Path, default=Path("build/torture"), help="for findings")
    options = parser.parse_args(given)
    begun = time.monotonic()
    tallies: list[Tally] = []
    for name in options.campaign or tuple(CAMPAIGNS):
        run = import_module(CAMPAIGNS[name]).campaign
        more = {"inputs": options.inputs} if name == "fuzz" else {}
        tallies += run(seed=options.seed, short=options.short, only=options.only, **more)
    shown = table(tallies)
    print(shown)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "figures.md").write_text(shown + "\n", "utf-8")
    found = keep(tallies, options.out / "findings")
    print(f"\n{time.monotonic() - begun:.0f} s; findings: {found}"
          + (f", kept in {options.out / 'findings'}" if found else ""))  # fmt: skip
    for tally in tallies:
        for one in tally.findings[:5]:
            print(f"- {tally.name} {one.case}: {one.what}\n  {one.again}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
