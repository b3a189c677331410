"""Stored runs as they stand: finished, half written, or still being written.

Scoring proper (:mod:`floorbench.run.scoring`) refuses a run that is not whole. Reports and the
viewer show it instead, and say what is the matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Prediction, PredictionKey
from floorbench.core.sample import JsonValue, Sample
from floorbench.core.score import Coverage, Estimate, Interval, Signature
from floorbench.core.words import counted
from floorbench.errors import DataError, FloorbenchError, Place, UsageError
from floorbench.metrics.base import DueItem, Measure, Scored, ScoringTask, point
from floorbench.report.naming import settings_that_differ
from floorbench.run.due import Plan, due_items
from floorbench.run.opening import Opened, task_again
from floorbench.run.scoring import Result, current_result, served_part
from floorbench.run.served import Tally
from floorbench.run.signature import protocol_part, system_part
from floorbench.run.store import ESTIMATES_FILE, RunFolder, RunRecord
from floorbench.run.traces import get
from floorbench.run.whereabouts import to_open

UNREADABLE_AUDIO = ("FB216", "FB301", "FB302", "FB303", "FB304", "FB305", "FB306")


class SharedSource:
    """A dataset whose samples are read once, for several runs on the same data."""

    def __init__(self, source: DatasetSource) -> None:
        self._source = source
        self._samples: tuple[Sample, ...] | None = None
        self._digest: str | None = None
        self.name = source.name

    def locator(self) -> Mapping[str, JsonValue]:
        """Return what opens the data again."""
        return self._source.locator()

    def describe(self) -> Mapping[str, JsonValue]:
        """Return what the data say of themselves."""
        return self._source.describe()

    def digest(self) -> str:
        """Return the digest, computed once."""
        if self._digest is None:
            self._digest = self._source.digest()
        return self._digest

    def samples(self) -> Iterator[Sample]:
        """Yield the samples, from memory after the first time."""
        if self._samples is None:
            self._samples = tuple(self._source.samples())
        return iter(self._samples)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run folder with its items, scoring units and cells.

    Parameters
    ----------
    opened : Opened
        Task, data, system, plan and seed.
    record : RunRecord
    items : tuple of DueItem
        Everything that was due, in the order of the data; ``prediction`` is ``None`` where there
        is none (yet).
    scored : mapping of str to Scored
        The task's units of these items, by kind.
    measures : tuple of Measure
        The task's cells.
    result : Result
        ``estimates.json`` where it is there and not older than the journal, else the same values
        without intervals.
    fresh : bool
        Whether ``result`` carries the stored intervals.
    remarks : tuple of str
        What a reader must know: torn line, missing predictions, unchecked data ...
    """

    opened: Opened
    record: RunRecord
    items: tuple[DueItem, ...]
    scored: Mapping[str, Scored]
    measures: tuple[Measure, ...]
    result: Result
    fresh: bool
    remarks: tuple[str, ...] = field(default_factory=tuple)

    @property
    def path(self) -> Path:
        """Path of the run folder."""
        return self.opened.path

    @property
    def digest(self) -> str:
        """Digest of the data that the run was made on."""
        return self.record.dataset.digest


class Sources:
    """Datasets by locator, each opened and read once.

    Parameters
    ----------
    data : str or None
        Where the data are now, for runs whose data moved: a path or ``starter:NAME``. A run's own
        settings of the reader (split, channel) go on to hold.
    reader : str or None
        Reader of ``data``.
    """

    def __init__(self, data: str | None = None, *, reader: str | None = None) -> None:
        self._data = data
        self._reader = reader
        self._open: dict[str, SharedSource] = {}

    def of(self, record: RunRecord, run: Path) -> SharedSource:
        """Return the data of the run in a folder.

        Raises
        ------
        DataError
            ``FB801`` when they are not where the run found them and no other place is given.
        """
        from floorbench.datasets.open import open_dataset

        locator = to_open(record.dataset.locator, run)
        key = str(sorted(locator.items()))
        if key not in self._open:
            if self._data is not None:
                place = self._data if ":" in self._data else Path(self._data)
                moved = open_dataset(place, reader=self._reader)
                now = moved.locator()
                if now.get("reader") == locator.get("reader") and dict(now) != dict(locator):
                    # The same reader: the run's split, channel and so on hold there too.
                    moved = open_dataset({**locator, "path": now["path"]})
                self._open[key] = SharedSource(moved)
            else:
                try:
                    source = open_dataset(locator)
                except DataError as error:
                    if error.code != "FB211":
                        raise
                    there = locator.get("path")
                    raise DataError(
                        "FB801",
                        f"the data of this run, '{record.dataset.name}', are not at '{there}'",
                        where=Place(str(run)),
                        hint="Say where they are now with --dataset PATH.",
                    ) from None
                self._open[key] = SharedSource(source)
        return self._open[key]


