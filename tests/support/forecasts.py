"""A small build that was measured, and plans of larger ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from floorbench.build.pipeline.forecast import BuildForecast
from floorbench.build.pipeline.measured import BuildFactors
from floorbench.build.pipeline.record import BuildRecord, StageReport
from floorbench.build.pipeline.scaling import forecast_build
from floorbench.run.plans import Means


def stage(name: str, entered: int, left: int, cpu: float, **more: Any) -> StageReport:
    given: dict[str, Any] = {
        "stage": name,
        "version": 1,
        "deterministic": True,
        "settings": {},
        "entered": entered,
        "left": left,
        "calls": entered,
        "cpu": cpu,
        "wall": 2 * cpu,
    }
    return StageReport(**{**given, **more})


STAGES = (
    stage("speak", 100, 100, 400.0, seconds=1000.0, spread=1.0),
    stage("check", 100, 80, 100.0, spread=0.5),
    stage("choose", 80, 40, 8.0, calls=1),
)


def factors(stages: tuple[StageReport, ...] = STAGES, **more: Any) -> BuildFactors:
    record = BuildRecord(
        recipe="toy", preset=None, settings={}, seed=0, limit=None, deterministic=True, seeds=100,
        finished=40, rejected=60, failed=0, stages=stages, started="", took=600.0, workers=2,
        floorbench={}, packages={}, hardware={"cores": 2},
    )  # fmt: skip
    given: dict[str, Any] = {"sounds": np.full(80, 5.0), "bytes": 4000, "stored": 1000}
    return BuildFactors(record=record, **{**given, **more})


def planned(made: BuildFactors | None = None, **given: Any) -> BuildForecast:
    means = {n: given.pop(n) for n in ("workers", "efficiency", "price_per_hour") if n in given}
    return forecast_build(made or factors(), Means(**means), **given)
