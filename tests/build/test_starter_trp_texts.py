from __future__ import annotations

import pytest

from floorbench.build.starter_trp import COMPLETE, HESITATION, RUSHED, parse_turn
from floorbench.build.starter_trp_texts import TURNS


def test_there_are_enough_turns():
    assert len(TURNS) >= 12


@pytest.mark.parametrize("name", TURNS)
def test_a_turn_is_long_and_has_several_units(name):
    turn = parse_turn(TURNS[name])
    places = [s.place for s in turn]
    assert 60 <= len(turn) <= 110
    assert places.count(COMPLETE) >= 5
    assert RUSHED in places
    assert HESITATION in places
