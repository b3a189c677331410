"""No regular expression takes the square of its input: hostile lines would stop a program.

Each pattern of the package is given, for each of its open repetitions, the least text that leads
there, the repeated piece very many times, and an end that does not match.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import re._constants as op
import re._parser as parser
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import floorbench

SRC = Path(floorbench.__file__).parent
LENGTH = 60_000
LIMIT = 2.0
"""Processor seconds; what is linear needs a hundredth, what is not needs ten times as much."""
CATEGORIES = {
    op.CATEGORY_DIGIT: "1", op.CATEGORY_NOT_DIGIT: "a", op.CATEGORY_SPACE: " ",
    op.CATEGORY_NOT_SPACE: "a", op.CATEGORY_WORD: "a", op.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
METHODS = ("search", "match", "fullmatch")


def held(value: Any) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (v for v in value.values() if isinstance(v, re.Pattern))
    elif isinstance(value, tuple | list):
        yield from (v for v in value if isinstance(v, re.Pattern))


def patterns() -> dict[str, tuple[re.Pattern[Any], str]]:
    """Return the patterns of all modules that can be imported here, by place."""
    found: dict[re.Pattern[Any], tuple[str, str]] = {}
    for module in pkgutil.walk_packages(floorbench.__path__, "floorbench."):
        if module.name.endswith("__main__"):
            continue
        try:
            loaded = importlib.import_module(module.name)
        except ImportError:  # an extra that is not there
            continue
        for name, value in vars(loaded).items():
            for pattern in held(value):
                found.setdefault(pattern, (module.name, name))
    return {f"{m}.{n}:{p.pattern!r:.30}": (p, n) for p, (m, n) in found.items()}


PATTERNS = patterns()
SOURCES = [p.read_text("utf-8") for p in SRC.rglob("*.py")]


def used(name: str) -> set[str]:
    """Return how a pattern is used; all ways where that cannot be seen."""
    call = re.compile(rf"\b{name}\.(\w+)")
    found = {how for text in SOURCES for how in call.findall(text)}
    known = {how if how in METHODS else "search" for how in found}
    return known or set(METHODS)


def of_set(items: Sequence[Any]) -> list[str]:
    chosen = []
    for kind, value in items:
        if kind is op.LITERAL:
            chosen.append(chr(value))
        elif kind is op.RANGE:
            chosen.append(chr(value[0]))
        elif kind is op.CATEGORY:
            chosen.append(CATEGORIES[value])
    if items[0][0] is op.NEGATE:
        return [c for c in "a1 -_<[.\t" if c not in chosen][:4]
    return chosen


def least(parsed: Any) -> str:
    """Return a shortest text that a piece of a pattern matches."""
    text = ""
    for kind, value in parsed:
        if kind is op.LITERAL:
            text += chr(value)
        elif kind is op.NOT_LITERAL or kind is op.ANY:
            text += "a"
        elif kind is op.IN:
            text += of_set(value)[0]
        elif kind is op.BRANCH:
            text += min((least(branch) for branch in value[1]), key=len)
        elif kind is op.SUBPATTERN:
            text += least(value[3])
        elif kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            text += least(value[2]) * value[0]
    return text


def repetitions(parsed: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the text before each open repetition, and what is repeated."""
    for kind, value in parsed:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            inner = value[2]
            if value[1] is op.MAXREPEAT:
                one = of_set(inner[0][1]) if [k for k, _ in inner] == [op.IN] else [least(inner)]
                yield from ((before, unit) for unit in one if unit)
            yield from repetitions(inner, before)
        elif kind is op.SUBPATTERN:
            yield from repetitions(value[3], before)
        elif kind is op.BRANCH:
            for branch in value[1]:
                yield from repetitions(branch, before)
        before += least([(kind, value)])


def attacks(pattern: re.Pattern[Any]) -> Iterator[str]:
    for before, unit in repetitions(parser.parse(pattern.pattern, pattern.flags)):
        for piece in (unit, before + unit):
            yield before + piece * (LENGTH // len(piece)) + "\0"
            yield piece * (LENGTH // len(piece)) + "\0"


class Late(Exception):
    pass


def late(*_: object) -> None:
    raise Late


def slow(pattern: re.Pattern[Any], ways: set[str], limit: float = LIMIT) -> list[str]:
    """Return the attacks that a pattern does not answer in time."""
    found = []
    before = signal.signal(signal.SIGVTALRM, late)
    try:
        for text in dict.fromkeys(attacks(pattern)):
            for way in sorted(ways):
                given = text.encode() if isinstance(pattern.pattern, bytes) else text
                signal.setitimer(signal.ITIMER_VIRTUAL, limit)
                try:
                    getattr(pattern, way)(given)
                except Late:
                    found.append(f"{way}: {text[:20]!r}")
                finally:
                    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:
        signal.signal(signal.SIGVTALRM, before)
    return found


def test_patterns_are_found() -> None:
    assert len(PATTERNS) > 50


@pytest.mark.parametrize("place", sorted(PATTERNS))
def test_a_pattern_takes_no_square(place: str) -> None:
    pattern, name = PATTERNS[place]
    assert slow(pattern, used(name)) == []


@pytest.mark.parametrize("bad", [r"<\|(.*?)\|>x", r"\d+\.?\d*z", r"a\s*:?\s*b", r"\w+://"])
def test_a_square_is_seen(bad: str) -> None:
    assert slow(re.compile(bad), {"search"}, limit=0.5)
