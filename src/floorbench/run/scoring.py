"""From predictions to numbers: read, check, hand to the task, put an interval on every cell.

Scoring is a pure function of the predictions, the data, the task's parameters and the seed: the
same inputs give the same bytes, whatever executor made the predictions and in whatever order.
:mod:`floorbench.run.opening` finds out what they are scored against; :func:`open_predictions` can
be imported from here as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from floorbench import codec
from floorbench.core.sample import JsonValue
from floorbench.core.score import Coverage, Estimate, Signature
from floorbench.core.spec import MetricSpec, SystemSpec, TaskSpec
from floorbench.core.vocab import Outcome
from floorbench.core.words import counted
from floorbench.errors import DataError, FloorbenchError, Place, UsageError
from floorbench.metrics.base import (
    DueItem,
    Measure,
    Scored,
)
from floorbench.run.checking import check_and_keep, in_words
from floorbench.run.due import due_items
from floorbench.run.estimates import estimate_cells
from floorbench.run.kept import KeptPredictions
from floorbench.run.opening import Opened, open_predictions
from floorbench.run.predictions import predictions_file
from floorbench.run.served import Snapshot, Tally, names
from floorbench.run.signature import (
    Difference,
    differences,
    protocol_part,
    system_part,
)
from floorbench.run.store import ESTIMATES_FILE, RUN_FILE, RunFolder, write_text
from floorbench.run.traces import get
from floorbench.run.twoway import PanelResult, beside
from floorbench.stats.bootstrap import DRAWS
from floorbench.stats.rates import check_level

__all__ = [
    "Cells",
    "Opened",
    "Result",
    "UnitsOfRun",
    "cells",
    "open_predictions",
    "read_result",
    "score",
    "scored_units",
    "served_part",
    "signature_of",
]


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
        more = f" (and {counted(len(faults) - 1, 'more fault')})" if len(faults) > 1 else ""
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
    """Score predictions and, for a run folder, store the result as its ``estimates.json``.

    Parameters
    ----------
    opened : Opened
        From :func:`open_predictions`.
    draws, level
        Of the cluster bootstrap. All cells with the same clusters share their draws.
    write : bool or None
        Whether to write ``estimates.json`` into the run folder; by default when it is one and
        :func:`stored_otherwise` finds nothing that would be replaced by estimates of other
        settings.
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
        write = (opened.path / RUN_FILE).is_file() and not stored_otherwise(opened.path, result)
    if write:
        write_text(opened.path / ESTIMATES_FILE, codec.encode_pretty(result))
    return result


def read_result(path: Path) -> Result:
    """Read the ``estimates.json`` of a run folder, or such a file."""
    path = Path(path)
    return codec.read_json(path / ESTIMATES_FILE if path.is_dir() else path, Result)


def current_result(path: Path) -> Result | None:
    """Read the stored estimates of a run folder, ``None`` without any or if older than its journal.

    Parameters
    ----------
    path : Path
        A run folder. Estimates that cannot be read count as none: they are derived.
    """
    file, journal = Path(path) / ESTIMATES_FILE, predictions_file(path)
    try:
        if file.stat().st_mtime_ns < journal.stat().st_mtime_ns:
            return None
        return read_result(file)
    except (OSError, FloorbenchError):
        return None


def stored_otherwise(path: Path, result: Result) -> tuple[Difference, ...]:
    """Return in what the stored estimates of a run were asked for otherwise than ``result``.

    Parameters
    ----------
    path : Path
        A run folder or a predictions file, which stores nothing.
    result : Result
        Of the same predictions.

    Returns
    -------
    tuple of Difference
        Stored first: draws, level and seed, parameters of the task, the frozen threshold. Empty
        when nothing (current) is stored or it was asked for in the same way. Versions are no such
        difference: what an older floorbench stored is out of date, not another question.
    """
    stored = current_result(path) if Path(path).is_dir() else None
    if stored is None:
        return ()
    return tuple(differences(_asked(stored.signature), _asked(result.signature)))


def _asked(signature: Signature) -> dict[str, JsonValue]:
    protocol, frozen = signature.protocol, signature.system.get("threshold_from")
    asked = {**protocol["bootstrap"], **protocol["parameters"]}
    return asked | ({"threshold": f"frozen {frozen['artefact'][:12]}"} if frozen else {})


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
