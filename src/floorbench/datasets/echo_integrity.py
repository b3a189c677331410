"""Every rule that a matched-contrast set must keep, checked on its tables.

All faults are found, not only the first, so that ``floorbench data check`` can list them; a source
that is opened for a run refuses the first one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from floorbench.core.time import Seconds
from floorbench.datasets.echo_tables import (
    ACTION_OF,
    ACTIONS,
    CONTRASTS,
    ROLES,
    PairRow,
    SampleRow,
)
from floorbench.errors import DataError, Place

WIDEST_TAIL = 1.0
"""Seconds after the insertion that a system may hear at most."""
Samples = Sequence[tuple[SampleRow, Place]]
Pairs = Sequence[tuple[PairRow, Place]]


def window_end(insertion_end: Seconds, system_end: Seconds, tail: Seconds) -> Seconds:
    """Return where the observation window ends: insertion end + tail, or the planned end.

    Source: ECHO's protocol as floorbench reads it; the planned end bounds the window because an
    utterance that has ended cannot be yielded.
    """
    return min(round(insertion_end + tail, 9), system_end)


def faults(samples: Samples, pairs: Pairs) -> Iterator[DataError]:
    """Yield everything that is wrong, in the order of the tables.

    Rules: there are samples; ids are there and unique; all samples have the same channels, and no
    sample has one channel for both roles; roles and actions are known, and the action is Yield
    exactly for interruptions; turns belong to user or system; times are ordered, ``system_start <=
    insertion_start < insertion_end`` and ``insertion_start < system_end``; all samples of a group
    have one insertion text and one language, and no role twice; a pair's members exist, belong to
    its group and differ in role; a group's pairs are all its two-role contrasts, once each.
    """
    yield from _of_samples(samples)
    yield from _of_channels(samples)
    known = {row.sample_id: row for row, _ in samples}
    yield from _of_groups(samples)
    yield from _of_pairs(pairs, known)
    yield from _of_closure(samples, pairs, known)


def refuse(samples: Samples, pairs: Pairs) -> None:
    """Raise the first fault, if there is one."""
    for fault in faults(samples, pairs):
        raise fault


def too_short(row: SampleRow, role: str, seconds: float, *, planned: bool) -> str | None:
    """Say what is wrong with how long a channel lasts, or return ``None``.

    Parameters
    ----------
    row : SampleRow
    role : {'user', 'system'}
    seconds : float
        How long the role's channel lasts.
    planned : bool
        Whether the system channel holds the planned utterance. Then it must last to the end of
        the widest window; one that is silenced from the onset on must last to the onset. The user
        channel must last to the insertion's end.
    """
    e = row.events
    need = e.insertion_end
    if role == "system":
        widest = window_end(e.insertion_end, e.system_end, WIDEST_TAIL)
        need = max(need, widest) if planned else e.insertion_start
    if seconds >= need - 1e-6:
        return None
    return f"the {role} channel has {seconds:.3f} s, the events need {need:.3f} s"


def _of_samples(samples: Samples) -> Iterator[DataError]:
    if not samples:
        yield DataError("FB262", "there is no sample", where=Place(item="samples"))
    seen: set[str] = set()
    for row, place in samples:
        at = Place(place.file, place.line, row.sample_id or "no id")
        if row.sample_id in seen:
            yield DataError("FB203", f"sample '{row.sample_id}' appears twice", where=at)
        seen.add(row.sample_id)
        for name in ("sample_id", "group_id"):
            if not getattr(row, name).strip():
                yield DataError("FB262", f"the {name} is empty", where=at)
        if row.role not in ROLES:
            yield DataError(
                "FB264", f"role '{row.role}' is not one of {', '.join(ROLES)}", where=at
            )
            continue
        if row.action is not None and row.action not in ACTIONS:
            yield DataError(
                "FB264", f"action '{row.action}' is not one of {', '.join(ACTIONS)}", where=at
            )
        elif row.action is not None and row.action != ACTION_OF[row.role]:
            yield DataError(
                "FB262", f"the action of a {row.role} is '{row.action}': yield exactly for "
                "interruptions", where=at
            )  # fmt: skip
        if not row.insertion.strip():
            yield DataError("FB262", "the insertion has no text", where=at)
        for turn in row.history:
            if turn.role not in ("user", "system"):
                yield DataError("FB264", f"a turn of the history is by '{turn.role}'", where=at)
        for role in row.audio:
            if role not in ("user", "system"):
                yield DataError("FB264", f"a channel belongs to '{role}'", where=at)
        problem = _times(row)
        if problem is not None:
            yield DataError("FB263", problem, where=at)


def _of_channels(samples: Samples) -> Iterator[DataError]:
    """A channel that only some samples have would be heard as silence, which earns a Keep."""
    there = {role for row, _ in samples for role in row.audio}
    for row, place in samples:
        at = Place(place.file, place.line, row.sample_id or "no id")
        for role in sorted(there - set(row.audio)):
            yield DataError("FB262", f"no {role} channel, which other samples have", where=at)
        given = [(a.path, a.channel) for a in row.audio.values()]
        if len(set(given)) < len(given):
            yield DataError("FB262", f"both roles have one channel, '{given[0][0]}'", where=at)


def _times(row: SampleRow) -> str | None:
    e = row.events
    times = (e.system_start, e.insertion_start, e.insertion_end, e.system_end)
    if not all(math.isfinite(t) and t >= 0 for t in times):
        return f"event times {times} are not all at or after 0"
    if not e.system_start <= e.insertion_start < e.insertion_end:
        return (
            f"system starts at {e.system_start} s, insertion spans "
            f"[{e.insertion_start}, {e.insertion_end}) s: not in this order"
        )
    if not e.insertion_start < e.system_end:
        return f"the insertion starts at {e.insertion_start} s, after the planned utterance's end"
    last = e.insertion_start
    for word in row.words:
        if not last - 1e-6 <= word.start <= word.end <= e.insertion_end + 1e-6:
            return f"word '{word.text}' at [{word.start}, {word.end}) s is out of order"
        last = word.end
    return None


def _of_groups(samples: Samples) -> Iterator[DataError]:
    first: dict[str, SampleRow] = {}
    roles: Counter[tuple[str, str]] = Counter()
    for row, place in samples:
        at = Place(place.file, place.line, row.sample_id or "no id")
        head = first.setdefault(row.group_id, row)
        if row.insertion != head.insertion:
            yield DataError(
                "FB262",
                f"group '{row.group_id}' has the insertions '{head.insertion}' and "
                f"'{row.insertion}'",
                where=at,
            )
        if row.language != head.language:
            yield DataError("FB262", f"group '{row.group_id}' has two languages", where=at)
        roles[row.group_id, row.role] += 1
        if roles[row.group_id, row.role] == 2:
            yield DataError(
                "FB262", f"group '{row.group_id}' has the role {row.role} twice", where=at
            )


def _of_pairs(pairs: Pairs, known: Mapping[str, SampleRow]) -> Iterator[DataError]:
    seen: set[str] = set()
    for pair, place in pairs:
        at = Place(place.file, place.line, pair.pair_id)
        if pair.pair_id in seen:
            yield DataError("FB203", f"pair '{pair.pair_id}' appears twice", where=at)
        seen.add(pair.pair_id)
        members = [known.get(s) for s in (pair.sample_a, pair.sample_b)]
        for name, member in zip((pair.sample_a, pair.sample_b), members, strict=True):
            if member is None:
                yield DataError("FB262", f"there is no sample '{name}'", where=at)
            elif member.group_id != pair.group_id:
                yield DataError(
                    "FB262", f"sample '{name}' is of group '{member.group_id}'", where=at
                )
        a, b = members
        if a is None or b is None:
            continue
        if a.insertion != b.insertion:
            yield DataError("FB262", "the members have different insertions", where=at)
        if a.role == b.role:
            yield DataError("FB262", f"both members are {a.role}", where=at)


def _of_closure(
    samples: Samples, pairs: Pairs, known: Mapping[str, SampleRow]
) -> Iterator[DataError]:
    """A group of two roles has one pair, a group of three has three."""
    roles: dict[str, set[str]] = {}
    for row, _ in samples:
        roles.setdefault(row.group_id, set()).add(row.role)
    linked: Counter[tuple[str, str]] = Counter()
    for pair, _ in pairs:
        name = contrast(known.get(pair.sample_a), known.get(pair.sample_b))
        if name is not None:
            linked[pair.group_id, name] += 1
    for group, members in roles.items():
        at = Place(item=group)
        if len(members) < 2:
            yield DataError("FB262", f"group '{group}' has one role only", where=at)
        for pair_roles in combinations([r for r in ROLES if r in members], 2):
            times = linked[group, CONTRASTS[pair_roles]]
            if times != 1:
                yield DataError(
                    "FB262",
                    f"group '{group}' has {times} {CONTRASTS[pair_roles]} pairs, not one",
                    where=at,
                )


def contrast(a: SampleRow | None, b: SampleRow | None) -> str | None:
    """Return the contrast of two samples, in whichever order they are given."""
    if a is None or b is None:
        return None
    return CONTRASTS.get((a.role, b.role)) or CONTRASTS.get((b.role, a.role))


def group_types(samples: Samples) -> dict[str, str]:
    """Return each group's type: ``I-B``, ``I-O``, ``B-O`` or ``three-role``."""
    roles: dict[str, set[str]] = {}
    for row, _ in samples:
        roles.setdefault(row.group_id, set()).add(row.role)
    return {
        group: "three-role"
        if len(members) == len(ROLES)
        else CONTRASTS.get(tuple(r for r in ROLES if r in members), "one-role")  # type: ignore[arg-type]
        for group, members in roles.items()
    }
