"""The source texts keep their rules, and a broken one is refused."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from floorbench.build.echo_texts import read_texts, scenes
from floorbench.core.vocab import Role
from floorbench.datasets.open import STARTER
from floorbench.errors import DataError

TEXTS = STARTER / "echo" / "texts"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_starter_texts_are_sound(language: str) -> None:
    texts = read_texts(TEXTS / f"{language}.json")
    made = scenes(texts)
    assert len(texts.groups) >= 24
    kinds = Counter(tuple(g.variants) for g in texts.groups)
    assert len(kinds) == 4
    assert Counter(s.role for s in made) == dict.fromkeys(
        ("interruption", "backchannel", "off_talk"), 17
    )
    for scene in made:
        assert scene.history[-1][0] is Role.USER
        assert scene.planned.replace("|", "") == scene.before + scene.after
        assert not scene.before.endswith(" ")
        assert len(scene.after) >= len(scene.insertion)  # the utterance outlasts the insertion


def broken(change: Callable[[list[dict[str, Any]]], None], tmp_path: Path) -> Path:
    raw = json.loads((TEXTS / "en.json").read_text("utf-8"))
    change(raw["groups"])
    path = tmp_path / "en.json"
    path.write_text(json.dumps(raw), encoding="utf-8")
    return path


def variant(group: dict[str, Any]) -> dict[str, Any]:
    return next(iter(group["variants"].values()))


CHANGES: dict[str, tuple[Callable[[list[dict[str, Any]]], Any], str]] = {
    "too few": (lambda g: g.pop(), "23 groups"),
    "a text twice": (lambda g: g[0].update(text=g[1]["text"]), "occurs 2 times"),
    "an id twice": (lambda g: g[0].update(id=g[1]["id"]), "occurs 2 times"),
    "an utterance twice": (
        lambda g: variant(g[0]).update(copy.deepcopy(variant(g[1]))), "occurs 2 times"
    ),
    "one role": (lambda g: g[0]["variants"].popitem(), "roles interruption"),
    "another role": (lambda g: g[0]["variants"].update(joke=variant(g[0])), "occurs 2 times"),
    "the assistant last": (lambda g: variant(g[0])["history"].pop(), "end with the user"),
    "no mark": (lambda g: variant(g[0]).update(assistant="Yes."), "not one '|'"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_broken_rule_is_refused(name: str, tmp_path: Path) -> None:
    change, words = CHANGES[name]
    with pytest.raises(DataError, match="FB905") as refused:
        read_texts(broken(change, tmp_path))
    assert words in refused.value.what
