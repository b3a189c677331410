import pytest

from floorbench import codec
from floorbench.core.prediction import Decision, Prediction, PredictionKey, Served
from floorbench.errors import DataError


def test_key_is_sample_condition_and_trial() -> None:
    prediction = Prediction(sample_id="a", condition="h3", trial=1, decision=Decision(label="x"))
    assert prediction.key == PredictionKey("a", "h3", 1)


@pytest.mark.parametrize(
    "wrong", [{"snapshot": "a\nb"}, {"build": "x" * 121}, {"snapshot": ""}, {"at": "now"},
              {"snapshot": "http://a"}]
)  # fmt: skip
def test_who_answered_is_a_name_and_a_time(wrong) -> None:
    with pytest.raises(DataError, match="FB201"):
        Served(**wrong)


def test_the_time_of_an_answer_makes_it_no_other_answer() -> None:
    one, two = (Served(snapshot="m", at=f"2026-01-0{n}T00:00:00Z") for n in (1, 2))
    assert one == two
    assert one != Served(snapshot="n", at=one.at)


def test_who_answered_survives_the_journal_and_nothing_hostile_enters() -> None:
    by = Served(snapshot="m", build="f", at="2026-01-01T00:00:00Z")
    line = Prediction(sample_id="a", decision=Decision(label="x", served=by))
    back = codec.decode(codec.encode(line), Prediction)
    assert back == line
    assert back.decision.served.at == by.at
    with pytest.raises(DataError, match="FB201"):
        codec.decode(codec.encode(line).replace(b'"m"', b'"\\u001b[2J"'), Prediction)
