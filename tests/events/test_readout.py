import numpy as np
import pytest

from floorbench.errors import DataError
from floorbench.events.readout import Readout

GOOD = {
    "labels": ("no", "yes"),
    "features": ("a", "b"),
    "mean": (1.0, 0.0),
    "scale": (2.0, 1.0),
    "weights": ((0.0, 0.0), (1.0, -1.0)),
    "bias": (0.0, 0.5),
}


def test_probabilities_by_hand() -> None:
    found = Readout(**GOOD).probabilities(np.array([[3.0, 2.0]]))
    logit = (3 - 1) / 2 - 2 + 0.5
    assert found[0, 1] == pytest.approx(1 / (1 + np.exp(-logit)))
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "change",
    [
        {"mean": (1.0,)},
        {"bias": (0.0,)},
        {"scale": (0.0, 1.0)},
        {"bias": (float("nan"), 0.0)},
        {"weights": ((0.0, 0.0),)},
    ],
)
def test_parts_that_do_not_fit_are_refused(change: dict) -> None:
    with pytest.raises(DataError, match=r"FB535"):
        Readout(**(GOOD | change))


def test_inputs_of_another_width_are_refused() -> None:
    with pytest.raises(DataError, match=r"FB535"):
        Readout(**GOOD).probabilities(np.zeros((2, 3)))


def test_the_digest_names_every_number() -> None:
    assert Readout(**GOOD).digest() != Readout(**(GOOD | {"bias": (0.0, 0.6)})).digest()
