"""Times of ELAN annotations that the file does not state."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from floorbench.core.time import exact, to_ticks
from floorbench.formats.source import Source
from floorbench.formats.tiers import Entry, Estimate, Tier, ticks_to_decimal

Times = tuple[Decimal | None, Decimal | None, Estimate]


class Annotation(NamedTuple):
    """One annotation as the file has it."""

    name: str
    text: str
    line: int
    ref: str
    previous: str
    slots: tuple[str, str]


def estimate(start: bool, end: bool) -> Estimate:
    """Return the mark for estimated edges."""
    if start and end:
        return "both"
    return "start" if start else "end" if end else ""


def between(start: Decimal, end: Decimal, part: int, parts: int) -> Decimal:
    """Return the point after ``part`` of ``parts`` equal shares, in whole microseconds."""
    first, last = exact(start), exact(end)
    return ticks_to_decimal(to_ticks(first + (last - first) * Fraction(part, parts)))


def shared(parent: Entry, count: int) -> list[Times]:
    """Divide the parent's span equally among ``count`` subdivisions."""
    if parent.start is None or parent.end is None:
        return [(None, None, "")] * count
    points = [parent.start]
    points += [between(parent.start, parent.end, n, count) for n in range(1, count)]
    points.append(parent.end)
    return [
        (
            points[n],
            points[n + 1],
            estimate(
                n > 0 or parent.estimated in ("start", "both"),
                n < count - 1 or parent.estimated in ("end", "both"),
            ),
        )
        for n in range(count)
    ]


def chained(group: list[Annotation], source: Source) -> list[Annotation]:
    """Order subdivisions of one parent by their chain of previous annotations."""
    names = {item.name for item in group}
    after: dict[str, list[Annotation]] = {}
    for item in group:
        after.setdefault(item.previous if item.previous in names else "", []).append(item)
    chain: list[Annotation] = []
    here = ""
    while len(after.get(here, ())) == 1 and len(chain) < len(group):
        chain.append(after[here][0])
        here = chain[-1].name
        if not here:
            break
    if len(chain) == len(group):
        return chain
    source.fault("subdivisions are not one chain; taken in the file's order", group[0].line)
    return group


def interpolated(
    items: Sequence[tuple[tuple[str, str], Mapping[str, Decimal | None]]],
) -> list[Times]:
    """Return the times of a tier's aligned annotations, in the file's order.

    Slots without a value lie evenly between the nearest valued ones of the tier. Where one
    annotation follows the other and both slots at the seam have no value, the seam is one point.

    Parameters
    ----------
    items : sequence
        The two slot names of each annotation, with the table of slot values.
    """
    edges = [(slot, slots[slot]) for pair, slots in items for slot in pair]
    places: list[int] = []
    place = 0
    for number, (_, value) in enumerate(edges):
        seam = number > 0 and number % 2 == 0 and (value is None or edges[number - 1][1] is None)
        if number and not seam:
            place += 1
        places.append(place)
    known: dict[int, Decimal] = {}
    for number, (_, value) in enumerate(edges):
        if value is not None:
            known.setdefault(places[number], value)
    anchors = sorted(known)

    def at(number: int) -> Decimal | None:
        value = edges[number][1]
        if value is not None:
            return value
        place = places[number]
        if place in known:
            return known[place]
        right = bisect_right(anchors, place)
        if right in (0, len(anchors)):
            return None
        first, last = anchors[right - 1], anchors[right]
        if known[last] < known[first]:
            return None
        return between(known[first], known[last], place - first, last - first)

    return [
        (at(n), at(n + 1), estimate(edges[n][1] is None, edges[n + 1][1] is None))
        for n in range(0, len(edges), 2)
    ]


def holding_parent(entries: Sequence[Entry], parent: Tier | None) -> list[int | None]:
    """Return, for each entry, the index of the parent's entry that spans it."""
    if parent is None:
        return [None] * len(entries)
    spans = [
        (e.start, e.end, index)
        for index, e in enumerate(parent.entries)
        if e.start is not None and e.end is not None
    ]
    starts = [start for start, _, _ in spans]
    found: list[int | None] = []
    for entry in entries:
        index = None
        if entry.start is not None and entry.end is not None:
            at = bisect_right(starts, entry.start) - 1
            if at >= 0 and entry.end <= spans[at][1]:
                index = spans[at][2]
        found.append(index)
    return found
