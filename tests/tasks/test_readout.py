import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from floorbench.tasks.readout import fit_readout


@pytest.mark.parametrize("classes", [2, 4])
def test_probabilities_are_those_of_the_library(classes: int) -> None:
    rng = np.random.default_rng(3)
    target = rng.integers(classes, size=400)
    inputs = rng.normal(size=(400, 5)) * [1, 10, 0.1, 1, 1] + target[:, None]
    inputs[:, 4] = 7.0  # a constant feature is no division by zero
    labels, features = tuple("abcd"[:classes]), tuple("vwxyz")
    ours = fit_readout(inputs, target, labels=labels, features=features)
    theirs = make_pipeline(
        StandardScaler(), LogisticRegression(class_weight="balanced", max_iter=2000)
    ).fit(inputs, target)
    assert ours.labels == labels
    assert ours.probabilities(inputs) == pytest.approx(theirs.predict_proba(inputs), abs=1e-6)


def test_a_label_that_does_not_occur_is_left_out() -> None:
    inputs = np.array([[0.0], [1.0], [0.1], [0.9]])
    found = fit_readout(inputs, np.array([0, 2, 0, 2]), labels=("a", "b", "c"), features=("x",))
    assert found.labels == ("a", "c")
    assert found.probabilities(inputs).argmax(axis=1).tolist() == [0, 1, 0, 1]
