import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.time import Span
from floorbench.core.vocab import Role
from floorbench.errors import DataError
from floorbench.events.spans import (
    channel,
    check_disjoint,
    check_spans,
    check_ticks,
    inside,
    merge_gaps,
    spans_to_ticks,
    two_roles,
    union,
)

SPANS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 10)).map(lambda p: (p[0], p[0] + p[1]))
).map(sorted)


def test_seconds_become_exact_ticks():
    ticks = spans_to_ticks([Span(0.1 + 0.2, 1.0), Span(1.0, 1.5)], name="user")
    assert ticks.tolist() == [[300_000, 1_000_000], [1_000_000, 1_500_000]]


def test_no_spans_are_an_empty_table():
    assert check_spans([], name="user").shape == (0, 2)
    assert spans_to_ticks([], name="user").shape == (0, 2)


@pytest.mark.parametrize(
    ("spans", "code", "words"),
    [
        ([(-1, 2)], "FB610", "starts before 0"),
        ([(0, 2), (5, 4)], "FB610", "span 1 of 'user'"),
        ([(3, 4), (1, 2)], "FB610", "starts before the one in front of it"),
        ([(0.0, float("nan"))], "FB202", "nan"),
        ([(0.0, float("inf"))], "FB202", "inf"),
        ([(0.0, 1.5)], "FB610", "not whole ticks"),
        ([1, 2, 3], "FB610", "not (n, 2)"),
    ],
)
def test_bad_spans_are_named(spans, code, words):
    with pytest.raises(DataError, match=code) as raised:
        check_spans(spans, name="user")
    assert raised.value.code == code
    assert words in str(raised.value)


def test_a_table_of_times_is_refused():
    with pytest.raises(DataError, match="shape"):
        check_ticks([[1, 2]], name="reference")


@given(SPANS, st.integers(1, 6))
def test_merging_is_the_union_with_short_gaps_filled(spans, below):
    on = set()
    for start, end in spans:
        on |= set(range(start, end))
    out = merge_gaps(check_spans(spans, name="x"), below=below).tolist()
    expected = sorted(on)
    for a, b in itertools.pairwise(expected):
        if b - a - 1 < below:
            on |= set(range(a, b))
    painted = [t for start, end in out for t in range(start, end)]
    assert painted == sorted(on)
    assert all(b[0] - a[1] >= below for a, b in itertools.pairwise(out))


def test_overlapping_words_of_one_side_are_one_stretch():
    assert union(check_spans([(0, 10), (2, 4), (5, 12), (12, 13)], name="x")).tolist() == [[0, 13]]


def test_disjoint_spans_may_touch_but_not_overlap():
    check_disjoint(check_spans([(0, 2), (2, 4)], name="x"), name="x")
    with pytest.raises(DataError, match="overlaps the one in front of it"):
        check_disjoint(check_spans([(0, 9), (1, 2), (3, 4)], name="x"), name="x")


def test_inside_is_half_open():
    spans = check_spans([(2, 4), (4, 4), (6, 8)], name="x")
    assert inside(np.array([1, 2, 3, 4, 5, 6, 8]), spans).tolist() == [-1, 0, 0, -1, -1, 2, -1]
    assert inside(np.array([1]), check_spans([], name="x")).tolist() == [-1]


def test_roles_come_in_a_fixed_order():
    assert two_roles({Role.SYSTEM: 1, Role.USER: 2}) == (Role.USER, Role.SYSTEM)


@pytest.mark.parametrize("channels", [{}, {Role.USER: 1}, dict.fromkeys(Role, 1)])
def test_two_channels_are_needed(channels):
    with pytest.raises(DataError, match="FB611"):
        two_roles(channels)


def test_an_absent_role_is_named():
    with pytest.raises(DataError, match="role 'third_party' is absent; channels: user"):
        channel({Role.USER: 1}, Role.THIRD_PARTY)
