"""Word times: written pieces of a text, their spans, and where an utterance may be cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from floorbench.build.speech.providers import Aligner, Spoken, Word
from floorbench.errors import DataError


def words_of(text: str, language: str) -> tuple[str, ...]:
    """Split a text into pieces that add up to it: words, with what follows them.

    Chinese is cut into single characters, because word boundaries are not written.

    Examples
    --------
    >>> words_of("Not so fast.", "en")
    ('Not ', 'so ', 'fast.')
    >>> words_of("慢一点。", "zh")
    ('慢', '一', '点。')
    """
    pieces: list[str] = []
    for letter in text:
        starts = letter.isalnum() and (not pieces or language == "zh" or pieces[-1][-1] == " ")
        if starts or not pieces:
            pieces.append(letter)
        else:
            pieces[-1] += letter
    return tuple(pieces)


def join_words(
    pieces: Sequence[str], times: Sequence[float | None], *, onset: float, end: float
) -> tuple[Word, ...]:
    """Give every piece its span; pieces whose boundary is unsure become one with the next.

    Parameters
    ----------
    pieces : sequence of str, length n
    times : sequence of float or None, length n - 1
        Boundaries after each piece but the last, in seconds.
    onset, end : float
        Start of the first and end of the last piece, in seconds.

    Examples
    --------
    >>> [w.text for w in join_words(("on ", "the ", "shelf."), [None, 0.5], onset=0.0, end=1.0)]
    ['on the', 'shelf.']
    """
    out: list[Word] = []
    text, start = "", onset
    last = len(pieces) - 1
    for index, (piece, time) in enumerate(zip(pieces, [*times, end], strict=True)):
        text += piece
        if time is None or (time <= start and index != last):
            continue
        at = round(min(time, end), 4)
        out.append(Word(text=text.strip(), start=round(start, 4), end=at))
        text, start = "", at
    return tuple(out)


def word_times(
    spoken: Spoken,
    *,
    text: str,
    language: str,
    aligners: Sequence[Aligner] = (),
) -> tuple[tuple[Word, ...], str]:
    """Return the words of an utterance and who timed them.

    The voice's own times come first, then the aligners in their order. There is no other source:
    times are never spread evenly over the audio.

    Raises
    ------
    DataError
        ``FB874`` when nobody can tell.
    """
    if spoken.words is not None:
        return spoken.words, "native"
    why = []
    for aligner in aligners:
        name = str(aligner.identity.get("name"))
        if language not in aligner.languages:
            continue
        try:
            return aligner.align(spoken.audio, spoken.rate, text=text, language=language), name
        except DataError as error:
            why.append(f"{name}: {error.what}")
    raise DataError(
        "FB874",
        f"nobody can time the words of {text!r}" + (f" ({'; '.join(why)})" if why else ""),
    )


def letters(text: str) -> str:
    """Return the letters and digits of a text in one case, to compare pieces by."""
    return "".join(c for c in text.casefold() if c.isalnum())


def cut_after(words: Sequence[Word], prefix: str) -> float:
    """Return the time in the middle between the last word of the prefix and the next.

    Raises
    ------
    DataError
        ``FB874`` when no word boundary lies at the end of the prefix.

    Examples
    --------
    >>> cut_after([Word(text="so ", start=0, end=0.4), Word(text="I", start=0.5, end=1)], "So,")
    0.45
    """
    wanted, said = letters(prefix), ""
    for word, following in pairwise(words):
        said += letters(word.text)
        if said == wanted and wanted:
            return round((word.end + following.start) / 2, 4)
        if len(said) >= len(wanted):
            break
    raise DataError("FB874", f"no word ends where {prefix!r} does")


def moved(words: Sequence[Word], *, by_s: float = 0.0, scale: float = 1.0) -> tuple[Word, ...]:
    """Return the words on another clock: first scaled (stretched audio), then moved."""
    return tuple(
        replace(w, start=round(w.start * scale + by_s, 4), end=round(w.end * scale + by_s, 4))
        for w in words
    )
