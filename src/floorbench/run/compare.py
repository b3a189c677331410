"""Runs side by side: same protocol or no comparison, then differences with p values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from floorbench.core.score import Coverage, Signature
from floorbench.core.words import counted
from floorbench.errors import DataError, UsageError, did_you_mean
from floorbench.metrics.base import Column, Measure
from floorbench.run.opening import Opened
from floorbench.run.scoring import Cells, cells, signature_of
from floorbench.run.served import Snapshot
from floorbench.run.signature import Difference, as_json, differences
from floorbench.run.twoway import PanelResult, beside
from floorbench.run.undeclared import paired_units, sets_differ, wrong_by_definition
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.intervals import is_share
from floorbench.stats.multiple import holm
from floorbench.stats.paired import Comparison, compare_cells, wording
from floorbench.stats.permutation import PERMUTATIONS, Pair

SETS = ("actions", "labels")
"""Keys of a slice that name the set of labels a mean is over."""

Sides = tuple[Measure | None, Measure | None]
"""A cell of both runs."""


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
    better : str or None
        ``higher``, ``lower``, or ``None`` when neither is better by itself.
    lacking : tuple of str
        Which of ``first`` and ``second`` have no such cell or do not declare it.
    note : str or None
        What counts as wrong because one of the systems does not declare it.
    """

    metric: str
    slice: Mapping[str, str]
    found: Comparison | None
    adjusted: float | None
    wording: str
    reason: str | None = None
    share: bool = True
    better: str | None = "higher"
    lacking: tuple[str, ...] = ()
    note: str | None = None


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
    same_answers : bool
        Whether systems with equal signatures gave the same answers to everything, which leaves
        nothing to estimate.
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
    same_answers: bool = False
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
    only: Sequence[str] = (),
    panels: bool = True,
) -> tuple[RunComparison, ...]:
    """Score runs with this version of floorbench and compare each with ``base``, cell by cell.

    Parameters
    ----------
    runs : sequence of Opened
        From :func:`floorbench.run.opening.open_predictions`; each is "first" in its comparison.
    base : Opened
        The run that every other is compared with ("second"). Its seed is used.
    draws, level, permutations
        Of the paired cluster bootstrap and the permutation test.
    headline : bool
        Only the cells of the printed table; all cells otherwise.
    only : sequence of str
        Only these metrics; of one that the printed table does not have, all cells.
    panels : bool
        Whether to draw a panel again, where the labels come from one.

    Returns
    -------
    tuple of RunComparison
        One per run, in order. Holm's correction is over all p values of all of them, since one
        report prints them.

    Undefined
    ---------
    A cell is not compared, with the reason, when one system does not declare it, when the two
    are over different sets of labels (both are named), or when they were asked about different
    items. A cell that counts undeclared labels as wrong by definition is compared over all items
    of either system (:func:`floorbench.run.undeclared.paired_units`).

    Raises
    ------
    UsageError
        ``FB520`` for other tasks or data, or listing where the protocol parts differ otherwise;
        ``FB526`` for a name in ``only`` that no cell has.
    """
    seed = base.seed
    for run in runs:
        _demand_one("of different tasks", [run.task.spec.name, base.task.spec.name])
    reference = cells(base)
    second = signature_of(reference, draws=draws, level=level)
    found: list[RunComparison] = []
    for run in runs:
        made = cells(run._replace(seed=seed))
        first = signature_of(made, draws=draws, level=level)
        _demand_equal(first, second, (run.source.name, base.source.name))
        pairs = _pairs(made, reference, headline and not only)
        if only:
            pairs = _of_metrics(pairs, only, headline)
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
                same_answers=first.system == second.system and _same_units(made, reference),
                panels=beside(
                    {"A": made.measures, "B": reference.measures},
                    rules=getattr(base.task, "panel_rules", None) if panels else None,
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


def _demand_one(what: str, values: Sequence[str]) -> None:
    """Refuse runs of several tasks or data in one sentence: what follows from it differs too."""
    if values[0] != values[1]:
        shown = " and ".join(f"'{value}'" for value in values)
        hint = "Compare runs of one task on the same data."
        raise UsageError("FB520", f"the runs are {what}: {shown}", hint=hint)


def _demand_equal(first: Signature, second: Signature, data: Sequence[str]) -> None:
    """Refuse unequal protocols; a metric that only one system's cells use is no difference."""
    digests = [str(s.protocol["dataset"])[:12] for s in (first, second)]
    if digests[0] != digests[1]:
        _demand_one("on different data", [f"{n} {d}" for n, d in zip(data, digests, strict=True)])
    common = first.protocol["metrics"].keys() & second.protocol["metrics"].keys()
    parts = [
        {**s.protocol, "metrics": {k: v for k, v in s.protocol["metrics"].items() if k in common}}
        for s in (first, second)
    ]
    found = differences(parts[0], parts[1])
    if found:
        shown = "; ".join(str(d) for d in found)
        raise UsageError(
            "FB520", f"the protocols differ in {counted(len(found), 'place')}: {shown}"
        )


def _pairs(first: Cells, second: Cells, headline: bool) -> list[Sides]:
    """Match the cells of two runs by metric and slice, in the first run's order.

    Baselines are the same in both by construction; testing them would only cost power.
    """
    mine, theirs = ([m for m in c.measures if "baseline" not in m.slice] for c in (first, second))
    others = {_key(m): m for m in theirs}
    own = {_key(m) for m in mine}
    means = {_key(m, *SETS): m for m in theirs if _key(m) not in own}
    pairs: list[Sides] = []
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


def _of_metrics(pairs: Sequence[Sides], names: Sequence[str], headline: bool) -> list[Sides]:
    """Return the cells of some metrics, those of the printed table if a metric has any there."""
    named = [(next(m.metric.spec.name for m in pair if m is not None), pair) for pair in pairs]
    known = sorted({name for name, _ in named})
    for name in names:
        if name not in known:
            raise no_such_metric(name, known)
    shown = [any(m is not None and m.headline for m in pair) for pair in pairs]
    printed = {name for (name, _), show in zip(named, shown, strict=True) if show and headline}
    return [
        pair
        for (name, pair), show in zip(named, shown, strict=True)
        if name in names and (show or name not in printed)
    ]


def no_such_metric(name: str, known: Sequence[str]) -> UsageError:
    """Return the error about a metric that no cell has."""
    near = did_you_mean(name, known)
    hint = f"did you mean '{near}'?" if near else f"there are: {', '.join(known)}"
    return UsageError("FB526", f"no cell is of the metric '{name}'", hint=hint)


def _same_units(first: Cells, second: Cells) -> bool:
    """Tell whether the cells of two runs hold the same units with the same columns."""
    return all(
        a is not None
        and b is not None
        and a.scored.clusters == b.scored.clusters
        and np.array_equal(a.scored.cluster, b.scored.cluster)
        and a.scored.columns.keys() == b.scored.columns.keys()
        and all(_equal(a.scored.column(n), b.scored.column(n)) for n in a.scored.columns)
        for a, b in _pairs(first, second, headline=False)
    )


def _equal(a: Column, b: Column) -> bool:
    return np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f")


def _key(measure: Measure, *but: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    where = sorted((k, v) for k, v in measure.slice.items() if k not in but)
    return measure.metric.spec.name, tuple(where)


def _compared(pairs: Sequence[Sides], **options: Any) -> tuple[CellComparison, ...]:
    """Compare all cells that can be compared; the others say why not."""
    out: list[CellComparison] = []
    sound: dict[str, Pair] = {}
    rates: set[str] = set()
    for i, (a, b) in enumerate(pairs):
        some = a if a is not None else b
        assert some is not None  # noqa: S101 -- _pairs makes no empty pair
        reason, note = _refused(a, b), None
        if a is not None and b is not None and reason is None:
            try:
                sound[str(i)] = paired_units(a, b)
                note = wrong_by_definition(a, b)
            except DataError as error:
                if error.code != "FB651":
                    raise
                reason = f"they were not asked about the same: {error.what}"
            if is_share(a.metric):
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
                better=some.metric.spec.better,
                lacking=tuple(
                    side
                    for side, m in (("first", a), ("second", b))
                    if m is None or m.undeclared is not None
                ),
                note=note,
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
    sets = sets_differ(a, b)
    if sets is not None:
        return sets
    found = differences(as_json(a.metric.spec), as_json(b.metric.spec))
    if found:
        return f"the metric differs: {'; '.join(str(d) for d in found)}"
    return None
