"""What a comparison could have seen: the smallest detectable difference."""

from __future__ import annotations

from floorbench.errors import UsageError
from floorbench.stats.bootstrap import Draws
from floorbench.stats.rates import normal_quantile


def minimal_detectable_difference(
    difference: Draws, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """Return the true difference that a two-sided test would find with the given power.

    Parameters
    ----------
    difference : Draws
        Bootstrap of the paired difference on the clusters at hand.
    alpha : float
        Two-sided level of one test, inside (0, 1); no correction for several tests.
    power : float
        Inside (0, 1).

    Returns
    -------
    float or None
        (z_(1 - alpha/2) + z_power) x bootstrap standard error, in the metric's unit: 2.80
        standard errors by default. It falls with the square root of the number of clusters.
        It says what this data set can show, not how probable the observed difference was: the
        observed difference does not enter.

    Undefined
    ---------
    ``None`` when the standard error is 0 or undefined.

    Raises
    ------
    UsageError
        ``FB650`` for ``alpha`` or ``power`` outside (0, 1).

    Source
    ------
    Normal approximation, as in H. S. Bloom (1995), Evaluation Review 19: 547-556.
    """
    for name, value in (("alpha", alpha), ("power", power)):
        if not 0 < value < 1:
            raise UsageError("FB650", f"{name} is {value}; it must lie between 0 and 1")
    error = difference.standard_error
    if error is None or error <= difference.noise:
        return None
    return (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * error
