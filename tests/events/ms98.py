"""A reader just large enough for the tests: ms98 word files into ticks."""

from pathlib import Path
from typing import NamedTuple

from floorbench.core.time import to_ticks
from floorbench.events.tokens import is_speech


class Side(NamedTuple):
    words: list[tuple[str, int, int]]
    end: int

    def spans(self) -> list[tuple[int, int]]:
        return [(s, e) for w, s, e in self.words if is_speech(w)]


def read_side(path: Path) -> Side:
    words = []
    end = 0
    for line in path.read_text(encoding="utf-8").splitlines():
        _, start, stop, *tokens = line.split()
        end = max(end, to_ticks(stop))
        words.append((" ".join(tokens), to_ticks(start), to_ticks(stop)))
    return Side(words, end)
