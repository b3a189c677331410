"""Places for the insertion, and every rule that a rewritten context may break."""

from __future__ import annotations

from typing import Any

import pytest

from floorbench.build.echo_recipe.rewriting import (
    Candidates,
    CheckRewrite,
    EmbeddedRewriter,
    Rewrite,
    Skeletons,
    contexts_of,
    plain,
    problem_of,
    usable,
)
from floorbench.build.echo_recipe.texts import FOLDER, LANGUAGES, TYPES, read_texts, seeds
from floorbench.build.pipeline.stage import Item, Made, Rejected
from floorbench.errors import DataError
from support.bench import FakeBench
from support.echo_built import context

INSERTION = "Not so fast."


def through(item: Item, *stages: Any) -> Item:
    for stage in stages:
        found = stage.make(item, FakeBench())
        assert isinstance(found, Made), found
        (item,) = found.items
    return item


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_embedded_context_passes_the_check(language: str) -> None:
    rewriter = EmbeddedRewriter(folder=FOLDER, languages=[language])
    for group in read_texts(FOLDER, language).groups:
        for kind, roles in TYPES.items():
            if set(roles) <= set(group.contexts):
                fields: Any = {"language": language, "text": group.id, "type": kind, "number": 3}
                done = through(
                    Item(id="x", fields=fields),
                    Skeletons(folder=FOLDER, languages=[language]),
                    Candidates(),
                    Rewrite(rewriter=rewriter),
                    CheckRewrite(),
                )
                found = contexts_of(done)
                assert tuple(found) == roles
                assert {c.insertion for c in found.values()} == {group.insertion}
                said = "".join(str(done.fields["contexts"]))
                assert "{name}" not in said
                assert "^" not in "".join(c.before + c.after for c in found.values())


def test_a_group_speaks_of_the_same_names_in_all_roles() -> None:
    item = seeds(
        folder=FOLDER, languages=["en"], types=["three-role"], groups=10, spare=0
    )[0]  # fmt: skip
    one = Skeletons(folder=FOLDER, languages=["en"]).make(item, FakeBench())
    two = Skeletons(folder=FOLDER, languages=["en"]).make(item, FakeBench())
    assert one == two


def test_places_without_room_are_left_out() -> None:
    text = "I ^ go to the shop on the corner ^ and then home by the old road ^ now"
    assert usable(text, "en") == [
        ("I go to the shop on the corner", " and then home by the old road now")
    ]
    assert usable("我今天下午先去，^楼下的商店买一点东西再回来", "zh") == [
        ("我今天下午先去，", "楼下的商店买一点东西再回来")
    ]
    fields: Any = {
        "language": "en", "insertion": INSERTION,
        "skeleton": {"role": "off_talk", "history": ["Go."], "assistant": "I ^ go"},
    }  # fmt: skip
    found = Candidates().make(Item(id="x", fields=fields), FakeBench())
    assert isinstance(found, Rejected)
    assert found.reason == "no-place"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"insertion": "Not so fast"}, "insertion-changed"),
        ({"insertion": "not so fast."}, "insertion-changed"),
        ({"insertion": "Not so fast. "}, "insertion-changed"),
        ({"insertion": "Not  so fast."}, "insertion-changed"),
        ({"history": ()}, "history"),
        ({"history": ("Go on.", "Yes.")}, "history"),
        ({"history": ("Go on.", " ", "Yes.")}, "history"),
        ({"before": "I am"}, "no-room"),
        ({"after": " now"}, "no-room"),
        ({"history": ("Go on. (to the dog)",)}, "stage-direction"),
        ({"history": ("You said: not so fast, right?",)}, "repeats"),
    ],
)
def test_a_context_that_breaks_a_rule_is_named(change: dict[str, Any], reason: str) -> None:
    found = problem_of(context(**change), insertion=INSERTION, language="en")
    assert found is not None
    assert found.reason == reason


def test_a_context_that_breaks_none_passes() -> None:
    assert problem_of(context(), insertion=INSERTION, language="en") is None


def test_the_same_context_for_two_roles_is_rejected() -> None:
    fields: Any = {
        "language": "en",
        "insertion": INSERTION,
        "contexts": {"interruption": plain(context()), "backchannel": plain(context())},
    }
    found = CheckRewrite().make(Item(id="x", fields=fields), FakeBench())
    assert isinstance(found, Rejected)
    assert found.reason == "same-context"


def test_an_item_without_contexts_is_an_error() -> None:
    with pytest.raises(DataError, match="FB832"):
        contexts_of(Item(id="x"))
