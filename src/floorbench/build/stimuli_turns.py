"""Turns with several possible completions, out of word times: marked by hand or by a rule.

Two ways to turns:

* **marked**: a tier whose every entry is one turn, as an annotator drew it;
* **floor rule**: a speaker's words from one loss of the floor to the next. The floor is lost in an
  own silence of at least ``max_pause``, and in an own silence of at least ``pause`` in which the
  other side speaks a stretch longer than ``backchannel``. Words of a side with silences shorter
  than ``pause`` between them are one stretch.

Either way a turn must hold at least ``tcus`` possible completions (the end of the turn is one). A
word inside a turn is a possible completion when a transcriber's ``.``, ``?`` or ``!`` follows it,
or when own silence of at least ``pause`` follows it and it is neither cut off, nor a hesitation,
nor a word that leaves an English phrase open.

Source
------
Within-turn TRP prediction (2024), section 4.1 and appendix A: experts chose turns that they judged
to have at least two TCUs, and left out extended pauses.

Deviations
----------
A rule stands in for the experts. It proposes; somebody should listen and remove lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from floorbench.core.words import counted
from floorbench.errors import DataError, Place, UsageError
from floorbench.events.tokens import is_speech
from floorbench.formats import Document, Entry, Tier

SENTENCE_ENDS = frozenset(".?!")
HESITATIONS = frozenset({"uh", "um", "er", "erm", "eh", "ah", "hm", "mm"})
_GOES_ON = """
a an the my your his her its our their this these those some any every each no and but or nor
because if than as when while where whether that which who whose of to in on at by for from with
into about between during without through over under i he she we they is am are was were be been
has have had do does did can could will would shall should may might must i'm i've i'd i'll it's
he's she's we're we've they're they've you're you've there's that's what's very really just like
kind sort
"""
OPEN = frozenset(_GOES_ON.split())
"""English words after which a phrase goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRules:
    """What makes a turn a stimulus; all in seconds except ``tcus``. None has a common value.

    Parameters
    ----------
    pause : float
        Own silence from which a completion is possible; positive.
    max_pause : float
        Own silence that ends a turn (floor rule) or excludes a marked one.
    backchannel : float
        Longest stretch of the other side that leaves the floor where it is.
    shortest, longest : float
        Bounds of a turn's length.
    tcus : int
        Least number of possible completions, the end of the turn included.
    """

    pause: float
    max_pause: float
    backchannel: float
    shortest: float
    longest: float
    tcus: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.pause <= self.max_pause:
            raise UsageError(
                "FB271",
                f"pause {self.pause} and max_pause {self.max_pause}: 0 < pause <= max_pause",
            )
        if self.backchannel < 0 or not 0 <= self.shortest <= self.longest or self.tcus < 1:
            raise UsageError("FB271", "backchannel and lengths are 0 or more, tcus at least 1")


class TurnWord(NamedTuple):
    """A word of a turn with the punctuation that a transcriber put after it."""

    text: str
    start: Decimal
    end: Decimal
    mark: str | None


class Turn(NamedTuple):
    """A turn on the conversation's clock."""

    speaker: str
    start: Decimal
    end: Decimal
    words: tuple[TurnWord, ...]


def tier_named(document: Document, name: str, *, where: str) -> Tier:
    """Return the tier of that name.

    Raises
    ------
    DataError
        ``FB272`` when there is none, when two carry the name, or when it is empty.
    """
    found = [tier for tier in document.tiers if tier.name == name]
    if not found:
        names = ", ".join(f"'{t.name}'" for t in document.tiers)
        raise DataError(
            "FB272", f"there is no tier '{name}'", where=Place(where), hint=f"tiers: {names}"
        )
    if len(found) > 1:
        raise DataError(
            "FB272",
            f"{counted(len(found), 'tier')} are named '{name}'",
            where=Place(where),
            hint="Rename one of them; which is meant cannot be told.",
        )
    if not found[0].entries:
        raise DataError("FB272", f"tier '{name}' is empty", where=Place(where))
    return found[0]


def words_of(tier: Tier, *, where: str) -> list[TurnWord]:
    """Return the spoken words of a tier in order: no silences, noises or laughter.

    Raises
    ------
    DataError
        ``FB273`` for a word without times, or one that lies before the word ahead of it.
    """
    out: list[TurnWord] = []
    for entry in tier.entries:
        for text, mark in _spoken(entry):
            if not entry.timed:
                raise DataError(
                    "FB273",
                    f"word '{text}' has no times, and times are never invented",
                    where=Place(where, entry.line, tier.name),
                )
            start, end = entry.edges
            if out and start + end < out[-1].start + out[-1].end:
                raise DataError(
                    "FB273",
                    f"word '{text}' at {start} s lies before '{out[-1].text}'",
                    where=Place(where, entry.line, tier.name),
                )
            out.append(TurnWord(text, start, end, mark))
    return out


