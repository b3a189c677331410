"""What does `floorbench --help` cost beside the smallest program of the same library?

    python benchmarks/bench_import.py

Both start the same interpreter; the figure that matters is the ratio of the medians.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

SRC = str(Path(__file__).resolve().parents[1] / "src")
BARE = "import cyclopts; app = cyclopts.App(name='bare', help='Bare.'); app(['--help'])"
COMMANDS = {
    "python": ["-c", "pass"],
    "bare cyclopts --help": ["-c", BARE],
    "floorbench --help": ["-m", "floorbench.cli.app", "--help"],
}
ROUNDS = 15


def main():
    environment = {**os.environ, "PYTHONPATH": SRC}
    taken = {name: [] for name in COMMANDS}
    for _ in range(ROUNDS):
        for name, arguments in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, *arguments], env=environment, capture_output=True, check=True
            )
            taken[name].append(time.perf_counter() - started)
    medians = {name: statistics.median(times) for name, times in taken.items()}
    bare = medians["bare cyclopts --help"]
    for name, median in medians.items():
        print(f"{name:22} {median * 1e3:7.1f} ms  {median / bare:5.2f} x bare")


if __name__ == "__main__":
    main()