def load(path: Path, sources: Sources) -> StoredRun:
    """Read a run folder as it stands, with the task and the data that it names.

    Raises
    ------
    DataError
        ``FB505``, ``FB506`` for a folder that cannot be read, ``FB801`` for data that moved.
    UsageError
        ``FB502`` when the data are not those of the run, or its task is no longer built like that.
    """
    record = RunFolder.open(Path(path)).record()
    task = task_again(record, Path(path))
    return read_run(Path(path), task=task, source=sources.of(record, Path(path)))


def read_run(path: Path, *, task: ScoringTask, source: DatasetSource) -> StoredRun:
    """Read a run folder as it stands, with a given task and given data (see :func:`load`)."""
    folder = RunFolder.open(path)
    record = folder.record()
    remarks = _data_remarks(record, source, Place(str(path)))
    plan = Plan(record.conditions, record.trials, record.limit)
    opened = Opened(path, task, source, record.system_spec, plan, record.seed)
    predictions, repeated = _predictions(folder)
    items = tuple(
        DueItem(due.sample, due.condition, due.trial, predictions.pop(due.key, None))
        for due in due_items(task, source, record.system_spec, plan)
    )
    remarks += _journal_remarks(folder, record, items, strays=len(predictions), repeated=repeated)
    scored = task.scored(items, system=record.system_spec)
    measures = tuple(task.measures(scored, system=record.system_spec)) if items else ()
    stored = _stored_result(folder, measures)
    return StoredRun(
        opened=opened,
        record=record,
        items=items,
        scored=scored,
        measures=measures,
        result=stored or _plain_result(opened, record.dataset.digest, measures, items),
        fresh=stored is not None,
        remarks=tuple(remarks),
    )


class LabelPair(NamedTuple):
    """A column of answers with the column of what was right, and a name for both."""

    name: str
    gold: str
    predicted: str


def label_pairs(units: Scored) -> tuple[LabelPair, ...]:
    """Return the pairs of gold and predicted columns of units, in the order of the columns.

    ``predicted`` belongs to ``gold`` and is named ``label``; ``predicted_x`` belongs to ``gold_x``
    or ``x``, else to ``gold`` (another reading of the same answer). Pairs in which no unit has an
    answer are left out, but for the first.
    """
    found = []
    for column in units.columns:
        if not column.startswith("predicted"):
            continue
        name = column.removeprefix("predicted").removeprefix("_")
        gold = next((c for c in (f"gold_{name}", name, "gold") if c in units.columns), None)
        if gold is None or gold not in units.vocab:
            continue
        if name == "" or bool((units.column(column) >= 0).any()):
            found.append(LabelPair(name or "label", gold, column))
    return tuple(found)


def changed(path: Path) -> tuple[int, ...]:
    """Return sizes and times of the files of a run folder that change while it is written."""
    folder = RunFolder(Path(path))
    stamps: list[int] = []
    for file in (folder.path / "run.json", folder.journal, folder.path / ESTIMATES_FILE):
        try:
            stat = file.stat()
            stamps += [stat.st_size, stat.st_mtime_ns]
        except OSError:
            stamps += [0, 0]
    return tuple(stamps)


def _predictions(folder: RunFolder) -> tuple[dict[PredictionKey, Prediction], int]:
    found: dict[PredictionKey, Prediction] = {}
    repeated = 0
    for prediction in folder.predictions():
        if prediction.key in found:
            repeated += 1
        else:
            decision = get(folder.path, prediction.decision)
            found[prediction.key] = replace(prediction, decision=decision)
    return found, repeated


