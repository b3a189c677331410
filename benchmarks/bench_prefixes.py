"""Tokens that a turn costs when every prefix is a question, beside asking from the start each time.

Counts are exact and repeatable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from benchmarks.ratios import Case
from floorbench.core.sample import Observation
from floorbench.datasets.open import open_dataset
from floorbench.errors import FloorbenchError
from floorbench.systems.build import build_system
from floorbench.tasks.trp import TrpTask

SYSTEMS = ("boundary-smollm2", "yesno-smollm2")


class Tokens(NamedTuple):
    """Tokens that a turn cost: spent, by asking anew each time, and at the least."""

    spent: int
    naive: int
    least: int


def turn(words: int) -> list[Observation]:
    """Return the prefixes of a turn of so many words, from the starter set's texts."""
    task, text, samples = TrpTask(), [], []
    for sample in open_dataset("starter:trp").samples():
        text.append((sample.observation.text or "").split()[-1])
        samples.append(sample)
        if len(text) == words:
            break
    shown = task.observe(samples[0], "participant")
    return [replace(shown, text=" ".join(text[: n + 1])) for n in range(words)]


def count(name: str, prefixes: list[Observation]) -> Tokens:
    """Ask about every prefix in order and count."""
    system: Any = build_system(name)
    system.load()
    sizes = []
    for shown in prefixes:
        before = system.usage
        system.decide(shown)
        calls = system.usage.generated - before.generated  # one token a call
        sizes.append((system.usage.prompt - before.prompt) // calls)
    closing = len(system.model._read(system._prompt(prefixes[0])).tail)  # what follows the words
    n, total = len(prefixes), system.usage
    return Tokens(
        spent=total.evaluated + total.generated,
        naive=sum(sizes) + n,
        least=sizes[-1] - closing + n * (closing + 1),
    )


def cases(full: bool) -> Iterator[Case]:
    prefixes = turn(95 if full else 40)
    for name in SYSTEMS:
        asking, least = "every prefix asked from the start", "prompt, turn and N closings once"
        size = f"a turn of {len(prefixes)} words, {name}"
        try:
            tokens = count(name, prefixes)
        except FloorbenchError as error:
            print(f"  {name} is left out: {error.code} {error.what}")
            continue
        yield Case(
            name="tokens of a turn asked about after every word",
            size=size,
            ours=partial(getattr, tokens, "spent"),
            peers={
                asking: partial(getattr, tokens, "naive"),
                least: partial(getattr, tokens, "least"),
            },
            clock="value",
            rounds=1,
            per=(1, "tokens"),
        )
