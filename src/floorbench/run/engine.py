"""Asking a system everything that is due, once, and writing down each answer as it comes."""

from __future__ import annotations

import contextlib
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from floorbench import __version__, codec
from floorbench.catalog import TASKS
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Compute
from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Level
from floorbench.core.words import counted
from floorbench.errors import EnvironmentProblem, FloorbenchError, Place, UsageError
from floorbench.metrics.base import ScoringTask
from floorbench.run import provenance
from floorbench.run.deciding import SystemChoice, checked, encodable
from floorbench.run.due import Plan, make_plan
from floorbench.run.executors import Answer, Executor, SerialExecutor
from floorbench.run.job import Job, Progress
from floorbench.run.references import Reference
from floorbench.run.signals import RunInterrupted, Signals
from floorbench.run.signature import as_json, differences, system_part
from floorbench.run.store import (
    DatasetRecord,
    Given,
    RunFolder,
    RunRecord,
    Sitting,
    new_run_id,
    now,
)
from floorbench.run.whereabouts import to_keep, to_open


def to_stderr(text: str) -> None:
    """Say something to the person who waits."""
    print(text, file=sys.stderr, flush=True)


def run(
    *,
    task: ScoringTask,
    system: SystemChoice | Reference,
    source: DatasetSource,
    executor: Executor | None = None,
    task_parameters: Mapping[str, JsonValue] | None = None,
    conditions: Sequence[str] | None = None,
    trials: int = 1,
    limit: int | None = None,
    seed: int = 0,
    out: Path = Path("runs"),
    resume: Path | None = None,
    recompute_changed: bool = False,
    progress: Callable[[Progress], None] | None = None,
    notify: Callable[[str], None] = to_stderr,
) -> RunFolder:
    """Run a system on a task and return the run folder.

    Every due (sample, condition, trial) gets exactly one line in the journal, whatever the system
    does. Memory does not grow with the data, but for 16 bytes or so a key.

    Parameters
    ----------
    task, source
        Protocol and data.
    system : SystemChoice or Reference
        What to ask. References run in this process.
    executor : Executor or None
        Where to ask it; serial by default. It is closed at the end.
    task_parameters : mapping or None
        The task's parameters as the user gave them, with which it is built again for scoring.
    conditions, trials, limit
        Which of the task's conditions (all by default), how many trials of each, how many
        samples at most.
    seed : int
        Recorded; the seed of everything random in a reference and in the scores.
    out : Path
        Base folder of new runs.
    resume : Path or None
        A run folder to go on with. What is in its journal is kept.
    recompute_changed : bool
        When resuming, drop the lines whose observation has changed and ask again, instead of
        refusing.
    progress : callable or None
        Called after every line; asking for it costs one pass over the data to count.
    notify : callable
        Takes sentences for the person who waits.

    Raises
    ------
    RunInterrupted
        ``FB507`` after SIGINT or SIGTERM.
    EnvironmentProblem
        ``FB504`` when the journal cannot be written.
    UsageError
        ``FB103`` for a negative seed, ``FB502`` or ``FB508`` when a resumed run does not match,
        ``FB503`` when another process writes it.
    DataError
        ``FB203`` for a sample id that appears twice, ``FB3xx`` for audio that cannot be decoded:
        faults of the data stop the run, faults of the system do not.
    """
    executor = executor or SerialExecutor()
    if seed < 0:
        raise UsageError("FB103", f"the seed is {seed}; it must be 0 or more")
    with contextlib.closing(executor), Signals() as signals:
        next(iter(source.samples()), None)  # data refused as a whole leave no run behind
        ready = _ready(system, executor, notify)
        plan = make_plan(task, ready.spec, conditions=conditions, trials=trials, limit=limit)
        new = _new_record(task, task_parameters, ready, source, plan, seed)
        folder = _folder(new, out, resume)
        new = _at_home(new, task, folder.path)
        with folder.locked():
            job = Job(task, source, ready.spec, plan, folder, ready.secrets, notify)
            record = _resumed(folder, new) if resume is not None else new
            sitting = _sitting(system, executor, ready.loading)
            keeper = _Keeper(folder, record, sitting)
            with _going_on(keeper, job, lambda: resume_hint(folder, record, sitting, conditions)):
                if resume is not None:
                    job.take_up(recompute_changed)
                answers = (
                    executor.answers(job.items())
                    if isinstance(system, SystemChoice)
                    else _ask_reference(system, job)
                )
                job.write(answers, signals, progress)
            keeper.close("complete", job)
            missed = job.shortfall()
            if missed is not None:
                notify(missed)
    return folder


