import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtr, ndtri
from scipy.stats import beta
from statsmodels.stats.proportion import proportion_confint

from floorbench.errors import DataError, UsageError
from floorbench.stats.rates import (
    clopper_pearson,
    normal_cdf,
    normal_quantile,
    student_p,
    student_quantile,
    wilson,
)

CASES = [
    (x, n) for n in (1, 2, 5, 17, 100, 183, 2500, 100_000) for x in sorted({0, 1, n // 3, n - 1, n})
]


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("x", "n"), CASES)
def test_wilson_against_statsmodels(x, n, level):
    low, high = proportion_confint(x, n, alpha=1 - level, method="wilson")
    found = wilson(x, n, level=level)
    assert found.low == pytest.approx(low, abs=1e-12)
    assert found.high == pytest.approx(high, abs=1e-12)
    assert (found.method, found.clusters) == ("wilson", n)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("x", "n"), CASES)
def test_clopper_pearson_against_scipy(x, n, level):
    tail = (1 - level) / 2
    found = clopper_pearson(x, n, level=level)
    low = 0 if x == 0 else beta.ppf(tail, x, n - x + 1)
    high = 1 if x == n else beta.ppf(1 - tail, x + 1, n - x)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)


def test_no_success_in_a_hundred():
    found = clopper_pearson(0, 100)
    assert found.low == 0
    assert found.high == pytest.approx(1 - 0.025**0.01, abs=1e-12)
    assert round(100 * found.high, 1) == 3.6


def test_wilson_takes_fractions_of_a_unit_and_clopper_pearson_does_not():
    assert wilson(2.5, 10).low < 0.25 < wilson(2.5, 10).high
    with pytest.raises(DataError, match=r"FB653.*2\.5"):
        clopper_pearson(2.5, 10)


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_both_contain_the_rate_stay_in_range_and_mirror(case):
    x, n = case
    for method in (wilson, clopper_pearson):
        found, mirror = method(x, n), method(n - x, n)
        assert 0 <= found.low <= x / n <= found.high <= 1
        assert found.low == pytest.approx(1 - mirror.high, abs=1e-12)


@pytest.mark.parametrize("method", [wilson, clopper_pearson])
def test_undefined_and_bad_input(method):
    assert (method(0, 0).low, method(0, 0).reason) == (None, "there are no units")
    for x, n in ((-1, 5), (6, 5), (float("nan"), 5), (0, -1), (1, 2.5)):
        with pytest.raises(DataError, match="FB653"):
            method(x, n)
    for level in (0, 1, -0.1, 95, float("nan")):
        with pytest.raises(UsageError, match="FB650"):
            method(1, 5, level=level)


def test_normal_functions():
    for p in (1e-6, 0.025, 0.5, 0.8, 0.975):
        assert normal_quantile(p) == pytest.approx(ndtri(p), abs=1e-9)
    for z in (-8.0, -1.96, 0.0, 0.3, 5.0):
        assert normal_cdf(z) == pytest.approx(ndtr(z), rel=1e-12)


@pytest.mark.parametrize("freedom", [1, 2.5, 9, 28, 400])
def test_student_against_scipy(freedom):
    for p in (0.5, 0.8, 0.975, 0.9999):
        assert student_quantile(p, freedom) == pytest.approx(
            stats.t.ppf(p, freedom), rel=1e-9, abs=1e-9
        )
    for t in (0.0, -0.3, 2.1, 9.0, -40.0):
        assert student_p(t, freedom) == pytest.approx(2 * stats.t.sf(abs(t), freedom), rel=1e-9)
