"""Makes the synthetic within-turn TRP set: texts, word times from a model, simulated listeners.

Nobody spoke and nobody listened. The set shows every step of the task without a recording; it says
nothing about people.

Duration model
    A word lasts ``0.09 + 0.045 x letters`` seconds times a log-normal factor (sigma 0.12), 1.25
    times longer before a pause; times are rounded to 0.01 s. Pauses after complete units are
    log-normal with median 0.45 s (sigma 0.45), after places that could be complete 0.12 s in 40 %
    of cases, hesitations 0.5 s; rushed-through completions have none.

Response model
    A listener has a readiness drawn from Beta(4, 2); two listeners a list are silent. After a
    complete unit a listener responds with that probability, after a rushed-through one with 0.6
    of it, where a unit could be complete with 0.15 of it; and at any time at a rate of 0.01 per
    second. Onsets come a log-normal latency after the end of the word, median 0.32 s (sigma 0.35).
    After a response no further one within 1 s. The last word of a turn is a complete unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from floorbench import codec
from floorbench.build.starter_trp_texts import TURNS
from floorbench.datasets.manifest import Manifest, write_manifest
from floorbench.datasets.trp_files import (
    RESPONSES,
    ROSTER,
    STIMULI,
    Participant,
    Responses,
    SpokenWord,
    Stimulus,
)

NAME = "trp-starter-synthetic"
SEED = 20240917
LISTENERS = 22
"""Per list; half of them hear it reversed."""
SILENT = 2
LISTS = ("A", "B")
COMPLETE, POSSIBLE, HESITATION, RUSHED = "|", "~", "_", "="
SHARE = {COMPLETE: 1.0, RUSHED: 0.6, POSSIBLE: 0.15}
REFRACTORY = 1.0
SPURIOUS = 0.01
_TOKEN = re.compile(r"(?P<word>[\w']+)(?P<mark>[,.?!]?)(?P<place>[|~=]?)")


class Spoken(NamedTuple):
    """A word of a text and what happens after it."""

    text: str
    mark: str
    place: str


def parse_turn(text: str) -> list[Spoken]:
    """Read the notation of :mod:`floorbench.build.starter_trp_texts`.

    Examples
    --------
    >>> parse_turn("Well,| I _ went.")  # doctest: +NORMALIZE_WHITESPACE
    [Spoken(text='well', mark=',', place='|'), Spoken(text='I', mark='', place='_'),
     Spoken(text='went', mark='.', place='|')]
    """
    out: list[Spoken] = []
    for item in text.split():
        if item == HESITATION:
            out[-1] = out[-1]._replace(place=HESITATION)
            continue
        found = _TOKEN.fullmatch(item)
        if found is None:
            raise ValueError(f"'{item}' is not in the notation")
        out.append(Spoken(found["word"], found["mark"], found["place"]))
    starts = [True, *(s.mark in (".", "?", "!") for s in out[:-1])]
    out = [
        s._replace(text=_lower(s.text)) if start else s
        for s, start in zip(out, starts, strict=True)
    ]
    out[-1] = out[-1]._replace(place=COMPLETE)
    return out


def write(folder: Path, *, seed: int = SEED) -> None:
    """Write the set into a folder; the same seed gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    stimuli, places = [], {}
    for number, (name, text) in enumerate(TURNS.items()):
        turn = parse_turn(text)
        places[name] = [s.place for s in turn]
        stimuli.append(_stimulus(name, turn, LISTS[number % 2], number, random))
    roster = [
        Participant(id=f"{listed.lower()}{n + 1:02d}", list=listed, reversed=n % 2 == 1)
        for listed in LISTS
        for n in range(LISTENERS)
    ]
    responses = [
        given
        for number, person in enumerate(roster)
        for given in _responses(person, number % LISTENERS < SILENT, stimuli, places, random)
    ]
    _write_lines(folder / STIMULI, stimuli)
    (folder / ROSTER).write_text(codec.encode_pretty(roster), encoding="utf-8")
    _write_lines(folder / RESPONSES, responses)
    write_manifest(
        folder,
        Manifest(
            name=NAME,
            version="1",
            licence="Apache-2.0",
            ranks=False,
            notices=(
                "Synthetic: written turns, word times from a duration model, simulated listeners.",
                "It shows how the task works; its scores say nothing about people or models.",
                f"Made by floorbench.build.starter_trp with seed {seed}.",
            ),
        ),
    )


def _lower(word: str) -> str:
    return word if word == "I" or word.startswith("I'") else word[0].lower() + word[1:]


def _stimulus(
    name: str, turn: list[Spoken], listed: str, number: int, random: np.random.Generator
) -> Stimulus:
    now, words = 0.25, []
    for spoken in turn:
        pause = _pause(spoken.place, random)
        length = (0.09 + 0.045 * len(spoken.text)) * float(random.lognormal(0.0, 0.12))
        if pause:
            length *= 1.25
        end = round(now + length, 2)
        words.append(
            SpokenWord(text=spoken.text, start=round(now, 2), end=end, mark=spoken.mark or None)
        )
        now = end + pause
    return Stimulus(
        id=name,
        list=listed,
        words=tuple(words),
        turn_end=words[-1].end or 0.0,
        split="dev" if number < 6 else "test",
    )


def _pause(place: str, random: np.random.Generator) -> float:
    if place == COMPLETE:
        return round(float(random.lognormal(np.log(0.45), 0.45)), 2)
    if place == POSSIBLE:
        return 0.12 if random.random() < 0.4 else 0.0
    return 0.5 if place == HESITATION else 0.0


def _responses(
    person: Participant,
    silent: bool,
    stimuli: list[Stimulus],
    places: Mapping[str, list[str]],
    random: np.random.Generator,
) -> list[Responses]:
    ready = 0.0 if silent else float(random.beta(4, 2))
    out = []
    for stimulus in stimuli:
        if stimulus.list != person.list or silent:
            continue
        times = []
        for word, place in zip(stimulus.words, places[stimulus.id], strict=True):
            if random.random() < ready * SHARE.get(place, 0.0):
                times.append((word.end or 0.0) + float(random.lognormal(np.log(0.32), 0.35)))
        for _ in range(int(random.poisson(SPURIOUS * stimulus.turn_end))):
            times.append(float(random.uniform(0.0, stimulus.turn_end)))
        kept: list[float] = []
        for time in sorted(round(t, 2) for t in times):
            if not kept or time - kept[-1] >= REFRACTORY:
                kept.append(time)
        if kept:
            out.append(Responses(participant=person.id, stimulus=stimulus.id, onsets=tuple(kept)))
    return out


def _write_lines(path: Path, items: list[Stimulus] | list[Responses]) -> None:
    path.write_bytes(b"".join(codec.encode(item) + b"\n" for item in items))
