"""Near-duplicates against a brute-force count of trigrams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.build.pipeline.stage import Item
from floorbench.build.text.dialogue import Dialogue, Round, Target, with_dialogue
from floorbench.build.text.similarity import (
    LEAST,
    Alike,
    NearDuplicates,
    nearest,
    said_in,
    similarity,
    trigrams,
)
from floorbench.errors import UsageError

TEXTS = st.lists(st.text(alphabet="ab C,那我", max_size=12), min_size=1, max_size=8)


def slow(a, b):
    """Jaccard index of the sets of three characters, marked at both ends, letters alone."""

    def grams(text):
        letters = "".join(c for c in text.casefold() if c.isalnum())
        padded = ["<", *letters, ">"] if letters else []
        return {tuple(padded[i : i + 3]) for i in range(len(padded) - 2)}

    x, y = grams(a), grams(b)
    return len(x & y) / len(x | y) if x | y else None


@given(TEXTS)
def test_the_index_counts_like_brute_force(texts):
    index = Alike(texts)
    for i, a in enumerate(texts):
        expected = [slow(a, b) or 0.0 for b in texts]
        assert index.to_all(i).tolist() == pytest.approx(expected)
        assert [similarity(a, b) for b in texts] == pytest.approx([slow(a, b) for b in texts])


def test_marks_and_case_do_not_count_and_order_does():
    assert similarity("Well, I never!", "well i NEVER") == 1.0
    assert similarity("one two", "two one") < 1
    assert trigrams("?!").size == 0
    assert similarity("", "?") is None


COMPLETION, SIDE_TALK = "SystemIdle_Takeover_Completion", "SystemIdle_Dismiss_SideTalk"


def said(
    name, target, *, history="Please turn the lamp on.", language="en", cut=None, label=COMPLETION
):
    rounds = (Round(user=history, assistant="It is on now."),)
    return Dialogue(
        id=name, language=language, topic="home", family="f", history=rounds,
        target=Target(role="user", text=target, cut_after=cut, label=label),
    )  # fmt: skip


def gathered(*dialogues, **settings):
    items = [with_dialogue(Item(id=d.id), d) for d in dialogues]
    found = NearDuplicates(**settings).gather(items)
    return [i.id for i in found.items], found.rejected


LONG = "And now switch the heating in the hall off as well."
OTHER = "Could you find me a plumber for Wednesday afternoon?"


def test_the_later_of_two_near_duplicates_goes():
    kept, rejected = gathered(
        said("a", LONG, history="One thing first."),
        said("b", OTHER, history="My sink is blocked again."),
        said("c", LONG.replace("hall", "hallway"), history="It is Sunday morning, isn't it?"),
    )
    assert kept == ["a", "b"]
    assert rejected["c"].reason == "duplicate"
    assert rejected["c"].detail.startswith("targets 0.")
    assert rejected["c"].detail.endswith("alike with a")


def test_what_was_left_out_is_no_reason_to_leave_out_another():
    chain = ["abcdefghijklmnopqrst", "abcdefghijklmnopq", "abcdefghijklmn"]
    rounds = ["First things first, hello.", "My sink is blocked again.", "It is Sunday, isn't it?"]
    dialogues = [said(n, t, history=h) for n, t, h in zip("xyz", chain, rounds, strict=True)]
    assert similarity(chain[0], chain[2]) < 0.7 < similarity(chain[1], chain[2])
    kept, rejected = gathered(*dialogues)
    assert (kept, list(rejected)) == (["x", "z"], ["y"])


def test_short_targets_are_compared_with_all_around_them():
    kept, _ = gathered(said("a", "Mm-hm.", history="A long story."), said("b", "Mm-hm."))
    assert kept == ["a", "b"]
    kept, rejected = gathered(said("a", "Mm-hm."), said("b", "Mm-hm."))
    assert kept == ["a"]
    assert rejected["b"].detail == "dialogues 1.000 alike with a"


def test_dialogues_of_other_labels_may_share_their_history_but_no_target():
    told = "My sink is blocked again, and nobody has time to look at it before the weekend."
    kept, _ = gathered(
        said("a", "Not now.", history=told), said("b", "Not now.", history=told, label=SIDE_TALK)
    )
    assert kept == ["a", "b"]
    assert gathered(said("a", LONG), said("b", LONG, label=SIDE_TALK))[0] == ["a"]


def test_languages_are_not_compared():
    kept, _ = gathered(said("a", LONG), said("b", LONG, language="zh"))
    assert kept == ["a", "b"]


def test_only_what_is_heard_counts():
    one = said("a", f"{LONG} Then call my brother.", cut=11, history="One thing first.")
    two = said("b", LONG, history="My sink is blocked again.")
    assert gathered(one, two)[0] == ["a"]
    assert said_in(one).endswith("as well")


def test_thresholds_are_inclusive_and_checked():
    dialogues = said("a", LONG, history="One."), said("b", LONG, history="Seventeen.")
    assert gathered(*dialogues, target=1.0)[0] == ["a"]
    assert NearDuplicates(target=0.5).settings() == {
        "target": 0.5, "dialogue": 0.9, "least": LEAST,
    }  # fmt: skip
    with pytest.raises(UsageError, match="FB861 target=0 is not"):
        NearDuplicates(target=0)
    with pytest.raises(UsageError, match=r"FB861 dialogue=1\.5"):
        NearDuplicates(dialogue=1.5)


def test_the_nearest_neighbours():
    found = nearest([said("a", LONG), said("b", OTHER), said("c", "Mm.")])
    assert (found[0].target_id, found[1].target_id) == ("b", "a")
    assert found[0].target == pytest.approx(slow(LONG, OTHER))
    assert (found[2].target, found[2].target_id) == (None, None)
    assert found[2].dialogue_id in ("a", "b")
    assert nearest([said("a", LONG)])[0].dialogue is None


def test_nothing_is_gathered_from_nothing():
    assert gathered() == ([], {})
