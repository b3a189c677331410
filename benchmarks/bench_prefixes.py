"""Tokens that a turn of N words costs when every prefix is a question, against the naive way.

    FLOORBENCH_CACHE=... python benchmarks/bench_prefixes.py [--words 95]

Counts are exact and repeatable; the seconds beside them are of this machine today.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from floorbench.core.sample import Observation
from floorbench.datasets.open import open_dataset
from floorbench.systems.build import build_system
from floorbench.systems.llm.asking import Asking
from floorbench.tasks.trp import TrpTask


def turn(words: int) -> list[Observation]:
    """Return the prefixes of a turn of so many words, from the starter set's texts."""
    task, text, samples = TrpTask(), [], []
    for sample in open_dataset("starter:trp").samples():
        text.append(sample.observation.text.split()[-1])
        samples.append(sample)
        if len(text) == words:
            break
    shown = task.observe(samples[0], "participant")
    return [replace(shown, text=" ".join(text[: n + 1])) for n in range(words)]


def measure(name: str, prefixes: list[Observation]) -> dict[str, float]:
    """Ask about every prefix in order and count."""
    system: Asking = build_system(name)
    system.load()
    start, sizes = time.perf_counter(), []
    for shown in prefixes:
        before = system.usage
        system.decide(shown)
        calls = system.usage.generated - before.generated  # one token a call
        sizes.append((system.usage.prompt - before.prompt) // calls)
    wall = time.perf_counter() - start
    total, n = system.usage, len(prefixes)
    closing = closing_tokens(system, prefixes[0])
    allowed = sizes[-1] - closing + n * (closing + 1)
    spent = total.evaluated + total.generated
    naive = sum(sizes) + n
    return {
        "evaluated": total.evaluated,
        "written": total.generated,
        "prompt + turn + N closings": allowed,
        "spent / that": spent / allowed,
        "naive": naive,
        "naive / spent": naive / spent,
        "seconds": wall,
    }


def closing_tokens(system: Asking, shown: Observation) -> int:
    """Return how many tokens come after the words."""
    return len(system.model._read(system._prompt(shown)).tail)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=95)
    prefixes = turn(parser.parse_args().words)
    for name in ("boundary-smollm2", "yesno-smollm2"):
        found = measure(name, prefixes)
        print(f"{name}, {len(prefixes)} words")
        for what, value in found.items():
            print(f"  {what:26} {value:10.2f}" if value % 1 else f"  {what:26} {value:10.0f}")


if __name__ == "__main__":
    main()
