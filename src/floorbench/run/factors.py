"""What a small run has measured: seconds, tokens and lengths per question, for a plan.

Every prediction of a finished run carries the seconds of its answer; the data say how much it
showed. The two together are the factors of a plan (:mod:`floorbench.run.planning`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from floorbench.core.prediction import Compute, PredictionKey
from floorbench.core.sample import Sample
from floorbench.core.time import from_samples
from floorbench.core.words import counted
from floorbench.errors import DataError, Place
from floorbench.metrics.base import Floats, Ints
from floorbench.run.batching import length_of
from floorbench.run.due import LARGEST, MOST, Due, due_items
from floorbench.run.opening import Opened, open_predictions
from floorbench.run.store import LONGEST, RunFolder, RunRecord, Sitting, out_of_range

LEAST = 10
"""Samples with a measured time that a plan needs."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunFactors:
    """Figures of a small run, one row a prediction that has a time.

    Parameters
    ----------
    record : RunRecord
    opened : Opened
        Its task and its data.
    sample : int64 array (n,)
        Which sample a row belongs to, 0 to ``samples - 1``.
    samples : int
    length : float64 array (n,)
        Seconds of sound shown, or characters (see :func:`floorbench.run.batching.length_of`).
    sounds : bool
        Whether ``length`` is seconds of sound.
    wall : float64 array (n,)
        Seconds by the clock.
    cpu : float64 array (n,) or None
        Seconds of the processor; ``None`` where some row has none.
    tokens_in, tokens_out : float64 array (n,) or None
    costs : tuple of Compute
        Of all rows, for prices.
    recorded : float64 array (samples,)
        Seconds of a sample's own sound, the longest channel; 0 without any.
    bytes : int
        Size of the journal.
    predictions : int
        Lines of the journal.
    loading : float or None
        Seconds of loading the system, the longest of the sittings.
    warming : float
        Seconds that the first answer of a worker took longer than the mean of the others.
    overhead : float or None
        Seconds of a worker per prediction outside the answers: decoding, hashing, writing, waiting
        at the end; ``None`` for runs that did not measure it.
    """

    record: RunRecord
    opened: Opened
    sample: Ints
    samples: int
    length: Floats
    sounds: bool
    wall: Floats
    cpu: Floats | None
    tokens_in: Floats | None
    tokens_out: Floats | None
    costs: tuple[Compute, ...]
    recorded: Floats
    bytes: int
    predictions: int
    loading: float | None
    warming: float
    overhead: float | None

    @property
    def sitting(self) -> Sitting:
        """The last sitting that wrote something: how the answers were made."""
        return [s for s in self.record.sittings if s.written][-1]


class _Row(NamedTuple):
    sample: int
    length: float
    cost: Compute


def measure(path: Path) -> RunFactors:
    """Read the factors of a run.

    Parameters
    ----------
    path : Path
        A run folder; its data must be where they were.

    Raises
    ------
    DataError
        ``FB561`` when it is not finished or has too few answers with a time, ``FB505`` for a cost
        that no answer has; what
        :func:`floorbench.run.opening.open_predictions` raises.
    """
    where = Place(str(path))
    folder = RunFolder.open(path)
    record = folder.record()
    if record.status != "complete":
        raise DataError("FB561", f"the run is {record.status}, not complete", where=where)
    if not any(s.written for s in record.sittings):
        raise DataError("FB561", "no sitting of the run has written an answer", where=where)
    opened = _opened(path)
    costs: dict[PredictionKey, Compute] = {}
    lines, first = 0, []
    starts = _starts(record.sittings)
    for prediction in folder.predictions():
        wrong = next(_wrong(prediction.compute), None)
        if wrong is not None:
            raise DataError("FB505", wrong, where=Place(str(folder.journal), lines + 1))
        if prediction.compute.wall is not None:
            if any(lines in span for span in starts):
                first.append(prediction.key)
            costs[prediction.key] = prediction.compute
        lines += 1
    if record.trials > lines:
        what = (
            f"{counted(record.trials, 'trial')} of each sample, but only {counted(lines, 'answer')}"
        )
        raise DataError("FB561", what, where=where, hint="Give the folder of a whole run.")
    warm = [costs[key] for key in first]
    if len(costs) - len(first) >= LEAST:  # the first answers count with loading
        for key in first:
            del costs[key]
    rows, recorded = _rows(opened, costs)
    if len(recorded) < LEAST:
        raise DataError(
            "FB561",
            f"{counted(len(recorded), 'sample has', 'samples have')} "
            f"a measured time, {LEAST} are needed",
            where=where,
            hint="Run at least 50 samples of the kind that is to be planned.",
        )
    wall = np.array([row.cost.wall for row in rows], dtype=np.float64)
    return RunFactors(
        record=record,
        opened=opened,
        sample=np.array([row.sample for row in rows], dtype=np.int64),
        samples=len(recorded),
        length=np.array([row.length for row in rows], dtype=np.float64),
        sounds=bool(recorded.max() > 0) if _hears(opened) else False,
        wall=wall,
        cpu=_column(row.cost.cpu for row in rows),
        tokens_in=_column(row.cost.tokens_in for row in rows),
        tokens_out=_column(row.cost.tokens_out for row in rows),
        costs=tuple(row.cost for row in rows),
        recorded=recorded,
        bytes=folder.journal.stat().st_size,
        predictions=lines,
        loading=max((s.loading for s in record.sittings if s.loading is not None), default=None),
        warming=max(0.0, max((w.wall or 0.0) * w.batch for w in warm) - float(wall.mean()))
        if warm
        else 0.0,
        overhead=_overhead(record.sittings, lines, float(wall.sum()), warm),
    )


