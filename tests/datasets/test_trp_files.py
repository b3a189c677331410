"""Stimuli, roster and responses: each fault has one message, nothing is lost silently."""

from __future__ import annotations

import pytest

from floorbench.datasets.trp_files import read_panels, read_stimuli
from floorbench.errors import DataError
from support import trp_tiny
from support.trp_tiny import people, respond, stimulus


def stimuli_of(folder):
    return read_stimuli(folder / "stimuli.jsonl")


def panels_of(folder):
    return read_panels(folder, stimuli_of(folder))


def fault(call) -> DataError:
    with pytest.raises(DataError) as caught:
        call()
    return caught.value


def test_a_set_is_read(tmp_path):
    trp_tiny.build(tmp_path)
    one, two, three = stimuli_of(tmp_path)
    assert (one.id, one.list, one.split, len(one.words)) == ("one", "A", "dev", 5)
    panels = panels_of(tmp_path)
    assert panels["one"].roster == ("A0", "A1", "A2", "A3")
    assert panels["one"].onsets["A1"] == (100_000, 600_000, 1_400_000)
    assert "A3" not in panels["one"].onsets
    assert panels[three.id].roster == ("B0", "B1", "B2")
    assert panels[two.id].onsets == {"A0": (1_100_000,)}


def test_times_are_exact_decimals(tmp_path):
    trp_tiny.write(
        tmp_path, [stimulus("one", 3)], people("A", 1), [respond("A0", "one", 0.1 + 0.2)]
    )
    assert panels_of(tmp_path)["one"].onsets["A0"] == (300_000,)


def test_without_listeners_a_set_is_unlabelled(tmp_path):
    trp_tiny.write(tmp_path, [stimulus("one", 3)])
    assert panels_of(tmp_path) is None


def test_part_of_a_list_can_have_been_heard(tmp_path):
    left = {"id": "A9", "list": "A", "heard": ["one"]}
    both = [stimulus("one", 3), stimulus("two", 3)]
    trp_tiny.write(tmp_path, both, [*people("A", 1), left], [])
    panels = panels_of(tmp_path)
    assert panels["one"].roster == ("A0", "A9")
    assert panels["two"].roster == ("A0",)


def moved(words, number, **times):
    turn = stimulus("one", words)
    turn["words"][number].update(times)
    return turn


@pytest.mark.parametrize(
    ("turn", "what"),
    [
        (stimulus("one", 0, turn_end=1.0), "no words"),
        (moved(3, 1, start=0.0, end=0.1), "word 2 'w1' comes before"),
        (moved(3, 2, start=1.4, end=1.2), "word 3 'w2' lies at 1.4 to 1.2"),
        (moved(3, 0, start=-0.1), "lies at -0.1"),
        (moved(3, 1, start=None), "word 2 'w1' has no time"),
        (moved(3, 1, text=""), "empty or holds a space"),
        (moved(3, 1, text="two words"), "empty or holds a space"),
        (stimulus("one", 3, next_turn=-0.5), "next turn begins at -0.5 s"),
        (stimulus("one", 3, turn_end=0.9), "ends at 0.9 s, before the middle"),
    ],
)
def test_impossible_turns(tmp_path, turn, what):
    if turn["words"] == []:
        turn["turn_end"] = 1.0
    trp_tiny.write(tmp_path, [stimulus("zero", 2), turn])
    found = fault(lambda: stimuli_of(tmp_path))
    assert found.code == "FB231"
    assert what in found.what
    assert (found.where.file, found.where.line, found.where.item) == ("stimuli.jsonl", 2, "one")


def test_words_may_touch_and_overlap_while_their_middles_go_forward(tmp_path):
    trp_tiny.write(tmp_path, [moved(3, 1, start=0.3, end=0.8)])
    assert len(stimuli_of(tmp_path)) == 1


