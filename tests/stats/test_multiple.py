import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from floorbench.errors import DataError
from floorbench.stats.multiple import holm

P = st.floats(0, 1, allow_nan=False)


@given(st.lists(P, min_size=1, max_size=30))
@settings(max_examples=30)
def test_against_statsmodels(values):
    found = holm({str(i): p for i, p in enumerate(values)})
    expected = multipletests(values, method="holm")[1]
    assert np.allclose(list(found.values()), expected, rtol=0, atol=1e-12)


@given(st.lists(P, max_size=12))
def test_never_smaller_than_given_and_in_the_same_order(values):
    found = list(holm({str(i): p for i, p in enumerate(values)}).values())
    assert all(p <= q <= 1 for p, q in zip(values, found, strict=True))
    order = np.argsort(values, kind="stable")
    assert np.all(np.diff(np.array(found)[order]) >= 0)


def test_tests_that_were_not_made_do_not_count():
    assert holm({"a": 0.01, "b": None, "c": 0.5}) == {"a": 0.02, "b": None, "c": 0.5}
    assert holm({}) == {}


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_bad_p(p):
    with pytest.raises(DataError, match="FB654 the p value of 'x'"):
        holm({"x": p})
