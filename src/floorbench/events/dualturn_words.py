"""DualTurn's word labels: C continue, B backchannel follows, T turn shift follows."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from floorbench.core.time import TICKS_PER_SECOND, Ticks
from floorbench.core.vocab import Role
from floorbench.errors import UsageError
from floorbench.events.spans import Ints, check_spans, two_roles
from floorbench.events.tokens import is_speech

WORD_LABELS = ("C", "B", "T")
C, B, T = range(3)


class TimedWord(NamedTuple):
    """A token with its time in ticks, half-open."""

    text: str
    start: Ticks
    end: Ticks


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRules:
    """Parameters of the word labels, in ticks.

    Parameters
    ----------
    utterance_gap : int
        Own words closer than this belong to one utterance. No default.
    max_words : int
        Longest backchannel phrase in words.
    phrases : int
        How many of the most frequent phrases count.
    reach : int
        A candidate outside every word marks the other side's last word ended at most this long
        ago.

    Raises
    ------
    UsageError
        ``FB612`` for a threshold outside its range.
    """

    utterance_gap: Ticks
    max_words: int = 2
    phrases: int = 20
    reach: Ticks = TICKS_PER_SECOND

    def __post_init__(self) -> None:
        for name in ("utterance_gap", "max_words", "phrases"):
            if getattr(self, name) < 1:
                raise UsageError("FB612", f"{name} is {getattr(self, name)}; it must be positive")
        if self.reach < 0:
            raise UsageError("FB612", f"reach is {self.reach} ticks; it must be 0 or more")


@dataclass(frozen=True, slots=True, kw_only=True)
class PhraseList:
    """The backchannel phrases of a training set, most frequent first, with their counts."""

    phrases: tuple[str, ...]
    counts: tuple[int, ...]

    def digest(self) -> str:
        """Return the SHA-256 of the phrases in order; it names the list in a signature."""
        return hashlib.sha256("\n".join(self.phrases).encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WordLabels:
    """Labelled words of one session in the order of their utterances.

    Parameters
    ----------
    words : tuple of TimedWord
        Words that carry a label; candidates are not among them.
    role : tuple of Role
        Speaker of each word.
    label : int64 array (n,)
        Index into ``WORD_LABELS``.
    candidates : int
        Utterances set aside as backchannel candidates.
    unplaced : int
        Candidates that mark no word.
    """

    words: tuple[TimedWord, ...]
    role: tuple[Role, ...]
    label: Ints
    candidates: int
    unplaced: int

    def count(self, label: str) -> int:
        """Return the number of words with a label."""
        return int((self.label == WORD_LABELS.index(label)).sum())


def normalise(text: str) -> str:
    """Return a word as phrases are counted: lower case, without a ``_1`` variant mark.

    Examples
    --------
    >>> normalise("Okay_1")
    'okay'
    """
    return re.sub(r"_\d+$", "", text.strip().lower())


def utterances(words: Sequence[TimedWord], *, gap: Ticks, name: str) -> list[list[TimedWord]]:
    """Return one speaker's speech as utterances: own words with gaps below ``gap``.

    Parameters
    ----------
    words : sequence of TimedWord
        Tokens sorted by start, non-speech included; words may overlap.
    gap : int
        Ticks; a silence of ``gap`` or more since the furthest end so far begins a new utterance.
    name : str
        Whose words they are, for messages.
    """
    check_spans([(w.start, w.end) for w in words], name=name)
    out: list[list[TimedWord]] = []
    reach = 0
    for word in words:
        if not is_speech(word.text):
            continue
        if not out or word.start - reach >= gap:
            out.append([])
            reach = word.end
        out[-1].append(word)
        reach = max(reach, word.end)
    return out


def frequent_phrases(
    sessions: Iterable[Mapping[Role, Sequence[TimedWord]]], rules: WordRules
) -> PhraseList:
    """Return the most frequent whole utterances of at most ``max_words`` words.

    Parameters
    ----------
    sessions : iterable of mapping of Role to words
        Training sessions. Ties are broken alphabetically.
    rules : WordRules
        Utterance gap, longest phrase and how many phrases.
    """
    seen: Counter[str] = Counter()
    for session in sessions:
        for role, words in session.items():
            for utterance in utterances(words, gap=rules.utterance_gap, name=role):
                if len(utterance) <= rules.max_words:
                    seen[_phrase(utterance)] += 1
    best = sorted(seen.items(), key=lambda item: (-item[1], item[0]))[: rules.phrases]
    return PhraseList(phrases=tuple(p for p, _ in best), counts=tuple(n for _, n in best))


def word_labels(
    session: Mapping[Role, Sequence[TimedWord]], phrases: PhraseList, rules: WordRules
) -> WordLabels:
    """Label every word of a two-channel session as C, B or T.

    Parameters
    ----------
    session : mapping of Role to sequence of TimedWord
        Exactly two channels, tokens sorted by start.
    phrases : PhraseList
        From the training words.
    rules : WordRules
        Parameters.

    Returns
    -------
    WordLabels

    Raises
    ------
    DataError
        ``FB202``, ``FB610`` or ``FB611`` for words that cannot be read or a missing channel.

    Notes
    -----
    Source: DualTurn (arXiv 2603.08216), word-level turn prediction. Utterances of both speakers
    are sorted by (start, channel). A whole utterance that is a frequent short phrase is a
    candidate and set aside. The last word before the channel changes is T. A candidate marks as B
    the other side's word that contains its start (the latest one if several do), else that
    side's last word ended at most ``reach`` before; B beats T. All other words are C.

    Deviations: phrases are compared in lower case and without ISIP variant marks.
    """
    known = frozenset(phrases.phrases)
    spoken: list[tuple[Ticks, int, list[TimedWord]]] = []
    candidates: list[tuple[int, Ticks]] = []
    roles = two_roles(session)
    for side, role in enumerate(roles):
        for utterance in utterances(session[role], gap=rules.utterance_gap, name=role):
            if len(utterance) <= rules.max_words and _phrase(utterance) in known:
                candidates.append((side, utterance[0].start))
            else:
                spoken.append((utterance[0].start, side, utterance))
    spoken.sort(key=lambda item: item[:2])
    words = [word for _, _, utterance in spoken for word in utterance]
    sides = np.repeat(
        np.asarray([side for _, side, _ in spoken], dtype=np.int64),
        np.asarray([len(utterance) for _, _, utterance in spoken], dtype=np.int64),
    )
    label = np.full(len(words), C, dtype=np.int64)
    label[:-1][sides[1:] != sides[:-1]] = T
    unplaced = _mark(label, words, sides, candidates, rules.reach)
    return WordLabels(
        words=tuple(words),
        role=tuple(roles[side] for side in sides),
        label=label,
        candidates=len(candidates),
        unplaced=unplaced,
    )


def last_full_frame(end: Ticks, *, rate: Fraction) -> int | None:
    """Return the last frame that is fully available at a time, ``None`` before the first one.

    Parameters
    ----------
    end : int
        A word's end in ticks.
    rate : Fraction
        Frames a second; frame ``t`` is available at ``(t + 1) / rate`` seconds.

    Examples
    --------
    >>> last_full_frame(160_000, rate=Fraction(25, 2))
    1
    >>> last_full_frame(79_999, rate=Fraction(25, 2)) is None
    True
    """
    frame = end * rate.numerator // (TICKS_PER_SECOND * rate.denominator) - 1
    return frame if frame >= 0 else None


def _phrase(utterance: Sequence[TimedWord]) -> str:
    return " ".join(normalise(word.text) for word in utterance)


def _mark(
    label: Ints,
    words: Sequence[TimedWord],
    sides: Ints,
    candidates: Sequence[tuple[int, Ticks]],
    reach: Ticks,
) -> int:
    """Set B in place; return how many candidates found no word."""
    unplaced = 0
    for side in range(2):
        index = np.flatnonzero(sides == 1 - side)
        start = np.asarray([words[i].start for i in index.tolist()], dtype=np.int64)
        end = np.asarray([words[i].end for i in index.tolist()], dtype=np.int64)
        furthest = _argmax_so_far(end)
        by_end = np.argsort(end, kind="stable")
        for time in (t for s, t in candidates if s == side):
            k = int(np.searchsorted(start, time, side="right")) - 1
            # Words may overlap: the latest containing word is at or before k, and none is left
            # once the furthest end so far does not pass the candidate.
            while k >= 0 and end[k] <= time and end[furthest[k]] > time:
                k -= 1
            if k >= 0 and end[k] > time:
                label[index[k]] = B
                continue
            j = int(np.searchsorted(end[by_end], time, side="right")) - 1
            if j >= 0 and time - end[by_end[j]] <= reach:
                label[index[by_end[j]]] = B
            else:
                unplaced += 1
    return unplaced


def _argmax_so_far(values: Ints) -> Ints:
    best = np.maximum.accumulate(values) if len(values) else values
    new = values == best
    return np.maximum.accumulate(np.where(new, np.arange(len(values)), 0))
