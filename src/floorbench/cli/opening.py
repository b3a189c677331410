"""Options of the commands that read predictions, and how these are opened."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from floorbench import codec
from floorbench.cli.options import (
    ReaderSettings,
    TaskSettings,
    make_task,
    open_data,
    open_given,
)
from floorbench.core.ports import DatasetSource
from floorbench.core.spec import SystemSpec
from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError
from floorbench.run.artefact import ThresholdArtefact, artefact_for, read_artefact
from floorbench.run.scoring import Opened, open_predictions
from floorbench.run.store import RUN_FILE, runs_below

Declared = Annotated[list[Path] | None, Parameter(name="--system", negative=())]
Conditions = Annotated[list[str] | None, Parameter(name="--condition", negative=())]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionOptions:
    """What is said about predictions: their task, their data, who made them.

    Parameters
    ----------
    task
        Task of a predictions file made elsewhere.
    data
        Data that the predictions are about; those of a run by default.
    reader
        Reader of the data.
    systems
        JSON file of what the maker of a predictions file declares: name, version, labels, states,
        languages, label_map ...; one per file (repeat the option). Without it the file answers for
        everything, in the task's own labels.
    conditions
        Conditions that a predictions file answers (repeat the option); all by default.
    """

    task: str | None = None
    data: str | None = None
    reader: str | None = None
    reader_sets: ReaderSettings = None
    task_sets: TaskSettings = None
    systems: Declared = None
    conditions: Conditions = None


UNSAID = PredictionOptions()
ThresholdsFrom = Annotated[
    list[Path] | None,
    Parameter(
        name="--threshold-from",
        negative=(),
        help="Frozen threshold of floorbench tune; one per system (repeat the option).",
    ),
]


def opened(
    paths: Sequence[Path],
    options: PredictionOptions,
    *,
    thresholds_from: Sequence[Path] | None = None,
    seed: int | None = None,
) -> Iterator[Opened]:
    """Open runs and predictions files, each when it is its turn.

    Parameters
    ----------
    paths : sequence of Path
    options : PredictionOptions
        Declarations and conditions are of the predictions files; a run folder knows its own.
    thresholds_from : sequence of Path or None
        Frozen thresholds, in any order.
    seed : int or None
        Of the bootstrap; the run's without it.

    Raises
    ------
    DataError
        ``FB402`` before anything is opened, when one of them is not there.
    UsageError
        ``FB103`` for options that do not fit what is opened.
    """
    for path in paths:
        if not path.exists():
            raise DataError("FB402", "there is no such file or folder", where=Place(str(path)))
    if options.conditions and all(map(_is_run, paths)):
        raise UsageError("FB103", "--condition is for predictions files; a run knows its own")
    thresholds = [read_artefact(path) for path in thresholds_from or ()]
    for path, system in zip(paths, declarations(paths, options.systems), strict=True):
        yield _opened(path, options, system=system, seed=seed, thresholds=thresholds)


def _is_run(path: Path) -> bool:
    return (path / RUN_FILE).is_file()


def _opened(
    path: Path,
    options: PredictionOptions,
    *,
    system: SystemSpec | None,
    seed: int | None,
    thresholds: Sequence[ThresholdArtefact],
) -> Opened:
    is_run = _is_run(path)
    if not is_run and options.task is None:
        hint = runs_below(path) or "name its task with --task, or give a run folder"
        raise UsageError("FB103", f"'{path}' is not a run folder", hint=hint)
    if options.task is None and options.task_sets:
        raise UsageError("FB103", "--task-set needs --task")
    if options.reader_sets and options.data is None and is_run:
        raise UsageError(
            "FB103", "--reader-set needs --data", hint="a run opens its data as it did before"
        )
    task = None if options.task is None else make_task(options.task, options.task_sets)
    if not is_run and task is not None and system is not None and not options.task_sets:
        artefact = artefact_for(thresholds, task=task.spec, system=system)
        if artefact is not None:
            task = make_task(task.spec.name, [f"threshold={artefact.threshold!r}"])
    return open_predictions(
        path,
        task=task,
        source=_data(options, is_run=is_run),
        system=system,
        conditions=None if is_run else options.conditions,
        seed=seed,
        thresholds=thresholds,
    )


def _data(options: PredictionOptions, *, is_run: bool) -> DatasetSource | None:
    """Open the data that are named, or the task's starter set; ``None`` for those of a run."""
    if options.task is not None and (options.data is not None or not is_run):
        return open_data(options.task, options.data, options.reader, options.reader_sets)
    if options.data is not None:
        return open_given(options.data, options.reader, options.reader_sets)
    return None


def declarations(paths: Sequence[Path], files: Sequence[Path] | None) -> list[SystemSpec | None]:
    """Return, per path, what its maker declares; ``None`` for run folders, which know it."""
    if not files:
        return [None] * len(paths)
    runs = [_is_run(path) for path in paths]
    if len(files) != runs.count(False):
        raise UsageError(
            "FB103",
            f"{len(files)} --system for {counted(runs.count(False), 'predictions file')}",
            hint="one per predictions file, in their order; a run folder knows its system",
        )
    given = (read_declaration(file) for file in files)
    return [None if is_run else next(given) for is_run in runs]


def read_declaration(path: Path) -> SystemSpec:
    """Read what the maker of a predictions file declares.

    Raises
    ------
    DataError
        ``FB402`` when it is not there, ``FB201`` or ``FB202`` when it cannot be read.
    """
    if not path.is_file():
        example = '{"name": "mine", "version": "1", "labels": ["Takeover", "Dismiss"]}'
        raise DataError(
            "FB402",
            "there is no such file",
            where=Place(str(path)),
            hint=f"--system names a JSON file, for example {example}",
        )
    return codec.read_json(path, SystemSpec)
