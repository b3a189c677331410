"""The embedded dialogues keep their rules, and seeds are shared out over the types."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.echo_recipe.texts import FOLDER, LANGUAGES, TYPES, read_texts, seeds
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
    assert len(texts.groups) >= 16
    assert sum(len(g.contexts) for g in texts.groups) >= 42


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
    with pytest.raises(UsageError, match=r"FB831.*17"):
        drawn(groups=17)
    assert len(drawn(types=["B-O"], groups=13, spare=50)) == 26


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
