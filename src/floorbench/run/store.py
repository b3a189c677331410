"""The run folder: ``runs/<task>/<system>/<run-id>/``.

``run.json`` says what was run with what, ``predictions.jsonl`` holds one prediction a line,
``traces/`` the scores per frame that lines point to. ``estimates.json`` is derived and may be
deleted.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.core.prediction import Prediction
from floorbench.core.sample import JsonValue
from floorbench.core.spec import SystemSpec, TaskSpec
from floorbench.core.words import counted
from floorbench.errors import DataError, EnvironmentProblem, Place, UsageError
from floorbench.run.due import LARGEST, MOST, short
from floorbench.run.journal import read_journal, torn_bytes
from floorbench.run.migrations import SCHEMA, migrate
from floorbench.run.served import Snapshot

RUN_FILE = "run.json"
JOURNAL_FILE = "predictions.jsonl"
ESTIMATES_FILE = "estimates.json"
LOCK_FILE = ".lock"
LONGEST = 1e15  # seconds
EDITED = "The file was damaged or edited by hand; copy the run once more, or run again."


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A name and its parameters as the user gave them, secrets replaced."""

    name: str
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRecord:
    """The dataset of a run: how to open it again, what it says of itself, its digest.

    Parameters
    ----------
    name : str
    digest : str
    locator : mapping
        Reader and path; a relative path starts at the run folder.
    describe : mapping
        Name, version, licence.
    """

    name: str
    digest: str
    locator: Mapping[str, JsonValue]
    describe: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sitting:
    """One process that worked on the run, from its start or from a resume.

    ``written`` counts its own predictions, ``outcomes`` all of the journal when it ended.

    Parameters
    ----------
    started, ended : str
        UTC; ``ended`` is ``None`` while it works or after it was killed.
    status : str
        As in :class:`RunRecord`.
    executor : str
    workers, batch : int
    timeout : float or None
    batch_seconds : float or None
        Bound on the seconds of a padded batch.
    loading : float or None
        Seconds from the start of the workers until the first had loaded the system.
    answering : float or None
        Seconds of asking and writing down, until the last answer.
    arguments : tuple of str
        What else the command line said of the executor.
    written : int
    outcomes : mapping of str to int
    floorbench : str
        Version of the program.
    """

    started: str
    ended: str | None = None
    status: str = "running"
    executor: str = "serial"
    workers: int = 1
    batch: int = 1
    timeout: float | None = None
    batch_seconds: float | None = None
    loading: float | None = None
    answering: float | None = None
    arguments: tuple[str, ...] = ()
    written: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    floorbench: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """All of ``run.json``.

    ``status`` is ``running``, ``complete``, ``interrupted`` or ``failed``; a run whose process was
    killed still says ``running``. ``hashes`` are those of the resolved task, system and dataset.

    Parameters
    ----------
    schema : int
    run_id, status, created : str
    task, system : Given
        As asked for.
    task_spec, system_spec
        As resolved.
    dataset : DatasetRecord
    conditions : tuple of str
    trials, seed : int
    limit : int or None
    hashes : mapping of str to str
    code, packages, hardware : mapping
        What it ran on.
    sittings : tuple of Sitting
    served : tuple of Snapshot
        Which snapshots of a service's model answered, over all sittings that ended; empty for a
        system without a service.
    """

    schema: int = SCHEMA
    run_id: str
    status: str
    created: str
    task: Given
    task_spec: TaskSpec
    system: Given
    system_spec: SystemSpec
    dataset: DatasetRecord
    conditions: tuple[str, ...]
    trials: int
    limit: int | None
    seed: int
    hashes: Mapping[str, str]
    code: Mapping[str, JsonValue]
    packages: Mapping[str, str]
    hardware: Mapping[str, JsonValue]
    sittings: tuple[Sitting, ...] = ()
    served: tuple[Snapshot, ...] = ()


def runs_below(folder: Path) -> str | None:
    """Return a hint that names the newest run folder below a folder, ``None`` without one."""
    levels = ("*", "*/*", "*/*/*")
    found = [p.parent for level in levels for p in Path(folder).glob(f"{level}/{RUN_FILE}")]
    if not found:
        return None
    newest = max(found, key=lambda p: (p.name, str(p)))
    return f"did you mean '{newest}'?" + (
        f" ({counted(len(found), 'run')} are in it)" * (len(found) > 1)
    )


