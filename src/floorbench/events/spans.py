"""Sorted spans in integer ticks: the checked input of every event definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from floorbench.core.time import Span, to_ticks
from floorbench.core.vocab import Role
from floorbench.errors import DataError, Place

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

V = TypeVar("V")


def spans_to_ticks(spans: Iterable[Span], *, name: str) -> Ints:
    """Return spans in seconds as checked integer ticks.

    Parameters
    ----------
    spans : iterable of Span
        Seconds, sorted by start; they may overlap.
    name : str
        What the spans are, for messages (``user``).

    Returns
    -------
    int64 array (n, 2)
        Starts and ends in ticks.

    Raises
    ------
    DataError
        As :func:`check_spans`.
    """
    return check_spans([(to_ticks(s.start), to_ticks(s.end)) for s in spans], name=name)


def check_spans(spans: ArrayLike, *, name: str) -> Ints:
    """Return spans as an ``(n, 2)`` int64 array or say which one is wrong.

    Parameters
    ----------
    spans : array-like (n, 2)
        Start and end in ticks, half-open, sorted by start; spans may overlap or be empty.
    name : str
        What they are, for messages.

    Raises
    ------
    DataError
        ``FB202`` for NaN or infinity; ``FB610`` for times that are no whole ticks, a negative or
        reversed span, or a span out of order.
    """
    array = np.asarray(spans)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2:
        raise DataError("FB610", f"spans of '{name}' have shape {array.shape}, not (n, 2)")
    whole = check_ticks(array.ravel(), name=name).reshape(array.shape)
    start, end = whole[:, 0], whole[:, 1]
    _refuse(start < 0, whole, name, "starts before 0")
    _refuse(end < start, whole, name, "ends before it starts")
    late = np.zeros(len(whole), dtype=np.bool_)
    late[1:] = start[1:] < start[:-1]
    _refuse(late, whole, name, "starts before the one in front of it")
    return whole


def check_ticks(times: ArrayLike, *, name: str) -> Ints:
    """Return times as a 1-D int64 array of ticks.

    Raises
    ------
    DataError
        ``FB202`` for NaN or infinity, ``FB610`` for anything else than whole ticks.
    """
    array = np.asarray(times)
    if array.size == 0:
        return np.empty(0, dtype=np.int64)
    if array.ndim != 1:
        raise DataError("FB610", f"times of '{name}' have shape {array.shape}, not (n,)")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        raise DataError(
            "FB202", f"time {row} of '{name}' is {array[row]}", where=Place(item=f"{name} {row}")
        )
    if array.dtype.kind not in "iu":
        raise DataError(
            "FB610",
            f"times of '{name}' are of type {array.dtype}, not whole ticks",
            hint="Convert seconds with floorbench.core.time.to_ticks.",
        )
    return array.astype(np.int64)


def union(spans: Ints) -> Ints:
    """Return the union of sorted spans as disjoint, non-touching, non-empty spans.

    Parameters
    ----------
    spans : int64 array (n, 2)
        Checked spans, sorted by start.
    """
    return merge_gaps(spans, below=1)


def merge_gaps(spans: Ints, *, below: int) -> Ints:
    """Return the union of sorted spans with inner gaps shorter than ``below`` filled.

    Parameters
    ----------
    spans : int64 array (n, 2)
        Checked spans, sorted by start; empty ones are ignored.
    below : int
        Gaps of ``0 <= gap < below`` ticks are filled; 1 joins touching spans only.
    """
    spans = spans[spans[:, 1] > spans[:, 0]]
    if len(spans) == 0:
        return spans
    reach = np.maximum.accumulate(spans[:, 1])
    first = np.ones(len(spans), dtype=np.bool_)
    first[1:] = spans[1:, 0] - reach[:-1] >= below
    last = np.ones(len(spans), dtype=np.bool_)
    last[:-1] = first[1:]
    return np.stack([spans[first, 0], reach[last]], axis=1)


def check_disjoint(spans: Ints, *, name: str) -> Ints:
    """Return the spans if no two share more than an edge.

    Raises
    ------
    DataError
        ``FB610`` naming the first span that overlaps its predecessor.
    """
    bad = np.zeros(len(spans), dtype=np.bool_)
    if len(spans):
        bad[1:] = spans[1:, 0] < np.maximum.accumulate(spans[:, 1])[:-1]
    _refuse(bad, spans, name, "overlaps the one in front of it")
    return spans


def inside(times: Ints, spans: Ints) -> Ints:
    """Return, per time, the index of the disjoint half-open span that holds it, or -1."""
    if len(spans) == 0:
        return np.full(len(times), -1, dtype=np.int64)
    index = np.searchsorted(spans[:, 0], times, side="right") - 1
    held = (index >= 0) & (times < spans[np.maximum(index, 0), 1])
    return np.where(held, index, -1).astype(np.int64)


def two_roles(channels: Mapping[Role, Any]) -> tuple[Role, Role]:
    """Return the two roles of a two-channel session in the order of ``Role``.

    Raises
    ------
    DataError
        ``FB611`` when there are not exactly two channels. A silent channel is present and empty.
    """
    roles = [role for role in Role if role in channels]
    if len(roles) != 2 or len(channels) != 2:
        names = ", ".join(str(r) for r in channels) or "none"
        raise DataError("FB611", f"two channels are needed, these are given: {names}")
    return roles[0], roles[1]


def channel(channels: Mapping[Role, V], role: Role) -> V:
    """Return one channel or raise ``FB611`` naming the role that is absent."""
    try:
        return channels[role]
    except KeyError:
        names = ", ".join(str(r) for r in channels) or "none"
        raise DataError("FB611", f"role '{role}' is absent; channels: {names}") from None


def _refuse(bad: Bools, spans: Ints, name: str, why: str) -> None:
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        start, end = spans[row].tolist()
        raise DataError(
            "FB610",
            f"span {row} of '{name}', [{start}, {end}) ticks, {why}",
            where=Place(item=f"{name} {row}"),
        )
