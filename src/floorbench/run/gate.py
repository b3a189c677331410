"""Did a release make it worse? A verdict per cell, from the interval of the paired difference.

A gate is a test of non-inferiority: it passes when every cell is shown to be worse by less than
a margin, which is more than that no difference was found.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from floorbench.core.score import Coverage, Interval, Signature
from floorbench.core.words import counted
from floorbench.errors import UsageError
from floorbench.run.compare import CellComparison, RunComparison, compare_runs
from floorbench.run.gate_rules import Rules, sides
from floorbench.run.opening import Opened, open_predictions
from floorbench.run.signature import Difference
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.conservative import NAME
from floorbench.stats.paired import Comparison
from floorbench.stats.rates import normal_quantile

MARGIN = 2.0
"""Points by which a share may fall, unless told otherwise."""

Verdict = Literal["kept", "worse", "not shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatedCell:
    """One cell of both runs and what it shows; numbers in the metric's own unit.

    Parameters
    ----------
    metric : str
    slice : mapping of str to str
    verdict : {'kept', 'worse', 'not shown'}
    sentence : str
        The verdict with its numbers, for people.
    margin : float
        0 or more; of a share 0.02 where the caller said 2 points.
    candidate, baseline : float or None
        ``None`` where undefined, or where the cell is not compared.
    gain, low, high : float or None
        Candidate against baseline with the limits of the verdict, turned so that above 0 is better:
        the conservative ones (:mod:`floorbench.stats.conservative`) where there are any, else those
        of the interval.
    interval : Interval or None
        Of the difference, not turned; how it was made, or why there is none.
    clusters : int
    showable : float or None
        The margin that so many clusters show with probability .8 if the two are equally good.
    needed : int or None
        About how many clusters would show ``margin`` with that probability.
    share : bool
        Whether the metric lies between 0 and 1, so that it is spoken of in points.
    note : str or None
        What counts as wrong because one of the systems does not declare it.
    """

    metric: str
    slice: Mapping[str, str]
    verdict: Verdict
    sentence: str
    margin: float
    candidate: float | None
    baseline: float | None
    gain: float | None
    low: float | None
    high: float | None
    interval: Interval | None
    clusters: int
    showable: float | None
    needed: int | None
    share: bool
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A cell that was not judged, and why."""

    metric: str
    slice: Mapping[str, str]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport:
    """What a gate found.

    Parameters
    ----------
    passed : bool
        Whether every cell is kept.
    failures : tuple of str
        Metric, slice and sentence of each cell that is not.
    candidate, baseline : Signature
    candidate_coverage, baseline_coverage : Coverage
        Over everything that was due.
    system_differences : tuple of Difference
        From the candidate to the baseline.
    same_answers : bool
        Whether one system gave the same answers twice, so that every cell is kept.
    cells : tuple of GatedCell
        At least one.
    left_out : tuple of LeftOut
    """

    passed: bool
    failures: tuple[str, ...]
    candidate: Signature
    baseline: Signature
    candidate_coverage: Coverage
    baseline_coverage: Coverage
    system_differences: tuple[Difference, ...]
    same_answers: bool
    cells: tuple[GatedCell, ...]
    left_out: tuple[LeftOut, ...]


