"""What joins the rooms: from a written dialogue to lines, from speech to speakers, and the gate of
non-speech."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, cast

from floorbench.audio.vad import Vad
from floorbench.build.pipeline.stage import (
    Bench,
    Gather,
    Gathered,
    Item,
    Outcome,
    Rejected,
    Stage,
    made,
)
from floorbench.build.sound.soundscape import TARGET
from floorbench.build.speech import gate
from floorbench.build.speech.gate import Thresholds
from floorbench.build.text.dialogue import dialogue_of
from floorbench.core.sample import JsonValue


class Lines:
    """Spread a dialogue into the fields that speech, sound and layout read.

    Adds ``state``, ``action``, ``scenario``, ``topic``, ``family``, ``history``, ``target`` and
    ``text`` (what is heard of the target).
    """

    name = "lines"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return nothing: there is nothing to set."""
        return {}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Spread one dialogue."""
        dialogue = dialogue_of(item)
        heard = dialogue.heard
        cut = None if dialogue.target.cut_after is None else heard
        return made(
            item.having(
                state=dialogue.state,
                action=dialogue.action,
                scenario=dialogue.scenario,
                topic=dialogue.topic,
                family=dialogue.family,
                origin="syn",
                history=[
                    {"user": one.user, "assistant": one.assistant} for one in dialogue.history
                ],
                target={
                    "role": dialogue.target.role,
                    "text": dialogue.target.text,
                    "cut_after": cut,
                },
                text=heard,
            )
        )


class Speakers:
    """Name the voices that an item's speech came from, so that no split shares one."""

    name = "speakers"
    version = 1
    deterministic = True

    def settings(self) -> Mapping[str, JsonValue]:
        """Return nothing: there is nothing to set."""
        return {}

    def start(self) -> None:
        """Nothing to load."""

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Add ``speakers``; a real talker is named already."""
        if item.fields.get("speakers"):
            return made(item)
        rows = cast("list[Mapping[str, Any]]", item.fields.get("speech") or [])
        return made(item.having(speakers=sorted({str(row["voice"]) for row in rows})))


class NonSpeech:
    """Refuse a burst in which a voice activity detector hears speech; other items pass."""

    name = "non-speech"
    version = 1
    deterministic = True

    def __init__(self, *, vad: Vad, thresholds: Thresholds | None = None) -> None:
        self._vad = vad
        self._thresholds = thresholds or Thresholds()

    def settings(self) -> Mapping[str, JsonValue]:
        """Return detector and thresholds."""
        return {"vad": self._vad.name, "thresholds": asdict(self._thresholds)}

    def start(self) -> None:
        """Load the detector."""
        self._vad.load()

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Check one item."""
        if item.fields.get("scenario") != "Invalidation" or TARGET not in item.audio:
            return made(item)
        samples, rate = bench.load(item.audio[TARGET])
        verdict = gate.as_non_speech(samples, rate, vad=self._vad, thresholds=self._thresholds)
        if not verdict.passed:
            return Rejected(reason=verdict.reason, detail=f"burst: {dict(verdict.figures)}")
        return made(item.having(burst_check=dict(verdict.figures)))


class Only:
    """A stage for the items that have a field; the others pass as they are.

    Parameters
    ----------
    stage : Stage
    having : str
        Name of the field.
    """

    def __init__(self, stage: Stage, *, having: str) -> None:
        self._stage = stage
        self._having = having
        self.name = stage.name
        self.version = stage.version
        self.deterministic = stage.deterministic

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the stage's settings and the field."""
        return {**self._stage.settings(), "only": self._having}

    def start(self) -> None:
        """Start the stage."""
        self._stage.start()

    def make(self, item: Item, bench: Bench) -> Outcome:
        """Treat the item, or pass it on."""
        return self._stage.make(item, bench) if self._having in item.fields else made(item)


class OnlyGather:
    """As :class:`Only`, for a step that sees all items: those without the field stay beside it."""

    def __init__(self, step: Gather, *, having: str) -> None:
        self._step = step
        self._having = having
        self.name = step.name
        self.version = step.version
        self.deterministic = step.deterministic

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the step's settings and the field."""
        return {**self._step.settings(), "only": self._having}

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Treat the items that have the field."""
        found = self._step.gather([i for i in items if self._having in i.fields])
        others = [i for i in items if self._having not in i.fields]
        together = sorted((*found.items, *others), key=lambda item: item.id)
        return Gathered(items=tuple(together), rejected=found.rejected)
