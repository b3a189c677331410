from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from floorbench.build.pipeline.engine import build
from floorbench.build.pipeline.measured import Tokens, measure_build
from floorbench.errors import UsageError
from floorbench.systems.api_cost import Price
from support.build_toy import ToyRecipe
from support.forecasts import factors, planned, stage


def test_the_same_build_takes_the_same_time() -> None:
    got = planned(workers=2)
    assert (got.items, got.seeds.value) == (40, pytest.approx(100))
    # 800 s and 200 s by the clock on two processes, 16 s alone, the rest of 600 s outside them
    assert got.time.value * 3600 == pytest.approx(600.0)
    assert got.processor.value * 3600 == pytest.approx(508.0)
    assert got.sound * 3600 == pytest.approx(400.0)
    assert got.real_time_factor == pytest.approx(508 / 400)
    assert got.bytes == 4000
    assert got.bytes_per_hour == pytest.approx(4000 / 400 * 3600)
    assert got.cache_bytes == pytest.approx(1000)


def test_a_larger_one_starts_with_what_the_yields_ask_for() -> None:
    got = planned(hours=10.0, workers=20, efficiency=0.5, price_per_hour=0.2)
    assert got.items == 3600  # of 10 s
    assert got.cache_bytes == pytest.approx(90_000)
    assert got.seeds.value == pytest.approx(9000)
    assert [s.entered for s in got.stages] == pytest.approx([9000, 9000, 7200])
    assert [s.left for s in got.stages] == pytest.approx([9000, 7200, 3600])
    assert [s.alone for s in got.stages] == [False, False, True]
    # shared: 90 times 1000 s over 20 halves; alone and outside: 90 times 16 s and 84 s
    assert got.time.value * 3600 == pytest.approx(90 * (1000 / 10 + 16 + 84))
    assert got.machine_cost is not None
    assert got.machine_cost.value == pytest.approx(got.time.value * 20 * 0.2)
    assert got.seeds.low is not None
    assert got.seeds.high is not None
    assert got.seeds.low < 9000 < got.seeds.high
    assert got.time.low is not None
    assert got.time.high is not None
    assert got.time.low < got.time.value < got.time.high


def test_models_and_graphics_are_counted() -> None:
    stages = (
        stage("write", 100, 100, 1.0, deterministic=False, calls=120),
        stage("speak", 100, 40, 36.0, settings={"tts": {"device": "cuda"}}),
    )
    tokens = {"write": {"m": Tokens(calls=60, read=6000, written=600)}}
    got = planned(
        factors(stages, tokens=tokens), items=400, prices={"m": Price(text_in=1.0, text_out=10.0)}
    )
    assert [s.needs for s in got.stages] == ["service", "gpu"]
    assert got.tokens["m"] == Tokens(calls=1200, read=120_000, written=12_000)
    assert got.model_cost is not None
    assert got.model_cost.value == pytest.approx(0.12 + 0.12)
    assert got.gpu_hours is not None
    assert got.gpu_hours.value == pytest.approx(10 * 72 / 3600)
    assert planned(factors(stages)).model_cost is None
    assert planned().gpu_hours is None


def test_a_model_without_a_price_is_said() -> None:
    stages = (stage("write", 100, 100, 1.0, deterministic=False, calls=120),)
    both = {"write": {n: Tokens(calls=60, read=6000, written=600) for n in ("m", "n")}}
    price = Price(text_in=1.0, text_out=10.0)
    got = planned(factors(stages, tokens=both), items=400, prices={"m": price})
    assert got.model_cost is not None
    assert "no price for n: not in the cost of the models" in got.assumptions
    none = planned(factors(stages, tokens=both), items=400, prices={"other": price})
    assert none.model_cost is None
    assert "no price for m, n: not in the cost of the models" in none.assumptions
    free = planned(factors(stages, tokens=both), items=400)
    assert not any("no price" in line for line in free.assumptions)


def test_impossible_sizes_are_refused() -> None:
    for given in ({"items": 0}, {"hours": 0.0}, {"items": 1, "hours": 1.0}):
        with pytest.raises(UsageError, match="FB103"):
            planned(**given)
    with pytest.raises(UsageError, match="FB562"):
        planned(factors(sounds=np.zeros(0)), hours=1.0)


def test_a_small_build_foretells_a_larger_one(tmp_path: Path) -> None:
    small = build(ToyRecipe(), out=tmp_path / "s", cache=tmp_path / "cs", settings={"items": 12})
    large = build(ToyRecipe(), out=tmp_path / "l", cache=tmp_path / "cl", settings={"items": 36})
    got = planned(measure_build(small.path), items=large.record.finished)
    assert got.seeds.low is not None
    assert got.seeds.high is not None
    assert got.seeds.low <= 36 <= got.seeds.high
    assert got.sound * 3600 == pytest.approx(1.25 * large.record.finished)