def gate(
    candidate: Opened | Path | str,
    *,
    against: Opened | Path | str,
    margin: float = MARGIN,
    margins: Mapping[str, float] | None = None,
    metrics: Sequence[str] = (),
    better: Mapping[str, str] | None = None,
    every: bool = False,
    draws: int = DRAWS,
    level: float = 0.95,
) -> GateReport:
    """Judge a candidate against a baseline on the same samples, cell by cell.

    With (low, high) the limits of the paired difference, turned so that above 0 is better, a
    cell is ``kept`` when low > -margin, ``worse`` when high < -margin, else ``not shown``. The
    gate passes when all cells are kept. A candidate that is worse by the margin in one cell
    passes that cell, and therefore the gate, with a probability of about (1 - level) / 2, however
    many cells there are: nothing needs to be corrected. Where few or unequal clusters stand behind
    the difference, or it leans to one side, the limits are wider than the printed interval
    (:mod:`floorbench.stats.conservative`), and the sentence says so.

    Parameters
    ----------
    candidate, against : Opened, Path or str
        Run folders, or what :func:`floorbench.run.opening.open_predictions` returns.
    margin : float
        Points (hundredths) for all metrics between 0 and 1, 0 or more.
    margins : mapping of str to float
        Margin by metric: points for metrics between 0 and 1, else the metric's own unit.
    metrics : sequence of str
        Which metrics to judge: their cells of the printed table, or all cells of a metric that
        has none there. By default all cells of the printed table that can be judged.
    better : mapping of str to {'higher', 'lower'}
        Which way is better, for metrics that do not say so themselves.
    every : bool
        All cells, not only those of the printed table.
    draws, level
        Of the paired cluster bootstrap.

    Returns
    -------
    GateReport

    Undefined
    ---------
    A cell that has no interval is ``not shown``, with the reason. So is one that the baseline
    has and the candidate lacks. A cell that the baseline lacks is left out. A system that gave
    the same answers to everything as one with its own signature, which is itself, is kept.

    Raises
    ------
    UsageError
        ``FB520`` for unequal protocols, ``FB525`` when there is no cell to judge or a
        run without any answer, ``FB526`` for
        a metric that no cell has, ``FB527`` for a margin that is none or lacks a unit, ``FB528``
        for a metric without a direction.

    Source
    ------
    Test of non-inferiority by a confidence interval; for several endpoints that must all hold,
    the intersection-union test, R. L. Berger (1982), Technometrics 24: 295-300.
    """
    rules = Rules(margin, dict(margins or {}), tuple(metrics), dict(better or {}))
    rules.check()
    found = compare_runs(
        _opened(candidate),
        _opened(against),
        draws=draws,
        level=level,
        permutations=1,  # the verdict reads the interval; no p value is given
        headline=not every,
        only=metrics,
        panels=False,
    )
    for who, asked in (
        ("candidate", found.first_coverage),
        ("baseline", found.second_coverage),
    ):
        if not asked.ok:
            raise UsageError("FB525", f"the {who} answered none of {asked.expected}")
    objections = [rules.objection(c) for c in found.cells]
    judged = [c for c, why in zip(found.cells, objections, strict=True) if why is None]
    rules.fit(judged, found.cells, objections)
    left_out = tuple(
        LeftOut(metric=c.metric, slice=c.slice, reason=why)
        for c, why in zip(found.cells, objections, strict=True)
        if why is not None
    )
    cells = tuple(_judged(c, rules, found.same_answers, level) for c in judged)
    return _report(found, cells, left_out)


def verdict_by(low: float | None, high: float | None, *, margin: float) -> Verdict:
    """Return what the interval of a gain shows.

    Parameters
    ----------
    low, high : float or None
        Above 0 is better; ``None`` without an interval.
    margin : float
        In the same unit, 0 or more.
    """
    if low is not None and low > -margin:
        return "kept"
    if high is not None and high < -margin:
        return "worse"
    return "not shown"


def judged_limits(made: Interval, sign: float = 1.0) -> tuple[float | None, float | None]:
    """Return the limits of a difference that the verdict reads.

    Parameters
    ----------
    made : Interval
    sign : float
        1 where a higher difference is better, else -1, which turns the limits.

    Returns
    -------
    (float, float) or (None, None)
        The conservative limits where there are any, else the interval's own.
    """
    low, high = made.beside.get(NAME, (made.low, made.high))
    if low is None or high is None or sign > 0:
        return low, high
    return -high, -low


def _opened(run: Opened | Path | str) -> Opened:
    return run if isinstance(run, Opened) else open_predictions(Path(run))


