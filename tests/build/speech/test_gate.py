import numpy as np
import pytest

from floorbench.build.speech import gate
from floorbench.build.speech.gate import Thresholds
from floorbench.build.speech.scoring import Errors
from floorbench.errors import UsageError
from support.speech import RATE, FakeASR, tone


def measure(text, heard, language):
    rate = 0.0 if text == heard else 0.05 if heard == "near" else 1.0
    en = language == "en"
    return Errors(wer=rate if en else None, cer=1.0, syllables=None if en else rate)


def judged(asr, language="en"):
    return gate.by_transcript(
        tone(), RATE, text="t", language=language, asr=asr, thresholds=Thresholds(), measure=measure
    )


def test_a_good_transcript_passes_at_once():
    asr = FakeASR("near")
    verdict = judged(asr)
    assert (verdict.passed, verdict.rule, verdict.figures["wer"]) == (True, "transcript", 0.05)
    assert asr.asked == [False]


def test_a_failure_is_heard_again_carefully():
    asr = FakeASR("wrong", "t")
    verdict = judged(asr)
    assert verdict.passed
    assert verdict.figures["careful"] is True
    assert asr.asked == [False, True]


@pytest.mark.parametrize(("language", "reason"), [("en", "wer"), ("zh", "syllables")])
def test_what_fails_twice_says_by_which_figure(language, reason):
    verdict = judged(FakeASR("wrong"), language)
    assert (verdict.passed, verdict.reason, verdict.heard) == (False, reason, "wrong")


class Vad:
    name = "fake"
    hop = 160

    def __init__(self, share):
        self.share = share

    def load(self):
        pass

    def activity(self, samples):
        frames = -(-len(samples) // self.hop)
        return (np.arange(frames) < self.share * frames).astype(np.float32)


def short(heard, *, text="uh huh", phonemes=4, vad=None, audio=None):
    return gate.by_short_rules(
        tone(0.4) if audio is None else audio,
        RATE,
        text=text,
        language="en",
        phonemes=phonemes,
        asr=FakeASR(heard),
        vad=vad,
        normalise=lambda text, _: text.casefold(),
    )


@pytest.mark.parametrize(
    ("heard", "rule"),
    [("Uh huh", "short-exact"), ("oh hi", "short-homophone"), ("thanks", "short-duration")],
)
def test_a_short_utterance_passes_by_the_first_rule_that_holds(heard, rule):
    verdict = short(heard)
    assert (verdict.passed, verdict.rule) == (True, rule)


def test_a_short_utterance_of_the_wrong_length_or_without_speech_fails():
    assert short("thanks", audio=tone(3.0)).reason == "short"
    assert not short("thanks", vad=Vad(0.0)).passed
    assert short("thanks", vad=Vad(1.0)).figures["speech_s"] == pytest.approx(0.4, abs=0.02)


@pytest.mark.parametrize(("share", "passed"), [(0.0, True), (0.2, True), (0.5, False)])
def test_noise_is_gated_by_vad(share, passed):
    verdict = gate.as_non_speech(tone(), RATE, vad=Vad(share), thresholds=Thresholds())
    assert (verdict.passed, verdict.rule) == (passed, "no-speech")
    assert verdict.reason == ("" if passed else "speech")


def test_phonemes_are_counted_by_the_voice_or_from_letters():
    assert gate.phonemes_of("okay", "en", 3) == 3
    assert gate.phonemes_of("Okay.", "en", None) == 4
    assert gate.phonemes_of("好的。", "zh", None) == 4


def test_thresholds_are_not_negative():
    with pytest.raises(UsageError, match="FB875"):
        Thresholds(wer=-0.1)
