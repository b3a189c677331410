from pathlib import Path

import pytest

from floorbench.errors import UsageError
from floorbench.web.live import PAUSE, LiveRuns
from support.viewing import (
    DuoSource,
    DuoTask,
    answers,
    duo_reader,
    duo_runs,
    system,
    write_run,
)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_growing_journal_is_followed(tmp_path: Path) -> None:
    task, source = DuoTask(), DuoSource()
    full = write_run(tmp_path / "a", task=task, source=source, spec=system(), answer=answers())
    path = write_run(
        tmp_path / "b",
        task=task,
        source=source,
        spec=system(),
        answer=answers(),
        status="running",
        only=2,
    )
    clock = Clock()
    runs = LiveRuns([path], duo_reader(), clock=clock)

    def there() -> int:
        return runs.groups()[0].runs[0].stored.result.coverage.ok

    assert (there(), runs.version) == (2, 1)
    lines = (full / "predictions.jsonl").read_bytes().splitlines(keepends=True)
    (path / "predictions.jsonl").write_bytes(b"".join(lines[:7]) + lines[7][:10])
    assert (there(), runs.version) == (2, 1)  # not looked at again yet
    clock.now += PAUSE
    assert (there(), runs.version) == (7, 2)
    assert "unfinished" in runs.groups()[0].runs[0].stored.remarks[1]
    clock.now += PAUSE
    assert (there(), runs.version) == (7, 2)


def test_runs_are_grouped_by_task_and_data(tmp_path: Path) -> None:
    small = duo_runs(tmp_path / "a")
    big = duo_runs(tmp_path / "b", 20)
    readers = {p.resolve(): duo_reader() for p in small} | {
        p.resolve(): duo_reader(20) for p in big
    }
    runs = LiveRuns([*small, *big], lambda path: readers[path](path))
    assert [len(g.runs) for g in runs.groups()] == [2, 2]
    with pytest.raises(UsageError, match="FB805"):
        runs.group(2)


def test_nothing_and_the_same_twice_are_refused(tmp_path: Path) -> None:
    path = duo_runs(tmp_path)[0]
    for paths in ([], [path, path / ".." / path.name]):
        with pytest.raises(UsageError, match="FB802"):
            LiveRuns(paths, duo_reader())