def resume_hint(
    folder: RunFolder, record: RunRecord, sitting: Sitting, conditions: Sequence[str] | None
) -> str:
    """Return the command that goes on with a run, with all that must be said again.

    The data need not be: the run knows them.

    Parameters
    ----------
    folder, record : RunFolder, RunRecord
        The run to go on with.
    sitting : Sitting
        How it was being run: executor and its options, workers, batch, timeout.
    conditions : sequence of str or None
        Conditions as the user gave them; ``None`` for all of the task's.
    """
    words = [record.task.name, record.system.name]
    if record.system_spec.level is not Level.REFERENCE:
        words += _pairs("--set", record.system.parameters)
    known = record.task.name in TASKS.entries()
    files = getattr(TASKS.load(record.task.name), "files", ()) if known else ()
    words += _pairs("--task-set", to_open(record.task.parameters, folder.path, names=files))
    for condition in conditions or ():
        words += ["--condition", condition]
    said = {
        "--trials": (record.trials, 1),
        "--limit": (record.limit, None),
        "--seed": (record.seed, 0),
        "--executor": (sitting.executor, "serial"),
        "--workers": (sitting.workers, 1),
        "--batch": (sitting.batch, 1),
        "--batch-seconds": (sitting.batch_seconds, None),
        "--timeout": (sitting.timeout, None),
    }
    if sitting.executor == "reference":
        del said["--executor"]
    for option, (value, default) in said.items():
        if value != default:
            words += [option, str(value)]
    words += sitting.arguments
    if record.system_spec.parameters.get("realtime") is True:
        words.append("--realtime")
    command = shlex.join(["floorbench", "run", *words, "--resume", str(folder.path)])
    return f"resume with `{command}`"


def _pairs(option: str, parameters: Mapping[str, JsonValue]) -> Iterator[str]:
    """Write parameters as the command line reads them: JSON, or text that is no JSON."""
    for name, value in parameters.items():
        plain = isinstance(value, str) and not codec.is_json(value)
        yield from (option, f"{name}={value if plain else codec.encode(value).decode()}")


class _Ready(NamedTuple):
    """A system that can be asked.

    Parameters
    ----------
    given : Given
        How it was asked for.
    spec : SystemSpec
        What it declares, secrets replaced.
    secrets : tuple of str
        Values that must not reach the journal.
    loading : float
        Seconds that it took.
    """

    given: Given
    spec: SystemSpec
    secrets: tuple[str, ...]
    loading: float


def _ready(
    system: SystemChoice | Reference, executor: Executor, notify: Callable[[str], None]
) -> _Ready:
    """Load the system where it will be asked; a reference is there already."""
    if not isinstance(system, SystemChoice):
        given = Given(name=system.spec.name, parameters=system.spec.parameters)
        return _Ready(given, _redacted(system.spec), (), 0.0)
    clean = provenance.redact(system.parameters)
    if executor.warning:
        notify(executor.warning)
    begun, batch = time.perf_counter(), executor.batch
    with _stop_before_start():
        spec = executor.start(system)
    loading = time.perf_counter() - begun
    if executor.batch < batch:
        notify(f"system '{system.name}' takes no batches: it is asked one by one")
    given = Given(name=system.name, parameters=clean.parameters)
    return _Ready(given, _redacted(spec), clean.secrets, loading)


def _redacted(spec: SystemSpec) -> SystemSpec:
    return replace(spec, parameters=provenance.redact(spec.parameters).parameters)


def _sitting(system: SystemChoice | Reference, executor: Executor, loading: float) -> Sitting:
    return Sitting(
        started=now(),
        executor=executor.name if isinstance(system, SystemChoice) else "reference",
        workers=executor.workers,
        batch=executor.batch,
        timeout=executor.timeout,
        batch_seconds=executor.batch_seconds,
        loading=round(loading, 3),
        arguments=executor.arguments,
        floorbench=__version__,
    )


