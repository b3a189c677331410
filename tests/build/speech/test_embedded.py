import json
import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from floorbench.build import kokoro
from floorbench.build.speech import embedded
from floorbench.build.speech.aligning import PocketsphinxAligner
from floorbench.build.speech.embedded import KokoroTTS, sounds
from floorbench.build.speech.providers import Reference
from floorbench.errors import DataError, EnvironmentProblem
from support.speech import RATE, check_aligner, check_tts, tone


class FakeVoice:
    def __init__(self, assets):
        pass

    def say(self, *, phonemes, voice, speed):
        frames = np.full(len(phonemes) + 2, 4)
        return kokoro.Speech(samples=tone(0.1 * len(frames)), phonemes=phonemes, frames=frames)


class FakePhonemes:
    """A word is its letters; `of the` melts into one group unless it is split by the prefix."""

    def ask(self, *, lang, text, prefix=None):
        def groups(part):
            return part.casefold().strip(" .").replace("of the", "ofthe")

        if prefix is None:
            return groups(text), None
        head = groups(prefix)
        return f"{head} {groups(text[len(prefix) :])}", head.count(" ") + 1


@pytest.fixture
def tts(monkeypatch, tmp_path):
    monkeypatch.setattr(kokoro, "Kokoro", FakeVoice)
    monkeypatch.setattr(embedded, "PhonemeClient", FakePhonemes)
    return KokoroTTS(tmp_path)


def test_kokoro_conforms(tts):
    check_tts(tts, voice="af_heart")


def test_words_begin_where_the_models_durations_say(tts):
    words = tts.synthesize("ab cd.", language="en", voice="af_heart").words
    # start mark 0.1 s, two letters 0.2 s, half of the space, 75 ms earlier
    assert [w.text for w in words] == ["ab", "cd."]
    assert words[0].start == pytest.approx(0.025)
    assert words[1].start == pytest.approx(0.1 + 0.2 + 0.05 - 0.075)


def test_words_that_melt_share_a_span_unless_the_cut_lies_between(tts):
    def spans(**more):
        said = tts.synthesize("top of the hill", language="en", voice="af_heart", **more)
        return [w.text for w in said.words]

    assert spans() == ["top", "of the", "hill"]
    assert spans(prefix="top of")[0] == "top of"


@pytest.mark.parametrize(
    "more", [{"voice": "zf_xiaoyi"}, {"language": "zh"}, {"voice": Reference(path="r.wav")}]
)
def test_a_voice_speaks_its_own_language_and_does_not_clone(tts, more):
    with pytest.raises(DataError, match="FB871"):
        tts.synthesize("hi", **({"language": "en", "voice": "af_heart"} | more))


def test_marks_are_no_phonemes():
    assert sounds("nˈi3 xˈɑʊ, ") == len("nixɑʊ")


class FakeDecoder:
    def __init__(self, **settings):
        assert json.dumps(settings)

    def lookup_word(self, word):
        return None if word == "floorbench" else "X"

    def set_align_text(self, text):
        if text == "impossible":
            raise RuntimeError("no path")
        self.text = text

    def start_utt(self):
        pass

    end_utt = start_utt

    def process_raw(self, pcm, full_utt):
        assert len(pcm) == 32_000

    def seg(self):
        words = self.text.split()[: 1 if self.text.startswith("lost") else None]
        yield SimpleNamespace(word="<sil>", start_frame=0, end_frame=3, prob=1.0)
        for i, word in enumerate(words):
            yield SimpleNamespace(
                word=f"{word}(2)", start_frame=4 + i * 10, end_frame=13 + i * 10, prob=0.5
            )


def test_pocketsphinx_conforms(monkeypatch):
    made = ModuleType("pocketsphinx")
    made.Decoder = FakeDecoder
    monkeypatch.setitem(sys.modules, "pocketsphinx", made)
    aligner = PocketsphinxAligner()
    check_aligner(aligner)
    (word,) = aligner.align(tone(), RATE, text="Hello!", language="en")
    assert (word.text, word.start, word.end, word.score) == ("Hello!", 0.04, 0.14, 0.5)
    for text in ("floorbench", "impossible", "lost words", "..."):
        with pytest.raises(DataError, match="FB874"):
            aligner.align(tone(), RATE, text=text, language="en")
    with pytest.raises(DataError, match="FB874"):
        aligner.align(tone(), RATE, text="你好", language="zh")


def test_a_missing_aligner_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pocketsphinx", None)
    with pytest.raises(EnvironmentProblem, match="FB401"):
        PocketsphinxAligner().align(tone(), RATE, text="hi", language="en")
