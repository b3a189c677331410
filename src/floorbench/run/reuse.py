"""Finding a finished run of the same thing, so that it need not be made again."""

from __future__ import annotations

from pathlib import Path

from floorbench import codec
from floorbench.core.ports import DatasetSource
from floorbench.errors import DataError
from floorbench.metrics.base import ScoringTask
from floorbench.run.deciding import SystemChoice
from floorbench.run.references import Reference
from floorbench.run.signature import system_part
from floorbench.run.store import RunFolder, safe_name


def finished_run(
    out: Path,
    *,
    task: ScoringTask,
    system: SystemChoice | Reference,
    source: DatasetSource,
    conditions: tuple[str, ...] | None = None,
    seed: int = 0,
    limit: int | None = None,
) -> RunFolder | None:
    """Return the newest complete run of this task, system, data, seed and limit, or ``None``.

    A system is built and loaded to learn what it declares now (its weights may have changed); a
    folder that cannot be read is passed over.

    Parameters
    ----------
    out : Path
        Base folder of the runs.
    task, system, source, conditions, seed, limit
        As given to :func:`floorbench.run.engine.run`, with one trial.
    """
    spec = system.build().spec if isinstance(system, SystemChoice) else system.spec
    base = Path(out) / safe_name(task.spec.name) / safe_name(spec.name)
    if not base.is_dir():
        return None
    wanted = {
        "task": codec.digest(task.spec),
        "system": codec.digest(system_part(spec)),
        "dataset": source.digest(),
    }
    for path in sorted(base.iterdir(), reverse=True):
        folder = RunFolder(path)
        try:
            record = folder.record()
        except DataError:
            continue
        same = (record.hashes, record.seed, record.limit, record.trials, record.conditions) == (
            wanted,
            seed,
            limit,
            1,
            conditions or task.conditions(spec),
        )
        if same and record.status == "complete":
            return folder
    return None
