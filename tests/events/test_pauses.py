from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from floorbench.core.time import to_ticks
from floorbench.core.vocab import Role
from floorbench.errors import DataError, UsageError
from floorbench.events.pauses import BOTH, LAST, OVERLAP, SHORT_ANSWER, PauseRules, pauses
from oracles.events_ms98 import read_call
from oracles.events_pauses import judged

Spans = list[tuple[float, float]]


def ticks(spans: Spans) -> np.ndarray:
    return np.array([[to_ticks(a), to_ticks(b)] for a, b in spans], dtype=np.int64).reshape(-1, 2)


def found(own: Spans, other: Spans, **rules: float) -> tuple[list[tuple], Counter]:
    got, left_out = pauses(ticks(own), ticks(other), rules=PauseRules(**rules))
    return [(p.turn / 1e6, p.end / 1e6, p.next / 1e6, p.label) for p in got], left_out


def test_who_speaks_next_decides() -> None:
    got, left_out = found([(0, 1), (1.5, 2)], [(2.4, 5)])
    assert got == [(0.0, 1.0, 1.5, "incomplete"), (0.0, 2.0, 2.4, "complete")]
    assert not left_out


def test_a_gap_of_exactly_the_silence_is_a_pause_and_a_shorter_one_is_not() -> None:
    assert [p[1] for p in found([(0, 1), (1.2, 2)], [(3, 6)])[0]] == [1.0, 2.0]
    assert [p[1] for p in found([(0, 1), (1.19, 2)], [(3, 6)])[0]] == [2.0]


def test_an_answer_quicker_than_the_silence_still_ends_the_turn() -> None:
    assert found([(0, 1)], [(1.05, 4)])[0] == [(0.0, 1.0, 1.05, "complete")]


def test_a_turn_begins_after_the_other_side_had_the_floor() -> None:
    got, _ = found([(0, 1), (6, 7), (7.5, 8)], [(1.5, 5), (8.4, 12)])
    assert got == [
        (0.0, 1.0, 1.5, "complete"),
        (6.0, 7.0, 7.5, "incomplete"),
        (6.0, 8.0, 8.4, "complete"),
    ]


@pytest.mark.parametrize(
    ("own", "other", "why"),
    [
        ([(1, 2), (9, 10)], [(0, 5), (11, 20)], OVERLAP),  # a backchannel into the other's turn
        ([(0, 1), (2.5, 4)], [(1.5, 2), (4.5, 8)], SHORT_ANSWER),
        ([(0, 1), (2, 4)], [(1.5, 4), (4.5, 8)], BOTH),  # the other side cut in
    ],
)
def test_pauses_without_a_label(own: Spans, other: Spans, why: str) -> None:
    got, left_out = found(own, other)
    assert left_out == {why: 1}
    assert [p[3] for p in got] == ["complete"]


def test_the_last_words_of_a_call_have_no_label() -> None:
    assert found([(0, 1)], []) == ([], {LAST: 1})


def test_the_margins_are_inclusive_as_said() -> None:
    own, other = [(0, 1), (2.5, 4)], [(1.5, 2.5), (4.5, 8)]
    assert found(own, other, backchannel=1.0)[1] == {SHORT_ANSWER: 1}
    assert found(own, other, backchannel=0.99, alone=1.0)[1] == {}
    assert found(own, other, backchannel=0.99, alone=1.01)[1] == {BOTH: 1}


def test_silent_sides_have_no_pauses() -> None:
    assert found([], [(0, 1)]) == ([], {})


@pytest.mark.parametrize("bad", [{"silence": 0}, {"silence": float("nan")}, {"alone": -1}])
def test_rules_out_of_range_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="FB103"):
        PauseRules(**bad)


def test_spans_out_of_order_are_refused() -> None:
    with pytest.raises(DataError, match="FB610"):
        found([(2, 3), (0, 1)], [])


def agrees(own: list[tuple[int, int]], other: list[tuple[int, int]], **rules: float) -> Counter:
    got, left_out = pauses(
        np.array(own, dtype=np.int64).reshape(-1, 2),
        np.array(other, dtype=np.int64).reshape(-1, 2),
        rules=PauseRules(**rules),
    )
    in_ticks = {name: to_ticks(seconds) for name, seconds in rules.items()}
    assert ([tuple(p) for p in got], left_out) == judged(own, other, **in_ticks)
    return Counter(p.label for p in got) + left_out


def test_random_calls_are_judged_as_their_painted_stretches() -> None:
    rng, seen = np.random.default_rng(5), Counter[str]()

    def side() -> list[tuple[int, int]]:
        starts = np.sort(rng.integers(0, 100, rng.integers(0, 12)))
        return [(int(s) * 100_000, int(s + rng.integers(0, 12)) * 100_000) for s in starts]

    for _ in range(800):  # ties are frequent on a grid of 0.1 s
        silence, backchannel, alone = (int(n) / 10 for n in rng.integers(1, 12, 3))
        seen += agrees(side(), side(), silence=silence, backchannel=backchannel, alone=alone)
    assert set(seen) == {"complete", "incomplete", OVERLAP, SHORT_ANSWER, BOTH, LAST}


@pytest.mark.parametrize("call", ["sw2001", "sw2005", "sw2401"])
def test_real_calls_are_judged_as_their_painted_stretches(real_data: Path, call: str) -> None:
    sides = {role: sorted(s.spans()) for role, s in read_call(real_data / "swb_ms98", call).items()}
    user, system = sides[Role.USER], sides[Role.SYSTEM]
    for own, other in ((user, system), (system, user)):
        seen = agrees(own, other, silence=0.2, backchannel=1.0, alone=1.0)
        assert seen["complete"]
        assert seen["incomplete"]


def test_a_turn_begins_again_after_a_pause_without_a_label() -> None:
    got, left_out = found([(0, 1), (2.5, 4)], [(1.5, 2), (4.5, 8)])
    assert left_out == {SHORT_ANSWER: 1}
    assert [p[:2] for p in got] == [(2.5, 4.0)]