def _data_remarks(record: RunRecord, source: DatasetSource, where: Place) -> list[str]:
    try:
        digest = source.digest()
    except FloorbenchError as error:
        if error.code not in UNREADABLE_AUDIO:
            raise
        return [f"the data could not be checked against the run: {error.what}"]
    if digest != record.dataset.digest:
        raise UsageError(
            "FB502",
            f"the run was made on data {record.dataset.digest[:12]}, these are {digest[:12]}",
            where=where,
            hint="Name the data that the run was made on.",
        )
    return []


def _journal_remarks(
    folder: RunFolder,
    record: RunRecord,
    items: Sequence[DueItem],
    *,
    strays: int,
    repeated: int,
) -> list[str]:
    out = []
    missing = sum(item.prediction is None for item in items)
    if missing:
        running = "so far" if record.status == "running" else "though the run ended"
        out.append(
            f"{len(items) - missing} of {counted(len(items), 'prediction')} are there {running}"
        )
    if folder.torn():
        out.append("the last line of the journal is unfinished and left out")
    if strays:
        out.append(
            f"{counted(strays, 'prediction is', 'predictions are')} "
            "of samples that were not asked for; left out"
        )
    if repeated:
        out.append(
            f"{counted(repeated, 'prediction repeats', 'predictions repeat')} "
            "an earlier key; the first counts"
        )
    return out


def _stored_result(folder: RunFolder, measures: Sequence[Measure]) -> Result | None:
    """Read the stored estimates unless they are out of date or of other cells."""
    result = current_result(folder.path)
    cells = [(m.metric.spec.name, dict(m.slice)) for m in measures]
    same = result is not None and [(e.metric, dict(e.slice)) for e in result.estimates] == cells
    return result if same else None


def _plain_result(
    opened: Opened, digest: str, measures: Sequence[Measure], items: Sequence[DueItem]
) -> Result:
    """Return the cells' values without intervals; the data's digest is the run's own."""
    counts = {"ok": 0, "absent": 0}
    by = Tally()
    for item in items:
        name = "absent" if item.prediction is None else item.prediction.decision.outcome.value
        counts[name] = counts.get(name, 0) + 1
        if item.prediction is not None and item.prediction.decision.served is not None:
            by.add(item.prediction.decision.served)
    metrics = {m.metric.spec.name: m.metric.spec for m in measures}
    protocol = protocol_part(
        task=opened.task.spec,
        dataset=digest,
        metrics=metrics.values(),
        plan=opened.plan,
        bootstrap={"seed": opened.seed, "draws": 0, "level": Interval().level},
    )
    return Result(
        task=opened.task.spec,
        system=opened.system,
        dataset=opened.source.describe(),
        signature=Signature(
            protocol=protocol, system=system_part(opened.system) | served_part(by.snapshots())
        ),
        coverage=Coverage(expected=len(items), **counts),
        metrics=metrics,
        estimates=tuple(_estimate(m) for m in measures),
        headline=tuple(i for i, m in enumerate(measures) if m.headline),
        served=by.snapshots(),
    )


def _estimate(measure: Measure) -> Estimate:
    value, reason = (
        (None, f"N/A: {measure.undeclared}")
        if measure.undeclared is not None
        else point(measure.metric, measure.scored)
    )
    return Estimate(
        metric=measure.metric.spec.name,
        slice=measure.slice,
        value=value,
        interval=Interval(reason="not resampled: run `floorbench score`"),
        coverage=measure.coverage,
        units=len(measure.scored),
        reason=reason,
        note=measure.note,
    )


def with_names(runs: Sequence[StoredRun]) -> list[StoredRun]:
    """Give runs of one system different names, for display side by side.

    Version and settings that differ, and run ids where they do not tell all apart.
    """
    systems = [run.record.system_spec for run in runs]
    names = [s.name for s in systems]
    told = [settings_that_differ(s, systems) for s in systems]
    out = []
    for run, name, differs in zip(runs, names, told, strict=True):
        if names.count(name) > 1:
            if list(zip(names, told, strict=True)).count((name, differs)) > 1:
                differs = f"{differs} {run.record.run_id}".strip()
            system = replace(run.result.system, name=f"{name} ({differs})")
            run = replace(run, result=replace(run.result, system=system))
        out.append(run)
    return out
