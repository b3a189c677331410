from dataclasses import replace

import numpy as np
import pytest
from statsmodels.duration.survfunc import SurvfuncRight

from floorbench.errors import DataError, UsageError
from floorbench.metrics import base, latency
from floorbench.metrics.base import point
from floorbench.metrics.latency import (
    answered_share,
    early_share,
    latency_mean_conditional,
    latency_percentile,
    latency_percentile_conditional,
    latency_percentile_plain,
)
from oracles.metrics_cases import latency_case, with_columns


def events(times: list[float], status: list[int]) -> base.Scored:
    n = len(times)
    return base.Scored(
        cluster=np.arange(n),
        clusters=tuple(f"c{i}" for i in range(n)),
        strata=np.zeros(n, dtype=np.int64),
        weight=np.ones(n),
        columns={
            "latency": np.array(times),
            "status": np.array(status),
            "outcome": np.zeros(n, dtype=np.int64),
        },
    )


@pytest.mark.parametrize("seed", range(4))
def test_median_agrees_with_statsmodels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.round(rng.gamma(2.0, 0.4, 80), 2)
    answered = rng.random(80) < 0.8
    fit = SurvfuncRight(times, answered.astype(int))
    got = point(latency_percentile(), events(times.tolist(), np.where(answered, 0, 2).tolist()))
    assert got.value == fit.quantile(0.5)


def test_worked_example_with_a_censored_and_a_missed_event() -> None:
    # answered -0.2, 0.4; censored at 0.1; missed once
    case = events([-0.2, 0.1, 0.4, np.nan], [0, 2, 0, 1])
    # 1/4 at -0.2; the censored quarter is shared by 0.4 and the miss: F(0.4) = 1/4 + 3/8
    assert point(latency_percentile(level=0.6), case).value == 0.4
    assert point(latency_percentile(level=0.63), case).value is None
    assert point(latency_percentile_plain(level=0.5), case).value == 0.4
    assert point(latency_percentile_plain(level=0.6), case).value is None
    assert point(latency_percentile_conditional(level=0.9), case).value == 0.4
    assert point(latency_mean_conditional(), case).value == pytest.approx(0.1)
    assert point(answered_share(), case).value == 0.5
    assert point(early_share(), case).value == 0.25


def test_a_level_above_the_answered_share_says_so() -> None:
    case = events([0.1, 0.2, np.nan, np.nan, np.nan], [0, 0, 1, 1, 1])
    assert point(latency_percentile(), case) == (
        None,
        "the level 0.5 lies above the answered share (0.4)",
    )
    silent = events([np.nan, np.nan], [1, 1])
    assert point(latency_percentile_conditional(), silent).reason == "no event was answered"
    assert point(latency_mean_conditional(), silent).reason == "no event was answered"
    nothing = case.where(np.zeros(5, dtype=bool))
    assert point(latency_percentile(), nothing).reason == "no events to score"


@pytest.mark.parametrize("n", [7, 10, 13, 49])
def test_levels_do_not_depend_on_float_noise(n: int) -> None:
    case = events([float(i) for i in range(1, n + 1)], [0] * n)
    for k in range(1, n):
        assert point(latency_percentile(level=k / n), case).value == float(k)
        assert point(latency_percentile_plain(level=k / n), case).value == float(k)


def test_a_failed_prediction_is_a_miss_or_is_dropped() -> None:
    case = events([0.1, 0.2, 0.3], [0, 0, 0])
    failed = with_columns(case, outcome=np.array([0, base.FAILED, base.TIMEOUT]))
    assert point(latency_percentile(level=0.4), failed).value is None
    assert point(latency_percentile(level=0.4, missing="drop"), failed).value == 0.1
    assert point(answered_share(), failed).value == pytest.approx(1 / 3)


def test_in_chunks_of_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    case = latency_case(np.random.default_rng(0))
    weights = np.random.default_rng(1).integers(0, 3, (9, len(case.clusters))).astype(float)
    whole = latency_percentile().value_weighted(case, weights)
    monkeypatch.setattr(latency, "CHUNK", 100)
    chunked = latency_percentile().value_weighted(case, weights)
    assert chunked == pytest.approx(whole, nan_ok=True, abs=0)


def test_bad_input_is_refused() -> None:
    with pytest.raises(DataError, match="FB628 row 1 has an unknown latency status"):
        point(latency_percentile(), events([0.1, 0.2], [0, 3]))
    with pytest.raises(DataError, match="FB622 column 'latency' row 1"):
        point(answered_share(), events([0.1, np.nan], [0, 0]))
    with pytest.raises(DataError, match="FB622 column 'latency' row 0"):
        point(early_share(), events([np.inf, 0.2], [2, 0]))
    for level in (0.0, 1.0, -0.1):
        with pytest.raises(UsageError, match="FB103 level="):
            latency_percentile(level=level)


def test_events_without_weight_have_no_percentile() -> None:
    case = replace(events([0.1, 0.2], [0, 0]), weight=np.zeros(2))
    assert point(latency_percentile(), case) == (None, "the events have no weight")
