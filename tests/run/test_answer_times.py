import pytest

from floorbench.core.prediction import Compute, Decision, Prediction
from floorbench.core.vocab import Outcome
from floorbench.run.answer_times import answer_times, seconds


def made(wall: float | None, *, batch: int = 1, ok: bool = True) -> Prediction:
    decision = Decision(label="a") if ok else Decision(outcome=Outcome.FAILED, reason="it fell")
    return Prediction(
        sample_id="s", condition="", trial=0, decision=decision,
        compute=Compute(wall=wall, batch=batch),
    )  # fmt: skip


def test_the_first_answer_warms_up_and_stands_apart() -> None:
    times = answer_times([made(9.0), *(made(n / 100) for n in range(1, 21))])
    assert times is not None
    assert (times.answers, times.first, times.longest) == (20, 9.0, 0.2)
    assert (times.median, times.most) == (0.1, 0.19)
    assert str(times) == (
        "time per answer: median 100 ms, 95 % within 190 ms, longest 200 ms, the first 9 s"
    )


def test_what_failed_or_was_not_timed_is_left_out() -> None:
    assert answer_times([made(1.0), made(None), made(5.0, ok=False)]) is None
    times = answer_times([made(None), made(1.0), made(5.0, ok=False), made(2.0)])
    assert times is not None
    assert (times.first, times.median) == (1.0, 2.0)


def test_batches_are_said() -> None:
    assert "shares of batches" in str(answer_times([made(1.0, batch=4), made(1.0, batch=4)]))


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0 ms"), (0.0994, "99 ms"), (0.5, "500 ms"), (9.94, "9.9 s")]
)
def test_seconds_are_written_for_people(value: float, shown: str) -> None:
    assert seconds(value) == shown
