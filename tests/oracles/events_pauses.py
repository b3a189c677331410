"""Pauses of a call written from what the guide says, on painted stretches of time: slow and plain.

Time is cut at every edge of both sides; a side either speaks through such a stretch or is silent.
"""

from collections import Counter
from itertools import pairwise

Spans = list[tuple[int, int]]


def painted(spans: Spans, cuts: list[int], shorter: int) -> list[bool]:
    """Does the side speak in each stretch? Own gaps below ``shorter`` are filled."""
    place = {time: i for i, time in enumerate(cuts)}
    speaks = [False] * (len(cuts) - 1)
    for start, end in spans:
        for i in range(place[start], place[end]):
            speaks[i] = True
    spoken = [i for i, active in enumerate(speaks) if active]
    for before, after in pairwise(spoken):
        if cuts[after] - cuts[before + 1] < shorter:
            for i in range(before + 1, after):
                speaks[i] = True
    return speaks


def onset(speaks: list[bool], from_: int) -> int | None:
    """The first stretch from there on in which the side begins to speak."""
    for i in range(from_, len(speaks)):
        if speaks[i] and (i == 0 or not speaks[i - 1]):
            return i
    return None


def offset(speaks: list[bool], start: int) -> int:
    while start < len(speaks) and speaks[start]:
        start += 1
    return start


def judged(
    own: Spans, other: Spans, *, silence: int, backchannel: int, alone: int
) -> tuple[list[tuple[int, int, int, str]], Counter[str]]:
    """Return (turn, end, next, label) of the labelled pauses, and why others have no label."""
    cuts = sorted({time for span in own + other for time in span})
    if not cuts:
        return [], Counter()
    mine, theirs = painted(own, cuts, silence), painted(other, cuts, silence)
    found, left_out, turn = [], Counter[str](), None
    start = onset(mine, 0)
    while start is not None:
        turn = start if turn is None else turn
        end = offset(mine, start)
        again, answer = onset(mine, end), onset(theirs, end)
        label = next_ = None
        if end < len(theirs) and theirs[end] and theirs[end - 1]:
            left_out["the other side is speaking"] += 1
        elif again is None and answer is None:
            left_out["nobody speaks after it"] += 1
        elif again is not None and (answer is None or again <= answer):
            label, next_ = "incomplete", again
        else:
            stopped = offset(theirs, answer)
            twice = onset(theirs, stopped)
            brief = cuts[stopped] - cuts[answer] <= backchannel
            if again is not None and brief and (twice is None or again < twice):
                why = "the other side says only something short, perhaps a backchannel"
                left_out[why] += 1
            elif again is not None and cuts[again] - cuts[answer] < alone:
                left_out["both sides speak on"] += 1
            else:
                label, next_ = "complete", answer
        if label is not None:
            found.append((cuts[turn], cuts[end], cuts[next_], label))
        if label != "incomplete":
            turn = None
        start = again
    return found, left_out
