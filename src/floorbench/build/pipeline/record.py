"""What a build says of itself: ``build.json``, rejects, and measured factors for the next plan."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from floorbench import codec
from floorbench.build.pipeline.runner import Call, Done
from floorbench.build.pipeline.store import Folder
from floorbench.core.sample import JsonValue
from floorbench.errors import FloorbenchError

BUILD_FILE = "build.json"
LINEAGE_FILE = "lineage.jsonl"
REJECTED_FILE = "rejected.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What one stage did in one build; figures count cached calls as they were when made.

    Parameters
    ----------
    stage : str
    version : int
    deterministic : bool
    settings : mapping
    entered, left : int
        Items before it and after it.
    rejected : mapping of str to int
        Items lost to it, by reason.
    tried_again : mapping of str to int
        Rejections that a further attempt followed, by reason.
    failed : int
        Items that it could not treat.
    calls, cached : int
        All calls, and those of them found in the cache.
    wall, cpu, seconds : float
        Seconds by the clock, of the processor, and of sound stored.
    spread : float or None
        Standard deviation over items of an item's processor seconds, all its attempts together;
        ``None`` below two items, and for stages that see all items at once.
    real_time_factor : float or None
        ``cpu / seconds``; undefined (``None``) where no sound was stored.
    """

    stage: str
    version: int
    deterministic: bool
    settings: Mapping[str, JsonValue]
    entered: int = 0
    left: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    tried_again: Mapping[str, int] = field(default_factory=dict)
    failed: int = 0
    calls: int = 0
    cached: int = 0
    wall: float = 0.0
    cpu: float = 0.0
    seconds: float = 0.0
    spread: float | None = None
    real_time_factor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """An item that did not come through: where, why, and whether the next build tries again."""

    item: str
    stage: str
    kind: str
    reason: str
    detail: str
    trace: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRecord:
    """All of ``build.json``.

    Parameters
    ----------
    schema : int
    recipe : str
    preset : str or None
    settings : mapping
        The preset's and the user's together.
    seed : int
    limit : int or None
        Only so many seeds were used.
    deterministic : bool
        Whether every stage is: an empty cache then gives the same dataset.
    seeds, finished, rejected, failed : int
        Items.
    stages : tuple of StageReport
    started : str
        UTC.
    took : float
        Seconds of this sitting by the clock.
    workers : int
    floorbench : mapping
        Version and revision.
    packages, hardware : mapping
    """

    schema: int = 1
    recipe: str
    preset: str | None
    settings: Mapping[str, JsonValue]
    seed: int
    limit: int | None
    deterministic: bool
    seeds: int
    finished: int
    rejected: int
    failed: int
    stages: tuple[StageReport, ...]
    started: str
    took: float
    workers: int
    floorbench: Mapping[str, JsonValue]
    packages: Mapping[str, str]
    hardware: Mapping[str, JsonValue]


class Counter:
    """Counts of one stage while a build runs."""

    def __init__(self) -> None:
        self.entered = self.left = self.failed = self.calls = self.cached = 0
        self.rejected: dict[str, int] = {}
        self.tried_again: dict[str, int] = {}
        self.wall = self.cpu = self.seconds = 0.0
        self._squares = 0.0

    def call(self, call: Call) -> None:
        """Count a call."""
        self.calls += 1
        self.cached += call.cached
        self.wall += call.wall
        self.cpu += call.cpu
        self.seconds += call.seconds
        if call.reason is not None:
            self.tried_again[call.reason] = self.tried_again.get(call.reason, 0) + 1

    def item(self, calls: Iterable[Call]) -> None:
        """Count an item that entered, with the calls that it took."""
        self.entered += 1
        self._squares += sum(call.cpu for call in calls) ** 2

    def reject(self, reason: str) -> None:
        """Count a rejection that is an item's end."""
        self.rejected[reason] = self.rejected.get(reason, 0) + 1

    def report(
        self, *, stage: str, version: int, deterministic: bool, settings: Mapping[str, JsonValue]
    ) -> StageReport:
        """Return the counts."""
        spread = None
        if self._squares and self.entered > 1:
            rest = max(0.0, self._squares - self.cpu**2 / self.entered)
            spread = round(math.sqrt(rest / (self.entered - 1)), 6)
        again = {k: n for k, n in sorted(self.tried_again.items()) if n}
        return StageReport(
            stage=stage,
            version=version,
            deterministic=deterministic,
            settings=settings,
            entered=self.entered,
            left=self.left,
            rejected=dict(sorted(self.rejected.items())),
            tried_again=again,
            failed=self.failed,
            calls=self.calls,
            cached=self.cached,
            wall=round(self.wall, 3),
            cpu=round(self.cpu, 3),
            seconds=round(self.seconds, 3),
            spread=spread,
            real_time_factor=round(self.cpu / self.seconds, 4) if self.seconds else None,
        )


def count(counters: Mapping[str, Counter], names: tuple[str, ...], done: Done) -> None:
    """Count what became of an item in a step of one stage, or of a maker and its checker."""
    for call in done.calls:
        counters[call.stage].call(call)
    for position, name in enumerate(names):
        counter = counters[name]
        counter.item(call for call in done.calls if call.stage == name)
        if done.stage == name and done.failed is not None:
            counter.failed += 1
            return
        if done.stage == name and done.rejected is not None:
            reason = done.rejected.reason
            counter.reject(reason)
            counter.tried_again[reason] -= 1  # the last one was not followed by an attempt
            return
        counter.left += len(done.items) if position == len(names) - 1 else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """Measured figures of one stage, per item that enters it.

    Parameters
    ----------
    wall, cpu, seconds : float
        Seconds by the clock, of the processor, and of sound stored.
    left : float
        Items that leave it.
    items : int
        On how many items this was measured.
    """

    wall: float
    cpu: float
    seconds: float
    left: float
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Factors:
    """Measured figures of a recipe's stages."""

    stages: Mapping[str, Factor]


def factors_path(cache: Path, recipe: str) -> Path:
    """Return where the measured factors of a recipe lie."""
    return cache / "factors" / f"{recipe}.json"


def factors_of(stages: Iterable[StageReport]) -> dict[str, Factor]:
    """Return the figures of a build per item that entered a stage."""
    return {
        s.stage: Factor(
            wall=s.wall / s.entered,
            cpu=s.cpu / s.entered,
            seconds=s.seconds / s.entered,
            left=s.left / s.entered,
            items=s.entered,
        )
        for s in stages
        if s.entered
    }


def write_factors(folder: Folder, recipe: str, stages: tuple[StageReport, ...]) -> None:
    """Keep the factors of a build for later plans."""
    text = codec.encode_pretty(Factors(stages=factors_of(stages)))
    folder.write(factors_path(folder.path, recipe), text.encode())


def read_factors(cache: Path, recipe: str) -> Factors:
    """Return the factors of earlier builds, none when there are none."""
    path = factors_path(cache, recipe)
    if path.is_file():
        try:
            return codec.read_json(path, Factors)
        except FloorbenchError:  # of another version of floorbench
            pass
    return Factors(stages={})
