from typing import Any

import numpy as np
import pytest

from floorbench.errors import UsageError
from floorbench.run.plans import Means, Range, range_of, share_of_speed


@pytest.mark.parametrize(
    "given",
    [
        {"workers": 0},
        {"workers": 10**400},
        {"efficiency": 0.0},
        {"efficiency": 1e-320},
        {"efficiency": 2.5},
        {"price_per_hour": -1.0},
        {"price_per_hour": float("inf")},
    ],
)
def test_impossible_means_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        share_of_speed(Means(**given), 1)


def test_ranges_scale_and_move() -> None:
    assert Range(value=2.0, low=1.0, high=3.0).times(2).plus(1) == Range(value=5, low=3, high=7)
    assert Range(value=2.0).times(2).plus(1) == Range(value=5.0)
    got = range_of(0.5, np.linspace(0, 1, 1001))
    assert (got.low, got.high) == pytest.approx((0.025, 0.975))


@pytest.mark.parametrize("value", [12.0, 23.0])
def test_a_range_holds_its_value(value: float) -> None:
    got = range_of(value, np.linspace(12.7, 22.1, 1001))
    assert got.low is not None
    assert got.high is not None
    assert got.low <= value <= got.high