def _new_record(
    task: ScoringTask,
    task_parameters: Mapping[str, JsonValue] | None,
    ready: _Ready,
    source: DatasetSource,
    plan: Plan,
    seed: int,
) -> RunRecord:
    digest = source.digest()
    hashes = {
        "task": codec.digest(task.spec),
        "system": codec.digest(system_part(ready.spec)),
        "dataset": digest,
    }
    return RunRecord(
        run_id=new_run_id({**hashes, "plan": plan, "seed": seed}),
        status="running",
        created=now(),
        task=Given(name=task.spec.name, parameters=task_parameters or {}),
        task_spec=task.spec,
        system=ready.given,
        system_spec=ready.spec,
        dataset=DatasetRecord(
            name=source.name,
            digest=digest,
            locator=source.locator(),
            describe=source.describe(),
        ),
        conditions=plan.conditions,
        trials=plan.trials,
        limit=plan.limit,
        seed=seed,
        hashes=hashes,
        code=provenance.code(),
        packages=provenance.packages(),
        hardware=provenance.hardware(),
    )


def _at_home(new: RunRecord, task: ScoringTask, folder: Path) -> RunRecord:
    """Return a record with its places as the run folder keeps them."""
    files = getattr(task, "files", ())
    data = replace(new.dataset, locator=to_keep(new.dataset.locator, folder))
    given = replace(new.task, parameters=to_keep(new.task.parameters, folder, names=files))
    return replace(new, dataset=data, task=given)


def _folder(new: RunRecord, out: Path, resume: Path | None) -> RunFolder:
    if resume is not None:
        return RunFolder.open(resume)
    return RunFolder.create(out, task=new.task.name, system=new.system_spec.name, run_id=new.run_id)


def _resumed(folder: RunFolder, new: RunRecord) -> RunRecord:
    """Return the record of the folder, after checking that the same thing is run again."""
    old = folder.record()
    found = differences(_identity(old), _identity(new))
    if found:
        shown = "; ".join(str(d) for d in found[:5]) + ("; ..." if len(found) > 5 else "")
        raise UsageError(
            "FB502", f"the run was started otherwise: {shown}", where=Place(str(folder.path))
        )
    return old


def _identity(record: RunRecord) -> JsonValue:
    return as_json(
        {
            "task": record.task_spec,
            "system": system_part(record.system_spec),
            "dataset": record.dataset.digest,
            "conditions": record.conditions,
            "trials": record.trials,
            "limit": record.limit,
            "seed": record.seed,
        }
    )


class _Keeper:
    """Keeps ``run.json`` up to date for one sitting."""

    def __init__(self, folder: RunFolder, record: RunRecord, sitting: Sitting) -> None:
        self._folder = folder
        self.path = folder.path
        self._begun = time.perf_counter()
        self._record = replace(record, status="running", sittings=(*record.sittings, sitting))
        folder.write_record(self._record)

    def close(self, status: str, job: Job) -> None:
        """Write how the sitting ended; a disk that refuses must not hide the first error."""
        *earlier, sitting = self._record.sittings
        ended = replace(
            sitting,
            ended=now(),
            status=status,
            answering=round(time.perf_counter() - self._begun, 3),
            written=job.written,
            outcomes=dict(sorted(job.outcomes.items())),
        )
        record = replace(
            self._record,
            status=status,
            sittings=(*earlier, ended),
            served=job.served.snapshots(),
        )
        try:
            self._folder.write_record(record)
        except EnvironmentProblem:
            if status == "complete":
                raise


@contextlib.contextmanager
def _going_on(keeper: _Keeper, job: Job, hint: Callable[[], str]) -> Iterator[None]:
    """Write how a sitting ended early; the error says how to go on where that is possible."""
    try:
        yield
    except KeyboardInterrupt:
        keeper.close("interrupted", job)
        raise RunInterrupted(
            "FB507",
            f"stopped by a signal after {counted(job.done, 'prediction')}",
            where=Place(str(keeper.path)),
            hint=hint(),
        ) from None
    except FloorbenchError as error:
        keeper.close("failed", job)
        if isinstance(error, UsageError):  # the same call would fail again
            raise
        said = error.hint if error.hint.endswith((".", "?", "!")) else f"{error.hint}."
        how = f"{said} Then {hint()}"
        raise type(error)(error.code, error.what, where=error.where, hint=how) from None
    except BaseException:
        keeper.close("failed", job)
        raise


def _ask_reference(reference: Reference, job: Job) -> Iterator[Answer]:
    for number, due in enumerate(job.due()):
        job.ask(number, due)
        decision = encodable(checked(reference.decide(due.sample, due.condition, due.trial)))
        yield Answer(number, None, decision, Compute())


@contextlib.contextmanager
def _stop_before_start() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise RunInterrupted(
            "FB507", "stopped while the system was loading", hint="Nothing was written."
        ) from None
