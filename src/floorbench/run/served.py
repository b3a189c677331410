"""Who answered a run, when a service stands behind a name: counts and times by snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from floorbench.core.prediction import Served

MOST = 100
"""Different snapshots and builds that are kept apart; a server may invent one an answer."""
OTHERS = "further snapshots"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """One snapshot and build of a model and the answers it gave.

    Parameters
    ----------
    snapshot : str or None
        As in :class:`~floorbench.core.prediction.Served`; ``None`` where the service did not say.
    build : str or None
    answers : int
    first, last : str or None
        When it gave the first and the last of them, UTC; ``None`` when no time is known.
    """

    snapshot: str | None
    build: str | None = None
    answers: int = 0
    first: str | None = None
    last: str | None = None

    def __post_init__(self) -> None:
        """Refuse names and times that :class:`~floorbench.core.prediction.Served` refuses."""
        Served(snapshot=self.snapshot, build=self.build, at=self.first)
        Served(at=self.last)


class Tally:
    """Counts answers by who gave them."""

    def __init__(self) -> None:
        self._found: dict[tuple[str | None, str | None], Snapshot] = {}

    def add(self, served: Served) -> None:
        """Count an answer."""
        key = (served.snapshot, served.build)
        if key not in self._found and len(self._found) >= MOST:
            key = (OTHERS, None)
        old = self._found.get(key, Snapshot(snapshot=key[0], build=key[1]))
        times = [t for t in (old.first, old.last, served.at) if t is not None]
        self._found[key] = replace(
            old,
            answers=old.answers + 1,
            first=min(times, default=None),
            last=max(times, default=None),
        )

    def snapshots(self) -> tuple[Snapshot, ...]:
        """Return what was counted, most answers first."""
        return tuple(
            sorted(
                self._found.values(),
                key=lambda s: (-s.answers, s.snapshot or "", s.build or ""),
            )
        )


def by_name(snapshots: Iterable[Snapshot]) -> Mapping[str | None, int]:
    """Return the answers of each name, most first, builds taken together."""
    found: dict[str | None, int] = {}
    for s in snapshots:
        found[s.snapshot] = found.get(s.snapshot, 0) + s.answers
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0] or "")))


def names(snapshots: Iterable[Snapshot]) -> list[str]:
    """Return the different names that were said, sorted."""
    return sorted({s.snapshot for s in snapshots if s.snapshot is not None})
