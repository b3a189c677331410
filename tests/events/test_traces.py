from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.core.prediction import Trace
from floorbench.core.vocab import Role
from floorbench.errors import DataError
from floorbench.events.frames import frame_activity
from floorbench.events.traces import (
    available,
    fits,
    make_trace,
    on_grid,
    shares,
    signal,
    spans_of,
    trace_problem,
    trace_values,
)

RATE = Fraction(25, 2)


def trace(values=((0.1, 0.9), (0.2, 0.8), (0.3, 0.7)), columns=("eot:user", "p_now:user"), **more):
    return make_trace(values, columns=columns, rate=more.pop("rate", RATE), **more)


def test_values_survive_as_float32() -> None:
    assert trace_values(trace()) == pytest.approx(np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_not_finite_is_refused_with_its_place(bad: float) -> None:
    with pytest.raises(DataError, match=r"FB531 .*'p_now:user' of frame 1"):
        trace(values=[[0.0, 0.0], [0.0, bad]])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"columns": ("eot:user", "p_nov:user")}, "did you mean 'p_now'"),
        ({"columns": ("eot:user", "eot:user")}, "each once"),
        ({"columns": ("eot:user", "eot:left")}, "not signal:role"),
        ({"rate": Fraction(0)}, "frame rate"),
        ({"rate": Fraction(5000)}, "frame rate"),
        ({"look_ahead": -0.1}, "look-ahead"),
    ],
)
def test_a_malformed_trace_is_refused(change: dict, says: str) -> None:
    with pytest.raises(DataError, match=says):
        trace(**change)


def test_problems_of_a_trace_from_a_file() -> None:
    good = trace()
    assert trace_problem(good) is None
    fields = {"columns": good.columns, "rate": good.rate, "frames": good.frames}
    assert "no scores" in str(trace_problem(Trace(**fields)))
    assert trace_problem(Trace(**fields, file="traces/x.npz")) is None
    assert "bytes" in str(trace_problem(Trace(**fields, data=b"1234")))
    assert "SHA-256" in str(trace_problem(Trace(**fields, data=good.data, sha256="0" * 64)))
    assert "fraction" in str(trace_problem(Trace(**{**fields, "rate": "fast"}, data=good.data)))


@given(
    own=st.sampled_from([Fraction(25, 2), Fraction(20), Fraction(50), Fraction(10)]),
    rate=st.sampled_from([Fraction(25, 2), Fraction(50)]),
    ahead=st.sampled_from([0.0, 0.02, 0.08, 0.25, 1.5]),
    frames=st.integers(1, 40),
)
def test_nothing_is_known_before_it_was_committed(own, rate, ahead, frames) -> None:
    made = make_trace(np.zeros((60, 1)), columns=["eot:user"], rate=own, look_ahead=ahead)
    index = available(made, frames=frames, rate=rate)
    for t, i in enumerate(index.tolist()):
        end = Fraction(t + 1) / rate
        exact = Fraction(str(ahead))
        if i >= 0:
            assert Fraction(i + 1) / own + exact <= end
        if i + 1 < made.frames:
            assert Fraction(i + 2) / own + exact > end


def test_look_ahead_moves_a_trace_and_leaves_the_start_neutral() -> None:
    moved = on_grid(trace(look_ahead=0.08), frames=4, rate=RATE)
    assert moved["eot:user"] == pytest.approx([0.0, 0.1, 0.2, 0.3])
    assert moved["p_now:user"] == pytest.approx([0.5, 0.9, 0.8, 0.7])


def test_length_must_fit_the_session() -> None:
    made = trace(values=np.zeros((125, 2)))
    assert fits(made, seconds=Fraction(10))
    assert not fits(made, seconds=Fraction(12))
    assert not fits(made, seconds=Fraction(8))


def test_shares_come_from_future_activity_where_they_are_not_given() -> None:
    roles = (Role.USER, Role.SYSTEM)
    columns = {f"fvad{k}:{r}": np.full(2, 0.5) for k in range(1, 5) for r in roles}
    columns["fvad1:user"] = np.array([1.0, 0.0])
    columns["fvad2:user"] = np.array([0.5, 0.0])
    now = shares(columns, "p_now", roles)
    assert now is not None
    assert now[:, 0] == pytest.approx([0.6, 0.0])
    assert now.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert shares({}, "p_now", roles) is None
    assert (
        shares({"p_now:user": np.ones(1), "p_now:system": np.zeros(1)}, "p_now", roles) is not None
    )


def test_a_signal_that_is_not_given_is_zero() -> None:
    assert signal({}, "bc", Role.USER, 3).tolist() == [0, 0, 0]


@given(st.lists(st.booleans(), max_size=60))
def test_runs_as_spans_frame_back_to_themselves(on: list[bool]) -> None:
    spans = spans_of(np.array(on, dtype=bool), rate=RATE)
    assert frame_activity(spans, frames=len(on), rate=RATE).tolist() == on
