"""Numbers written as text, as data files write them."""

from __future__ import annotations

import re

DECIMAL = re.compile(r"\s*[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|nan|inf(?:inity)?)\s*",
                     re.ASCII | re.IGNORECASE)  # fmt: skip


def number_of(text: str) -> float:
    """Read a number from text.

    Python itself reads more: ``1_5`` as 15, and digits of other scripts. In a data file both are
    damage, not numbers.

    Parameters
    ----------
    text : str
        Digits of ASCII, a point, an exponent; ``nan`` and ``inf`` are read, for the caller to
        refuse by their own name.

    Raises
    ------
    ValueError
        For anything else.

    Examples
    --------
    >>> number_of(" -1.5e3 ")
    -1500.0
    >>> number_of("1_5")
    Traceback (most recent call last):
    ValueError: '1_5' is not a number
    """
    if DECIMAL.fullmatch(text) is None:
        raise ValueError(f"{text[:40]!r} is not a number")
    return float(text)
