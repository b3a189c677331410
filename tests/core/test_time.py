from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core import time
from floorbench.core.time import Span
from floorbench.errors import DataError


@pytest.mark.parametrize(
    ("seconds", "ticks"),
    [("0.3", 300_000), (0.1 + 0.2, 300_000), ("0.0000005", 1), ("-0.0000005", 0), (1, 1_000_000)],
)
def test_ticks_round_half_up(seconds: object, ticks: int) -> None:
    assert time.to_ticks(seconds) == ticks  # type: ignore[arg-type]


def test_a_float_is_read_by_its_shortest_decimal() -> None:
    assert time.exact(0.1) == Fraction(1, 10)
    assert time.exact(Decimal("0.1")) == time.exact("0.1")


@given(st.integers(-(10**12), 10**12))
def test_ticks_survive_float_seconds(ticks: int) -> None:
    assert time.to_ticks(time.from_ticks(ticks)) == ticks


@given(st.integers(0, 10**9), st.sampled_from([8000, 16000, 22050, 44100, 48000]))
def test_samples_survive_float_seconds(samples: int, rate: int) -> None:
    assert time.to_samples(time.from_samples(samples, rate), rate) == samples


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "nan", "Infinity"])
def test_non_finite_times_are_refused(bad: object) -> None:
    with pytest.raises(DataError, match="FB202"):
        time.exact(bad)  # type: ignore[arg-type]


def test_text_that_is_no_number_is_refused() -> None:
    with pytest.raises(DataError, match="FB601"):
        time.exact("1,5")


def test_spans_are_half_open() -> None:
    span = Span(1.0, 2.0)
    assert not span.overlaps(Span(2.0, 3.0))
    assert span.overlaps(Span(1.5, 1.6))
    assert not span.overlaps(Span(1.5, 1.5))
    assert span.duration == 1.0


@pytest.mark.parametrize(
    ("start", "end", "code"),
    [(2.0, 1.0, "FB601"), (float("nan"), 1.0, "FB202"), (0.0, float("inf"), "FB202")],
)
def test_impossible_spans_are_refused(start: float, end: float, code: str) -> None:
    with pytest.raises(DataError, match=code):
        Span(start, end)


@pytest.mark.parametrize("far", ["1e16", "1e99999999", "-1e400", "1e-99999999", "9" * 5000, 1e300])
def test_times_out_of_range_are_refused_at_once(far: object) -> None:
    with pytest.raises(DataError, match="FB601"):
        time.to_ticks(far)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["1_5", "\u0661\u0662", "\uff11", "0x10", "1,5", ""])
def test_only_plain_digits_are_a_time(text: str) -> None:
    with pytest.raises(DataError, match="FB601"):
        time.to_ticks(text)
