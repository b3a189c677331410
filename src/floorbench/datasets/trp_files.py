"""The files of a within-turn TRP set: stimulus turns, the roster of listeners, their responses.

``stimuli.jsonl``
    One turn a line: ``id``, ``list``, ``words`` (``text``, ``start``, ``end``, and ``mark`` for
    punctuation that systems do not see), ``turn_end``, and if known ``next_turn`` (when the next
    turn starts), ``conversation``, ``speaker``, ``offset`` (where the turn's clock starts in the
    conversation), ``language``, ``split``.
``roster.json``
    Everybody who took part: ``id``, ``list``, ``reversed`` (heard the list backwards), and
    ``heard`` (ids of stimuli) when it was not the whole list.
``responses.jsonl``
    ``participant``, ``stimulus``, ``onsets``. Whoever is on the roster and has no line was silent.

Times are seconds on the turn's own clock; they are read as exact decimals.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from floorbench import codec
from floorbench.core.time import Ticks, to_ticks
from floorbench.errors import DataError, Place, did_you_mean

STIMULI, ROSTER, RESPONSES = "stimuli.jsonl", "roster.json", "responses.jsonl"
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenWord:
    """A word with its times in seconds; ``None`` when they are not known.

    ``mark`` is the punctuation that a transcriber put after the word. Systems never see it: it
    was written by somebody who knew how the turn goes on.
    """

    text: str
    start: float | None
    end: float | None
    mark: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stimulus:
    """One turn that listeners heard (see the module)."""

    id: str
    list: str
    words: tuple[SpokenWord, ...]
    turn_end: float
    next_turn: float | None = None
    conversation: str | None = None
    speaker: str | None = None
    offset: float | None = None
    language: str = "en"
    split: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """One listener; an id, never a name."""

    id: str
    list: str
    reversed: bool = False
    heard: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Responses:
    """The onsets of one listener to one stimulus, in seconds."""

    participant: str
    stimulus: str
    onsets: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """Who heard a stimulus and when they responded, in ticks."""

    roster: tuple[str, ...]
    onsets: Mapping[str, tuple[Ticks, ...]]


def read_stimuli(path: Path) -> tuple[Stimulus, ...]:
    """Read and check the stimulus turns.

    Raises
    ------
    DataError
        ``FB201`` or ``FB202`` for a broken line, ``FB231`` for an impossible turn, ``FB203`` for
        an id that stands twice.
    """
    seen: dict[str, int] = {}
    out = []
    for line, stimulus in _lines(path, Stimulus):
        where = Place(path.name, line, stimulus.id)
        if stimulus.id in seen:
            raise DataError("FB203", f"stimulus '{stimulus.id}' appears twice", where=where)
        seen[stimulus.id] = line
        _check(stimulus, where)
        out.append(stimulus)
    _check_overlaps(out, seen, path)
    return tuple(out)


def read_panels(root: Path, stimuli: Sequence[Stimulus]) -> dict[str, Panel] | None:
    """Read roster and responses and join them per stimulus; ``None`` for an unlabelled set.

    Original and reversed lists are merged: the turn's clock is the same in both.

    Raises
    ------
    DataError
        ``FB233`` responses without a roster, ``FB232`` a roster without responses or a malformed
        response, ``FB234`` a response from somebody who did not hear the stimulus, ``FB203``.
    """
    has_roster, has_responses = (root / ROSTER).is_file(), (root / RESPONSES).is_file()
    if not has_roster and not has_responses:
        return None
    if not has_roster:
        raise DataError(
            "FB233",
            "there are responses but no roster: silent listeners would be forgotten",
            where=Place(RESPONSES),
            hint=f'write {ROSTER}: [{{"id": "p01", "list": "A"}}, ...], one entry per listener',
        )
    if not has_responses:
        raise DataError(
            "FB232",
            "there is a roster but no responses",
            where=Place(ROSTER),
            hint=f"an empty {RESPONSES} says that everybody was silent",
        )
    people = _roster(root / ROSTER, stimuli)
    heard: dict[str, list[str]] = {s.id: [] for s in stimuli}
    for person in people.values():
        for stimulus in stimuli:
            if _heard(person, stimulus):
                heard[stimulus.id].append(person.id)
    onsets = _onsets(root / RESPONSES, people, {s.id: s for s in stimuli})
    return {
        stimulus.id: Panel(roster=tuple(heard[stimulus.id]), onsets=onsets[stimulus.id])
        for stimulus in stimuli
    }


def _check(stimulus: Stimulus, where: Place) -> None:
    def fail(what: str) -> DataError:
        return DataError("FB231", what, where=where)

    if not stimulus.words:
        raise fail("the turn has no words")
    last = None
    for number, word in enumerate(stimulus.words, start=1):
        name = f"word {number} '{word.text}'"
        if not word.text or len(word.text.split()) != 1:
            raise fail(f"{name} is empty or holds a space")
        if word.start is None or word.end is None:
            raise fail(f"{name} has no time, and times are never invented")
        start, end = to_ticks(word.start), to_ticks(word.end)
        if start < 0 or end < start:
            raise fail(f"{name} lies at {word.start} to {word.end} s")
        if last is not None and start + end < last:
            raise fail(f"{name} comes before the word ahead of it: words are out of order")
        last = start + end
    following = stimulus.next_turn
    if following is not None and to_ticks(following) < to_ticks(stimulus.words[0].start or 0):
        raise fail(f"the next turn begins at {following} s, before the first word")
    if to_ticks(stimulus.turn_end) * 2 < (last or 0):
        raise fail(f"the turn ends at {stimulus.turn_end} s, before the middle of its last word")


def _check_overlaps(stimuli: Sequence[Stimulus], lines: Mapping[str, int], path: Path) -> None:
    """Refuse two turns of one speaker that overlap in their conversation."""
    turns = defaultdict(list)
    for s in stimuli:
        if s.conversation is not None and s.offset is not None:
            first = s.words[0].start
            zero = to_ticks(s.offset)
            span = (zero + to_ticks(first or 0.0), zero + to_ticks(s.turn_end))
            turns[s.conversation, s.speaker].append((*span, s.id))
    for spans in turns.values():
        spans.sort()
        for (_, end, one), (start, _, other) in itertools.pairwise(spans):
            if start < end:
                raise DataError(
                    "FB231",
                    f"the turn overlaps '{one}' of the same speaker",
                    where=Place(path.name, lines[other], other),
                )


def _roster(path: Path, stimuli: Sequence[Stimulus]) -> dict[str, Participant]:
    entries = codec.decode(codec.read_bytes(path), tuple[Participant, ...], where=Place(path.name))
    lists = {s.list for s in stimuli}
    known = {s.id for s in stimuli}
    people: dict[str, Participant] = {}
    for person in entries:
        where = Place(path.name, item=person.id)
        if person.id in people:
            raise DataError("FB203", f"participant '{person.id}' appears twice", where=where)
        if person.list not in lists:
            raise DataError(
                "FB234",
                f"list '{person.list}' is not among {', '.join(sorted(lists))}",
                where=where,
            )
        strange = [s for s in person.heard or () if s not in known]
        if strange:
            raise DataError("FB232", f"there is no stimulus '{strange[0]}'", where=where)
        people[person.id] = person
    return people


def _onsets(
    path: Path, people: Mapping[str, Participant], stimuli: Mapping[str, Stimulus]
) -> dict[str, dict[str, tuple[Ticks, ...]]]:
    out: dict[str, dict[str, tuple[Ticks, ...]]] = {name: {} for name in stimuli}
    for line, given in _lines(path, Responses):
        where = Place(path.name, line)
        stimulus = stimuli.get(given.stimulus)
        if stimulus is None:
            near = did_you_mean(given.stimulus, stimuli)
            raise DataError(
                "FB232",
                f"there is no stimulus '{given.stimulus}'",
                where=where,
                hint=f"did you mean '{near}'?" if near else None,
            )
        person = people.get(given.participant)
        if person is None:
            raise DataError(
                "FB234", f"participant '{given.participant}' is not on the roster", where=where
            )
        if not _heard(person, stimulus):
            raise DataError(
                "FB234",
                f"participant '{person.id}' responded to '{stimulus.id}' without hearing it",
                where=where,
                hint=f"the roster says list '{person.list}', the stimulus is in '{stimulus.list}'",
            )
        if person.id in out[stimulus.id]:
            raise DataError(
                "FB203", f"'{person.id}' responds twice to '{stimulus.id}'", where=where
            )
        out[stimulus.id][person.id] = tuple(sorted(to_ticks(t) for t in given.onsets))
    return out


def _heard(person: Participant, stimulus: Stimulus) -> bool:
    if person.heard is not None:
        return stimulus.id in person.heard
    return person.list == stimulus.list


def _lines(path: Path, kind: type[T]) -> Iterator[tuple[int, T]]:
    for number, line in enumerate(codec.read_bytes(path).split(b"\n"), start=1):
        if line.strip():
            yield number, codec.decode(line, kind, where=Place(path.name, number))
