"""The embedded dialogues keep their rules, and seeds are shared out over the types."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.echo_recipe.recipe import EchoRecipe
from floorbench.build.echo_recipe.texts import FOLDER, LANGUAGES, TYPES, read_texts, seeds
from floorbench.build.text.dialogue import units
from floorbench.datasets.echo_tables import ROLES
from floorbench.errors import DataError, UsageError

GROUP: dict[str, Any] = {
    "id": "one",
    "insertion": "Not so fast.",
    "contexts": {
        role: {"history": ["Go on."], "assistant": f"{role} and so on ^ until the end"}
        for role in ROLES
    },
}


def drawn(**changes: Any) -> tuple[Any, ...]:
    given: dict[str, Any] = {
        "folder": FOLDER, "languages": LANGUAGES, "types": list(TYPES), "groups": 12, "spare": 3,
    }  # fmt: skip
    return seeds(**{**given, **changes})


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_embedded_texts_keep_their_rules(language: str) -> None:
    texts = read_texts(FOLDER, language)
    assert len(texts.groups) >= 46
    assert sum(len(g.contexts) for g in texts.groups) >= 118


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_place_of_an_overlap_does_not_tell_the_role(language: str) -> None:
    """What the assistant has said before it is of one length in all roles, within 9 %."""
    said: dict[str, list[int]] = {role: [] for role in ROLES}
    for group in read_texts(FOLDER, language).groups:
        for role, context in group.contexts.items():
            said[role].append(len(units(context.assistant.split("^")[0], language)))
    means = [sum(lengths) / len(lengths) for lengths in said.values()]
    assert (max(means) - min(means)) / max(means) < 0.09


def test_the_two_languages_have_the_same_groups() -> None:
    en, zh = (read_texts(FOLDER, language).groups for language in LANGUAGES)
    assert [(g.id, sorted(g.contexts)) for g in en] == [(g.id, sorted(g.contexts)) for g in zh]


def test_a_medium_set_finds_its_groups_and_spare_ones_are_of_three_roles() -> None:
    preset = EchoRecipe.presets["medium"]
    found = drawn(groups=preset["groups"], spare=preset["spare"])
    for language in LANGUAGES:
        own = [i.fields["type"] for i in found if i.fields["language"] == language]
        assert Counter(own[:40]) == dict.fromkeys(TYPES, 10)
        assert own[40:] == ["three-role"] * 6


def test_types_take_turns_and_no_insertion_comes_twice() -> None:
    found = drawn()
    for language in LANGUAGES:
        own = [i for i in found if i.fields["language"] == language]
        assert len(own) == 15
        assert len({i.fields["text"] for i in own}) == 15
        assert Counter(i.fields["type"] for i in own[:12]) == dict.fromkeys(TYPES, 3)
        texts = read_texts(FOLDER, language)
        for item in own:
            roles = TYPES[str(item.fields["type"])]
            assert set(roles) <= set(texts.group(str(item.fields["text"])).contexts)


def test_more_groups_than_texts_are_refused_and_spare_ones_are_not() -> None:
    with pytest.raises(UsageError, match=r"FB831.*47"):
        drawn(groups=47)
    assert len(drawn(types=["B-O"], groups=30, spare=50)) == 68


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contexts": {"backchannel": GROUP["contexts"]["backchannel"]}}, "roles backchannel"),
        ({"contexts": {**GROUP["contexts"], "aside": GROUP["contexts"]["off_talk"]}}, "aside"),
        (
            {"contexts": {r: {"history": ["a", "b"], "assistant": "a ^ b"} for r in ROLES}},
            "does not end with the user",
        ),
        ({"contexts": {r: {"history": ["a"], "assistant": "a b"} for r in ROLES}}, "no '\\^'"),
    ],
)
def test_texts_that_break_a_rule_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "en.json").write_text(json.dumps({"groups": [{**GROUP, **change}], "slots": {}}))
    with pytest.raises(DataError, match=f"FB832.*{message}"):
        read_texts(tmp_path, "en")


def test_a_repeated_insertion_is_refused(tmp_path: Path) -> None:
    twice = {"groups": [GROUP, {**GROUP, "id": "two"}], "slots": {}}
    (tmp_path / "en.json").write_text(json.dumps(twice))
    with pytest.raises(DataError, match=r"FB832.*occurs twice"):
        read_texts(tmp_path, "en")
