"""From a listening session to a labelled set, and the way back out for one participant.

``dataset/`` in the session's folder holds stimuli, roster and responses as the reader of
within-turn TRP sets takes them. Onsets are on each turn's clock, less the participant's latency.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from floorbench import codec
from floorbench.datasets.manifest import MANIFEST, read_manifest
from floorbench.datasets.trp_files import (
    RESPONSES,
    ROSTER,
    STIMULI,
    Participant,
    Responses,
)
from floorbench.errors import DataError, Place
from floorbench.web.journal import write_safely
from floorbench.web.listen_onsets import NO_RESPONSE, corrected
from floorbench.web.listen_onsets import recorded as recorded_turns
from floorbench.web.listen_person import Person
from floorbench.web.listen_store import Session

DATASET = "dataset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What :func:`export` wrote, and what a reader of the set should know."""

    path: Path
    participants: int
    turns: int
    responses: int
    taken_out: int
    unsteady: tuple[str, ...]
    uncalibrated: tuple[str, ...]


def export(session: Session, stimuli: Path, *, exclude: Sequence[str] = NO_RESPONSE) -> Exported:
    """Write the labelled set.

    Parameters
    ----------
    session : Session
    stimuli : Path
        Folder of the stimuli that were heard.
    exclude : sequence of str
        Labels of intervals that are no responses.

    Raises
    ------
    DataError
        ``FB842`` for other stimuli, ``FB847`` for a recorded turn whose responses have not been
        found yet.
    """
    known = session.stimuli(stimuli)
    in_list: dict[str, set[str]] = {}
    for s in known:
        in_list.setdefault(s.list, set()).add(s.id)
    spoken: dict[tuple[str, int], tuple[list[float], int]] = {}
    for one in recorded_turns(session):
        if not one.grid.is_file():
            raise DataError(
                "FB847",
                "the responses of this recording have not been found yet",
                where=Place(str(one.wav)),
                hint=f"floorbench listen onsets {session.folder}",
            )
        spoken[one.person, one.done.item] = corrected(one.grid, exclude=exclude)
    roster, responses, out = [], [], 0
    people = session.people()
    for name, person in sorted(people.items()):
        heard = {done.stimulus for done in person.items.values()}
        if not heard:
            continue
        listed = person.joined.list
        roster.append(
            Participant(
                id=name,
                list=listed,
                reversed=person.joined.reversed,
                heard=None if heard == in_list.get(listed) else tuple(sorted(heard)),
            )
        )
        for number, done in sorted(person.items.items()):
            times, removed = spoken.get((name, number), (_presses(person, number), 0))
            out += removed
            moved = done.latency or 0.0
            onsets = tuple(sorted(round(t - moved, 3) for t in times))
            if onsets:
                responses.append(Responses(participant=name, stimulus=done.stimulus, onsets=onsets))
    folder = session.folder / DATASET
    folder.mkdir(exist_ok=True)
    write_safely(folder / STIMULI, codec.read_bytes(stimuli / STIMULI))
    write_safely(folder / ROSTER, codec.encode_pretty(roster).encode())
    write_safely(folder / RESPONSES, _lines(responses))
    write_safely(folder / MANIFEST, _manifest(session, stimuli, exclude))
    listed_people = {p.id: people[p.id] for p in roster}
    return Exported(
        path=folder,
        participants=len(roster),
        turns=sum(len(p.items) for p in listed_people.values()),
        responses=sum(len(r.onsets) for r in responses),
        taken_out=out,
        unsteady=tuple(
            n for n, p in listed_people.items() if p.calibration and not p.calibration.steady
        ),
        uncalibrated=tuple(
            n
            for n, p in listed_people.items()
            if any(done.latency is None for done in p.items.values())
        ),
    )


def forget(session: Session, name: str) -> bool:
    """Delete one participant's recordings and responses, from the labelled set too.

    Everything of everybody else stays as it is, byte for byte; in the labelled set only the
    participant's own entries go. Tells whether there was anything.
    """
    there = session.forget(name)
    folder = session.folder / DATASET
    if (folder / ROSTER).is_file():
        roster = codec.read_json(folder / ROSTER, tuple[Participant, ...])
        others = [p for p in roster if p.id != name]
        if len(others) < len(roster):
            there = True
            write_safely(folder / ROSTER, codec.encode_pretty(others).encode())
    if (folder / RESPONSES).is_file():
        lines = io.BytesIO(codec.read_bytes(folder / RESPONSES)).readlines()
        kept = [x for x in lines if codec.decode(x, Responses).participant != name]
        if len(kept) < len(lines):
            there = True
            write_safely(folder / RESPONSES, b"".join(kept))
    return there


def _presses(person: Person, number: int) -> list[float]:
    """Return the key presses of the visit in which the turn was heard to its end."""
    visit = person.items[number].visit
    return [p.time for p in person.presses if (p.item, p.visit) == (number, visit)]


def _lines(responses: Sequence[Responses]) -> bytes:
    return b"".join(codec.encode(r) + b"\n" for r in responses)


def _manifest(session: Session, stimuli: Path, exclude: Sequence[str]) -> bytes:
    given = read_manifest(stimuli)
    manifest: dict[str, Any] = {
        "name": f"{session.record.stimuli}-listeners",
        "version": "1",
        "licence": given.licence if given is not None else "unknown",
        "notices": ["Collected with floorbench listen; onsets less each listener's own latency."],
        "made_by": {
            "recipe": "floorbench.web.listen_export 1",
            "stimuli": session.record.data,
            "lists": session.record.lists,
            "no_response": sorted(exclude),
        },
    }
    return codec.encode_pretty(manifest).encode()
