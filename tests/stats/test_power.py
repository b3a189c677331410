import numpy as np
import pytest

from floorbench.errors import UsageError
from floorbench.stats.bootstrap import Draws
from floorbench.stats.power import minimal_detectable_difference


def drawn(values: np.ndarray) -> Draws:
    return Draws(point=0.0, values=values, clusters=30, strata=1, singletons=0)


def test_it_is_two_point_eight_standard_errors() -> None:
    draws = drawn(np.linspace(-1.0, 1.0, 101))
    error = float(np.std(draws.values, ddof=1))
    assert minimal_detectable_difference(draws) == pytest.approx((1.959964 + 0.841621) * error)
    assert minimal_detectable_difference(draws, power=0.5) == pytest.approx(1.959964 * error)


def test_no_spread_detects_nothing() -> None:
    assert minimal_detectable_difference(drawn(np.zeros(50))) is None


@pytest.mark.parametrize("wrong", [{"alpha": 0.0}, {"power": 1.0}])
def test_levels_lie_between_0_and_1(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="FB650"):
        minimal_detectable_difference(drawn(np.arange(5.0)), **wrong)
