from floorbench.core.prediction import Decision, Prediction, PredictionKey


def test_key_is_sample_condition_and_trial() -> None:
    prediction = Prediction(sample_id="a", condition="h3", trial=1, decision=Decision(label="x"))
    assert prediction.key == PredictionKey("a", "h3", 1)
