"""Which cells a gate judges, by what margin, and which way is better."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from floorbench.errors import UsageError
from floorbench.run.compare import CellComparison, no_such_metric

SIDES = ("higher", "lower")


@dataclass(frozen=True, slots=True)
class Rules:
    """What the caller of a gate said, and what follows for a cell.

    Parameters
    ----------
    margin : float
        Points, for metrics between 0 and 1.
    margins : dict of str to float
        By metric; points, or the metric's own unit.
    metrics : tuple of str
        Metrics that were asked for.
    better : dict of str to {'higher', 'lower'}
        Which way is better, for metrics that do not say so.
    """

    margin: float
    margins: dict[str, float]
    metrics: tuple[str, ...]
    better: dict[str, str]

    def check(self) -> None:
        """Refuse margins that are none (``FB527``) and ways that are none (``FB103``)."""
        for name, value in {"": self.margin, **self.margins}.items():
            if not math.isfinite(value) or value < 0:
                whose = f" of '{name}'" if name else ""
                raise UsageError(
                    "FB527", f"the margin{whose} is {value:g}; it must be 0 or more, and finite"
                )
        for name, side in self.better.items():
            if side not in SIDES:
                raise UsageError(
                    "FB103", f"better of '{name}' is '{side}'", hint="one of: higher, lower"
                )

    def objection(self, cell: CellComparison) -> str | None:
        """Say why a cell cannot be judged; refuse it if it was asked for by name."""
        named = {*self.metrics, *self.margins, *self.better}
        if "second" in cell.lacking:
            return sides(cell.reason or "the baseline does not have it")
        if self.side(cell) is None:
            if cell.metric in named:
                raise UsageError(
                    "FB528",
                    f"neither way is better by itself for '{cell.metric}'",
                    hint=f"if less of it is better for you: --better {cell.metric}=lower",
                )
            return "neither way is better by itself"
        if not cell.share and cell.metric not in self.margins:
            example = f"--margin {cell.metric}=VALUE"
            if cell.metric in named:
                raise UsageError(
                    "FB527",
                    f"'{cell.metric}' is no share; a margin in points says nothing about it",
                    hint=f"give one in its own unit: {example}",
                )
            return f"no share; it needs a margin in its own unit ({example})"
        return None

    def side(self, cell: CellComparison) -> str | None:
        """Return which way is better."""
        said = self.better.get(cell.metric)
        if said is not None and cell.better not in (None, said):
            raise UsageError("FB103", f"'{cell.metric}' is better when {cell.better}, not {said}")
        return cell.better or said

    def margin_of(self, cell: CellComparison) -> float:
        """Return the margin in the metric's own unit."""
        value = self.margins.get(cell.metric, self.margin)
        return value / 100 if cell.share else value

    def fit(
        self,
        judged: Sequence[CellComparison],
        cells: Sequence[CellComparison],
        objections: Sequence[str | None],
    ) -> None:
        """Refuse a gate that judges nothing, or nothing of a metric that was named."""
        seen = {c.metric for c in judged}
        for name in self.metrics or ([] if judged else ["any metric"]):
            if name not in seen:
                reasons = [
                    why
                    for c, why in zip(cells, objections, strict=True)
                    if why is not None and (c.metric == name or not self.metrics)
                ]
                first = f": {reasons[0]}" if reasons else ""
                raise UsageError("FB525", f"no cell of {name} can be judged{first}")
        known = sorted({c.metric for c in cells})
        for name in (*self.margins, *self.better):
            if name not in known:
                raise no_such_metric(name, known)


def sides(reason: str) -> str:
    """Call the two runs of a comparison by what they are here."""
    return reason.replace("the first run", "the candidate").replace(
        "the second run", "the baseline"
    )
