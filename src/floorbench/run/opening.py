"""What predictions are scored against: the task, the data and the plan that belong to them.

A run folder knows its own; a predictions file made elsewhere is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from floorbench.core.ports import DatasetSource
from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec
from floorbench.errors import DataError, Place, UsageError
from floorbench.metrics.base import ScoringTask
from floorbench.registry import required_parameters
from floorbench.run.artefact import ThresholdArtefact, artefact_for
from floorbench.run.checking import ELSEWHERE
from floorbench.run.due import Plan, make_plan
from floorbench.run.predictions import predictions_file, trials_of
from floorbench.run.signature import as_json, differences
from floorbench.run.store import RUN_FILE, RunFolder, RunRecord
from floorbench.run.whereabouts import to_open


class Opened(NamedTuple):
    """Predictions with all that is needed to score them."""

    path: Path
    task: ScoringTask
    source: DatasetSource
    system: SystemSpec
    plan: Plan
    seed: int
    artefact: ThresholdArtefact | None = None


def open_predictions(
    path: Path,
    *,
    task: ScoringTask | None = None,
    source: DatasetSource | None = None,
    system: SystemSpec | None = None,
    conditions: Sequence[str] | None = None,
    trials: int | None = None,
    limit: int | None = None,
    seed: int | None = None,
    thresholds: Sequence[ThresholdArtefact] = (),
) -> Opened:
    """Find out what a run folder or a predictions file is to be scored against.

    A run folder knows its task, data, system, conditions, trials, limit and seed; ``task`` and
    ``source`` given here replace its own (other parsing, other thresholds), the data must be the
    same. A file made elsewhere needs ``task`` and ``source``.

    With ``thresholds`` (frozen artefacts, one per system) the run is scored at the one chosen for
    its system; a ``task`` given beside them must have that threshold. A file then needs its
    ``system``.

    Parameters
    ----------
    path : Path
        Run folder, a predictions file (JSONL, CSV, Parquet), or a folder that holds one beside
        its traces, as imported scores per frame do.
    task, source
        Replace the run's own; needed for a file.
    system : SystemSpec or None
        Who made a file; by default somebody who claims everything.
    conditions, trials, limit
        What should be in a file; a run has its own.
    seed : int or None
        Of the bootstrap; the run's by default, 0 for a file.
    thresholds : sequence of ThresholdArtefact

    Raises
    ------
    UsageError
        ``FB502`` when the data or the task are not those of the run, ``FB103`` when a file comes
        without task or data, ``FB523`` when no threshold is for the run's task and system.
    """
    path = Path(path)
    if (path / RUN_FILE).is_file():
        record = RunFolder(path).record()
        given = task is not None
        task = task if task is not None else _task_of(record, path)
        artefact = artefact_for(thresholds, task=task.spec, system=record.system_spec)
        if artefact is not None:
            task = _at_threshold(task, artefact, record, path, given=given)
        source = source if source is not None else source_of(record, path)
        _same(record, task, source, path)
        plan = Plan(record.conditions, record.trials, record.limit)
        used = record.seed if seed is None else seed
        return Opened(path, task, source, record.system_spec, plan, used, artefact)
    if path.is_dir():
        journal = predictions_file(path)
        if task is None or source is None or not journal.is_file():
            RunFolder.open(path)  # raises: there is no run.json
        path = journal
    if not path.exists():
        raise DataError("FB402", "there is no such file or folder", where=Place(str(path)))
    if task is None or source is None:
        raise UsageError("FB103", f"'{path}' is not a run folder; name its task and its data")
    if thresholds and system is None:
        raise UsageError("FB523", f"'{path}' is not a run folder; its system is not known")
    system = system if system is not None else ELSEWHERE
    artefact = artefact_for(thresholds, task=task.spec, system=system)
    if artefact is not None and task.spec.parameters.get("threshold") != artefact.threshold:
        raise UsageError("FB103", "the task is given with another threshold than the artefact's")
    if trials is None:
        trials = trials_of(predictions_file(path))
    plan = make_plan(task, system, conditions=conditions, trials=trials, limit=limit)
    return Opened(path, task, source, system, plan, seed or 0, artefact)


def task_again(record: RunRecord, path: Path, **changed: JsonValue) -> ScoringTask:
    """Build the task of a stored run from its record.

    Parameters
    ----------
    record : RunRecord
        A parameter without a default that was not given by name is taken from its task's
        specification, which holds every value that was used.
    path : Path
        The run folder, from which the task's files are found.
    changed
        Parameters to change.

    Raises
    ------
    UsageError
        ``FB502`` for parameters that the task no longer takes.
    """
    from floorbench.catalog import TASKS

    factory = TASKS.load(record.task.name)
    used = record.task_spec.parameters
    given = to_open(record.task.parameters, path, names=getattr(factory, "files", ()))
    needed = {name: used[name] for name in required_parameters(factory) if name in used}
    try:
        task: ScoringTask = factory(**{**needed, **given, **changed})
    except TypeError as error:
        raise UsageError("FB502", f"the task cannot be built again as it was: {error}") from None
    return task


def _task_of(record: RunRecord, path: Path) -> ScoringTask:
    task = task_again(record, path)
    found = differences(as_json(record.task_spec.parameters), as_json(task.spec.parameters))
    if found and task.spec.version == record.task_spec.version:
        shown = "; ".join(str(d) for d in found)
        raise UsageError("FB502", f"the task cannot be built again as it was: {shown}")
    return task


def _at_threshold(
    task: ScoringTask, artefact: ThresholdArtefact, record: RunRecord, path: Path, *, given: bool
) -> ScoringTask:
    if task.spec.parameters.get("threshold") == artefact.threshold:
        return task
    if given:
        raise UsageError("FB103", "the task is given with another threshold than the artefact's")
    return task_again(record, path, threshold=artefact.threshold)


def source_of(record: RunRecord, path: Path) -> DatasetSource:
    """Open the data of a run.

    Parameters
    ----------
    record : RunRecord
    path : Path
        The run folder.

    Raises
    ------
    DataError
        ``FB211`` when the data are no longer there.
    """
    from floorbench.datasets.open import open_dataset

    try:
        return open_dataset(to_open(record.dataset.locator, path))
    except DataError as error:
        if error.code != "FB211":
            raise
        hint = "the run's data are not there; say where they are with --data"
        raise DataError(error.code, error.what, where=error.where, hint=hint) from None


def _same(record: RunRecord, task: ScoringTask, source: DatasetSource, path: Path) -> None:
    where = Place(str(path))
    if task.spec.name != record.task_spec.name:
        raise UsageError(
            "FB502",
            f"the run is of task '{record.task_spec.name}', not '{task.spec.name}'",
            where=where,
        )
    digest = source.digest()
    if digest != record.dataset.digest:
        raise UsageError(
            "FB502",
            f"the run was made on data {record.dataset.digest[:12]}, these are {digest[:12]}",
            where=where,
            hint="Score with the data of the run.",
        )