def marked_turns(
    marks: Tier, words: Sequence[TurnWord], *, speaker: str, where: str
) -> Iterator[Turn]:
    """Yield the turns that an annotator marked, with the words whose midpoints they hold.

    A turn is widened to hold its first and last word whole.

    Raises
    ------
    DataError
        ``FB274`` for turns that overlap or hold no word.
    """
    before: Entry | None = None
    for entry in marks.entries:
        start, end = entry.edges
        place = Place(where, entry.line, marks.name)
        if before is not None and start < before.edges[1]:
            raise DataError(
                "FB274",
                f"the turn at {start} s overlaps the one that ends at {before.edges[1]} s",
                where=place,
            )
        before = entry
        inside = tuple(w for w in words if 2 * start <= w.start + w.end < 2 * end)
        if not inside:
            raise DataError("FB274", f"the turn at {start} s holds no word", where=place)
        yield Turn(speaker, min(start, inside[0].start), max(end, *(w.end for w in inside)), inside)


def floor_turns(
    words: Sequence[TurnWord], other: Sequence[TurnWord], *, speaker: str, rules: TurnRules
) -> Iterator[Turn]:
    """Yield a speaker's turns by the floor rule (see the module)."""
    taking = [
        (start, end)
        for start, end in _stretches(other, Decimal(str(rules.pause)))
        if end - start > Decimal(str(rules.backchannel))
    ]
    turn: list[TurnWord] = []
    reached = Decimal(0)
    for word in words:
        if turn and _lost(reached, word.start, taking, rules):
            yield _turn(speaker, turn)
            turn = []
        turn.append(word)
        reached = max(reached, word.end) if len(turn) > 1 else word.end
    if turn:
        yield _turn(speaker, turn)


def completions(turn: Turn, rules: TurnRules) -> int:
    """Return the number of possible completions of a turn, its end included."""
    pause = Decimal(str(rules.pause))
    inside = 0
    for word, following in zip(turn.words, turn.words[1:], strict=False):
        ended = word.mark is not None and bool(set(word.mark) & SENTENCE_ENDS)
        silent = following.start - word.end >= pause
        inside += ended or (silent and not _goes_on(word.text))
    return inside + 1


def fault(turn: Turn, rules: TurnRules) -> str | None:
    """Say why a turn is no stimulus, or return ``None``."""
    length = float(turn.end - turn.start)
    if length < rules.shortest:
        return "too short"
    if length > rules.longest:
        return "too long"
    silences = [b.start - a.end for a, b in zip(turn.words, turn.words[1:], strict=False)]
    if silences and max(silences) >= Decimal(str(rules.max_pause)):
        return "a pause of max_pause or longer"
    if completions(turn, rules) < rules.tcus:
        return "too few possible completions"
    return None


def _spoken(entry: Entry) -> Iterator[tuple[str, str | None]]:
    """Yield the word of an entry without transcription codes, and its punctuation."""
    token = entry.text.strip()
    if not token or not is_speech(token):
        return
    if token.startswith("[laughter-") and token.endswith("]"):
        token = token[len("[laughter-") : -1]
    if token.startswith("[") and token.endswith("]") and "/" in token:  # [said/meant]
        token = token[1:-1].partition("/")[0]
    if token.endswith("-") and "[" in token:  # th[ey]-
        token = token.partition("[")[0] + "-"
    elif token.startswith("-") and "]" in token:  # -[th]ey
        token = "-" + token.partition("]")[2]
    token = token.strip("{}")
    base, underscore, variant = token.rpartition("_")
    if underscore and variant.isdigit():
        token = base
    text = token.rstrip(".,?!;:")
    mark = token[len(text) :] or None
    parts = text.split()
    if len(parts) > 1:
        raise DataError("FB273", f"'{token[:40]}' holds several words; a word tier is needed")
    if parts:
        yield parts[0], mark


def _stretches(words: Iterable[TurnWord], pause: Decimal) -> Iterator[tuple[Decimal, Decimal]]:
    current: tuple[Decimal, Decimal] | None = None
    for word in words:
        if current is not None and word.start - current[1] < pause:
            current = (current[0], max(current[1], word.end))
            continue
        if current is not None:
            yield current
        current = (word.start, word.end)
    if current is not None:
        yield current


def _lost(
    end: Decimal, start: Decimal, taking: Sequence[tuple[Decimal, Decimal]], rules: TurnRules
) -> bool:
    silence = start - end
    if silence >= Decimal(str(rules.max_pause)):
        return True
    if silence < Decimal(str(rules.pause)):
        return False
    return any(a < start and b > end for a, b in taking)


def _goes_on(text: str) -> bool:
    word = text.lower()
    return word.endswith("-") or word in HESITATIONS or word in OPEN


def _turn(speaker: str, words: Sequence[TurnWord]) -> Turn:
    return Turn(speaker, words[0].start, max(w.end for w in words), tuple(words))
