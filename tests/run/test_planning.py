import dataclasses
from typing import Any

import numpy as np
import pytest

from floorbench.core.prediction import Compute
from floorbench.datasets.open import open_dataset
from floorbench.errors import UsageError
from floorbench.run.factors import RunFactors, measure
from floorbench.run.planning import aim, plan_run
from floorbench.run.plans import Means, RunPlan
from floorbench.systems.api_cost import Price
from support.small_run import small_run

FIXED, SLOPE, OUTSIDE, LOADING = 0.1, 0.02, 0.01, 2.0


def line(number: int, seconds: float) -> Compute:
    wall = FIXED + SLOPE * seconds
    return Compute(wall=wall, cpu=wall / 2, tokens_in=1000, tokens_out=10)


@pytest.fixture(scope="module")
def factors(tmp_path_factory: pytest.TempPathFactory) -> RunFactors:
    return measure(small_run(tmp_path_factory.mktemp("run"), line, outside=OUTSIDE))


def planned(factors: RunFactors, means: dict[str, Any] | None = None, **target: Any) -> RunPlan:
    return plan_run(factors, aim(factors, **target), Means(**(means or {})))


def test_a_rule_without_noise_is_found_again(factors: RunFactors) -> None:
    got = planned(factors, samples=1000)
    assert got.fixed.value == pytest.approx(FIXED)
    assert got.per_unit.value == pytest.approx(SLOPE)
    assert (got.fixed.low, got.fixed.high) == pytest.approx((FIXED, FIXED))
    assert got.unit == "second"
    assert (got.samples, got.predictions) == (1000, 1000)


def test_all_of_the_data_are_measured_and_not_guessed(factors: RunFactors) -> None:
    got = planned(factors)
    source = open_dataset("starter:codett")
    heard = [s.observation for s in source.samples()]
    seconds = sum(o.channels["user"].frames / o.channels["user"].rate for o in heard)  # type: ignore[index]
    assert got.samples == got.predictions == len(heard)
    assert got.answers.value == pytest.approx(FIXED * len(heard) + SLOPE * seconds)
    assert got.answers.low == pytest.approx(got.answers.high)
    assert got.hours == pytest.approx(seconds / 3600)
    assert planned(factors, source=source).answers == got.answers
    assert got.audio_bytes_per_hour is None  # a set that ships with the program names no path


def test_time_is_loading_and_the_workers_share(factors: RunFactors) -> None:
    one = planned(factors, samples=1000)
    whole = one.answers.value + 1000 * OUTSIDE
    assert one.time.value == pytest.approx(LOADING + whole, rel=1e-4)
    ten = planned(factors, {"workers": 10, "efficiency": 0.5}, samples=1000)
    longest = float(factors.wall.max())
    assert ten.time.value == pytest.approx(LOADING + whole / 5 + 0.9 * longest, rel=1e-4)
    assert ten.time.low is not None
    assert ten.time.high is not None
    assert ten.time.low < ten.time.value < ten.time.high
    assert ten.processor is not None
    assert ten.processor.value == pytest.approx(one.answers.value / 2)
    assert ten.time_unloaded is not None
    assert ten.time_unloaded.value < ten.time.value


def test_workers_without_work_do_not_help(factors: RunFactors) -> None:
    most = planned(factors, {"workers": 50, "efficiency": 1.0}, samples=20)
    few = planned(factors, {"workers": 20, "efficiency": 1.0}, samples=20)
    assert most.time.value == pytest.approx(few.time.value)
    assert "30 of 50 workers have nothing to do" in most.assumptions


