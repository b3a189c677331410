"""What is fuzzed: one reader or parser, valid inputs to start from, and the laws of its answers."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from floorbench.errors import FloorbenchError


class Wrong(Exception):
    """A value that breaks a law of its reader: a silent wrong answer."""


@dataclass(frozen=True)
class Target:
    """A reader or parser.

    Parameters
    ----------
    name : str
    seeds : callable
        Returns valid inputs, at least one.
    read : callable
        Takes an input and an empty scratch folder; returns normally when the reader gave a value
        that keeps its laws, raises ``Wrong`` when it does not, and lets refusals through.
    covers : tuple of str
        ``module:function`` of every decoding function of floorbench that this exercises.
    refusals : tuple of type
        Exceptions beside ``FloorbenchError`` with a code that are this parser's way to refuse.
    tokens : tuple of bytes
        Words of the input's grammar to throw in.
    native : bool
        Whether a library written in C does the reading, which may take the process down.
    share : float
        Of the number of inputs; below 1 for readers that need milliseconds per input.
    """

    name: str
    seeds: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], object]
    covers: tuple[str, ...]
    refusals: tuple[type[BaseException], ...] = ()
    tokens: tuple[bytes, ...] = ()
    native: bool = False
    share: float = 1.0

    @property
    def modules(self) -> tuple[str, ...]:
        """Modules whose lines guide the search."""
        return tuple(dict.fromkeys(c.partition(":")[0] for c in self.covers))


def law(holds: object, what: str) -> None:
    """Raise ``Wrong`` unless a law holds."""
    if not holds:
        raise Wrong(what)


def finite(value: Any, path: str = "value") -> None:
    """Refuse a NaN or an infinity anywhere in a value."""
    if isinstance(value, float):
        law(math.isfinite(value), f"{path} is {value}")
    elif isinstance(value, Decimal):
        law(value.is_finite(), f"{path} is {value}")
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for one in dataclasses.fields(value):
            finite(getattr(value, one.name), f"{path}.{one.name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            finite(item, f"{path}[{key!r:.30}]")
    elif isinstance(value, list | tuple | set | frozenset):
        for number, item in enumerate(value):
            finite(item, f"{path}[{number}]")


def outcome(read: Callable[[], Any], *refusals: type[BaseException]) -> Any:
    """Return what a reader gives, or the error that it refuses with."""
    try:
        return read()
    except (FloorbenchError, *refusals) as error:
        return error
