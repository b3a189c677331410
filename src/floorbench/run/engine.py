"""Asking a system everything that is due, once, and writing down each answer as it comes."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import ClassVar, NamedTuple

from floorbench import __version__, codec
from floorbench.core.ports import DatasetSource
from floorbench.core.prediction import Compute, Decision, Prediction
from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec
from floorbench.core.vocab import Outcome
from floorbench.errors import (
    DataError,
    EnvironmentProblem,
    FloorbenchError,
    Place,
    UsageError,
)
from floorbench.metrics.base import ScoringTask
from floorbench.run import provenance
from floorbench.run.deciding import SystemChoice, checked, encodable
from floorbench.run.due import Due, Plan, due_items, make_plan
from floorbench.run.executors import Answer, Executor, Item, SerialExecutor
from floorbench.run.journal import Journal, cut_torn_line, read_journal
from floorbench.run.keys import KeyTable, key_code, observation_code
from floorbench.run.references import Reference
from floorbench.run.signature import differences, system_part
from floorbench.run.store import (
    DatasetRecord,
    Given,
    RunFolder,
    RunRecord,
    Sitting,
    new_run_id,
    now,
)
from floorbench.run.wire import observation_hash


class RunInterrupted(FloorbenchError):
    """The run was stopped by a signal; the hint says how to go on."""

    exit_code: ClassVar[int] = 130


class Progress(NamedTuple):
    """How far a run is."""

    done: int
    total: int
    outcomes: Mapping[str, int]


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
        The task's parameters as the user gave them; the resolved ones by default.
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
        ``FB502`` or ``FB508`` when a resumed run does not match, ``FB503`` when another process
        writes it.
    DataError
        ``FB203`` for a sample id that appears twice, ``FB3xx`` for audio that cannot be decoded:
        faults of the data stop the run, faults of the system do not.
    """
    executor = executor or SerialExecutor()
    with contextlib.closing(executor), _Signals() as signals:
        if isinstance(system, SystemChoice):
            clean = provenance.redact(system.parameters)
            given = Given(name=system.name, parameters=clean.parameters)
            if executor.warning:
                notify(executor.warning)
            with _stop_before_start():
                spec = executor.start(system)
        else:
            clean = provenance.redact({})
            spec = system.spec
            given = Given(name=spec.name, parameters=spec.parameters)
        spec = replace(spec, parameters=provenance.redact(spec.parameters).parameters)
        plan = make_plan(task, spec, conditions=conditions, trials=trials, limit=limit)
        new = _new_record(task, task_parameters, given, spec, source, plan, seed)
        folder = _folder(new, out, resume)
        with folder.locked():
            job = _Job(task, source, spec, plan, folder, clean.secrets, notify)
            record = _resumed(folder, new) if resume is not None else new
            sitting = Sitting(
                started=now(),
                executor=executor.name if isinstance(system, SystemChoice) else "reference",
                workers=executor.workers,
                batch=executor.batch,
                timeout=executor.timeout,
                floorbench=__version__,
            )
            keeper = _Keeper(folder, record, sitting)
            try:
                if resume is not None:
                    job.take_up(recompute_changed)
                answers = (
                    executor.answers(job.items())
                    if isinstance(system, SystemChoice)
                    else _ask_reference(system, job)
                )
                job.write(answers, signals, progress)
            except KeyboardInterrupt:
                keeper.close("interrupted", job)
                raise RunInterrupted(
                    "FB507",
                    f"stopped by a signal after {job.done} predictions",
                    where=Place(str(folder.path)),
                    hint=resume_hint(folder, record),
                ) from None
            except UsageError:
                keeper.close("failed", job)
                raise
            except FloorbenchError as error:
                keeper.close("failed", job)
                hint = f"{error.hint} Then {resume_hint(folder, record)}"
                raise type(error)(error.code, error.what, where=error.where, hint=hint) from None
            except BaseException:
                keeper.close("failed", job)
                raise
            keeper.close("complete", job)
    return folder


def resume_hint(folder: RunFolder, record: RunRecord) -> str:
    """Return the command that goes on with a run."""
    names = f"{record.task.name} {record.system.name}"
    return f"resume with `floorbench run {names} --resume {folder.path}`"


