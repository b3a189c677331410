from __future__ import annotations

import pytest

from floorbench.core.time import to_ticks
from floorbench.datasets.trp import TrpSource
from floorbench.errors import DataError
from floorbench.tasks.trp_gold import Gold, check_rules, seconds, slot_of
from support import trp_tiny
from support.trp_tiny import people, respond, stimulus

RULES = check_rules(tau="0.3", rule="fixed", k="0.05", tail=1.0, final_slot="observed", h=2)


def turn_of(folder, rules=RULES, pause=0.2):
    samples = list(TrpSource(folder).samples())
    return Gold(rules, pause=to_ticks(pause)).turn(samples[0])


def test_responses_agree_with_the_labels(tmp_path):
    for sample in TrpSource(trp_tiny.build(tmp_path)).samples():
        turn = Gold(RULES, pause=1).turn(sample)
        heard = turn.responses >= 0
        assert (turn.responses == 1).sum(axis=1).tolist() == turn.labels.responders.tolist()
        assert set(heard.sum(axis=1).tolist()) == {turn.labels.heard}
        assert turn.lists == ("A", "B")


def test_what_lies_outside_all_slots_is_counted(tmp_path):
    turns = [stimulus("one", 3, next_turn=1.4)]
    onsets = [respond("A0", "one", 0.1, 1.39, 1.4, 9.0)]
    turn = turn_of(trp_tiny.write(tmp_path, turns, people("A", 2), onsets))
    assert (turn.labels.before, turn.labels.after) == (1, 2)
    assert turn.labels.responders.tolist() == [0, 0, 1]
    assert (turn.responses == 1).sum() == 1


def test_pauses_and_marks(tmp_path):
    one = stimulus("one", 3, turn_end=1.6)
    one["words"][0]["mark"] = ","
    one["words"][1] |= {"mark": "?", "end": 0.7}
    one["words"][2] |= {"start": 0.9, "end": 1.2}
    turn = turn_of(trp_tiny.write(tmp_path, [one], people("A", 1), []))
    assert turn.pause.tolist() == [False, True, True]
    assert turn.mark.tolist() == [False, True, False]
    assert turn_of(tmp_path, pause=0.21).pause.tolist() == [False, False, True]


def test_a_next_turn_that_follows_at_once_leaves_no_pause(tmp_path):
    one = stimulus("one", 3, next_turn=1.2)
    assert not turn_of(trp_tiny.write(tmp_path, [one], people("A", 1), [])).pause[-1]


def test_a_turn_that_nobody_heard(tmp_path):
    both = [stimulus("one", 3), stimulus("two", 3, listed="B")]
    with pytest.raises(DataError, match="FB613") as caught:
        turn_of(trp_tiny.write(tmp_path, both, people("B", 2), []))
    assert caught.value.where.item == "one"


def test_a_stimulus_of_another_set_is_not_taken_for_this_one(tmp_path):
    gold = Gold(RULES, pause=1)
    first = next(TrpSource(trp_tiny.build(tmp_path / "a")).samples())
    other = trp_tiny.write(tmp_path / "b", [stimulus("one", 5)], people("A", 9), [])
    second = next(TrpSource(other).samples())
    assert slot_of(first) == slot_of(second) == ("one", 1)
    assert gold.turn(first).labels.heard == 4
    assert gold.turn(second).labels.heard == 9


def test_half_ticks():
    assert seconds(3_000_000) == 1.5
