"""From predictions to numbers: read, check, hand to the task, put an interval on every cell.

Scoring is a pure function of the predictions, the data, the task's parameters and the seed: the
same inputs give the same bytes, whatever executor made the predictions and in whatever order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from floorbench import codec
from floorbench.core.ports import DatasetSource
from floorbench.core.sample import JsonValue
from floorbench.core.score import Coverage, Estimate, Signature
from floorbench.core.spec import MetricSpec, SystemSpec, TaskSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import DataError, Place, UsageError
from floorbench.metrics.base import (
    DueItem,
    Measure,
    Scored,
    ScoringTask,
)
from floorbench.registry import required_parameters
from floorbench.run.artefact import ThresholdArtefact, artefact_for
from floorbench.run.checking import ELSEWHERE, check_and_keep, in_words
from floorbench.run.due import Plan, due_items, make_plan
from floorbench.run.estimates import estimate_cells
from floorbench.run.kept import KeptPredictions
from floorbench.run.predictions import predictions_file, trials_of
from floorbench.run.served import Snapshot, Tally, names
from floorbench.run.signature import as_json, differences, protocol_part, system_part
from floorbench.run.store import ESTIMATES_FILE, RUN_FILE, RunFolder, RunRecord, write_text
from floorbench.run.traces import get
from floorbench.run.twoway import PanelResult, beside
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.rates import check_level


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """All cells of a task for one set of predictions; the content of ``estimates.json``.

    Parameters
    ----------
    task, system, dataset
        What was scored; ``dataset`` is what the data say of themselves.
    signature : Signature
    coverage : Coverage
        Over everything that was due.
    metrics : mapping of str to MetricSpec
        What the metrics of the cells are (unit, bounds, which way is better), by name.
    estimates : tuple of Estimate
    headline : tuple of int
        Positions in ``estimates`` of the cells that belong to the printed table.
    panels : tuple of PanelResult
        For a task whose labels come from a panel: F1 with the panel drawn again as well.
    served : tuple of Snapshot
        Which snapshots of a service's model gave the answers that were scored.
    """

    task: TaskSpec
    system: SystemSpec
    dataset: Mapping[str, JsonValue]
    signature: Signature
    coverage: Coverage
    metrics: Mapping[str, MetricSpec]
    estimates: tuple[Estimate, ...]
    headline: tuple[int, ...]
    panels: tuple[PanelResult, ...] = ()
    served: tuple[Snapshot, ...] = ()


class Opened(NamedTuple):
    """Predictions with all that is needed to score them."""

    path: Path
    task: ScoringTask
    source: DatasetSource
    system: SystemSpec
    plan: Plan
    seed: int
    artefact: ThresholdArtefact | None = None


class UnitsOfRun(NamedTuple):
    """Scoring units by kind, the ledger of all that was due, and which snapshots answered."""

    units: Mapping[str, Scored]
    coverage: Coverage
    served: tuple[Snapshot, ...] = ()


class Cells(NamedTuple):
    """The task's cells before any interval is made."""

    opened: Opened
    measures: Sequence[Measure]
    coverage: Coverage
    served: tuple[Snapshot, ...] = ()


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
        task = task if task is not None else _task_of(record)
        artefact = artefact_for(thresholds, task=task.spec, system=record.system_spec)
        if artefact is not None:
            task = _at_threshold(task, artefact, record, given=given)
        source = source if source is not None else _source_of(record)
        _same(record, task, source, path)
        plan = Plan(record.conditions, record.trials, record.limit)
        used = record.seed if seed is None else seed
        return Opened(path, task, source, record.system_spec, plan, used, artefact)
    if path.is_dir():
        journal = predictions_file(path)
        if task is None or source is None or not journal.is_file():
            RunFolder.open(path)  # raises: there is no run.json
        path = journal
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


def cells(opened: Opened) -> Cells:
    """Check the predictions and let the task turn them into cells.

    Parameters
    ----------
    opened : Opened
        From :func:`open_predictions`.

    Raises
    ------
    DataError, UsageError
        As in :func:`scored_units`.
    """
    made = scored_units(opened)
    measures = opened.task.measures(made.units, system=opened.system)
    return Cells(opened, measures, made.coverage, made.served)


def scored_units(opened: Opened) -> UnitsOfRun:
    """Check the predictions and let the task turn them into scoring units.

    Parameters
    ----------
    opened : Opened
        From :func:`open_predictions`.

    Raises
    ------
    DataError
        The first fault of the file, and how many more there are; keys without a prediction are
        no fault here, they are counted as absent. ``FB505`` for an unfinished last line of a run.
    UsageError
        ``FB521`` when nothing is due.
    """
    path, task, source, system, plan = opened[:5]
    if (path / RUN_FILE).is_file() and RunFolder(path).torn():
        raise DataError(
            "FB505",
            "the last line is unfinished",
            where=Place(str(predictions_file(path))),
            hint="Resume the run; that cuts the line and computes it again.",
        )
    faults, predictions = check_and_keep(
        path,
        task,
        source,
        system=system,
        conditions=plan.conditions,
        trials=plan.trials,
        limit=plan.limit,
    )
    faults = [fault for fault in faults if fault.code != "FB207"]
    if faults:
        more = f" (and {len(faults) - 1} more faults)" if len(faults) > 1 else ""
        place = Place(str(predictions_file(path)), faults[0].line)
        raise DataError(
            faults[0].code,
            faults[0].what + more,
            where=place,
            hint="`floorbench check` names every fault.",
        )
    ledger: Counter[str] = Counter()
    by = Tally()
    scored = task.scored(_items(opened, predictions, ledger, by), system=system)
    if not ledger["expected"]:
        raise UsageError("FB521", f"'{task.spec.name}' asks '{system.name}' for nothing here")
    return UnitsOfRun(scored, Coverage(**{"expected": 0} | ledger), by.snapshots())


