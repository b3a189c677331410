"""Holm's correction over every p value that a report prints."""

from __future__ import annotations

from collections.abc import Mapping

from floorbench.errors import DataError


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Adjust all p values of a report together.

    Parameters
    ----------
    p_values : mapping of str to float or None
        In [0, 1]; ``None`` where no test was possible. Pass every p that will be printed.

    Returns
    -------
    dict
        In the order given. The i-th smallest of m is multiplied by m - i + 1, then made
        non-decreasing and capped at 1. ``None`` stays ``None`` and does not count towards m.

    Raises
    ------
    DataError
        ``FB654`` for a value outside [0, 1] or NaN.

    Source
    ------
    S. Holm (1979), Scandinavian Journal of Statistics 6: 65-70. Holds whatever the dependence
    between the tests.

    Examples
    --------
    >>> holm({"macro": 0.01, "PASR": 0.04, "PKC": None})
    {'macro': 0.02, 'PASR': 0.04, 'PKC': None}
    """
    tested: list[tuple[float, str]] = []
    for name, p in p_values.items():
        if p is None:
            continue
        if not 0 <= p <= 1:
            raise DataError("FB654", f"the p value of '{name}' is {p}")
        tested.append((p, name))
    tested.sort(key=lambda pair: pair[0])
    adjusted: dict[str, float | None] = dict.fromkeys(p_values)
    running = 0.0
    for i, (p, name) in enumerate(tested):
        running = max(running, min(1.0, (len(tested) - i) * p))
        adjusted[name] = running
    return adjusted
