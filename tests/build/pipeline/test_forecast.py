from __future__ import annotations

import dataclasses

import pytest

from support.forecasts import STAGES, factors, planned


def test_every_assumption_is_a_line() -> None:
    text = "\n".join(planned(workers=64, hours=1.0).assumptions)
    assert "90% of the small build's speed for each process (assumed" in text
    assert "all items at once (choose)" in text
    assert "choose leaves out 50% as in the small build" in text
    assert "84 s in the small build" in text
    assert "no stage used a GPU" in text
    blurred = (dataclasses.replace(STAGES[0], spread=None, cached=3), *STAGES[1:])
    got = planned(factors(blurred, stored=None))
    text = "\n".join(got.assumptions)
    assert "came from the cache" in text
    assert "not the seconds of speak" in text
    assert "--cache" in text
    assert got.time.value * 3600 == pytest.approx(508 * 2 - 16 + 16)
