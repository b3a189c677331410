"""Does a run's memory stay flat? Peak of 100,000 samples beside that of 10,000.

A constant system is run on generated samples, each size in a process of its own; the peak is the
resident set size that the operating system reports. Exit code 1 when the ratio is above the limit.

    PYTHONPATH=src python benchmarks/bench_memory.py
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LIMIT = 1.2


def measure(samples: int, resumed: bool) -> dict[str, float]:
    """Run once in this process and return what it took."""
    from floorbench.core.prediction import Decision
    from floorbench.core.sample import Observation, Sample
    from floorbench.core.spec import SystemSpec, TaskSpec
    from floorbench.run.deciding import SystemChoice
    from floorbench.run.engine import run

    class Source:
        name = "generated"

        def locator(self) -> dict[str, Any]:
            return {}

        def describe(self) -> dict[str, Any]:
            return {"name": self.name}

        def digest(self) -> str:
            return str(samples)

        def samples(self) -> Iterator[Sample]:
            for i in range(samples):
                yield Sample(
                    id=f"generated-sample-{i:09d}",
                    cluster=f"c{i // 10}",
                    observation=Observation(language="en", text=f"text number {i}"),
                    target={"gold": "yes"},
                )

    class Task:
        spec = TaskSpec(name="memory", version="1", labels=("yes",))

        def conditions(self, system: SystemSpec) -> tuple[str, ...]:
            return ("",)

        def observe(self, sample: Sample, condition: str, *, system: Any = None) -> Observation:
            return sample.observation

        def due(self, sample: Sample, system: SystemSpec) -> bool:
            return True

        def problem(self, sample: Sample, decision: Decision) -> str | None:
            return None

    class Constant:
        spec = SystemSpec(name="constant", version="1")

        def load(self) -> None:
            pass

        def decide(self, observation: Observation) -> Decision:
            return Decision(label="yes")

    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        options: dict[str, Any] = {
            "task": Task(),
            "system": SystemChoice(name="constant", factory=Constant),
            "source": Source(),
            "notify": lambda _: None,
        }
        folder = run(out=Path(out), **options)
        if resumed:
            run(resume=folder.path, **options)
        with folder.journal.open("rb") as file:
            assert sum(1 for _ in file) == samples
    return {
        "seconds": time.perf_counter() - start,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def peak(samples: int, resumed: bool) -> dict[str, float]:
    """Measure in a fresh process."""
    command = [sys.executable, __file__, "--one", str(samples), *(["--resumed"] * resumed)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=10_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--resumed", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(measure(given.one, given.resumed)))
        return 0
    worst = 0.0
    for resumed in (False, True):
        small, large = peak(given.small, resumed), peak(given.large, resumed)
        ratio = large["peak_mib"] / small["peak_mib"]
        worst = max(worst, ratio)
        print(
            f"{'run and resume' if resumed else 'run':15} "
            f"{given.small:>7}: {small['peak_mib']:6.1f} MiB {small['seconds']:5.1f} s   "
            f"{given.large:>7}: {large['peak_mib']:6.1f} MiB {large['seconds']:5.1f} s   "
            f"ratio {ratio:.3f} (limit {LIMIT})"
        )
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
