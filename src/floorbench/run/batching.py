"""Dynamic batches: a lazy stream of questions, cut into lists of about equal length.

A system that answers several questions at once pads them to the longest, so questions of one
length go together. The stream is looked ahead a bounded way, sorted inside that window, and cut by
number and by padded length. Which questions share a batch decides no answer: a system either gives
the same answers in a batch as alone, or does not offer batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from floorbench.core.sample import Observation
from floorbench.core.time import from_samples

AHEAD = 8
"""Full batches that are looked ahead."""


class Item(NamedTuple):
    """One question, numbered by the engine."""

    number: int
    observation: Observation


class Length(NamedTuple):
    """How much an observation shows: seconds of sound, or characters where there is none."""

    sounds: bool
    amount: float


def length_of(observation: Observation) -> Length:
    """Measure an observation.

    Returns
    -------
    Length
        Seconds of sound, every channel and every turn of the history that has sound added up;
        without any sound the characters of text, history and question.

    Raises
    ------
    DataError
        ``FB3xx`` when a file's header cannot be read.
    """
    heard = [*observation.channels.values()]
    heard += [turn.audio for turn in observation.turns if turn.audio is not None]
    if heard:
        return Length(True, sum(from_samples(a.frames, a.rate) for a in heard))
    question = observation.question.text if observation.question is not None else ""
    said = (observation.text, observation.spoken_prefix, question)
    read = sum(len(text or "") for text in (*said, *(turn.text for turn in observation.turns)))
    return Length(False, float(read))


def batches(items: Iterable[Item], size: int, seconds: float | None = None) -> Iterator[list[Item]]:
    """Cut a stream of questions into batches, longest first inside each window.

    Parameters
    ----------
    items : iterable of Item
        Taken as they are needed: with ``size`` 1 one at a time, else ``AHEAD * size`` at a time.
    size : int
        Questions in a batch at most, 1 or more.
    seconds : float or None
        Bound on the longest sound of a batch times its number of questions; a single question
        that is longer makes a batch of its own. Does not bind where there is no sound.

    Yields
    ------
    list of Item
        Every item once. The same stream gives the same batches, whoever takes them.
    """
    if size == 1:
        yield from ([item] for item in items)
        return
    stream = iter(items)
    while window := list(islice(stream, AHEAD * size)):
        lengths = {item.number: length_of(item.observation) for item in window}
        window.sort(key=lambda item: lengths[item.number], reverse=True)
        batch: list[Item] = []
        for item in window:
            if batch and not _fits(item, batch, lengths, size, seconds):
                yield batch
                batch = []
            batch.append(item)
        yield batch


def _fits(
    item: Item,
    batch: list[Item],
    lengths: dict[int, Length],
    size: int,
    seconds: float | None,
) -> bool:
    longest = lengths[batch[0].number]
    if len(batch) == size or lengths[item.number].sounds != longest.sounds:
        return False
    return seconds is None or not longest.sounds or longest.amount * (len(batch) + 1) <= seconds
