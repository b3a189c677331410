"""Two runs side by side: same protocol or no comparison, then differences with p values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from floorbench.core.score import Signature
from floorbench.errors import DataError, UsageError
from floorbench.metrics.base import AdditiveMetric, Measure
from floorbench.run.scoring import SHARES, Cells, Opened, cells, signature_of
from floorbench.run.signature import Difference, as_json, differences
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.multiple import holm
from floorbench.stats.paired import Comparison, compare, wording
from floorbench.stats.permutation import PERMUTATIONS


@dataclass(frozen=True, slots=True, kw_only=True)
class CellComparison:
    """One cell of both runs, first minus second.

    ``found`` is ``None`` exactly when ``reason`` says why the cell is not compared. ``adjusted``
    is the p value after Holm's correction over all cells of the report.
    """

    metric: str
    slice: Mapping[str, str]
    found: Comparison | None
    adjusted: float | None
    wording: str
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunComparison:
    """Both signatures, where the systems differ, and the cells."""

    first: Signature
    second: Signature
    system_differences: tuple[Difference, ...]
    cells: tuple[CellComparison, ...]


def compare_runs(
    first: Opened,
    second: Opened,
    *,
    draws: int = DRAWS,
    level: float = 0.95,
    permutations: int = PERMUTATIONS,
    headline: bool = True,
) -> RunComparison:
    """Score two runs with this version of floorbench and compare them cell by cell.

    Parameters
    ----------
    first, second : Opened
        From :func:`floorbench.run.scoring.open_predictions`. The seed of the first is used.
    draws, level, permutations
        Of the paired cluster bootstrap and the permutation test.
    headline : bool
        Only the cells of the printed table; all cells otherwise.

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
    made = (cells(first), cells(second._replace(seed=first.seed)))
    signatures = [signature_of(m, draws=draws, level=level) for m in made]
    _demand_equal(*signatures)
    compared = [
        _cell(a, b, first.seed, draws, level, permutations) for a, b in _pairs(*made, headline)
    ]
    adjusted = holm(
        {str(i): c.found.test.p if c.found is not None else None for i, c in enumerate(compared)}
    )
    return RunComparison(
        first=signatures[0],
        second=signatures[1],
        system_differences=tuple(differences(signatures[0].system, signatures[1].system)),
        cells=tuple(
            c
            if c.found is None
            else replace(c, adjusted=adjusted[str(i)], wording=wording(c.found, adjusted[str(i)]))
            for i, c in enumerate(compared)
        ),
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
    """Match the cells of two runs by metric and slice, in the first run's order."""
    others = {_key(m): m for m in second.measures}
    pairs: list[tuple[Measure | None, Measure | None]] = []
    for measure in first.measures:
        other = others.pop(_key(measure), None)
        if not headline or measure.headline or (other is not None and other.headline):
            pairs.append((measure, other))
    pairs += [(None, m) for m in others.values() if m.headline or not headline]
    return pairs


def _key(measure: Measure) -> tuple[str, tuple[tuple[str, str], ...]]:
    return measure.metric.spec.name, tuple(sorted(measure.slice.items()))


def _cell(
    a: Measure | None,
    b: Measure | None,
    seed: int,
    draws: int,
    level: float,
    permutations: int,
) -> CellComparison:
    some = a if a is not None else b
    assert some is not None  # noqa: S101 -- _pairs makes no empty pair
    name, slice_ = some.metric.spec.name, some.slice
    reason = _refused(a, b)
    if a is not None and b is not None and reason is None:
        rates = {name} if name in SHARES and isinstance(a.metric, AdditiveMetric) else set()
        try:
            found = compare(
                {name: a.metric},
                a.scored,
                b.scored,
                rates=rates,
                level=level,
                draws=draws,
                permutations=permutations,
                seed=seed,
            )[name]
        except DataError as error:
            if error.code != "FB651":
                raise
            reason = error.what
        else:
            return CellComparison(
                metric=name, slice=slice_, found=found, adjusted=None, wording="", reason=None
            )
    return CellComparison(
        metric=name,
        slice=slice_,
        found=None,
        adjusted=None,
        wording=f"not compared: {reason}",
        reason=reason,
    )


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
