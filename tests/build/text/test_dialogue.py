"""The type of a written dialogue, its units, and the seeds it grows from."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floorbench.build.pipeline.stage import Item
from floorbench.build.text.dialogue import (
    Dialogue,
    Round,
    Target,
    dialogue_of,
    kept,
    order_of,
    seeds,
    units,
    with_dialogue,
)
from floorbench.datasets.codett_labels import LABELS
from floorbench.errors import DataError, UsageError


def dialogue(label="SystemIdle_Dismiss_Incomplete", text="I'd like to go home now.", cut=3):
    return Dialogue(
        id="d", language="en", topic="home", family="en-home",
        history=(Round(user="Hello there.", assistant="Good evening to you."),),
        target=Target(role="user", text=text, cut_after=cut, label=label),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "language", "words"),
    [
        ("I'd like, well - a follow-up.", "en", ["I'd", "like", "well", "a", "follow-up"]),
        ("“Fine”, she said'", "en", ["Fine", "she", "said"]),
        ("我要A座12号，谢谢。", "zh", ["我", "要", "A", "座", "12", "号", "谢", "谢"]),
        ("...", "en", []),
        ("", "zh", []),
    ],
)
def test_units(text, language, words):
    assert [text[a:b] for a, b in units(text, language)] == words


@given(st.text(max_size=40), st.sampled_from(["en", "zh"]))
def test_units_are_in_order_and_cuts_nest(text, language):
    found = units(text, language)
    edges = [edge for pair in found for edge in pair]
    assert edges == sorted(edges)
    beginnings = [kept(text, n + 1, language) for n in range(len(found))]
    assert all(text.startswith(b) for b in beginnings)
    assert [len(units(b, language)) for b in beginnings] == list(range(1, len(found) + 1))


@pytest.mark.parametrize("cut", [0, 7, -1])
def test_a_cut_outside_the_text_is_refused(cut):
    with pytest.raises(ValueError, match=f"cut after {cut} of 6 words"):
        kept("I'd like to go home now.", cut, "en")


def test_what_is_heard_ends_at_the_cut_and_what_is_said_is_in_progress():
    cut = dialogue()
    assert cut.heard == "I'd like to"
    assert (cut.state, cut.action, cut.scenario) == ("SystemIdle", "Dismiss", "Incomplete")
    assert cut.assistant_text == ""
    spoken = dialogue(label="SystemSpeaking_StopandListen_Interruption", cut=None)
    assert spoken.heard == spoken.target.text
    assert spoken.assistant_text == "Good evening to you."


def test_a_dialogue_travels_in_the_fields_of_an_item():
    item = with_dialogue(Item(id="d", fields={"number": 1}), dialogue())
    assert item.fields["number"] == 1
    assert msgspec.json.decode(msgspec.json.encode(item.fields)) == item.fields
    assert dialogue_of(item) == dialogue()


@pytest.mark.parametrize("change", [{"topic": 3}, {"more": "x"}, {"language": "de"}])
def test_a_damaged_dialogue_is_named(change):
    fields = {**with_dialogue(Item(id="d"), dialogue()).fields["dialogue"], **change}
    with pytest.raises(DataError, match="FB862 d: the dialogue"):
        dialogue_of(Item(id="d", fields={"dialogue": fields}))


def test_a_dialogue_that_is_missing_or_has_no_known_label_is_named():
    with pytest.raises(DataError, match="FB862 lost"):
        dialogue_of(Item(id="lost"))
    item = with_dialogue(Item(id="d"), dialogue(label="SystemIdle_Dismiss_Sleep"))
    with pytest.raises(DataError, match="FB862 d: no label 'SystemIdle_Dismiss_Sleep'"):
        dialogue_of(item)


def test_seeds_cover_languages_and_labels():
    found = seeds(count=2)
    assert len(found) == 2 * 14 * 2 == len({item.id for item in found})
    assert found[0].id == "en-speaking-backchannel-000"
    assert order_of(found[-1]) == ("zh", LABELS[-1], 1)


@pytest.mark.parametrize(
    "wrong", [{"count": 0}, {"languages": ["de"]}, {"labels": ["Backchannel"]}]
)
def test_seeds_refuse_what_cannot_be_written(wrong):
    with pytest.raises(UsageError, match="FB861"):
        seeds(**{"count": 1, **wrong})


@pytest.mark.parametrize("number", [None, -1, True, 1.0])
def test_a_seed_needs_all_its_fields(number):
    item = Item(id="s", fields={"language": "en", "label": LABELS[0], "number": number})
    with pytest.raises(DataError, match="FB862 s"):
        order_of(item)
