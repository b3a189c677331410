import numpy as np
import pytest

from floorbench.build.codett.stages import Lines, NonSpeech, Only, OnlyGather, Speakers
from floorbench.build.pipeline.stage import Item, Rejected
from floorbench.build.text.dialogue import seeds
from floorbench.build.text.similarity import NearDuplicates
from floorbench.build.text.writer import Write
from floorbench.datasets.codett_labels import LABELS
from support.bench import FakeBench


class Ear:
    """Hears speech in the share of the frames that it is told."""

    name = "ear"
    hop = 512

    def __init__(self, share):
        self.share = share

    def load(self):
        pass

    def activity(self, samples):
        frames = len(samples) // self.hop
        return (np.arange(frames) < self.share * frames).astype(float)


def written(item):
    bench = FakeBench()
    (out,) = Write().make(item, bench).items
    return Lines().make(out, bench).items[0]


@pytest.mark.parametrize("label", LABELS)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_dialogue_becomes_the_fields_that_later_stages_read(language, label):
    (seed,) = seeds(count=1, languages=[language], labels=[label])
    item = written(seed)
    assert "_".join(item.fields[k] for k in ("state", "action", "scenario")) == label
    assert all(set(turn) == {"user", "assistant"} for turn in item.fields["history"])
    target = item.fields["target"]
    if target["cut_after"] is not None:
        assert target["text"].startswith(target["cut_after"])
        assert item.fields["text"] == target["cut_after"]
        assert len(item.fields["text"]) < len(target["text"])
    else:
        assert item.fields["text"] == target["text"]
    assert (target["role"] == "noise") == (item.fields["scenario"] == "Invalidation")


def test_speakers_are_the_voices_of_all_tracks_and_real_talkers_stay():
    rows = [{"voice": "b"}, {"voice": "a"}, {"voice": "b"}]
    bench = FakeBench()
    (item,) = Speakers().make(Item(id="x", fields={"speech": rows}), bench).items
    assert item.fields["speakers"] == ["a", "b"]
    real = Item(id="r", fields={"speakers": ["Ann"]})
    assert Speakers().make(real, bench).items == (real,)


@pytest.mark.parametrize(("share", "passes"), [(0.0, True), (0.9, False)])
def test_a_burst_with_speech_in_it_is_refused(share, passes):
    bench = FakeBench()
    track = bench.keep(np.full(16_000, 0.1, np.float32), 16_000)
    burst = Item(id="x", fields={"scenario": "Invalidation"}, audio={"target": track})
    outcome = NonSpeech(vad=Ear(share)).make(burst, bench)
    assert isinstance(outcome, Rejected) is not passes
    talk = Item(id="x", fields={"scenario": "Completion"}, audio={"target": track})
    assert NonSpeech(vad=Ear(share)).make(talk, bench).items == (talk,)


def test_a_stage_for_some_items_passes_the_others():
    (seed,) = seeds(count=1, languages=["en"], labels=[LABELS[0]])
    other = Item(id="session-1", fields={"session": "sw1"})
    stage = Only(Write(), having="label")
    stage.start()
    bench = FakeBench()
    assert stage.make(other, bench).items == (other,)
    assert "dialogue" in stage.make(seed, bench).items[0].fields
    assert stage.settings()["only"] == "label"
    assert stage.name == Write.name


def test_a_step_for_some_items_keeps_the_others_in_order():
    labels = ["SystemIdle_Takeover_Completion", "SystemIdle_Takeover_Cooperation"]
    two = [written(s) for s in seeds(count=1, languages=["en"], labels=labels)]
    dialogue = {**two[1].fields["dialogue"], "id": "zz-twin"}
    twin = Item(id="zz-twin", fields={**two[1].fields, "dialogue": dialogue})
    other = Item(id="aa-session", fields={"session": "sw1"})
    out = OnlyGather(NearDuplicates(), having="label").gather([other, *two, twin])
    assert [i.id for i in out.items] == ["aa-session", *sorted(i.id for i in two)]
    assert set(out.rejected) == {"zz-twin"}
