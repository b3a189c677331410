"""Near-duplicates: how alike two texts are, measured exactly, and who has to go.

Texts are compared by their character trigrams: letters and digits in lower case, everything else
left out, one mark put at either end; the similarity of two texts is the Jaccard index of their sets
of trigrams. Two dialogues of one language are near-duplicates when

- their targets are at least ``target`` alike and what is heard of both has at least ``least``
  trigrams (a "mm-hm" cannot be told from another one, and need not be), or
- they have the same label, and all that is said in them (history, and what is heard of the target)
  is at least ``dialogue`` alike.

Dialogues of different labels may share their history: what is asked about is the target.

The search is exact: for every text, the trigrams that it shares with each other text are counted
through an inverted index.

Deviations
----------
The paper on CoDeTT says nothing about duplicates; the measure and its thresholds are our own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from floorbench.build.pipeline.stage import Gathered, Item, Rejected
from floorbench.build.text.dialogue import LANGUAGES, Dialogue, dialogue_of
from floorbench.core.sample import JsonValue
from floorbench.errors import UsageError

TARGET = 0.7
DIALOGUE = 0.9
LEAST = {"en": 12, "zh": 6}


def trigrams(text: str) -> NDArray[np.int64]:
    """Return the sorted codes of a text's distinct trigrams; none for a text without letters.

    Examples
    --------
    >>> len(trigrams("Mm!")), len(trigrams("mm")), len(trigrams("..."))
    (2, 2, 0)
    """
    letters = "".join(c for c in text.casefold() if c.isalnum())
    if not letters:
        return np.zeros(0, dtype=np.int64)
    marked = f"\x02{letters}\x03"
    code = np.frombuffer(marked.encode("utf-32-le"), dtype="<u4").astype(np.int64)
    return np.unique((code[:-2] << 42) | (code[1:-1] << 21) | code[2:])


def similarity(a: str, b: str) -> float | None:
    """Return the Jaccard index of two texts' trigrams.

    Returns
    -------
    float or None
        In [0, 1]; ``None`` when neither has a letter, which is no likeness.

    Examples
    --------
    >>> similarity("Book a table.", "book a TABLE!"), similarity("abc", "xyz"), similarity("", "")
    (1.0, 0.0, None)
    """
    x, y = trigrams(a), trigrams(b)
    both = np.intersect1d(x, y, assume_unique=True).size
    every = x.size + y.size - both
    return float(both / every) if every else None


class Alike:
    """An inverted index of texts.

    Parameters
    ----------
    texts : sequence of str
    """

    def __init__(self, texts: Sequence[str]) -> None:
        found = [trigrams(text) for text in texts]
        self.sizes = np.array([f.size for f in found], dtype=np.int64)
        flat = np.concatenate([*found, np.zeros(0, dtype=np.int64)])
        _, ids = np.unique(flat, return_inverse=True)
        owner = np.repeat(np.arange(len(found)), self.sizes)
        order = np.argsort(ids, kind="stable")
        cuts = np.flatnonzero(np.diff(ids[order])) + 1
        self._postings = np.split(owner[order].astype(np.int32), cuts)
        self._grams = np.split(ids, np.cumsum(self.sizes)[:-1]) if found else []

    def to_all(self, index: int) -> NDArray[np.float64]:
        """Return the similarity of one text to every one, itself included; 0 where neither has any.

        Parameters
        ----------
        index : int
            Position of the text.
        """
        count = self.sizes.size
        grams = self._grams[index]
        if not grams.size:
            return np.zeros(count)
        shared = np.bincount(np.concatenate([self._postings[g] for g in grams]), minlength=count)
        out: NDArray[np.float64] = shared / (self.sizes + grams.size - shared)
        return out


def said_in(dialogue: Dialogue) -> str:
    """Return all that is said in a dialogue, one utterance a line."""
    rounds = [text for r in dialogue.history for text in (r.user, r.assistant)]
    return "\n".join([*rounds, dialogue.heard])


@dataclass(frozen=True, slots=True, kw_only=True)
class Nearest:
    """The most similar other dialogue of one, by target and, within its label, as a whole.

    Parameters
    ----------
    id : str
    target, dialogue : float or None
        Largest similarity; ``None`` where nothing could be compared: no other dialogue, or a
        target that is too short.
    target_id, dialogue_id : str or None
        Whose it is.
    """

    id: str
    target: float | None
    target_id: str | None
    dialogue: float | None
    dialogue_id: str | None


def nearest(dialogues: Sequence[Dialogue]) -> tuple[Nearest, ...]:
    """Return the nearest neighbours of each dialogue of one language."""
    ids = [d.id for d in dialogues]
    targets, whole = _indices(dialogues)
    long = _long(dialogues, targets, LEAST)
    labels = np.array([d.target.label for d in dialogues])
    out = []
    for i, name in enumerate(ids):
        own: list[tuple[float | None, str | None]] = []
        for index, allowed in ((targets, long), (whole, labels == labels[i])):
            others = allowed.copy()
            others[i] = False
            if not (allowed[i] and others.any()):
                own.append((None, None))
                continue
            values = np.where(others, index.to_all(i), -1.0)
            best = int(values.argmax())
            own.append((float(values[best]), ids[best]))
        out.append(
            Nearest(
                id=name,
                target=own[0][0],
                target_id=own[0][1],
                dialogue=own[1][0],
                dialogue_id=own[1][1],
            )
        )
    return tuple(out)


class NearDuplicates:
    """A gathering step that leaves out what is too much like an item kept before it.

    Parameters
    ----------
    target, dialogue : float
        Thresholds in (0, 1], inclusive.
    least : mapping of str to int or None
        Trigrams that a target needs to be compared by itself, by language.

    Raises
    ------
    UsageError
        FB861 for a value out of range.
    """

    name = "near-duplicates"
    version = 2
    deterministic = True

    def __init__(
        self,
        *,
        target: float = TARGET,
        dialogue: float = DIALOGUE,
        least: Mapping[str, int] | None = None,
    ) -> None:
        for what, value in (("target", target), ("dialogue", dialogue)):
            if not 0 < value <= 1:
                raise UsageError("FB861", f"{what}={value} is not in (0, 1]")
        self._target = target
        self._dialogue = dialogue
        self._least = dict(least or LEAST)

    def settings(self) -> Mapping[str, JsonValue]:
        """Return the thresholds."""
        least: dict[str, JsonValue] = {**self._least}
        return {"target": self._target, "dialogue": self._dialogue, "least": least}

    def gather(self, items: Sequence[Item]) -> Gathered:
        """Keep an item unless one kept before it is a near-duplicate (reason ``duplicate``)."""
        rejected: dict[str, Rejected] = {}
        read = [dialogue_of(item) for item in items]
        for language in LANGUAGES:
            rejected |= self._sift([d for d in read if d.language == language])
        return Gathered(
            items=tuple(item for item in items if item.id not in rejected), rejected=rejected
        )

    def _sift(self, dialogues: Sequence[Dialogue]) -> dict[str, Rejected]:
        targets, whole = _indices(dialogues)
        long = _long(dialogues, targets, self._least)
        kept = np.zeros(len(dialogues), dtype=bool)
        labels = np.array([d.target.label for d in dialogues])
        rejected: dict[str, Rejected] = {}
        for i, dialogue in enumerate(dialogues):
            found = None
            if kept.any():
                if long[i]:
                    found = _worst(targets.to_all(i), kept & long, self._target, "targets")
                same = kept & (labels == labels[i])
                found = found or _worst(whole.to_all(i), same, self._dialogue, "dialogues")
            if found is None:
                kept[i] = True
                continue
            other, value, what = found
            detail = f"{what} {value:.3f} alike with {dialogues[other].id}"
            rejected[dialogue.id] = Rejected(reason="duplicate", detail=detail)
        return rejected


def _indices(dialogues: Sequence[Dialogue]) -> tuple[Alike, Alike]:
    return Alike([d.heard for d in dialogues]), Alike([said_in(d) for d in dialogues])


def _long(
    dialogues: Sequence[Dialogue], targets: Alike, least: Mapping[str, int]
) -> NDArray[np.bool_]:
    need = np.array([least[d.language] for d in dialogues], dtype=np.int64)
    out: NDArray[np.bool_] = targets.sizes >= need
    return out


def _worst(
    values: NDArray[np.float64], kept: NDArray[np.bool_], threshold: float, what: str
) -> tuple[int, float, str] | None:
    """Return the most similar item kept so far when it reaches the threshold."""
    among = np.where(kept, values, -1.0)
    best = int(among.argmax())
    return (best, float(among[best]), what) if among[best] >= threshold else None
