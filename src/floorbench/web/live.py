"""The runs that a viewer shows, read again when they change on disk."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from floorbench.errors import UsageError
from floorbench.report.stored import StoredRun, changed, with_names
from floorbench.web.index import Group
from floorbench.web.notes import Notes

PAUSE = 2.0


class LiveRuns:
    """Runs in groups of one task and one data set.

    Parameters
    ----------
    paths : sequence of Path
        Run folders, at least one.
    read : function
        Reads one run folder.
    clock : function
        Monotonic seconds. Files are looked at no oftener than every ``PAUSE`` seconds, and than
        twice the time that reading them last took.

    Raises
    ------
    UsageError
        ``FB802`` without a path or with one path twice; what reading a run raises.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        read: Callable[[Path], StoredRun],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        resolved = [Path(p).resolve() for p in paths]
        if not resolved or len(set(resolved)) < len(resolved):
            what = "a run is named twice" if resolved else "no run was named"
            raise UsageError("FB802", what)
        self._read = read
        self._clock = clock
        self._lock = threading.Lock()
        self._stamps = {path: changed(path) for path in resolved}
        self._runs = {path: read(path) for path in resolved}
        self.notes = {path: Notes(path) for path in resolved}
        self.version = 1
        self._groups = _grouped(list(self._runs.values()))
        self._next_look = clock() + PAUSE

    def groups(self) -> list[Group]:
        """Return the groups, read again if a file has changed since the last look."""
        with self._lock:
            now = self._clock()
            if now >= self._next_look:
                self._look()
                took = self._clock() - now
                self._next_look = self._clock() + max(PAUSE, 2 * took)
            return self._groups

    def group(self, position: int) -> Group:
        """Return one group, ``FB805`` when there is none at that place."""
        groups = self.groups()
        if not 0 <= position < len(groups):
            raise UsageError("FB805", f"there is no group {position}")
        return groups[position]

    def _look(self) -> None:
        stale = False
        for path, stamp in self._stamps.items():
            seen = changed(path)
            if seen != stamp:
                self._runs[path] = self._read(path)
                self._stamps[path] = seen
                stale = True
        if stale:
            self._groups = _grouped(list(self._runs.values()))
            self.version += 1


def _grouped(runs: Sequence[StoredRun]) -> list[Group]:
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for run in runs:
        groups.setdefault((run.record.task_spec.name, run.digest), []).append(run)
    return [Group(with_names(members)) for members in groups.values()]
