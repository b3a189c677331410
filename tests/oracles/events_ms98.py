"""A reader just large enough for the tests: one ms98 word file into tokens in ticks."""

from pathlib import Path
from typing import NamedTuple

from floorbench.core.time import to_ticks
from floorbench.core.vocab import Role
from floorbench.events.dualturn_words import TimedWord
from floorbench.events.frames import session_activity
from floorbench.events.tokens import is_speech


class Side(NamedTuple):
    words: list[TimedWord]
    end: int

    def spans(self) -> list[tuple[int, int]]:
        return [(w.start, w.end) for w in self.words if is_speech(w.text)]


def read_side(path: Path) -> Side:
    words = []
    for line in path.read_text(encoding="utf-8").splitlines():
        _, start, end, *tokens = line.split()
        words.append(TimedWord(" ".join(tokens), to_ticks(start), to_ticks(end)))
    return Side(words, max(w.end for w in words))


def read_call(folder: Path, call: str) -> dict[Role, Side]:
    return {
        role: read_side(folder / f"{call}{side}-ms98-a-word.text")
        for role, side in ((Role.USER, "A"), (Role.SYSTEM, "B"))
    }


def activity(call: dict[Role, Side], rate):
    return session_activity(
        {role: side.spans() for role, side in call.items()},
        end=max(side.end for side in call.values()),
        rate=rate,
    )
