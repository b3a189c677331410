from __future__ import annotations

import json

import numpy as np
import pytest

from floorbench.audio.ref import ArrayAudio
from floorbench.core.prediction import Compute
from floorbench.core.sample import Observation, Question, Turn
from floorbench.core.vocab import Role
from floorbench.errors import DataError
from floorbench.systems.api_cost import (
    PER_MESSAGE,
    Price,
    as_rows,
    estimate,
    forecast,
    price_of,
    read_prices,
    tokens_of,
)

FILE = {
    "date": "2026-03-01",
    "currency": "USD",
    "models": {
        "m": {"text_in": 2.0, "text_out": 10.0, "audio_in": 40.0, "audio_tokens_per_second": 25.0}
    },
}
QUESTION = Question(text="x" * 30, answers=("a",))


def audio(seconds):
    return ArrayAudio(np.zeros(int(8000 * seconds), dtype=np.float32), rate=8000)


SEEN = Observation(
    language="en",
    turns=(
        Turn(role=Role.USER, text="y" * 12, audio=audio(2.0)),
        Turn(role=Role.SYSTEM, text="z" * 6),
    ),
    channels={Role.USER: audio(3.0)},
    text="w" * 9,
    question=QUESTION,
)


def written(tmp_path, **change):
    file = tmp_path / "prices.json"
    file.write_text(json.dumps({**FILE, **change}))
    return file


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abc", 1), ("abcd", 2), ("订票ab", 3)])
def test_words_are_estimated(text, tokens):
    assert estimate(text) == tokens


def test_what_is_sent_is_counted_by_what_the_model_takes():
    assert tokens_of(SEEN, hears=False) == (10 + 4 + 2 + 3) + 4 * PER_MESSAGE
    assert tokens_of(SEEN, hears=True) == (10 + 2) + 2 * PER_MESSAGE


def test_a_forecast_with_and_without_prices(tmp_path):
    prices = read_prices(written(tmp_path))
    price = price_of(prices, "m")
    found = forecast([SEEN, SEEN], hears=True, answer=50, price=price, prices=prices)
    assert (found.calls, found.audio_seconds, found.answer_tokens) == (2, 10.0, 100)
    text = 2 * tokens_of(SEEN, hears=True)
    assert found.cost == pytest.approx((text * 2 + 10 * 25 * 40 + 100 * 10) / 1e6)
    assert dict(as_rows(found))["cost, prices of 2026-03-01"].endswith(" USD")
    bare = forecast([SEEN], hears=False, answer=5)
    assert (bare.cost, bare.currency, bare.audio_seconds) == (None, None, 0.0)
    assert "no price file" in dict(as_rows(bare))["cost"]


def test_what_was_spent_is_never_told_too_low():
    price = Price(text_in=2.0, text_out=10.0, audio_in=40.0)
    assert price.spent(Compute(tokens_in=1000, tokens_out=100)) == pytest.approx(0.041)
    assert Price(text_in=2.0, text_out=10.0).spent(Compute(tokens_in=1000)) == pytest.approx(0.002)
    assert price.spent(Compute()) == 0.0


@pytest.mark.parametrize(
    "change",
    [
        {"date": "last week"},
        {"date": None},
        {"currency": 3},
        {"models": {"m": {"text_in": 2.0}}},
        {"models": {"m": {"text_in": -1.0, "text_out": 1.0}}},
        {"models": {"m": {"text_in": 1.0, "text_out": 1.0, "discount": 0.5}}},
    ],
)
def test_a_bad_price_file_is_named(tmp_path, change):
    with pytest.raises(DataError, match=r"FB555 .*prices\.json"):
        read_prices(written(tmp_path, **change))


def test_a_model_without_a_price(tmp_path):
    with pytest.raises(DataError, match="FB555 no price for 'n'"):
        price_of(read_prices(written(tmp_path)), "n")
    with pytest.raises(DataError, match="FB402"):
        read_prices(tmp_path / "none.json")
