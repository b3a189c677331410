"""How long a run's answers took: the wall clock of each, as it was stored with the prediction."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from floorbench.core.prediction import Prediction
from floorbench.core.vocab import Outcome


class AnswerTimes(NamedTuple):
    """Seconds of the wall clock an answer; the first one, which warms up, is apart.

    Parameters
    ----------
    answers : int
        Answers that were timed, without the first.
    median, most : float
        Half and 95 % of them took at most this long.
    first, longest : float
    batched : bool
        Some were asked together: their times are shares of a batch.
    """

    answers: int
    median: float
    most: float
    first: float
    longest: float
    batched: bool

    def __str__(self) -> str:
        told = (
            f"time per answer: median {seconds(self.median)}, 95 % within {seconds(self.most)}, "
            f"longest {seconds(self.longest)}, the first {seconds(self.first)}"
        )
        return told + (" (shares of batches)" if self.batched else "")


def answer_times(predictions: Iterable[Prediction]) -> AnswerTimes | None:
    """Return the times of answered predictions in the order they were made.

    Returns
    -------
    AnswerTimes or None
        ``None`` when fewer than two were timed.

    Notes
    -----
    Percentiles are values that occurred (the smallest with at least that share at or below).
    """
    timed = [
        (p.compute.wall, p.compute.batch)
        for p in predictions
        if p.compute.wall is not None and p.decision.outcome is Outcome.OK
    ]
    if len(timed) < 2:
        return None
    (first, _), *rest = timed
    walls = np.array([wall for wall, _ in rest])
    median, most = np.quantile(walls, [0.5, 0.95], method="inverted_cdf").tolist()
    return AnswerTimes(
        answers=len(rest),
        median=median,
        most=most,
        first=first,
        longest=float(walls.max()),
        batched=any(batch is not None and batch > 1 for _, batch in timed),
    )


def seconds(value: float) -> str:
    """Return a time as people read it.

    Examples
    --------
    >>> seconds(0.00042), seconds(0.0384), seconds(2.5), seconds(1234.0)
    ('0.42 ms', '38 ms', '2.5 s', '1,234 s')
    """
    if value < 1:
        return f"{value * 1000:.2g} ms" if value < 0.0995 else f"{value * 1000:.0f} ms"
    return f"{value:.2g} s" if value < 9.95 else f"{value:,.0f} s"
