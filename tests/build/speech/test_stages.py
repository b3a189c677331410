from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from floorbench.build.pipeline.stage import Item, Made, Rejected, Stage
from floorbench.build.speech.caching import CachedTTS
from floorbench.build.speech.gate import Thresholds
from floorbench.build.speech.rate import Band
from floorbench.build.speech.scoring import Errors
from floorbench.build.speech.stages import Synthesise, Verify, lines_of
from floorbench.build.text.dialogue import Dialogue, Round, Target, dialogue_of, with_dialogue
from floorbench.errors import DataError, UsageError
from support.speech import FakeASR, FakeTTS

POOLS = {"en": {"user": ("u1", "u2", "u3"), "third_party": ("t1",), "background": ("b1",)}}
WIDE = {"en": Band(low=0.1, high=100.0)}


class Bench:
    seed = 1

    def __init__(self, attempt=0):
        self.attempt = attempt
        self.rng = np.random.default_rng(0)
        self.sounds = {}
        self.notes = []

    def keep(self, samples, rate):
        assert samples.dtype == np.float32
        name = hashlib.sha256(samples.tobytes()).hexdigest()
        self.sounds[name] = (samples, rate)
        return name

    def load(self, digest):
        return self.sounds[digest]

    def note(self, kind, **facts):
        self.notes.append((kind, facts))


def item(*, id="a", family="f", role="user", text="I think we should go", cut=None):
    from floorbench.datasets.codett_labels import LABELS

    return with_dialogue(
        Item(id=id),
        Dialogue(
            id=id,
            language="en",
            topic="x",
            family=family,
            history=(Round(user="hello there", assistant="hi"),),
            target=Target(role=role, text=text, cut_after=cut, label=LABELS[0]),
        ),
    )


def stage(tts=None, **more):
    return Synthesise(**{"tts": tts or FakeTTS(), "pools": POOLS, "bands": WIDE} | more)


def said(found, attempt=0, maker=None):
    bench = Bench(attempt)
    outcome = (maker or stage()).make(found, bench)
    assert isinstance(outcome, Made)
    return outcome.items[0], bench


def test_both_are_stages():
    assert isinstance(stage(), Stage)
    assert isinstance(Verify(asr=FakeASR("x")), Stage)


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


def measure(text, heard, language):
    return Errors(wer=0.0 if text == heard else 1.0, cer=0.0, syllables=None)


def checked(made, bench, asr, **more):
    return Verify(**{"asr": asr, "measure": measure} | more).make(made, bench)


def test_the_target_alone_is_checked_against_what_is_heard_of_it():
    made, bench = said(item(cut=4))
    outcome = checked(made, bench, FakeASR("I think we should"))
    assert [c["track"] for c in outcome.items[0].fields["checks"]] == ["target"]
    assert outcome.items[0].fields["checks"][0]["rule"] == "transcript-cut"
    assert isinstance(checked(made, bench, FakeASR("I think we")), Made)
    assert isinstance(checked(made, bench, FakeASR("I think we should go")), Rejected)
    assert outcome.items[0].audio == made.audio


def test_the_history_is_checked_when_asked():
    made, bench = said(item())
    outcome = checked(
        made, bench, FakeASR("hello there", "I think we should go"), gate_history=True
    )
    assert [c["track"] for c in outcome.items[0].fields["checks"]] == ["history-1-user", "target"]


def test_a_wrong_transcript_rejects_with_text_and_figures():
    made, bench = said(item())
    outcome = checked(made, bench, FakeASR("what"))
    assert isinstance(outcome, Rejected)
    assert outcome.reason == "wer"
    assert "'what'" in outcome.detail
    assert "1.0" in outcome.detail


def test_a_rate_outside_the_band_rejects(monkeypatch):
    from floorbench.build.speech import rate

    monkeypatch.setattr(rate, "stretched", lambda audio, rate, factor: audio)
    made, bench = said(item(), maker=stage(bands={"en": Band(low=50.0, high=60.0)}))
    outcome = checked(made, bench, FakeASR("I think we should go"))
    assert isinstance(outcome, Rejected)
    assert outcome.reason == "rate"


def test_a_stretch_is_bounded_and_moves_the_words(monkeypatch):
    from floorbench.build.speech import rate

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


class Vad:
    name, hop = "fake", 160

    def __init__(self, value):
        self.value = value

    def load(self):
        pass

    def activity(self, samples):
        return np.full(len(samples) // 160, self.value, np.float32)


@pytest.mark.parametrize(("value", "kind"), [(0.0, Made), (1.0, Rejected)])
def test_a_target_that_is_no_speech_is_judged_by_vad(value, kind):
    made, bench = said(item(role="noise", text=""))
    noisy = made.having(audio={"target": bench.keep(np.full(16_000, 0.1, np.float32), 16_000)})
    outcome = checked(noisy, bench, FakeASR("words of noise"), vad=Vad(value))
    assert isinstance(outcome, kind)


def test_settings_are_json_and_tell_thresholds_apart():
    import json

    one, other = (
        json.dumps(Verify(asr=FakeASR("x"), thresholds=Thresholds(wer=w)).settings())
        for w in (0.1, 0.2)
    )
    assert one != other
    assert json.dumps(stage().settings()) != json.dumps(stage(casts={"en": 2}).settings())
