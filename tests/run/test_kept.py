import pytest

from floorbench.core.prediction import Compute, Decision, Event, Prediction, PredictionKey
from floorbench.core.vocab import Outcome
from floorbench.run.kept import KeptPredictions


def made(name: str, condition: str = "", trial: int = 0, **decision: object) -> Prediction:
    return Prediction(
        sample_id=name,
        condition=condition,
        trial=trial,
        decision=Decision(**decision),  # type: ignore[arg-type]
        compute=Compute(wall=0.1 + 0.2),
        observed="a" * 64,
    )


def test_what_goes_in_comes_out() -> None:
    some = [
        made("a", "h0", label="x", scores={"p": 1 / 3}, raw='"\\ 是'),
        made("a", "h1", 10**30),
        made("b", outcome=Outcome.FAILED, reason="no"),
        made("c", events=(Event(kind="yield", time=1.0, commit=1.5),)),
    ]
    kept = KeptPredictions()
    assert [kept.add(n, p) for n, p in enumerate(some, start=3)] == [None] * 4
    assert [x.prediction for x in kept.of("a")] == some[:2]
    assert [x.number for x in kept.of("a")] == [3, 4]
    assert [kept.get(p.key) for p in some] == some
    assert kept.get(PredictionKey("a", "h2", 0)) is None
    assert kept.of("d") == []
    assert list(kept.samples()) == ["a", "b", "c"]
    assert kept.trials == {0, 10**30}


@pytest.mark.parametrize("others", [0, 1, 5])
def test_the_first_line_of_a_key_is_named(others: int) -> None:
    kept = KeptPredictions()
    for n in range(others):
        kept.add(n, made("a", f"h{n}"))
    assert kept.add(17, made("a", "same", label="x")) is None
    assert kept.add(20, made("a", "same", label="y")) == 17
    assert kept.get(PredictionKey("a", "same", 0)) == made("a", "same", label="x")
    assert len(kept.of("a")) == others + 1
