import pytest

from floorbench.core.score import Coverage, Estimate, Interval
from floorbench.core.vocab import Outcome


def test_coverage_classes_add_up() -> None:
    with pytest.raises(ValueError, match="add up"):
        Coverage(expected=3, ok=1)
    a = Coverage(expected=3, ok=1, failed=1, absent=1)
    b = Coverage(expected=1, timeout=1)
    assert (a + b) == Coverage(expected=4, ok=1, failed=1, absent=1, timeout=1)
    assert a.share == 1 / 3
    assert a.count(Outcome.FAILED) == 1
    assert Coverage(expected=0).share is None


@pytest.mark.parametrize(("value", "reason"), [(None, None), (0.5, "because")])
def test_an_estimate_has_a_value_or_a_reason(value: float | None, reason: str | None) -> None:
    with pytest.raises(ValueError, match="value or a reason"):
        Estimate(
            metric="m",
            slice={},
            value=value,
            reason=reason,
            interval=Interval(),
            coverage=Coverage(expected=0),
            units=0,
        )