class RunFolder:
    """A run on disk.

    Parameters
    ----------
    path : Path
        The folder. Opening reads nothing; see :meth:`open`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def journal(self) -> Path:
        """Path of the journal."""
        return self.path / JOURNAL_FILE

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder after checking that it holds a readable run record.

        Raises
        ------
        DataError
            ``FB505`` or ``FB506``.
        """
        folder = cls(Path(path))
        folder.record()
        return folder

    @classmethod
    def create(cls, base: Path, *, task: str, system: str, run_id: str) -> RunFolder:
        """Make a new, empty folder ``base/task/system/run_id`` (a number is added if it exists)."""
        parent = Path(base) / safe_name(task) / safe_name(system)
        try:
            parent.mkdir(parents=True, exist_ok=True)
            for number in range(1, 1000):
                path = parent / (run_id if number == 1 else f"{run_id}-{number}")
                with contextlib.suppress(FileExistsError):
                    path.mkdir()
                    return cls(path)
        except OSError as error:
            raise EnvironmentProblem(
                "FB504", f"cannot be made: {error.strerror or error}", where=Place(str(parent))
            ) from None
        raise EnvironmentProblem("FB504", f"has too many runs '{run_id}'", where=Place(str(parent)))

    def record(self) -> RunRecord:
        """Read ``run.json``, migrating older schemas in memory.

        Raises
        ------
        DataError
            ``FB505`` without one, or for a number in it that no run has; ``FB506`` for a schema
            that is not known.
        """
        path = self.path / RUN_FILE
        where = Place(str(path))
        if not path.is_file():
            raise DataError(
                "FB505", f"'{self.path}' holds no {RUN_FILE}", hint=runs_below(self.path)
            )
        plain = codec.parse(codec.read_bytes(path), where=where)
        record = codec.convert(migrate(plain, where=where), RunRecord, where=where)
        wrong = next(_wrong(record), None)
        if wrong is not None:
            raise DataError("FB505", wrong, where=where, hint=EDITED)
        return record

    def write_record(self, record: RunRecord) -> None:
        """Replace ``run.json``."""
        write_text(self.path / RUN_FILE, codec.encode_pretty(record))

    def predictions(self) -> Iterator[Prediction]:
        """Yield the predictions of the journal in the order they were made."""
        return (line.prediction for line in read_journal(self.journal))

    def torn(self) -> int:
        """Return how many bytes of an unfinished last line the journal carries."""
        return torn_bytes(self.journal)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the folder for one writing process.

        Raises
        ------
        UsageError
            ``FB503`` naming the process that holds it.
        EnvironmentProblem
            ``FB504`` when the folder cannot be written.
        """
        with held(self.path):
            yield


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    """Hold a folder for one writing process; the system lets go of it when the process ends.

    Raises
    ------
    UsageError
        ``FB503`` naming the process that holds it.
    EnvironmentProblem
        ``FB504`` when the folder cannot be written.
    """
    import fcntl

    path = folder / LOCK_FILE
    with contextlib.ExitStack() as opened:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            opened.callback(os.close, descriptor)  # releases the lock
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"{os.getpid()}\n".encode())
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            raise UsageError("FB503", f"'{folder}' is being written by process {holder}") from None
        except OSError as error:
            raise EnvironmentProblem(
                "FB504", f"cannot be locked: {error.strerror or error}", where=Place(str(path))
            ) from None
        yield


def write_text(path: Path, text: str) -> None:
    """Write a whole file so that readers see the old or the new one, never half of it.

    Raises
    ------
    EnvironmentProblem
        ``FB504`` when the operating system refuses; the old file is then untouched.
    """
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes (see :func:`write_text`).

    Parameters
    ----------
    path : Path
    data : bytes

    Raises
    ------
    EnvironmentProblem
        ``FB504`` as in :func:`write_text`.
    """
    temporary: Path | None = None
    try:
        with tempfile.NamedTemporaryFile(
            dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            temporary = Path(file.name)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise EnvironmentProblem(
            "FB504", f"cannot be written: {error.strerror or error}", where=Place(str(path))
        ) from None


def safe_name(name: str) -> str:
    """Return a name that is one path component."""
    return re.sub(r"[^\w.=+-]+", "-", name).strip(".-") or "unnamed"


def now() -> str:
    """Return the current time in UTC, ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_run_id(hashes: Mapping[str, Any]) -> str:
    """Return a run id: the time in UTC and six digits of what is being run."""
    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{codec.digest(dict(hashes))[:6]}"


def out_of_range(
    numbers: Iterable[tuple[str, float | None]], low: float, high: float
) -> Iterator[str]:
    """Say which numbers of a record lie outside a range; ``None`` is no number."""
    for name, value in numbers:
        if value is not None and not low <= value <= high:
            yield f"{name} is {short(value)}, not a number from {low:g} to {high:.10g}"


def _wrong(record: RunRecord) -> Iterator[str]:
    """Say which numbers no run can have."""
    yield from out_of_range([("trials", record.trials)], 1, MOST)
    yield from out_of_range([("limit", record.limit)], 1, LARGEST)
    yield from out_of_range(
        [(f"served[{n}].answers", s.answers) for n, s in enumerate(record.served)], 0, LARGEST
    )
    for n, sitting in enumerate(record.sittings):
        at = f"sittings[{n}]."
        counts = [(at + "workers", sitting.workers), (at + "batch", sitting.batch)]
        yield from out_of_range(counts, 1, MOST)
        yield from out_of_range([(at + "written", sitting.written)], 0, LARGEST)
        times = [(at + "loading", sitting.loading), (at + "answering", sitting.answering)]
        yield from out_of_range(times, 0, LONGEST)
