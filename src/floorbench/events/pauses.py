"""Pauses of one side of a call: where a turn detector has to decide, and what then happened."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from floorbench.core.time import Ticks, to_ticks
from floorbench.errors import UsageError
from floorbench.events.spans import Ints, check_spans, merge_gaps

Label = Literal["complete", "incomplete"]

OVERLAP = "the other side is speaking"
SHORT_ANSWER = "the other side says only something short, perhaps a backchannel"
BOTH = "both sides speak on"
LAST = "nobody speaks after it"


class Pause(NamedTuple):
    """One pause, in ticks.

    Parameters
    ----------
    turn : int
        Where the turn begins: the first own speech since the other side last had the floor, or
        since a pause that has no label.
    end : int
        Where the speech before the pause ends.
    next : int
        Who speaks next starts here.
    label : {'complete', 'incomplete'}
        ``complete`` where the other side speaks next, ``incomplete`` where the same one goes on.
    """

    turn: Ticks
    end: Ticks
    next: Ticks
    label: Label


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseRules:
    """What counts as a pause, in seconds.

    Parameters
    ----------
    silence : float
        Own gaps shorter than this are no pauses. Above 0.
    backchannel : float
        Speech of the other side of at most this length, after which the same side goes on, may be
        a backchannel: such a pause has no label.
    alone : float
        Where the other side has started, the same side must stay silent for this long; otherwise
        the pause has no label, because the other side may have cut in.

    Raises
    ------
    UsageError
        ``FB103`` for values outside these ranges.
    """

    silence: float = 0.2
    backchannel: float = 1.0
    alone: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.silence <= 60:
            raise UsageError("FB103", f"silence={self.silence} is not above 0 and at most 60 s")
        for name in ("backchannel", "alone"):
            value = getattr(self, name)
            if not 0 <= value <= 60:
                raise UsageError("FB103", f"{name}={value} is not from 0 to 60 s")


def pauses(own: Ints, other: Ints, *, rules: PauseRules) -> tuple[list[Pause], Counter[str]]:
    """Return the pauses of one side with their labels, and how many have none, by reason.

    Parameters
    ----------
    own, other : int64 arrays (n, 2)
        Speech of both sides in ticks, sorted by start; spans may overlap.
    rules : PauseRules

    Returns
    -------
    list of Pause
        In order of time.
    Counter
        Pauses left out: both sides speak, only something short is answered, nobody speaks after.

    Raises
    ------
    DataError
        As :func:`floorbench.events.spans.check_spans`.

    Notes
    -----
    The label is what happened: a call in which the other side cut in too early and was let speak
    says ``complete`` there. A gap of exactly ``silence`` is a pause.

    Source
    ------
    Shift and hold as in voice activity projection, asked of one side; the margins are ours.

    Examples
    --------
    >>> import numpy as np
    >>> own = np.array([[0, 1_000_000], [1_500_000, 2_000_000]])
    >>> found, _ = pauses(own, np.array([[2_400_000, 5_000_000]]), rules=PauseRules())
    >>> [(p.turn, p.end, p.label) for p in found]
    [(0, 1000000, 'incomplete'), (0, 2000000, 'complete')]
    """
    below = to_ticks(rules.silence)
    speech = merge_gaps(check_spans(own, name="own"), below=below)
    answers = merge_gaps(check_spans(other, name="other"), below=below)
    found: list[Pause] = []
    left_out: Counter[str] = Counter()
    turn: Ticks | None = None
    for index, (start, end) in enumerate(speech.tolist()):
        turn = start if turn is None else turn
        resumed = int(speech[index + 1, 0]) if index + 1 < len(speech) else None
        why, pause = _judge(turn, end, resumed, answers, rules)
        if pause is not None:
            found.append(pause)
        else:
            left_out[why] += 1
        if pause is None or pause.label == "complete":
            turn = None
    return found, left_out


def _judge(
    turn: Ticks, end: Ticks, resumed: Ticks | None, answers: Ints, rules: PauseRules
) -> tuple[str, Pause | None]:
    after = int(np.searchsorted(answers[:, 0], end, side="left"))
    if after and answers[after - 1, 1] > end:
        return OVERLAP, None
    answer, answered = answers[after].tolist() if after < len(answers) else (None, None)
    if resumed is not None and (answer is None or resumed <= answer):
        return "", Pause(turn, end, resumed, "incomplete")
    if answer is None:
        return LAST, None
    if resumed is not None:
        again = int(answers[after + 1, 0]) if after + 1 < len(answers) else None
        short = answered - answer <= to_ticks(rules.backchannel)
        if short and (again is None or resumed < again):
            return SHORT_ANSWER, None
        if resumed - answer < to_ticks(rules.alone):
            return BOTH, None
    return "", Pause(turn, end, answer, "complete")
