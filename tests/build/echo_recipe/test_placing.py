"""Where an insertion goes, and when it cannot go anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from floorbench.build.echo_recipe.placing import POOLS, PlaceOverlap, Variants, lines_of, speech_of
from floorbench.build.echo_recipe.rewriting import plain
from floorbench.build.pipeline.stage import Item, Made, Rejected
from floorbench.build.speech.voices import disjoint
from floorbench.errors import DataError
from support.bench import FakeBench
from support.echo_built import context

RATE = 16_000


def spoken(
    bench: FakeBench, *, role: str = "backchannel", before: str = "one two", rate: int = RATE
) -> Item:
    """An assistant who says six words of half a second, an insertion of two words."""
    time = np.arange(rate) / rate
    tone = 0.1 * np.sin(2 * np.pi * 200 * time)

    def row(track: str, texts: str) -> dict[str, Any]:
        words = [
            {"text": w, "start": n / 2, "end": (n + 1) / 2, "score": None}
            for n, w in enumerate(texts.split())
        ]
        return {"track": track, "words": words, "voice": "v", "speed": 1.0}

    fields: Any = {
        "role": role,
        "before": before,
        "speech": [row("assistant", "one two three four five six"), row("target", "wait now")],
    }
    audio = {
        "assistant": bench.keep(np.tile(tone, 3).astype(np.float32), rate),
        "target": bench.keep(tone.astype(np.float32), rate),
    }
    return Item(id="x", fields=fields, audio=audio)


def test_the_insertion_starts_between_two_words() -> None:
    bench = FakeBench()
    found = PlaceOverlap().make(spoken(bench), bench)
    assert isinstance(found, Made)
    (item,) = found.items
    assert item.fields["events"] == {
        "system_start": 0.3, "insertion_start": 1.3, "insertion_end": 2.3, "system_end": 3.3,
    }  # fmt: skip
    assert item.fields["words"] == [
        {"text": "wait", "start": 1.3, "end": 1.8}, {"text": "now", "start": 1.8, "end": 2.3}
    ]  # fmt: skip
    user, _ = bench.load(item.audio["user"])
    system, _ = bench.load(item.audio["system"])
    assert len(user) == len(system) == round(3.6 * RATE)
    assert np.flatnonzero(user)[0] / RATE == pytest.approx(1.3, abs=0.001)
    assert set(item.audio) == {"assistant", "target", "user", "system"}


def test_the_role_changes_the_listening_version_alone() -> None:
    bench = FakeBench()
    made = {}
    for role in ("interruption", "off_talk"):
        found = PlaceOverlap().make(spoken(bench, role=role), bench)
        assert isinstance(found, Made)
        made[role] = found.items[0]
    a, b = made["interruption"], made["off_talk"]
    assert (a.audio["user"], a.audio["system"]) == (b.audio["user"], b.audio["system"])
    assert a.fields["events"] == b.fields["events"]
    heard, _ = bench.load(a.audio["listening-system"])
    assert not heard[round(2.0 * RATE) :].any()


@pytest.mark.parametrize(
    ("before", "reason"), [("one tw", "no-time"), ("one two three", "no-room")]
)
def test_an_insertion_that_cannot_be_placed_is_rejected(before: str, reason: str) -> None:
    bench = FakeBench()
    item = spoken(bench, before=before)
    if reason == "no-room":
        item = item.having(audio={"target": item.audio["assistant"]})
    found = PlaceOverlap().make(item, bench)
    assert isinstance(found, Rejected)
    assert found.reason == reason


def test_another_rate_is_an_error() -> None:
    bench = FakeBench()
    with pytest.raises(DataError, match="FB834"):
        PlaceOverlap().make(spoken(bench, rate=8000), bench)


def test_a_group_becomes_a_sample_for_every_role() -> None:
    fields: Any = {
        "language": "en", "text": "t", "type": "I-O", "insertion": "Not so fast.",
        "contexts": {"interruption": plain(context()), "off_talk": plain(context(history=("a",)))},
    }  # fmt: skip
    found = Variants().make(Item(id="en-000", fields=fields), FakeBench())
    assert isinstance(found, Made)
    assert [i.id for i in found.items] == ["en-000-i", "en-000-o"]
    assert {i.fields["family"] for i in found.items} == {"en-000"}
    assert found.items[1].fields["history"] == [{"role": "user", "text": "a"}]
    assistant, insertion = lines_of(found.items[0])
    assert assistant.text.startswith(str(assistant.mark))
    assert (insertion.text, insertion.track) == ("Not so fast.", "target")


def test_nobody_speaks_both_sides() -> None:
    for pools in POOLS.values():
        disjoint(pools)
        assert set(pools) == {"user", "assistant"}


def test_rows_are_found_by_track() -> None:
    assert speech_of(spoken(FakeBench()), "target")["words"][0]["text"] == "wait"
