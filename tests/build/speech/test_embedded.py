import numpy as np
import pytest

from floorbench.build import kokoro
from floorbench.build.speech import embedded
from floorbench.build.speech.embedded import KokoroTTS, sounds
from floorbench.build.speech.providers import Reference
from floorbench.errors import DataError
from support.speech import check_tts, tone


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
