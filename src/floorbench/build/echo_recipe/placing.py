"""One sample: its lines, and both tracks on one clock with the insertion where it belongs.

Everything but the role's listening version comes out the same whatever the role: the assistant's
planned utterance goes on to its end, and the insertion has one level.

Source
------
ECHO, data construction: independent synthesis, level and bounded rate normalisation, overlap placed
by word times, rendering by role.

Deviations
----------
One voice per group says the insertion in all its roles (the paper allows different ones). Word
times are the voice's own. Turns of the history stay text. What a listener hears of an interruption
is kept beside what systems get, not instead of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from floorbench.build.echo_recipe.rewriting import contexts_of
from floorbench.build.echo_render import ASSISTANT, LEAD_S, RATE, REST_S, TAIL_S, USERS, placed
from floorbench.build.echo_rows import LISTENING
from floorbench.build.pipeline.stage import Bench, Item, Made, Outcome, Rejected, made
from floorbench.build.speech.providers import Word
from floorbench.build.speech.synthesise import Line
from floorbench.build.speech.voices import blends
from floorbench.build.speech.words import cut_after
from floorbench.core.sample import JsonValue
from floorbench.core.time import to_samples
from floorbench.core.vocab import Role
from floorbench.datasets.echo_audio import listening
from floorbench.datasets.echo_tables import ListeningRow
from floorbench.errors import DataError, Place

ASSISTANT_TRACK, INSERTION_TRACK = "assistant", "target"
POOLS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    language: {"user": (*USERS[language], *blends(USERS[language])), "assistant": (assistant,)}
    for language, assistant in ASSISTANT.items()
}
"""Voices of the insertion and the assistant's voice, per language."""


class Variants:
    """Make one sample of every context of a group: ``GROUP-i``, ``GROUP-b``, ``GROUP-o``.

    Adds ``group``, ``family``, ``role``, ``history`` (``role`` and ``text`` of each turn),
    ``before`` and ``after``; takes the group's own fields away.
    """

    name = "variants"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return nothing: there is nothing to set."""
        return {}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Split one group."""
        shared = {k: item.fields[k] for k in ("language", "text", "type", "insertion")}
        out = []
        for role, context in contexts_of(item).items():
            turns: list[JsonValue] = [
                {"role": "system" if n % 2 else "user", "text": text}
                for n, text in enumerate(context.history)
            ]
            fields: dict[str, JsonValue] = {
                **shared,
                "group": item.id,
                "family": item.id,
                "role": role,
                "history": turns,
                "before": context.before,
                "after": context.after,
            }
            out.append(Item(id=f"{item.id}-{role[0]}", fields=fields))
        return Made(items=tuple(out))


def lines_of(item: Item) -> tuple[Line, ...]:
    """Return what is spoken of a sample: the assistant's whole utterance and the insertion."""
    before, after = str(item.fields["before"]), str(item.fields["after"])
    return (
        Line(track=ASSISTANT_TRACK, role="assistant", text=before + after, mark=before),
        Line(track=INSERTION_TRACK, role="user", text=str(item.fields["insertion"])),
    )


class PlaceOverlap:
    """Put the insertion where the assistant has said ``before``, and make the tracks.

    Adds the tracks ``user`` and ``system`` (what systems get), for interruptions also
    ``listening-user`` and ``listening-system``, and the fields ``events`` and ``words``.
    ``no-room``: the planned utterance ends too early after the insertion. ``no-time``: no word
    boundary is known at the place.
    """

    name = "place-overlap"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return leads, rests and the listening version."""
        how: dict[str, JsonValue] = {**LISTENING}
        return {"lead": LEAD_S, "tail": TAIL_S, "rest": REST_S, "rate": RATE, "listening": how}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Place one insertion."""
        rows = {row["track"]: row for row in speech_rows(item)}
        tracks = {}
        for track in (ASSISTANT_TRACK, INSERTION_TRACK):
            samples, rate = bench.load(item.audio[track])
            if rate != RATE:
                raise DataError("FB834", f"{track} has {rate} Hz", where=Place(item=item.id))
            tracks[track] = samples.astype(np.float64)
        try:
            cut = cut_after(_words(rows[ASSISTANT_TRACK]), str(item.fields["before"]))
        except DataError as error:
            return Rejected(reason="no-time", detail=error.what)
        onset = round(LEAD_S + cut, 3)
        end = round(onset + len(tracks[INSERTION_TRACK]) / RATE, 4)
        system_end = round(LEAD_S + len(tracks[ASSISTANT_TRACK]) / RATE, 4)
        if end + REST_S > system_end:
            detail = f"the insertion ends at {end} s, the planned utterance at {system_end} s"
            return Rejected(reason="no-room", detail=detail)
        length = to_samples(round(system_end + TAIL_S, 4), RATE)
        given = {
            "user": placed(tracks[INSERTION_TRACK], onset, length).astype(np.float32),
            "system": placed(tracks[ASSISTANT_TRACK], LEAD_S, length).astype(np.float32),
        }
        audio = {name: bench.keep(samples, RATE) for name, samples in given.items()}
        if item.fields["role"] == "interruption":
            for role in (Role.USER, Role.SYSTEM):
                heard = listening(
                    bench.load(audio[role.value])[0],
                    rate=RATE,
                    onset=onset,
                    role=role.value,
                    how=ListeningRow(**LISTENING),
                )
                audio[f"listening-{role.value}"] = bench.keep(heard, RATE)
        events: dict[str, JsonValue] = {
            "system_start": LEAD_S,
            "insertion_start": onset,
            "insertion_end": end,
            "system_end": system_end,
        }
        words: list[JsonValue] = [
            {
                "text": w.text,
                "start": round(min(onset + max(w.start, 0.0), end), 4),
                "end": round(min(onset + w.end, end), 4),
            }
            for w in _words(rows[INSERTION_TRACK])
        ]
        bench.note("placed", by="words", cut_s=cut, onset_s=onset)
        return made(item.having(audio=audio, events=events, words=words))


def _words(row: Mapping[str, Any]) -> tuple[Word, ...]:
    return tuple(Word(**word) for word in row["words"] or ())


def speech_rows(item: Item) -> Sequence[Mapping[str, Any]]:
    """Return the rows of the field ``speech``."""
    return cast(Sequence[Mapping[str, Any]], item.fields["speech"])


def speech_of(item: Item, track: str) -> Mapping[str, Any]:
    """Return the row of a track in the field ``speech``."""
    return next(row for row in speech_rows(item) if row["track"] == track)
