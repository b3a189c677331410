import numpy as np
import pytest

from floorbench.web.listen_latency import bursts, latency

BEATS = [5.0 + i for i in range(12)]


def test_the_median_of_what_came_after_the_warm_up() -> None:
    late = [0.9, 0.9, 0.9, 0.9, 0.10, 0.11, 0.12, 0.13, 0.12, 0.12, 0.12, 0.60]
    found = latency(BEATS, [b + d for b, d in zip(BEATS, late, strict=True)])
    assert found.latency == pytest.approx(0.12)
    assert found.used == 8
    assert found.steady


def test_early_responses_are_negative() -> None:
    found = latency(BEATS, [b - 0.04 for b in BEATS])
    assert found.latency == pytest.approx(-0.04)


def test_the_first_of_several_counts() -> None:
    found = latency(BEATS, [b + d for b in BEATS for d in (0.1, 0.2, 0.3)])
    assert found.latency == pytest.approx(0.1)


def test_uneven_or_missing_responses_are_said() -> None:
    uneven = [b + (0.0 if i % 2 else 0.3) for i, b in enumerate(BEATS)]
    assert not latency(BEATS, uneven).steady
    few = latency(BEATS, [b + 0.1 for b in BEATS[:9]])
    assert few == (None, None, 5, False)
    assert latency(BEATS, []).used == 0


@pytest.mark.parametrize("rate", [16_000, 44_100])
def test_bursts_are_found_where_they_begin(rate: int) -> None:
    random = np.random.default_rng(1)
    sound = random.normal(0, 0.002, 6 * rate).astype(np.float32)
    starts = (0.5, 1.5, 2.25, 4.0)
    for start in starts:
        at = round(start * rate)
        sound[at : at + rate // 5] += random.normal(0, 0.2, rate // 5).astype(np.float32)
    assert bursts(sound, rate=rate) == pytest.approx(starts, abs=0.006)


def test_silence_and_a_running_sound_have_no_beginning() -> None:
    assert bursts(np.zeros(16_000, dtype=np.float32), rate=16_000) == []
    assert bursts(np.zeros(0, dtype=np.float32), rate=16_000) == []
    running = np.zeros(32_000, dtype=np.float32)
    running[:8000] = 0.5
    assert bursts(running, rate=16_000) == []