def test_overlapping_turns_of_one_speaker(tmp_path):
    one = stimulus("one", 5, conversation="c", speaker="x", offset=10.0)
    late = stimulus("late", 5, conversation="c", speaker="x", offset=11.9)
    trp_tiny.write(tmp_path, [late, one])
    found = fault(lambda: stimuli_of(tmp_path))
    assert (found.code, found.where.line) == ("FB231", 1)
    assert "overlaps 'one'" in found.what


def test_turns_of_two_speakers_may_overlap_and_turns_may_touch(tmp_path):
    one = stimulus("one", 5, conversation="c", speaker="x", offset=10.0)
    other = stimulus("other", 5, conversation="c", speaker="y", offset=11.0)
    after = stimulus("after", 5, conversation="c", speaker="x", offset=12.0)
    trp_tiny.write(tmp_path, [one, other, after])
    assert len(stimuli_of(tmp_path)) == 3


def test_a_stimulus_that_stands_twice(tmp_path):
    trp_tiny.write(tmp_path, [stimulus("one", 3), stimulus("one", 3)])
    found = fault(lambda: stimuli_of(tmp_path))
    assert (found.code, found.where.line) == ("FB203", 2)


@pytest.mark.parametrize("broken", ['{"id": "x"', '{"id": "x", "list": "A", "wrods": []}', "[]"])
def test_a_broken_line_is_named(tmp_path, broken):
    trp_tiny.write(tmp_path, [stimulus("one", 3)])
    with (tmp_path / "stimuli.jsonl").open("a") as lines:
        lines.write("\n" + broken + "\n")
    found = fault(lambda: stimuli_of(tmp_path))
    assert (found.code, found.where.line) == ("FB201", 3)


def test_responses_without_a_roster_are_refused_with_the_way_out(tmp_path):
    trp_tiny.write(tmp_path, [stimulus("one", 3)], None, [respond("A0", "one", 0.5)])
    found = fault(lambda: panels_of(tmp_path))
    assert found.code == "FB233"
    assert "roster.json" in found.hint


def test_a_roster_without_responses_is_refused_with_the_way_out(tmp_path):
    trp_tiny.write(tmp_path, [stimulus("one", 3)], people("A", 2))
    found = fault(lambda: panels_of(tmp_path))
    assert found.code == "FB232"
    assert "everybody was silent" in found.hint
    trp_tiny.write(tmp_path, [stimulus("one", 3)], people("A", 2), [])
    assert panels_of(tmp_path)["one"].onsets == {}


ONE = [stimulus("one", 3), stimulus("other", 3, listed="B")]


@pytest.mark.parametrize(
    ("roster", "responses", "code", "what"),
    [
        (people("A", 1), [respond("Z", "one", 0.5)], "FB234", "'Z' is not on the roster"),
        (people("A", 1), [respond("A0", "other", 0.5)], "FB234", "without hearing it"),
        (people("A", 1), [respond("A0", "oen", 0.5)], "FB232", "no stimulus 'oen'"),
        (people("A", 1), [respond("A0", "one", 0.5)] * 2, "FB203", "responds twice"),
        (people("A", 1) * 2, [], "FB203", "'A0' appears twice"),
        (people("C", 1), [], "FB234", "list 'C' is not among A, B"),
        ([{"id": "x", "list": "A", "heard": ["nope"]}], [], "FB232", "no stimulus 'nope'"),
        ([{"id": "x", "list": "A", "name": "Ann"}], [], "FB201", "unknown key 'name'"),
        (people("A", 1), [respond("A0", "one", None)], "FB201", ""),
    ],
)
def test_faults_of_roster_and_responses(tmp_path, roster, responses, code, what):
    trp_tiny.write(tmp_path, ONE, roster, responses)
    found = fault(lambda: panels_of(tmp_path))
    assert found.code == code
    assert what in found.what


def test_a_name_close_by_is_suggested(tmp_path):
    trp_tiny.write(tmp_path, ONE, people("A", 1), [respond("A0", "oen", 0.5)])
    assert fault(lambda: panels_of(tmp_path)).hint == "did you mean 'one'?"
