"""Intervals of one unclustered rate, Wilson and Clopper-Pearson; normal and Student's t."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

from floorbench.core.score import Interval
from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError


def wilson(successes: float, n: int, *, level: float = 0.95) -> Interval:
    """Return Wilson's score interval of a rate.

    Parameters
    ----------
    successes : float
        In ``[0, n]``; fractions are allowed, because trials are averaged within a sample.
    n : int
        Independent units.
    level : float
        Inside (0, 1).

    Undefined
    ---------
    ``n = 0``: no interval, with the reason.

    Raises
    ------
    DataError
        ``FB653`` for impossible counts.
    UsageError
        ``FB650`` for a level outside (0, 1).

    Source
    ------
    E. B. Wilson (1927), Journal of the American Statistical Association 22: 209-212; no
    continuity correction.
    """
    _check(successes, n, level)
    if n == 0:
        return _no_units(level)
    z = normal_quantile(0.5 + level / 2)
    rate = successes / n
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    # At a bound the two terms cancel to rounding noise; the limit itself is exact.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == n else middle + half
    return Interval(low=low, high=high, level=level, method="wilson", clusters=n)


def clopper_pearson(successes: int, n: int, *, level: float = 0.95) -> Interval:
    """Return the exact (Clopper-Pearson) interval of a rate.

    Parameters
    ----------
    successes : int
        In ``[0, n]``, a whole number.
    n : int
        Independent units.
    level : float
        Inside (0, 1).

    Returns
    -------
    Interval
        ``low`` solves P(X >= successes) = (1 - level) / 2 and ``high`` solves
        P(X <= successes) = (1 - level) / 2; 0 and 1 at the bounds. The other limit at a bound is
        two-sided all the same: 0 of 100 has an upper limit of 1 - 0.025 ** (1 / 100) = 0.0362.

    Undefined
    ---------
    ``n = 0``: no interval, with the reason.

    Raises
    ------
    DataError
        ``FB653`` for impossible or fractional counts.
    UsageError
        ``FB650`` for a level outside (0, 1).

    Source
    ------
    C. J. Clopper and E. S. Pearson (1934), Biometrika 26: 404-413.
    """
    _check(successes, n, level)
    if successes != int(successes):
        raise DataError(
            "FB653",
            f"{counted(successes, 'success', 'successes')}; "
            "the exact interval needs a whole number",
        )
    if n == 0:
        return _no_units(level)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else _beta_quantile(tail, successes, n - successes + 1)
    high = 1.0 if successes == n else 1 - _beta_quantile(tail, n - successes, successes + 1)
    return Interval(low=low, high=high, level=level, method="clopper-pearson", clusters=n)


def normal_quantile(probability: float) -> float:
    """Return the standard normal quantile of a probability inside (0, 1)."""
    return NormalDist().inv_cdf(probability)


def normal_cdf(z: float) -> float:
    """Return the standard normal distribution function."""
    # erfc keeps the lower tail accurate, where 1 + erf(z) would cancel.
    return 0.5 * math.erfc(-z / math.sqrt(2))


@lru_cache(maxsize=4096)
def student_quantile(probability: float, freedom: float) -> float:
    """Return the quantile of Student's t for a probability in [0.5, 1).

    Parameters
    ----------
    probability : float
    freedom : float
        Degrees of freedom, above 0; a fraction is allowed.
    """
    x = _beta_quantile(2 * (1 - probability), freedom / 2, 0.5)
    return math.sqrt(freedom * (1 - x) / x) if x > 0 else math.inf


def student_p(t: float, freedom: float) -> float:
    """Return the two-sided p of a value of Student's t.

    Parameters
    ----------
    t : float
    freedom : float
        Degrees of freedom, above 0; a fraction is allowed.
    """
    x = freedom / (freedom + t * t)
    return 1.0 if x >= 1 else _beta_cdf(x, freedom / 2, 0.5)


def check_level(level: float) -> None:
    """Raise ``FB650`` unless the level lies inside (0, 1)."""
    if not 0 < level < 1:
        raise UsageError("FB650", f"the level is {level}; it must lie between 0 and 1")


def _check(successes: float, n: int, level: float) -> None:
    check_level(level)
    if n != int(n) or not 0 <= successes <= n:
        raise DataError(
            "FB653", f"{counted(successes, 'success', 'successes')} of {counted(n, 'unit')}"
        )


def _no_units(level: float) -> Interval:
    return Interval(level=level, reason="there are no units")


def _beta_quantile(probability: float, a: float, b: float) -> float:
    """Invert the regularised incomplete beta function by bisection to the last bit."""
    low, high = 0.0, 1.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if _beta_cdf(middle, a, b) < probability:
            low = middle
        else:
            high = middle


def _beta_cdf(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) for 0 < x < 1.

    Source: NIST Digital Library of Mathematical Functions, 8.17.22 (continued fraction) and
    8.17.4 (symmetry), evaluated by the modified Lentz method.
    """
    if x > (a + 1) / (a + b + 2):
        return 1 - _beta_cdf(1 - x, b, a)
    log_front = (
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
        + a * math.log(x) + b * math.log1p(-x)
    )  # fmt: skip
    tiny = 1e-300
    fraction, upper, lower = 1.0, 1.0, 0.0
    m = 0
    while True:
        for odd in (False, True):
            if odd:
                step = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
            elif m == 0:
                continue
            else:
                step = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
            lower = 1 / ((1 + step * lower) or tiny)
            upper = (1 + step / upper) or tiny
            change = upper * lower
            fraction *= change
        if abs(change - 1) < 4e-16 or m > 100_000:
            return math.exp(log_front) / (a * fraction)
        m += 1
