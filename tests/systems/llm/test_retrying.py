from __future__ import annotations

import pytest

from floorbench.core.vocab import Outcome
from floorbench.errors import UsageError
from floorbench.systems.llm.protocol import ModelFault
from floorbench.systems.llm.retrying import Policy, Refused, calling, of_status, seconds_of


def failing(*faults):
    left = list(faults)

    def call():
        if left:
            raise left.pop(0)
        return "answer"

    return call


def test_pauses_double_up_to_the_longest():
    waits: list[float] = []
    policy = Policy(attempts=5, base=1.0, longest=3.0, sleep=waits.append)
    busy = [Refused("busy", again=True) for _ in range(4)]
    assert calling(failing(*busy), policy) == "answer"
    assert waits == [1.0, 2.0, 3.0, 3.0]


def test_no_pause_after_the_last_try():
    waits: list[float] = []
    slow = Refused("late", again=True, outcome=Outcome.TIMEOUT)
    with pytest.raises(ModelFault, match=r"late \(2 tries\)") as caught:
        calling(failing(slow, slow), Policy(attempts=2, sleep=waits.append))
    assert (caught.value.outcome, len(waits)) == (Outcome.TIMEOUT, 1)


def test_what_cannot_help_is_not_tried():
    with pytest.raises(ModelFault, match=r"^no$"):
        calling(failing(Refused("no", again=False)), Policy(sleep=lambda s: pytest.fail("slept")))


@pytest.mark.parametrize(
    ("status", "again"), [(429, True), (500, True), (529, True), (400, False), (404, False)]
)
def test_which_statuses_may_pass(status, again):
    assert of_status(status, "", None).again is again


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("2.5", 2.5),
        ("-4", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0),
    ],
)
def test_retry_after(header, seconds):
    assert seconds_of(header) == seconds


@pytest.mark.parametrize("bad", [{"attempts": 0}, {"timeout": 0.0}, {"base": -1.0}])
def test_numbers_out_of_range(bad):
    with pytest.raises(UsageError, match="FB513"):
        Policy(**bad)
