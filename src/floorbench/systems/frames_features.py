"""What the trained frame probe sees: causal features of activity and of the words so far.

Row ``t`` is known at the end of frame ``t``: activity of frames up to ``t``, and words that have
ended by then. Cutting the session after a frame changes no row up to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from floorbench.core.sample import Word
from floorbench.core.time import to_ticks
from floorbench.core.vocab import Role
from floorbench.events.dualturn import RATE
from floorbench.events.dualturn_words import normalise
from floorbench.events.frames import runs
from floorbench.events.spans import Bools, Floats, Ints
from floorbench.events.tokens import is_speech
from floorbench.systems.frames import NEVER, OTHER, Heard, recent_share, since

SILENCES = (0, 1, 2, 3, 4, 6, 9, 13, 20, 35, 60)
"""Lower edges of the classes of own and other silence, in frames."""
RUNS = (1, 2, 3, 5, 8, 12, 20, 40)
"""Lower edges of the classes of a running stretch of speech, in frames."""
WINDOWS = (6, 12, 38, 125, 375)
"""Frames over which recent activity is averaged: 0.5 to 30 s."""
LATE = 6
"""Frames after which a finished word is no longer the last word said."""
PARTIAL, RARE = "-", "?"


def names(words: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the features for a list of known words."""
    out = []
    for who in ("own", "other"):
        out += [f"{who} active", f"{who} run", f"{who} last segment", f"{who} silent"]
        out += [f"{who} silence {low}" for low in SILENCES]
        out += [f"{who} speech {low}" for low in RUNS]
        out += [f"{who} share {n}" for n in WINDOWS]
        out += [f"{who} words", f"{who} word age"]
    out += ["both", "nobody", "own spoke alone last"]
    out += [f"own silence {low}, other speech {run}" for low in SILENCES for run in (0, *RUNS)]
    out += [f"own said {word}" for word in (*words, PARTIAL, RARE)]
    out += [f"other said {word}" for word in (*words, PARTIAL, RARE)]
    return tuple(out)


def features(heard: Heard, role: Role, words: Sequence[str]) -> Floats:
    """Return the features of every frame for one channel, ``(T, len(names(words)))``."""
    said = {r: _Said.of(heard, r, words) for r in (role, OTHER[role])}
    parts: list[Floats] = []
    for who in (role, OTHER[role]):
        parts += _activity(heard.vad[who])
        parts += [said[who].count, said[who].age]
    own, other = heard.vad[role], heard.vad[OTHER[role]]
    alone = since(own & ~other) < since(other & ~own)
    parts += _floats(own & other, ~own & ~other, alone)
    quiet = [p > 0 for p in _classes(since(own), SILENCES)]
    other_run = [~other, *(p > 0 for p in _running(other))]
    parts += _floats(*(q & r for q in quiet for r in other_run))
    dense = np.stack([np.asarray(p, dtype=np.float64) for p in parts], axis=1)
    return np.concatenate([dense, said[role].one_hot, said[OTHER[role]].one_hot], axis=1)


def frequent_words(sessions: Iterable[Sequence[Word]], *, most: int) -> tuple[str, ...]:
    """Return the most frequent words, ties in alphabetical order."""
    seen: Counter[str] = Counter()
    for words in sessions:
        seen.update(_word(w.text) for w in words if is_speech(w.text))
    for special in (PARTIAL, RARE):
        seen.pop(special, None)
    return tuple(w for w, _ in sorted(seen.items(), key=lambda item: (-item[1], item[0]))[:most])


def _activity(active: Bools) -> list[Floats]:
    found = runs(active)
    quiet = since(active)
    going = since(~active)
    run = np.where(active, np.minimum(going, len(active)), quiet)
    ended = np.zeros(len(active), dtype=np.int64)
    inner = found.where(found.end < len(active))
    ended[inner.end] = inner.length
    last = np.maximum.accumulate(np.where(ended > 0, np.arange(len(active)), -1))
    before = np.where(last >= 0, ended[np.maximum(last, 0)], 0)
    return [
        active.astype(np.float64),
        np.log1p(np.minimum(run, 500).astype(np.float64)),
        np.log1p(before.astype(np.float64)),
        (quiet >= NEVER).astype(np.float64),
        *_classes(quiet, SILENCES),
        *_running(active),
        *[recent_share(active, n) for n in WINDOWS],
    ]


def _floats(*tracks: Bools) -> list[Floats]:
    return [track.astype(np.float64) for track in tracks]


def _running(active: Bools) -> list[Floats]:
    return _classes(np.where(active, since(~active), 0), RUNS)


def _classes(values: Ints, edges: Sequence[int]) -> list[Floats]:
    """Return one track per class of values between edges; below the first edge there is none."""
    found = np.searchsorted(edges, np.minimum(values, NEVER), side="right") - 1
    return [(found == k).astype(np.float64) for k in range(len(edges))]


class _Said:
    """The last word of a channel in every frame."""

    def __init__(self, one_hot: Floats, count: Floats, age: Floats) -> None:
        self.one_hot, self.count, self.age = one_hot, count, age

    @classmethod
    def of(cls, heard: Heard, role: Role, words: Sequence[str]) -> _Said:
        frames = heard.frames
        index: Mapping[str, int] = {w: i for i, w in enumerate((*words, PARTIAL, RARE))}
        one_hot = np.zeros((frames, len(index)))
        spoken = [
            (to_ticks(w.span.end), _word(w.text))
            for w in heard.words
            if w.role is role and w.span is not None and is_speech(w.text)
        ]
        spoken.sort(key=lambda item: item[0])
        ends: Ints = _first_frame_after(np.asarray([e for e, _ in spoken], dtype=np.int64))
        position = np.searchsorted(ends, np.arange(frames), side="right") - 1
        known = position >= 0
        if not len(ends):
            return cls(one_hot, np.zeros(frames), np.full(frames, np.log1p(500.0)))
        code = np.asarray([index.get(w, index[RARE]) for _, w in spoken], dtype=np.int64)
        last = np.maximum(position, 0)
        age = np.where(known, np.arange(frames) - ends[last], NEVER)
        # A word that a newer, unfinished one has followed is not the last word any more.
        fresh = known & ((age <= LATE) | ~heard.vad[role])
        one_hot[np.flatnonzero(fresh), code[last[fresh]]] = 1.0
        start = np.maximum(np.arange(frames) - 125, 0)
        count = np.searchsorted(ends, np.arange(frames), side="right") - np.searchsorted(
            ends, start, side="right"
        )
        return cls(one_hot, np.log1p(count), np.log1p(np.minimum(age, 500).astype(np.float64)))


def _first_frame_after(ends: Ints) -> Ints:
    """Return the first frame at whose end a time has passed."""
    length = 1_000_000 * RATE.denominator
    return (-(-ends * RATE.numerator // length) - 1).astype(np.int64)


def _word(text: str) -> str:
    word = normalise(text)
    if word.startswith("[laughter-"):
        word = word.removeprefix("[laughter-").rstrip("]")
    return PARTIAL if word.endswith("-") else word
