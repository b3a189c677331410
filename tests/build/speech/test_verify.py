from __future__ import annotations

import json

import numpy as np
import pytest

from floorbench.build.pipeline.stage import Made, Rejected, Stage
from floorbench.build.speech import rate
from floorbench.build.speech.gate import Thresholds
from floorbench.build.speech.rate import Band
from floorbench.build.speech.scoring import Errors
from floorbench.build.speech.verify import Verify
from support.speech import FakeASR
from support.spoken import item, said, stage


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
    monkeypatch.setattr(rate, "stretched", lambda audio, rate, factor: audio)
    made, bench = said(item(), maker=stage(bands={"en": Band(low=50.0, high=60.0)}))
    outcome = checked(made, bench, FakeASR("I think we should go"))
    assert isinstance(outcome, Rejected)
    assert outcome.reason == "rate"


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


def test_it_is_a_stage_whose_settings_tell_thresholds_apart():
    stages = [Verify(asr=FakeASR("x"), thresholds=Thresholds(wer=w)) for w in (0.1, 0.2)]
    assert all(isinstance(one, Stage) for one in stages)
    one, other = (json.dumps(each.settings()) for each in stages)
    assert one != other
