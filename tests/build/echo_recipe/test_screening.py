"""What is left out before and after speech, and why."""

from __future__ import annotations

from typing import Any

import pytest

from floorbench.build.echo_recipe.rewriting import plain
from floorbench.build.echo_recipe.screening import LENGTH_GAP, Match, Screen, length_gap
from floorbench.build.echo_recipe.texts import TYPES
from floorbench.build.pipeline.stage import Item
from support.echo_built import context


def group(name: str, insertion: str, *, language: str = "en", utterance: str = "") -> Item:
    text = utterance or f"{name * 9} is what I am telling you about"
    contexts: Any = {
        role: plain(context(insertion=insertion, before=f"{role} {text}", after=text[::-1]))
        for role in TYPES["B-O"]
    }
    fields: Any = {
        "language": language, "type": "B-O", "insertion": insertion, "contexts": contexts
    }  # fmt: skip
    return Item(id=name, fields=fields)


def reasons(*items: Item) -> dict[str, str]:
    return {k: v.reason for k, v in Screen().gather(items).rejected.items()}


def test_insertions_that_do_not_fit_are_left_out() -> None:
    assert reasons(
        group("a", "The door is locked."),
        group("b", "No."),
        group("c", "It was the longest sentence of them all."),
        group("d", "Yep, following you."),
        group("e", "The door is locked!"),
    ) == {"b": "length", "c": "length", "d": "closed-class", "e": "duplicate"}


def test_a_context_near_to_another_is_left_out() -> None:
    told = "once upon a time there lived a fisherman with his wife near the sea"
    assert reasons(
        group("a", "The door is locked.", utterance=told),
        group("b", "Mind the step now.", utterance=told),
    ) == {"b": "duplicate"}


def test_frequent_characters_alone_are_left_out_where_enough_is_said() -> None:
    texts = ["甲乙丙丁", "乙丙丁甲", "戊己庚辛", "壬癸子丑", "寅卯辰巳", "午未申酉", "天地玄黄",
             "宇宙洪荒", "日月盈昃"]  # fmt: skip
    items = [
        group(f"g{n}", text, language="zh", utterance=text * 9) for n, text in enumerate(texts)
    ]
    assert reasons(*items[:3]) == {}
    found = reasons(*items)
    assert found["g0"] == "frequent-only"
    assert "g8" not in found


def sample(name: str, role: str, insertion: str) -> Item:
    fields: Any = {"group": name, "role": role, "language": "en", "insertion": insertion}
    return Item(id=f"{name}-{role[0]}", fields=fields)


def pair(name: str, kind: str, insertion: str = "Wait for me.") -> list[Item]:
    return [sample(name, role, insertion) for role in TYPES[kind]]


def test_a_type_keeps_what_is_wanted() -> None:
    items = [*pair("a", "I-B"), *pair("b", "I-B"), *pair("c", "B-O"), *pair("d", "three-role")[:2]]
    found = Match(groups=2, types=["I-B", "B-O"]).gather(items)
    assert [i.id for i in found.items] == ["a-b", "a-i", "c-b", "c-o"]
    assert {i.fields["type"] for i in found.items} == {"I-B", "B-O"}
    assert {v.reason for v in found.rejected.values()} == {"surplus"}


def test_a_spare_group_of_three_stands_in_for_a_pair() -> None:
    items = [*pair("a", "I-B"), pair("b", "I-B")[0], *pair("c", "three-role"), *pair("d", "B-O")]
    found = Match(groups=3, types=["I-B", "B-O"]).gather(items)
    assert [i.id for i in found.items] == ["a-b", "a-i", "c-b", "c-i", "d-b", "d-o"]
    assert {i.fields["type"] for i in found.items} == {"I-B", "B-O"}
    assert {k: v.reason for k, v in found.rejected.items()} == {"b-i": "one-role", "c-o": "surplus"}


def test_a_lonely_sample_goes() -> None:
    found = Match(groups=2, types=["I-B"]).gather([*pair("a", "I-B"), pair("b", "I-B")[0]])
    assert found.rejected["b-i"].reason == "one-role"


def test_groups_are_exchanged_until_the_lengths_match() -> None:
    items = [
        *pair("a", "I-B", "A very long insertion text."),
        *pair("b", "I-B", "Mind the step."),
        *pair("c", "B-O", "Mind the step now."),
    ]
    assert length_gap([*items[:2], *items[4:]]) > 0.2
    found = Match(groups=2, types=["I-B", "B-O"]).gather(items)
    assert {str(i.fields["group"]) for i in found.items} == {"b", "c"}
    assert length_gap(found.items) < 0.25


def test_the_gap_is_relative_to_the_mean() -> None:
    assert length_gap([]) == 0.0
    assert length_gap([sample("a", "interruption", "abcd"), sample("a", "off_talk", "abcdef")]) == (
        pytest.approx(0.4)
    )
    assert LENGTH_GAP < 0.4


def test_the_wanted_groups_say_how_many_samples_come_through() -> None:
    seeds = [
        Item(id=f"{lang}-{n}", fields={"language": lang}) for lang in ("en", "zh") for n in "ab"
    ]
    assert Match(groups=5, types=["I-B", "three-role"]).at_most(seeds) == 2 * (3 * 2 + 2 * 3)
