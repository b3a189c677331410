import numpy as np
import pytest

from floorbench.build.speech.caching import CachedASR, CachedTTS
from floorbench.build.speech.providers import Can, Reference
from floorbench.errors import DataError
from support.speech import RATE, FakeASR, FakeTTS, check_tts, tone, wav


def test_equal_lines_are_said_once_and_come_back_whole(tmp_path):
    tts = FakeTTS()
    first = CachedTTS(tts, tmp_path).synthesize("a b", language="en", voice="x")
    again = CachedTTS(tts, tmp_path).synthesize("a b", language="en", voice="x")
    np.testing.assert_array_equal(first.audio, again.audio)
    assert (again.words, again.phonemes, again.rate) == (first.words, first.phonemes, first.rate)
    assert again.provenance == first.provenance
    assert len(tts.calls) == 1
    assert not list(tmp_path.glob("**/.*"))


@pytest.mark.parametrize(
    "other", [{"voice": "y"}, {"speed": 1.1}, {"language": "zh"}, {"prefix": "a"}]
)
def test_anything_else_is_said_anew(tmp_path, other):
    tts = FakeTTS()
    cached = CachedTTS(tts, tmp_path)
    usual = {"language": "en", "voice": "x"}
    cached.synthesize("a b", **usual)
    cached.synthesize("a b", **(usual | other))
    assert len(tts.calls) == 2


def test_seeds_matter_only_to_voices_that_differ_by_them(tmp_path):
    for deterministic, calls in ((True, 1), (False, 2)):
        tts = FakeTTS()
        tts.can = Can(returns_words=True, deterministic=deterministic)
        cached = CachedTTS(tts, tmp_path / str(deterministic))
        for seed in (1, 2):
            cached.synthesize("a", language="en", voice="x", seed=seed)
        assert len(tts.calls) == calls


def test_a_reference_counts_by_its_content(tmp_path):
    tts = FakeTTS()
    cached = CachedTTS(tts, tmp_path / "c")
    for name in ("a.wav", "b.wav"):
        (tmp_path / name).write_bytes(wav(tone()))
        with pytest.raises(TypeError):  # the fake keeps its voice as JSON; a path is none
            cached.synthesize("a", language="en", voice=Reference(path=tmp_path / name))
    assert not list((tmp_path / "c").glob("**/*.npz"))


def test_equal_samples_are_heard_once_per_care(tmp_path):
    asr = FakeASR("one", "two", "three")
    cached = CachedASR(asr, tmp_path)
    texts = [
        cached.transcribe(tone(), RATE, language="en", careful=careful).text
        for careful in (False, False, True, True)
    ]
    assert texts == ["one", "one", "two", "two"]
    assert cached.transcribe(tone(0.5), RATE, language="en").text == "three"


def test_a_failure_leaves_nothing(tmp_path):
    class Failing(FakeTTS):
        def synthesize(self, text, **_):
            raise DataError("FB872", "no")

    with pytest.raises(DataError, match="FB872"):
        CachedTTS(Failing(), tmp_path).synthesize("a", language="en", voice="x")
    assert list(tmp_path.iterdir()) == []


def test_a_cached_voice_conforms(tmp_path):
    class Plain(FakeTTS):
        def synthesize(self, text, **more):
            if more.get("emotion"):
                raise DataError("FB871", "no emotion")
            return super().synthesize(text, **more)

    check_tts(CachedTTS(Plain(), tmp_path), voice="x")
