"""A few seconds of two channels with words, and the same cut at a moment."""

from __future__ import annotations

from dataclasses import replace

from floorbench.core.sample import Observation, Word
from floorbench.core.time import Span
from floorbench.core.vocab import Role

TALK = Observation(
    language="en",
    activity={
        Role.USER: (Span(0.8, 2.4), Span(4.0, 4.8)),
        Role.SYSTEM: (Span(2.8, 3.6),),
    },
    cutoff=6.4,
)
TALK_WITH_WORDS = replace(
    TALK,
    words=(
        Word(text="so", span=Span(0.8, 1.6)),
        Word(text="yes", span=Span(1.6, 2.4)),
        Word(text="home", span=Span(2.8, 3.6), role=Role.SYSTEM),
        Word(text="so", span=Span(4.0, 4.8)),
    ),
)


def cut(observation: Observation, end: float) -> Observation:
    """Return what has been heard by a moment; a word counts once it has ended."""
    return replace(
        observation,
        cutoff=end,
        words=tuple(w for w in observation.words if w.span is not None and w.span.end <= end),
        activity={
            role: tuple(Span(s.start, min(s.end, end)) for s in spans if s.start < end)
            for role, spans in observation.activity.items()
        },
    )
