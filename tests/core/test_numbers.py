"""Numbers in data files."""

import math

import pytest

from floorbench.core.numbers import number_of


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), (" -1.5e3 ", -1500.0), (".5", 0.5), ("5.", 5.0), ("+2", 2.0)]
)
def test_decimal_numbers_are_read(text: str, value: float) -> None:
    assert number_of(text) == value


@pytest.mark.parametrize("text", ["1_5", "\u0661", "\uff11", "0x1", "1,5", "", "1e", "--1", "1 2"])
def test_what_python_or_a_guess_would_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a number"):
        number_of(text)


def test_non_finite_numbers_are_left_to_the_caller() -> None:
    assert math.isnan(number_of("NaN"))
    assert number_of("-Infinity") == -math.inf