def score(
    opened: Opened, *, draws: int = DRAWS, level: float = 0.95, write: bool | None = None
) -> Result:
    """Score predictions and, for a run folder, write ``estimates.json``.

    Parameters
    ----------
    opened : Opened
        From :func:`open_predictions`.
    draws, level
        Of the cluster bootstrap. All cells with the same clusters share their draws.
    write : bool or None
        Whether to write ``estimates.json`` into the run folder; by default when it is one.
    """
    check_level(level)
    made = cells(opened)
    result = Result(
        task=opened.task.spec,
        system=opened.system,
        dataset=opened.source.describe(),
        signature=signature_of(made, draws=draws, level=level),
        coverage=made.coverage,
        metrics={m.metric.spec.name: m.metric.spec for m in made.measures},
        estimates=estimate_cells(made.measures, seed=opened.seed, draws=draws, level=level),
        headline=tuple(i for i, m in enumerate(made.measures) if m.headline),
        panels=beside(
            {opened.system.name: made.measures},
            rules=getattr(opened.task, "panel_rules", None),
            seed=opened.seed,
            draws=draws,
            level=level,
        ),
        served=made.served,
    )
    if write is None:
        write = (opened.path / RUN_FILE).is_file()
    if write:
        write_text(opened.path / ESTIMATES_FILE, codec.encode_pretty(result))
    return result


def read_result(path: Path) -> Result:
    """Read the ``estimates.json`` of a run folder, or such a file."""
    path = Path(path)
    return codec.read_json(path / ESTIMATES_FILE if path.is_dir() else path, Result)


def signature_of(made: Cells, *, draws: int, level: float) -> Signature:
    """Return the two-part signature of the cells' numbers."""
    _, task, source, system, plan, seed, artefact = made.opened
    spec = task.spec
    config = system_part(system)
    if artefact is not None:
        # The number belongs to the system; what two systems must share is how it was chosen.
        spec = replace(spec, parameters={**spec.parameters, "threshold": artefact.goal()})
        config["threshold_from"] = artefact.shown()
    if made.served:
        config |= served_part(made.served)
    return Signature(
        protocol=protocol_part(
            task=spec,
            dataset=source.digest(),
            metrics=[m.metric.spec for m in made.measures],
            plan=plan,
            bootstrap={"seed": seed, "draws": draws, "level": level},
        ),
        system=config,
    )


def served_part(served: Sequence[Snapshot]) -> dict[str, JsonValue]:
    """Return what snapshots add to the system part of a signature: their names, where said."""
    said: list[JsonValue] = [*names(served)]
    return {"served": said} if said else {}


def _items(
    opened: Opened, predictions: KeptPredictions, ledger: Counter[str], by: Tally
) -> Iterator[DueItem]:
    folder = predictions_file(opened.path).parent
    for due in due_items(opened.task, opened.source, opened.system, opened.plan):
        prediction = predictions.get(due.key)
        ledger["expected"] += 1
        outcome = "absent"
        if prediction is not None:
            decision = get(folder, prediction.decision)
            prediction = replace(prediction, decision=decision)
            if decision.served is not None:
                by.add(decision.served)
            outcome = decision.outcome.value
            said = decision.outcome is Outcome.OK and in_words(decision)
            if said and opened.task.problem(due.sample, decision) is not None:
                outcome = Outcome.INVALID.value
        ledger[outcome] += 1
        yield DueItem(due.sample, due.condition, due.trial, prediction)


def task_again(record: RunRecord, **changed: JsonValue) -> ScoringTask:
    """Build the task of a stored run from its record.

    Parameters
    ----------
    record : RunRecord
        A parameter without a default that was not given by name is taken from its task's
        specification, which holds every value that was used.
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
    needed = {name: used[name] for name in required_parameters(factory) if name in used}
    try:
        task: ScoringTask = factory(**{**needed, **record.task.parameters, **changed})
    except TypeError as error:
        raise UsageError("FB502", f"the task cannot be built again as it was: {error}") from None
    return task


def _task_of(record: RunRecord) -> ScoringTask:
    task = task_again(record)
    found = differences(as_json(record.task_spec.parameters), as_json(task.spec.parameters))
    if found and task.spec.version == record.task_spec.version:
        shown = "; ".join(str(d) for d in found)
        raise UsageError("FB502", f"the task cannot be built again as it was: {shown}")
    return task


def _at_threshold(
    task: ScoringTask, artefact: ThresholdArtefact, record: RunRecord, *, given: bool
) -> ScoringTask:
    if task.spec.parameters.get("threshold") == artefact.threshold:
        return task
    if given:
        raise UsageError("FB103", "the task is given with another threshold than the artefact's")
    return task_again(record, threshold=artefact.threshold)


def _source_of(record: RunRecord) -> DatasetSource:
    from floorbench.datasets.open import open_dataset

    try:
        return open_dataset(record.dataset.locator)
    except DataError as error:
        if error.code != "FB211":
            raise
        hint = "the run's data are not there, seen from this folder: say where with --data"
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
