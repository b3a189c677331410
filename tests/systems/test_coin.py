"""A coin that falls the same way each time, and about as often on either side."""

from __future__ import annotations

import pytest

from floorbench.core.sample import Observation
from floorbench.errors import UsageError
from floorbench.systems.coin import Coin


def tosses(seed: int) -> list[str]:
    coin = Coin(seed=seed)
    return [str(coin.decide(Observation(language="en", text=str(i))).label) for i in range(400)]


def test_it_depends_on_the_seed_and_on_what_is_shown() -> None:
    assert tosses(0) == tosses(0) != tosses(1)
    assert set(tosses(0)) == {"Yield", "Keep"}


def test_it_is_fair() -> None:
    heads = [label == "Yield" for seed in range(5) for label in tosses(seed)]
    assert abs(sum(heads) / len(heads) - 0.5) < 0.04  # about 3.6 standard errors


def test_the_seed_is_a_whole_number() -> None:
    with pytest.raises(UsageError, match="seed"):
        Coin(seed=-1)
