"""``lists.json``: in which order turns are heard, and where each one lies in a list's audio.

A list is one recording: before every turn a beep, after it silence. Its reversed twin has the
same turns in the opposite order. List time minus :attr:`ListItem.start` is the turn's own time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from floorbench import codec
from floorbench.core.sample import JsonValue
from floorbench.core.time import Seconds, from_samples
from floorbench.errors import DataError, Place

LISTS = "lists.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListItem:
    """One turn of a list, in frames of the list's audio.

    Parameters
    ----------
    stimulus : str
    beep : int
        Where its beep starts; the item begins here.
    start, end : int
        Where the turn's own clock starts, and where its audio ends.
    stop : int
        Where the silence after it ends and the next item begins.
    """

    stimulus: str
    beep: int
    start: int
    end: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StimulusList:
    """A list as it is heard.

    Parameters
    ----------
    name : str
        The list; original and reversed twin share it.
    reversed : bool
    audio : str
        WAV file relative to the set's folder.
    rate, frames : int
    pcm : str
        SHA-256 of the decoded samples.
    items : tuple of ListItem
        In the order heard.
    """

    name: str
    reversed: bool
    audio: str
    rate: int
    frames: int
    pcm: str
    items: tuple[ListItem, ...]

    @property
    def seconds(self) -> Seconds:
        """Length in seconds."""
        return from_samples(self.frames, self.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """All lists of a set and how they were made."""

    seed: int
    rules: Mapping[str, JsonValue]
    lists: tuple[StimulusList, ...]


def read_lists(root: Path) -> Lists:
    """Read and check ``lists.json``.

    Raises
    ------
    DataError
        ``FB275`` when there is none or its items do not lie one after the other; ``FB201``.
    """
    path = root / LISTS
    if not path.is_file():
        raise DataError(
            "FB275",
            "the stimuli have not been put into lists",
            where=Place(str(root)),
            hint=f"floorbench stimuli lists {root} --seed 1 --gap 2",
        )
    found = codec.read_json(path, Lists)
    for one in found.lists:
        before = 0
        for item in one.items:
            if not before <= item.beep <= item.start <= item.end <= item.stop <= one.frames:
                what = f"'{item.stimulus}' does not lie inside list '{one.name}' after the item "
                raise DataError("FB275", what + "before it", where=Place(str(path)))
            before = item.stop
    return found
