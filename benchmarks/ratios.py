"""Cases, the rounds in which they are measured, and ratios with their spread."""

from __future__ import annotations

import importlib.util
import math
import resource
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

Work = Callable[[], Any]
Clock = Literal["cpu", "wall", "value"]
OURS = "floorbench"
SHORTEST = 0.02
"""Seconds that a timed side takes at least; quicker work is repeated within a round."""
MOST_REPEATS = 1000


@dataclass(frozen=True, kw_only=True)
class Case:
    """One thing that is done in several ways.

    Parameters
    ----------
    name, size : str
        What is done, and to how much.
    ours : callable
        Does it with floorbench.
    peers : mapping of str to callable or str
        Does it by other means, or says why that cannot be run here.
    clock : {'cpu', 'wall', 'value'}
    rounds : int
    scale : mapping of str to float
        By which the time of a peer is multiplied, when it does a part of the work.
    per : tuple of float and str
        How many of what one call treats: ``(3600, "hour")`` shows the time of an hour.
    agree : callable or None
        Takes what each side returned, by name, and raises when they differ.
    limit : float or None
        Highest accepted median of the ratio to every peer.
    """

    name: str
    size: str
    ours: Work
    peers: Mapping[str, Work | str]
    clock: Clock = "cpu"
    rounds: int = 7
    scale: Mapping[str, float] = field(default_factory=dict)
    per: tuple[float, str] = (1, "call")
    agree: Callable[[Mapping[str, Any]], None] | None = None
    limit: float | None = None


class Spread(NamedTuple):
    """Median, lowest and highest of repeated measurements."""

    median: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """What a case gave beside one peer.

    ``ratio`` and ``theirs`` are ``None`` where the peer could not be run; ``absent`` then says why.
    """

    case: str
    size: str
    peer: str
    clock: Clock
    rounds: int
    per: tuple[float, str]
    ours: Spread
    theirs: Spread | None = None
    ratio: Spread | None = None
    absent: str | None = None
    projected: bool = False
    limit: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the ratio is within its limit, where it has one."""
        return self.ratio is None or self.limit is None or self.ratio.median <= self.limit


def absent(*packages: str) -> str | None:
    """Return why peers that need these packages cannot be run, or ``None`` when they can."""
    missing = [p for p in packages if not _installed(p)]
    return f"not installed: {', '.join(missing)}" if missing else None


def peer(packages: Sequence[str], build: Callable[..., Work], *given: Any) -> Work | str:
    """Return a peer's work, or why it cannot be run here: packages missing or not working."""
    missing = absent(*packages)
    if missing is not None:
        return missing
    try:
        return build(*given)
    except Exception as error:  # of somebody else's package: it is told, not ours to mend
        return f"does not load here: {type(error).__name__}"


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # the parent of a dotted name
        return False


def cpu_clock() -> float:
    """Return the processor seconds of this process and of the children that it waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def spread(values: Sequence[float]) -> Spread:
    """Return how far repeated measurements lie apart."""
    return Spread(statistics.median(values), min(values), max(values))


def measure(case: Case, *, rounds: int | None = None) -> list[Row]:
    """Measure all sides of a case in turns; return one row per peer."""
    sides: dict[str, Work] = {OURS: case.ours}
    left_out = {name: work for name, work in case.peers.items() if isinstance(work, str)}
    sides |= {name: work for name, work in case.peers.items() if not isinstance(work, str)}
    repeats = dict.fromkeys(sides, 1)
    if case.clock != "value":
        first = {OURS: _timed(case.ours, case.clock)}
        for name in list(sides)[1:]:
            try:
                first[name] = _timed(sides[name], case.clock)
            except Exception as error:  # of somebody else's package
                left_out[name] = f"does not run here: {type(error).__name__}"
                del sides[name]
        if case.agree is not None:
            case.agree({name: one.returned for name, one in first.items()})
        repeats = {name: _repeats(one.taken) for name, one in first.items()}
    number = rounds or case.rounds
    found: dict[str, list[float]] = {name: [] for name in sides}
    order = list(sides)
    for _ in range(number):
        for name in order:
            many = repeats[name]
            taken = math.fsum(_timed(sides[name], case.clock).taken for _ in range(many)) / many
            found[name].append(taken * case.scale.get(name, 1.0))
        order = [*order[1:], order[0]]
    ours = found[OURS]
    rows = []
    for name in case.peers:
        about: dict[str, Any] = {
            "case": case.name, "size": case.size, "peer": name, "clock": case.clock,
            "rounds": number, "per": case.per, "ours": spread(ours), "limit": case.limit,
        }  # fmt: skip
        if name in left_out:
            rows.append(Row(**about, absent=left_out[name]))
            continue
        ratios = [a / b for a, b in zip(ours, found[name], strict=True)]
        rows.append(
            Row(
                **about,
                theirs=spread(found[name]),
                ratio=spread(ratios),
                projected=name in case.scale,
            )
        )
    return rows


class _Timed(NamedTuple):
    taken: float
    returned: Any


def _timed(work: Work, clock: Clock) -> _Timed:
    if clock == "value":
        value = work()
        return _Timed(float(value), value)
    now = cpu_clock if clock == "cpu" else time.perf_counter
    started = now()
    returned = work()
    return _Timed(now() - started, returned)


def _repeats(taken: float) -> int:
    return min(MOST_REPEATS, max(1, math.ceil(SHORTEST / max(taken, 1e-6))))
