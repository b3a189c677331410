"""Runs side by side: same protocol or no comparison, then differences with p values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from floorbench.core.score import Coverage, Signature
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import AdditiveMetric, Measure
from floorbench.run.scoring import Cells, Opened, cells, signature_of
from floorbench.run.served import Snapshot
from floorbench.run.signature import Difference, as_json, differences
from floorbench.run.twoway import PanelResult, beside
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.intervals import SHARES
from floorbench.stats.multiple import holm
from floorbench.stats.paired import Comparison, compare_cells, matched, wording
from floorbench.stats.permutation import PERMUTATIONS, Pair

SETS = ("actions", "labels")
"""Keys of a slice that name the set of labels a mean is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellComparison:
    """One cell of both runs, first minus second.

    ``found`` is ``None`` exactly when ``reason`` says why the cell is not compared. ``adjusted``
    is the p value after Holm's correction over every cell of every comparison of the report.

    Parameters
    ----------
    metric : str
    slice : mapping of str to str
    found : Comparison or None
    adjusted : float or None
    wording : str
        What the comparison shows, or why there is none.
    reason : str or None
    share : bool
        Whether the values lie between 0 and 1; seconds, slots and kappas do not.
    """

    metric: str
    slice: Mapping[str, str]
    found: Comparison | None
    adjusted: float | None
    wording: str
    reason: str | None = None
    share: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Both signatures, where the systems differ, and the cells.

    ``tests`` counts the p values that were corrected together, those of the other comparisons of
    the report included.

    Parameters
    ----------
    first, second : Signature
    first_coverage, second_coverage : Coverage
        Over everything that was due.
    system_differences : tuple of Difference
    cells : tuple of CellComparison
    tests : int
    panels : tuple of PanelResult
        For a task whose labels come from a panel: F1 of both (``A``, ``B``) and the difference with
        the panel drawn again as well, on shared draws.
    first_served, second_served : tuple of Snapshot
        Which snapshots of a service's model answered.
    """

    first: Signature
    second: Signature
    first_coverage: Coverage
    second_coverage: Coverage
    system_differences: tuple[Difference, ...]
    cells: tuple[CellComparison, ...]
    tests: int
    panels: tuple[PanelResult, ...] = ()
    first_served: tuple[Snapshot, ...] = ()
    second_served: tuple[Snapshot, ...] = ()


def compare_runs(first: Opened, second: Opened, **options: Any) -> RunComparison:
    """Compare two runs, first minus second; :func:`compare_many` with one pair.

    Parameters
    ----------
    first, second : Opened
    options
        Those of :func:`compare_many`.
    """
    return compare_many([first], second, **options)[0]


def compare_many(
    runs: Sequence[Opened],
    base: Opened,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    headline: bool = True,
) -> tuple[RunComparison, ...]:
    """Score runs with this version of floorbench and compare each with ``base``, cell by cell.

    Parameters
    ----------
    runs : sequence of Opened
        From :func:`floorbench.run.scoring.open_predictions`; each is "first" in its comparison.
    base : Opened
        The run that every other is compared with ("second"). Its seed is used.
    draws, level, permutations
        Of the paired cluster bootstrap and the permutation test.
    headline : bool
        Only the cells of the printed table; all cells otherwise.

    Returns
    -------
    tuple of RunComparison
        One per run, in order. Holm's correction is over all p values of all of them, since one
        report prints them.

    Undefined
    ---------
    A cell is not compared, with the reason, when one system does not declare it, when the two
    average over different sets (the metric's parameters differ), or when they were asked about
    different clusters.

    Raises
    ------
    UsageError
        ``FB520`` listing where the protocol parts differ.
    """
    seed = base.seed
    reference = cells(base)
    second = signature_of(reference, draws=draws, level=level)
    found: list[RunComparison] = []
    for run in runs:
        made = cells(run._replace(seed=seed))
        first = signature_of(made, draws=draws, level=level)
        _demand_equal(first, second)
        pairs = _pairs(made, reference, headline)
        found.append(
            RunComparison(
                first=first,
                second=second,
                first_coverage=made.coverage,
                second_coverage=reference.coverage,
                system_differences=tuple(differences(first.system, second.system)),
                cells=_compared(
                    pairs, seed=seed, draws=draws, level=level, permutations=permutations
                ),
                tests=0,
                panels=beside(
                    {"A": made.measures, "B": reference.measures},
                    rules=getattr(base.task, "panel_rules", None),
                    seed=seed,
                    draws=draws,
                    level=level,
                ),
                first_served=made.served,
                second_served=reference.served,
            )
        )
    return _adjusted(found)


def _adjusted(reports: Sequence[RunComparison]) -> tuple[RunComparison, ...]:
    """Correct every p of all reports together and put the outcome into words."""
    p_values = {
        f"{i} {j}": c.found.test.p
        for i, report in enumerate(reports)
        for j, c in enumerate(report.cells)
        if c.found is not None
    }
    adjusted = holm(p_values)

    def worded(c: CellComparison, p: float | None) -> CellComparison:
        return c if c.found is None else replace(c, adjusted=p, wording=wording(c.found, p))

    return tuple(
        replace(
            report,
            cells=tuple(worded(c, adjusted.get(f"{i} {j}")) for j, c in enumerate(report.cells)),
            tests=sum(p is not None for p in adjusted.values()),
        )
        for i, report in enumerate(reports)
    )


def _demand_equal(first: Signature, second: Signature) -> None:
    """Refuse unequal protocols; a metric that only one system's cells use is no difference."""
    common = first.protocol["metrics"].keys() & second.protocol["metrics"].keys()
    parts = [
        {**s.protocol, "metrics": {k: v for k, v in s.protocol["metrics"].items() if k in common}}
        for s in (first, second)
    ]
    found = differences(parts[0], parts[1])
    if found:
        shown = "; ".join(str(d) for d in found)
        raise UsageError("FB520", f"the protocols differ in {len(found)} places: {shown}")


def _pairs(
    first: Cells, second: Cells, headline: bool
) -> list[tuple[Measure | None, Measure | None]]:
    """Match the cells of two runs by metric and slice, in the first run's order.

    Baselines are the same in both by construction; testing them would only cost power.
    """
    mine, theirs = ([m for m in c.measures if "baseline" not in m.slice] for c in (first, second))
    others = {_key(m): m for m in theirs}
    own = {_key(m) for m in mine}
    means = {_key(m, *SETS): m for m in theirs if _key(m) not in own}
    pairs: list[tuple[Measure | None, Measure | None]] = []
    for measure in mine:
        other = others.pop(_key(measure), None)
        if other is None:  # a mean over another set of labels, which is refused with both sets
            other = means.pop(_key(measure, *SETS), None)
            if other is not None:
                del others[_key(other)]
        if not headline or measure.headline or (other is not None and other.headline):
            pairs.append((measure, other))
    pairs += [(None, m) for m in others.values() if m.headline or not headline]
    return pairs


def _key(measure: Measure, *but: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    where = sorted((k, v) for k, v in measure.slice.items() if k not in but)
    return measure.metric.spec.name, tuple(where)


def _compared(
    pairs: Sequence[tuple[Measure | None, Measure | None]], **options: Any
) -> tuple[CellComparison, ...]:
    """Compare all cells that can be compared; the others say why not."""
    out: list[CellComparison] = []
    sound: dict[str, Pair] = {}
    rates: set[str] = set()
    for i, (a, b) in enumerate(pairs):
        some = a if a is not None else b
        assert some is not None  # noqa: S101 -- _pairs makes no empty pair
        reason = _refused(a, b)
        if a is not None and b is not None and reason is None:
            try:
                sound[str(i)] = (a.metric, *matched(a.scored, b.scored))
            except DataError as error:
                if error.code != "FB651":
                    raise
                reason = f"they were not asked about the same: {error.what}"
            if a.metric.spec.name in SHARES and isinstance(a.metric, AdditiveMetric):
                rates.add(str(i))
        out.append(
            CellComparison(
                metric=some.metric.spec.name,
                slice=some.slice,
                found=None,
                adjusted=None,
                wording="" if reason is None else f"not compared: {reason}",
                reason=reason,
                share=(some.metric.spec.low, some.metric.spec.high) == (0.0, 1.0),
            )
        )
    found = compare_cells(sound, rates=rates, **options)
    return tuple(replace(cell, found=found.get(str(i))) for i, cell in enumerate(out))


def _refused(a: Measure | None, b: Measure | None) -> str | None:
    for side, measure in (("first", a), ("second", b)):
        if measure is None:
            return f"the {side} run has no such cell"
        if measure.undeclared is not None:
            return f"N/A in the {side} run: {measure.undeclared}"
    assert a is not None and b is not None  # noqa: S101, PT018 -- both were just seen
    found = differences(as_json(a.metric.spec), as_json(b.metric.spec))
    if found:
        return f"the metric differs: {'; '.join(str(d) for d in found)}"
    return None
