from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from floorbench.build.pipeline.stage import Rejected, Stage
from floorbench.build.speech import rate
from floorbench.build.speech.caching import CachedTTS
from floorbench.build.speech.rate import Band
from floorbench.build.speech.synthesise import lines_of
from floorbench.build.text.dialogue import dialogue_of
from floorbench.errors import DataError, UsageError
from support.speech import FakeTTS
from support.spoken import POOLS, Bench, item, said, stage


def test_it_is_a_stage_whose_settings_are_json():
    assert isinstance(stage(), Stage)
    assert json.dumps(stage().settings()) != json.dumps(stage(casts={"en": 2}).settings())


def test_the_history_of_the_user_and_the_target_are_spoken():
    made, bench = said(item())
    assert set(made.audio) == {"history-1-user", "target"}
    rows = made.fields["speech"]
    assert [r["track"] for r in rows] == ["history-1-user", "target"]
    assert rows[0]["voice"] == rows[1]["voice"]
    assert rows[1]["words"][0]["start"] == pytest.approx(0.0, abs=0.011)
    samples, rate = bench.load(made.audio["target"])
    assert rows[1]["seconds"] == pytest.approx(len(samples) / rate, abs=1e-3)
    assert [k for k, _ in bench.notes] == ["voice", "voice"]


def test_siblings_share_their_history_to_the_sample():
    one, _ = said(item(id="a"))
    other, _ = said(item(id="b", role="third_party", text="no way"))
    assert one.audio["history-1-user"] == other.audio["history-1-user"]
    assert other.fields["speech"][1]["voice"] == "t1"


def test_a_noise_is_not_spoken():
    assert [x.track for x in lines_of(dialogue_of(item(role="noise", text="")))] == [
        "history-1-user"
    ]


def test_a_retry_changes_the_speed_then_the_voice():
    rows = [said(item(), attempt)[0].fields["speech"] for attempt in range(3)]
    targets = [(r[1]["voice"], r[1]["speed"]) for r in rows]
    assert len(set(targets)) == 3
    assert targets[0][0] == targets[1][0] != targets[2][0]
    assert rows[0][0] == rows[1][0]
    assert rows[2][0]["voice"] == targets[2][0]


def test_a_gated_history_changes_as_well():
    maker = stage(gate_history=True)
    rows = [said(item(), attempt, maker)[0].fields["speech"][0] for attempt in range(2)]
    assert rows[0]["speed"] != rows[1]["speed"]


@pytest.mark.parametrize("audio", [np.zeros(0), np.zeros(2400), np.full(2400, np.nan)])
def test_a_voice_that_gives_no_sound_rejects_the_line_and_is_not_kept(tmp_path, audio):
    class Mute(FakeTTS):
        def synthesize(self, text, **more):
            return replace(super().synthesize(text, **more), audio=audio.astype(np.float32))

    tts = Mute()
    for _ in range(2):
        made = stage(CachedTTS(tts, tmp_path)).make(item(), Bench())
        assert isinstance(made, Rejected)
        assert made.reason == "no-sound"
        assert "history-1-user: u" in made.detail
        assert "'hello there'" in made.detail
    assert len(tts.calls) == 2
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_voice_without_speed_is_left_at_its_own():
    tts = FakeTTS(speed=False)
    said(item(), 1, stage(tts))
    assert {speed for _, _, speed in tts.calls} == {1.0}


def test_an_incomplete_utterance_is_cut_at_its_word():
    whole, _ = said(item())
    cut, bench = said(item(cut=2))
    row = cut.fields["speech"][1]
    assert (row["text"], row["said"]) == ("I think", "I think we should go")
    assert [w["text"] for w in row["words"]] == ["I", "think"]
    assert row["seconds"] == pytest.approx(whole.fields["speech"][1]["seconds"] * 2 / 5, abs=0.02)
    samples, _ = bench.load(cut.audio["target"])
    assert samples[-1] == 0.0


def test_a_cut_without_word_times_fails():
    with pytest.raises(DataError, match="FB874"):
        stage(FakeTTS(words=False)).make(item(cut=2), Bench())


def test_without_word_times_an_uncut_line_has_none():
    made, _ = said(item(), maker=stage(FakeTTS(words=False)))
    assert made.fields["speech"][1]["words"] is None


def test_a_voice_may_not_have_two_roles_and_a_language_needs_voices():
    with pytest.raises(UsageError, match="FB875"):
        stage(pools={"en": {"user": ("a",), "babble": ("a",)}})
    with pytest.raises(DataError, match="FB871"):
        stage(pools={"zh": POOLS["en"]}).make(item(), Bench())


def test_a_stretch_is_bounded_and_moves_the_words(monkeypatch):
    def doubled(audio, rate, factor):
        assert factor == pytest.approx(0.9)
        return audio[: round(len(audio) * factor)]

    monkeypatch.setattr(rate, "stretched", doubled)
    plain, _ = said(item())
    made, _ = said(item(), maker=stage(bands={"en": Band(low=50.0, high=60.0)}))
    before, after = (x.fields["speech"][1]["words"][1] for x in (plain, made))
    assert after["end"] - after["start"] == pytest.approx(
        0.9 * (before["end"] - before["start"]), abs=2e-4
    )