def _judged(cell: CellComparison, rules: Rules, same: bool, level: float) -> GatedCell:
    margin, found = rules.margin_of(cell), cell.found
    sign = 1.0 if rules.side(cell) == "higher" else -1.0
    low, high = (None, None) if found is None else judged_limits(found.interval, sign)
    showable = None if found is None else _showable(found, level)
    needed = None if found is None else _needed(found, margin, showable)
    gain = None if found is None or found.difference is None else sign * found.difference
    clusters = 0 if found is None else found.interval.clusters
    verdict: Verdict = "kept" if same else verdict_by(low, high, margin=margin)
    unit = _Unit(cell.share)
    if same:
        says = "kept: the same system gave the same answers to everything"
    elif found is None or low is None or high is None:
        says = f"not shown: {_no_interval(cell)}"
    else:
        exact = gain == 0 and found.interval.method == "clopper-pearson"
        change = unit.at_most(high, clusters) if exact else unit.change(low, high)
        says = change if verdict == "worse" else f"{verdict}: {change}"
        says += f"; the margin is {unit.of(margin)}"
    if verdict == "not shown" and low is not None:
        says += _missing(unit, clusters, margin, showable, needed)
    if not same and found is not None and NAME in found.interval.beside:
        says += " (by conservative limits)"
    return GatedCell(
        metric=cell.metric,
        slice=cell.slice,
        verdict=verdict,
        sentence=says,
        margin=margin,
        candidate=None if found is None else found.a,
        baseline=None if found is None else found.b,
        gain=gain,
        low=low,
        high=high,
        interval=None if found is None else found.interval,
        clusters=clusters,
        showable=showable,
        needed=needed,
        share=cell.share,
        note=cell.note,
    )


def _missing(
    unit: _Unit, clusters: int, margin: float, showable: float | None, needed: int | None
) -> str:
    """Say what more data would do, or that it is not for lack of data."""
    if margin == 0:
        return ", which only a better system keeps"
    if showable is None:
        return ""
    if needed is None or needed <= clusters:
        return (
            ", which an equally good system would have "
            f"kept on these {counted(clusters, 'cluster')}"
        )
    return f" and needs about {counted(needed, 'cluster')}, {clusters} can show {unit.of(showable)}"


def _no_interval(cell: CellComparison) -> str:
    if cell.found is None:
        return sides(cell.reason or "not compared")
    if cell.found.reason is not None:
        return f"{cell.found.reason} (A is the candidate, B the baseline)"
    return cell.found.interval.reason or "there is no interval"


def _showable(found: Comparison, level: float) -> float | None:
    """Return the margin that an equally good candidate would keep with power .8.

    That is the detectable difference, whose two-sided level of .05 is replaced by the gate's; or,
    where nothing varies, the exact limit itself.
    """
    if found.detectable is None:
        return found.interval.high if found.interval.method == "clopper-pearson" else None
    power = normal_quantile(0.8)
    own = normal_quantile((1 + level) / 2) + power
    return found.detectable * own / (normal_quantile(0.975) + power)


def _needed(found: Comparison, margin: float, showable: float | None) -> int | None:
    """Return the number of clusters that show the margin as these show ``showable``."""
    if showable is None or margin == 0:
        return None
    if found.detectable is None:
        if margin >= 1 or showable >= 1:
            return None
        return math.ceil(found.interval.clusters * math.log1p(-showable) / math.log1p(-margin))
    return math.ceil(found.interval.clusters * (showable / margin) ** 2)


@dataclass(frozen=True, slots=True)
class _Unit:
    """Points for shares, the metric's own unit for the others."""

    share: bool

    def of(self, *values: float) -> str:
        """Return sizes as read by people, joined by "to"."""
        told = [f"{abs(100 * v if self.share else v):.3g}" for v in values]
        unit = "" if not self.share else " point" if told == ["1"] else " points"
        return " to ".join(told) + unit

    def at_most(self, limit: float, clusters: int) -> str:
        return (
            f"the same on all {counted(clusters, 'cluster')}, so apart by {self.of(limit)} at most"
        )

    def change(self, low: float, high: float) -> str:
        if low >= 0:
            return f"better by {self.of(low, high)}"
        if high <= 0:
            return f"worse by {self.of(high, low)}"
        return f"between {self.of(low)} worse and {self.of(high)} better"


def _report(
    found: RunComparison, cells: tuple[GatedCell, ...], left_out: tuple[LeftOut, ...]
) -> GateReport:
    failures = tuple(
        " ".join([c.metric, *(f"{k}={v}" for k, v in c.slice.items())]) + f": {c.sentence}"
        for c in cells
        if c.verdict != "kept"
    )
    return GateReport(
        passed=not failures,
        failures=failures,
        candidate=found.first,
        baseline=found.second,
        candidate_coverage=found.first_coverage,
        baseline_coverage=found.second_coverage,
        system_differences=found.system_differences,
        same_answers=found.same_answers,
        cells=cells,
        left_out=left_out,
    )
