"""Numbers with nouns, for sentences that people read."""

from __future__ import annotations


def counted(
    number: float, one: str, many: str | None = None, *, form: str = "", zero: str = "0"
) -> str:
    """Return a number with its noun: ``1 cell``, ``2 cells``, ``0 cells``.

    Parameters
    ----------
    number : float
    one : str
        The noun, with what follows it where that changes as well (``item is``).
    many : str or None
        The same of several; by default the noun with an ``s``.
    form : str
        Format of the number, for example ``,``.
    zero : str
        Word for none at all.

    Examples
    --------
    >>> counted(1, "item is", "items are"), counted(1200, "call", form=",")
    ('1 item is', '1,200 calls')
    """
    several = f"{one}s" if many is None else many
    said = f"{number:{form}}" if number or zero == "0" else zero
    return f"{said} {one if number == 1 else several}"