def _new_record(
    task: ScoringTask,
    task_parameters: Mapping[str, JsonValue] | None,
    given: Given,
    spec: SystemSpec,
    source: DatasetSource,
    plan: Plan,
    seed: int,
) -> RunRecord:
    digest = source.digest()
    hashes = {
        "task": codec.digest(task.spec),
        "system": codec.digest(system_part(spec)),
        "dataset": digest,
    }
    parameters = task.spec.parameters if task_parameters is None else task_parameters
    return RunRecord(
        run_id=new_run_id({**hashes, "plan": plan, "seed": seed}),
        status="running",
        created=now(),
        task=Given(name=task.spec.name, parameters=parameters),
        task_spec=task.spec,
        system=given,
        system_spec=spec,
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
    return codec.to_builtins(
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
        self._record = replace(record, status="running", sittings=(*record.sittings, sitting))
        folder.write_record(self._record)

    def close(self, status: str, job: _Job) -> None:
        """Write how the sitting ended; a disk that refuses must not hide the first error."""
        *earlier, sitting = self._record.sittings
        ended = replace(
            sitting,
            ended=now(),
            status=status,
            written=job.written,
            outcomes=dict(sorted(job.outcomes.items())),
        )
        record = replace(self._record, status=status, sittings=(*earlier, ended))
        try:
            self._folder.write_record(record)
        except EnvironmentProblem:
            if status == "complete":
                raise


class _Job:
    """The items of one sitting and what has become of them."""

    def __init__(
        self,
        task: ScoringTask,
        source: DatasetSource,
        spec: SystemSpec,
        plan: Plan,
        folder: RunFolder,
        secrets: tuple[str, ...],
        notify: Callable[[str], None],
    ) -> None:
        self._task = task
        self._source = source
        self._spec = spec
        self._plan = plan
        self._folder = folder
        self._secrets = secrets
        self._notify = notify
        self._keys = KeyTable()
        self._in_flight: dict[int, Due] = {}
        self.outcomes: Counter[str] = Counter()
        self.written = 0

    @property
    def done(self) -> int:
        """Number of predictions in the journal."""
        return sum(self.outcomes.values())

    def take_up(self, recompute_changed: bool) -> None:
        """Read what the journal holds, cutting a torn line and dropping changed ones on demand."""
        torn = cut_torn_line(self._folder.journal)
        if torn:
            self._notify(f"cut an unfinished last line of {torn} bytes; it is computed again")
        for line in read_journal(self._folder.journal):
            prediction = line.prediction
            code = key_code(prediction.key)
            if not self._keys.add(code, observation_code(prediction.observed)):
                raise DataError(
                    "FB203",
                    f"sample '{prediction.sample_id}' appears twice",
                    where=Place(str(self._folder.journal), line.number),
                )
            self.outcomes[prediction.decision.outcome.value] += 1
        if recompute_changed:
            self._drop_changed()
        self._notify(f"resuming: {self.done} predictions are kept")

    def _drop_changed(self) -> None:
        changed = set()
        for due in due_items(self._task, self._source, self._spec, self._plan):
            known = self._keys.get(key_code(due.key))
            if known and known != observation_code(self._observed(due)):
                changed.add(due.key)
        if not changed:
            return
        fresh = self._folder.path / ".predictions.jsonl.new"
        fresh.unlink(missing_ok=True)
        self._keys, self.outcomes = KeyTable(), Counter()
        with contextlib.closing(Journal(fresh)) as journal:
            for prediction in self._folder.predictions():
                if prediction.key not in changed:
                    journal.append(prediction)
                    code = observation_code(prediction.observed)
                    self._keys.add(key_code(prediction.key), code)
                    self.outcomes[prediction.decision.outcome.value] += 1
        fresh.replace(self._folder.journal)
        self._notify(f"{len(changed)} predictions saw another observation; computing them again")

    def _observed(self, due: Due) -> str:
        return observation_hash(self._task.observe(due.sample, due.condition))

    def due(self) -> Iterator[Due]:
        """Yield what is not yet in the journal; check what is."""
        for due in due_items(self._task, self._source, self._spec, self._plan):
            code = key_code(due.key)
            known = self._keys.get(code)
            if known is None:
                self._keys.add(code)
                self._keys.mark(code)
                yield due
                continue
            if not self._keys.mark(code):
                raise DataError("FB203", f"sample '{due.sample.id}' appears twice in the data")
            if known and known != observation_code(self._observed(due)):
                raise UsageError(
                    "FB508",
                    f"sample '{due.sample.id}' condition '{due.condition}' is shown otherwise than"
                    " when its prediction was written",
                    hint="Start a new run, or resume with --recompute-changed.",
                )

    def items(self) -> Iterator[Item]:
        """Yield the questions for an executor."""
        for number, due in enumerate(self.due()):
            self._in_flight[number] = due
            yield Item(number, self._task.observe(due.sample, due.condition))

    def ask(self, number: int, due: Due) -> None:
        """Note an item that is answered without an executor."""
        self._in_flight[number] = due

    def write(
        self,
        answers: Iterable[Answer],
        signals: _Signals,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        """Write one line per answer until there are no more."""
        total = 0
        if progress is not None:
            total = sum(1 for _ in due_items(self._task, self._source, self._spec, self._plan))
        with contextlib.closing(Journal(self._folder.journal)) as journal:
            for answer in answers:
                due = self._in_flight.pop(answer.number)
                prediction = Prediction(
                    sample_id=due.sample.id,
                    condition=due.condition,
                    trial=due.trial,
                    decision=self._judged(due, answer.decision),
                    compute=answer.compute,
                    observed=answer.observed,
                )
                with signals.held():
                    journal.append(prediction)
                    self.written += 1
                    self.outcomes[prediction.decision.outcome.value] += 1
                if progress is not None:
                    progress(Progress(self.done, total, self.outcomes))

    def _judged(self, due: Due, decision: Decision) -> Decision:
        """Mark an answer that the task cannot read, and keep secrets out of the reasons."""
        if decision.outcome is Outcome.OK:
            problem = self._task.problem(due.sample, decision)
            if problem is not None:
                decision = replace(decision, outcome=Outcome.INVALID, reason=problem)
        if decision.reason is not None:
            reason = provenance.scrub(decision.reason, self._secrets)
            decision = replace(decision, reason=reason)
        return decision


def _ask_reference(reference: Reference, job: _Job) -> Iterator[Answer]:
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


class _Signals:
    """SIGINT and SIGTERM as ``KeyboardInterrupt``, but never in the middle of a write."""

    def __init__(self) -> None:
        self._holding = False
        self._pending = False
        self._before: dict[int, object] = {}

    def __enter__(self) -> _Signals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if not self._holding:
            raise KeyboardInterrupt
        self._pending = True

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep signals back until the block is done."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            raise KeyboardInterrupt