def test_money_is_for_workers_and_tokens(factors: RunFactors) -> None:
    price = Price(text_in=2.0, text_out=5.0)
    got = planned(
        factors,
        {"workers": 4, "price_per_hour": 0.5, "currency": "EUR", "price": price},
        samples=2000,
    )
    assert got.machine_cost is not None
    assert got.machine_cost.value == pytest.approx(got.time.value / 3600 * 4 * 0.5)
    assert got.tokens_in is not None
    assert got.tokens_in.value == pytest.approx(2_000_000)
    assert got.model_cost is not None
    assert got.model_cost.value == pytest.approx((2000 * 2 + 20 * 5) / 1000)
    assert got.currency == "EUR"
    assert got.gpu_hours is None
    assert got.journal_bytes == pytest.approx(2000 * factors.bytes / factors.predictions)


def test_a_run_on_a_gpu_gives_its_hours(factors: RunFactors) -> None:
    spec = dataclasses.replace(factors.record.system_spec, parameters={"device": "cuda:0"})
    record = dataclasses.replace(factors.record, system_spec=spec)
    on_gpu = dataclasses.replace(factors, record=record)
    got = planned(on_gpu, {"workers": 2}, samples=5000)
    assert got.gpu_hours is not None
    assert got.gpu_hours.value == pytest.approx(2 * got.time.value / 3600)


def test_hours_of_sound_become_samples(factors: RunFactors) -> None:
    got = planned(factors, hours=10.0)
    assert got.samples == round(36000 / float(factors.recorded.mean()))
    assert got.hours == pytest.approx(10.0, rel=1e-3)
    silent = dataclasses.replace(factors, recorded=np.zeros_like(factors.recorded))
    with pytest.raises(UsageError, match="FB562"):
        aim(silent, hours=1.0)


def test_more_history_is_more_to_hear(factors: RunFactors) -> None:
    short = planned(factors, samples=100)
    aimed = aim(factors, samples=100, trials=3)
    assert aimed.predictions == 300
    assert plan_run(factors, aimed, Means()).answers.value == pytest.approx(
        3 * short.answers.value, rel=0.02
    )
    with pytest.raises(UsageError, match="FB205"):
        aim(factors, samples=100, conditions=["h99"])


def test_every_assumption_is_a_line(factors: RunFactors) -> None:
    lines = planned(factors, {"workers": 8, "executor": "ray"}, samples=100).assumptions
    text = "\n".join(lines)
    assert "90% of the small run's speed for each worker (assumed" in text
    assert "the small run was serial, the full one is ray" in text
    assert "had a processor 50% of their time" in text
    assert "limits on calls and tokens" in text
    alone = planned(factors, {"executor": "serial", "efficiency": 1.0}).assumptions
    assert not any("assumed" in x or "serial" in x or "lengths and kinds" in x for x in alone)


@pytest.mark.parametrize(
    "given",
    [
        {"samples": 0},
        {"samples": 10**400},
        {"hours": 0.0},
        {"hours": float("inf")},
        {"hours": float("nan")},
        {"samples": 1, "hours": 1.0},
        {"trials": 10**12},
    ],
)
def test_impossible_targets_are_refused(factors: RunFactors, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        aim(factors, **given)


def drawn(like: RunFactors, rng: np.random.Generator, count: int) -> RunFactors:
    length = rng.gamma(4.0, 1.0, count)
    wall = np.maximum(0.05 + 0.03 * length + rng.normal(0, 0.03, count), 0.001)
    return dataclasses.replace(
        like,
        sample=np.arange(count),
        samples=count,
        length=length,
        wall=wall,
        cpu=None,
        tokens_in=None,
        tokens_out=None,
    )


def test_the_interval_covers_runs_to_come(factors: RunFactors) -> None:
    """Small runs drawn from one population: their intervals hold the full run's sum mostly."""
    rng = np.random.default_rng(5)
    inside = 0
    for _ in range(60):
        small, full = drawn(factors, rng, 50), drawn(factors, rng, 400)
        target = aim(factors, samples=400)
        target = dataclasses.replace(target, lengths=full.length, mean_length=None)
        got = plan_run(small, target, Means()).answers
        assert got.low is not None
        assert got.high is not None
        inside += got.low <= full.wall.sum() <= got.high
    assert inside >= 51  # 57 are expected