def _wrong(cost: Compute) -> Iterator[str]:
    """Say which costs no answer can have."""
    yield from out_of_range([("wall", cost.wall), ("cpu", cost.cpu)], 0, LONGEST)
    yield from out_of_range([("batch", cost.batch)], 1, MOST)
    tokens = [("tokens_in", cost.tokens_in), ("tokens_out", cost.tokens_out)]
    yield from out_of_range(tokens, 0, LARGEST)


def _opened(path: Path) -> Opened:
    """Open a run with its data; say whose data they are when they are gone."""
    try:
        return open_predictions(path)
    except DataError as error:
        if error.code not in ("FB211", "FB282"):
            raise
        what = f"data of the run '{path}': {error.what}"
        hint = "A plan needs the data of the small run where they were when it was made."
        raise DataError(error.code, what, where=error.where, hint=hint) from None


def recorded_seconds(sample: Sample) -> float:
    """Return the seconds of a sample's own sound: its longest channel, without the history."""
    channels = sample.observation.channels.values()
    return max((from_samples(a.frames, a.rate) for a in channels), default=0.0)


def folder_bytes(path: Path) -> int:
    """Return the size of a file, or of all files below a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(p.stat().st_size for p in path.rglob("*") if p.is_file())


def shown_lengths(opened: Opened, dues: Iterable[Due]) -> Iterator[float]:
    """Yield how much each question shows."""
    for due in dues:
        shown = opened.task.observe(due.sample, due.condition, system=opened.system)
        yield length_of(shown).amount


def _hears(opened: Opened) -> bool:
    first = next(due_items(opened.task, opened.source, opened.system, opened.plan), None)
    if first is None:
        return False
    shown = opened.task.observe(first.sample, first.condition, system=opened.system)
    return length_of(shown).sounds


def _rows(opened: Opened, costs: dict[PredictionKey, Compute]) -> tuple[list[_Row], Floats]:
    rows: list[_Row] = []
    numbers: dict[str, int] = {}
    recorded: list[float] = []
    for due in due_items(opened.task, opened.source, opened.system, opened.plan):
        cost = costs.get(due.key)
        if cost is None:
            continue
        if due.sample.id not in numbers:
            numbers[due.sample.id] = len(numbers)
            recorded.append(recorded_seconds(due.sample))
        (length,) = shown_lengths(opened, [due])
        rows.append(_Row(numbers[due.sample.id], length, cost))
    return rows, np.array(recorded, dtype=np.float64)


def _starts(sittings: Iterable[Sitting]) -> list[range]:
    """Return the lines that the first answers of each sitting's workers stand on."""
    starts: list[range] = []
    line = 0
    for sitting in sittings:
        first = min(sitting.workers * sitting.batch, sitting.written)
        starts.append(range(line, line + first))
        line += sitting.written
    return starts


def _column(values: Iterable[float | int | None]) -> Floats | None:
    held = list(values)
    if any(v is None for v in held):
        return None
    return np.array(held, dtype=np.float64)


def _overhead(
    sittings: Iterable[Sitting], lines: int, answers: float, warm: list[Compute]
) -> float | None:
    spent = 0.0
    for sitting in sittings:
        if sitting.answering is None:
            if sitting.written:
                return None
            continue
        spent += sitting.answering * sitting.workers
    if not lines or not spent:
        return None
    return max(0.0, spent - answers - sum(w.wall or 0.0 for w in warm)) / lines
