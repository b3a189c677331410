"""How much of a dialogue's past an observation shows, and in which form.

H counts trailing *user* turns before the target. Everything after the first kept user turn stays,
the last system turn included. ``H = 0`` drops all of it, even while the system is speaking. With
fewer than H user turns all of the past is used, and that is counted; so are user turns of the
history without audio, which count towards H.

Source
------
CoDeTT, history lengths 0, 1, 3 and 5; that H counts user turns is read in its released scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from floorbench.core.sample import Observation, Turn
from floorbench.core.vocab import Role

VIEWS = ("both", "audio", "text")
WITHOUT_HISTORY = ("none", "current user turn")  # contexts of SystemSpec that need no past


class History(NamedTuple):
    """The kept turns and what was counted on the way.

    ``users`` are the kept user turns, ``absent`` those among them without audio; ``short`` says
    that the dialogue has fewer user turns than were asked for.
    """

    turns: tuple[Turn, ...]
    users: int
    absent: int
    short: bool


def trailing(turns: Sequence[Turn], length: int) -> History:
    """Keep the last ``length`` user turns and everything after the first of them.

    Parameters
    ----------
    turns : sequence of Turn
        The past, oldest first, without the target turn.
    length : int
        H, at least 0.

    Examples
    --------
    >>> past = [Turn(role=r) for r in (Role.USER, Role.SYSTEM, Role.USER, Role.SYSTEM)]
    >>> len(trailing(past, 1).turns), len(trailing(past, 3).turns), trailing(past, 3).short
    (2, 4, True)
    """
    if length == 0:
        return History((), 0, 0, False)
    users = [i for i, turn in enumerate(turns) if turn.role is Role.USER]
    short = len(users) < length
    kept = tuple(turns if short else turns[users[-length] :])
    heard = [turn for turn in kept if turn.role is Role.USER]
    return History(kept, len(heard), sum(turn.audio is None for turn in heard), short)


def viewed(observation: Observation, view: str) -> Observation:
    """Return an observation in one form.

    Parameters
    ----------
    view : {'both', 'audio', 'text'}
        ``audio``: user turns are audio only and system turns are text, as in the published audio
        protocol. ``text``: transcripts only. ``both``: whatever the data has.
    """
    if view == "audio":
        turns = tuple(
            replace(turn, text=None) if turn.role is Role.USER else replace(turn, audio=None)
            for turn in observation.turns
        )
        return replace(observation, turns=turns, text=None)
    if view == "text":
        turns = tuple(replace(turn, audio=None) for turn in observation.turns)
        return replace(observation, turns=turns, channels={})
    return observation


def view_for(modalities: Sequence[str]) -> str:
    """Return the form for a system: audio when it takes audio, else text."""
    return "audio" if "audio" in modalities else "text"
