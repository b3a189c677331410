"""The embedded writer and the rules judge as stages."""

from __future__ import annotations

import pytest

from floorbench.build.pipeline.stage import Item, Rejected, Stage
from floorbench.build.text.dialogue import dialogue_of, seeds, with_dialogue
from floorbench.build.text.writer import Judge, Write
from floorbench.errors import DataError
from support.bench import FakeBench

SEED = seeds(count=1, languages=["en"], labels=["SystemIdle_Dismiss_Incomplete"])[0]


def test_both_are_stages_whose_settings_are_json():
    for stage in (Write(), Judge()):
        assert isinstance(stage, Stage)
        assert stage.deterministic
        stage.start()
    assert set(Write().settings()["texts"]) >= {"topics.en.json", "shared.zh.json"}
    assert Judge().settings()["heard"]["en"]["Backchannel"] == [1, 6]


def test_a_dialogue_is_written_and_judged():
    bench = FakeBench(SEED.id)
    (item,) = Write().make(SEED, bench).items
    assert item.id == dialogue_of(item).id == SEED.id
    assert item.fields["number"] == 0
    kind, facts = bench.notes[0]
    assert (kind, facts["writer"], facts["attempt"]) == ("text", "grammar", 0)
    assert Judge().make(item, bench).items == (item,)
    assert bench.notes[1] == ("judge", {"by": "rules", "reason": None})


def test_a_second_attempt_writes_something_else():
    first, second = (
        dialogue_of(Write().make(SEED, FakeBench(SEED.id, attempt=n)).items[0]) for n in (0, 1)
    )
    assert first.heard != second.heard
    assert first.history == second.history
    assert first.topic == second.topic


def test_a_rejection_is_noted_and_returned():
    (item,) = Write().make(SEED, FakeBench(SEED.id)).items
    raw = dialogue_of(item)
    bad = with_dialogue(item, type(raw)(**{
        **{name: getattr(raw, name) for name in raw.__struct_fields__}, "history": (),
    }))  # fmt: skip
    bench = FakeBench(SEED.id)
    found = Judge().make(bad, bench)
    assert found == Rejected(reason="history", detail="0 rounds, not 1 to 5")
    assert bench.notes == [("judge", {"by": "rules", "reason": "history"})]


def test_items_without_what_is_needed_are_named():
    with pytest.raises(DataError, match="FB862 bare"):
        Write().make(Item(id="bare"), FakeBench())
    with pytest.raises(DataError, match="FB862 bare"):
        Judge().make(Item(id="bare"), FakeBench())
