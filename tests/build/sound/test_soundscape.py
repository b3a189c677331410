import json

import numpy as np
import pytest
import soundfile

from floorbench.build import mixing
from floorbench.build.pipeline.stage import Item, Rejected
from floorbench.build.sound.soundscape import Soundscape
from floorbench.datasets.codett_labels import SCENARIOS
from support.bench import FakeBench

RATE = 16_000


@pytest.fixture(scope="module")
def pools(tmp_path_factory):
    root = tmp_path_factory.mktemp("pools")
    rng = np.random.default_rng(7)
    for i in range(3):
        path = root / "noise" / f"tap{i}.flac"
        path.parent.mkdir(exist_ok=True)
        soundfile.write(path, 0.2 * rng.standard_normal(RATE * 4), RATE)
    credit = {"licence": "CC0", "kind": "tap", "author": "Ann", "source": "her desk"}
    (root / "noise" / "credits.json").write_text(
        json.dumps({f"tap{i}.flac": credit for i in range(3)})
    )
    for i in range(6):
        path = root / "babble" / "en" / "reading" / f"{i}.flac"
        path.parent.mkdir(parents=True, exist_ok=True)
        soundfile.write(path, speech(200 + 40 * i), RATE)
    return root


def speech(hertz, seconds=1.5):
    t = np.arange(round(seconds * RATE)) / RATE
    return 0.1 * np.sin(2 * np.pi * hertz * t) * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * t))


def stage(pools, **more):
    made = Soundscape(
        noise=pools / "noise", babble=pools / "babble", licences=("CC0", "unknown"), **more
    )
    made.start()
    return made


def item(bench, scenario):
    fields = {"scenario": scenario, "language": "en"}
    clean = bench.keep(speech(150).astype(np.float32), RATE)
    return Item(id="a", fields=fields, audio={"target": clean})


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_scenario_is_mixed_at_the_level_and_ratio_it_says(pools, scenario):
    bench = FakeBench(seed=11)
    (out,) = stage(pools).make(item(bench, scenario), bench).items
    sound = out.fields["sound"]
    audio, rate = bench.load(out.audio["target"])
    assert rate == RATE
    assert np.max(np.abs(audio)) <= 0.98
    assert sound["target_level_db"] == pytest.approx(sound["requested"]["level_db"], abs=0.01)
    for name in ("babble", "noise"):
        asked = sound["requested"][f"{name}_db"]
        assert (asked is None) == (name not in sound)
        if asked is not None:
            assert sound[name]["achieved_db"] == pytest.approx(asked, abs=0.01)
    assert ("burst" in sound) == (scenario == "Invalidation")
    assert ("room" in sound) == (sound["requested"]["distance_m"] is not None)


def test_babble_is_what_the_mixture_has_more_than_the_target(pools):
    changes = {"Exclusion": {"babble_db": [10, 10]}}
    without = {"Exclusion": {"babble_db": None}}
    tracks = []
    for change in (changes, without):
        bench = FakeBench(seed=5)
        (out,) = stage(pools, changes=change).make(item(bench, "Exclusion"), bench).items
        tracks.append(bench.load(out.audio["target"])[0].astype(np.float64))
    level = mixing.active_level_db(tracks[1], RATE)
    difference = tracks[0] - tracks[1]
    assert level - 10 * np.log10(np.mean(difference**2)) == pytest.approx(10, abs=0.3)


def test_every_recording_in_the_mixture_is_in_the_lineage(pools):
    bench = FakeBench(seed=3)
    (out,) = stage(pools).make(item(bench, "Distraction"), bench).items
    noted = [facts["recording"]["name"] for kind, facts in bench.notes if kind == "noise"]
    assert noted == out.fields["sound"]["babble"]["names"]
    assert 4 <= len(set(noted)) <= 6
    rooms = [facts for kind, facts in bench.notes if kind == "room"]
    assert [room["of"] for room in rooms if "of" in room] == noted
    assert len(rooms) == len(noted) + 1
    assert out.fields["sound"]["babble"]["licences"] == ["unknown"]


def test_the_same_seed_mixes_the_same_samples_and_another_seed_others(pools):
    digests = []
    for seed in (1, 1, 2):
        bench = FakeBench(seed=seed)
        (out,) = stage(pools).make(item(bench, "Exclusion"), bench).items
        digests.append(out.audio["target"])
    assert digests[0] == digests[1] != digests[2]


def test_a_telephone_line_gives_narrow_audio(pools):
    bench = FakeBench()
    (out,) = stage(pools, telephone="mu-law").make(item(bench, "Completion"), bench).items
    assert bench.load(out.audio["target"])[1] == 8_000
    assert out.fields["sound"]["telephone"] == "mu-law"


def test_settings_follow_the_pools_content(pools, tmp_path):
    one = stage(pools).settings()
    assert one == stage(pools).settings()
    assert set(one["pools"]) == {"noise", "babble/en"}
    assert one != stage(pools, telephone="a-law").settings()


def test_clean_speech_is_kept_beside_the_mixture(pools):
    bench = FakeBench()
    before = item(bench, "Completion")
    (out,) = stage(pools).make(before, bench).items
    assert out.audio["target-clean"] == before.audio["target"] != out.audio["target"]
    (burst,) = stage(pools).make(item(bench, "Invalidation"), bench).items
    assert "target-clean" not in burst.audio


def test_a_real_recording_is_not_touched(pools):
    bench = FakeBench()
    real = item(bench, "Completion").having(origin="real")
    assert stage(pools).make(real, bench).items == (real,)


def test_what_cannot_be_mixed_is_rejected_with_a_reason(pools):
    bench = FakeBench()
    no_track = Item(id="a", fields={"scenario": "Completion", "language": "en"})
    silent = no_track.having(audio={"target": bench.keep(np.zeros(RATE, np.float32), RATE)})
    unknown = item(bench, "Applause")
    for wrong, reason in ((no_track, "sound"), (silent, "sound"), (unknown, "scenario")):
        outcome = stage(pools).make(wrong, bench)
        assert isinstance(outcome, Rejected)
        assert outcome.reason == reason
        assert outcome.detail
