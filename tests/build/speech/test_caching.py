import os

import numpy as np
import pytest

from floorbench.build.pipeline.store import Folder
from floorbench.build.speech.caching import CachedASR, CachedTTS
from floorbench.build.speech.providers import Can, Reference
from floorbench.errors import DataError, EnvironmentProblem
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
    for name, content in (("a.wav", tone()), ("b.wav", tone()), ("c.wav", tone(0.5))):
        (tmp_path / name).write_bytes(wav(content))
        cached.synthesize("a", language="en", voice=Reference(path=tmp_path / name))
    assert len(tts.calls) == 2


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


@pytest.mark.parametrize("how", ["empty", "half", "other"])
def test_a_damaged_file_is_made_again(tmp_path, how):
    def broken(data):
        return {"empty": b"", "half": data[: len(data) // 2], "other": b"x" * len(data)}[how]

    tts, asr = FakeTTS(), FakeASR("one", "one")
    first = CachedTTS(tts, tmp_path / "said").synthesize("a b", language="en", voice="x")
    CachedASR(asr, tmp_path / "heard").transcribe(tone(), RATE, language="en")
    for path in (p for p in tmp_path.rglob("*") if p.is_file()):
        path.write_bytes(broken(path.read_bytes()))
    for _ in range(2):  # the second time from the mended file
        again = CachedTTS(tts, tmp_path / "said").synthesize("a b", language="en", voice="x")
        np.testing.assert_array_equal(first.audio, again.audio)
        heard = CachedASR(asr, tmp_path / "heard").transcribe(tone(), RATE, language="en")
        assert heard.text == "one"
    assert len(tts.calls) == 2


def test_what_a_killed_process_left_is_cleared(tmp_path):
    CachedTTS(FakeTTS(), tmp_path).synthesize("a", language="en", voice="x")
    (tmp_path / "unfinished").mkdir(exist_ok=True)
    host = Folder(tmp_path)._host
    dead, alive = (tmp_path / "unfinished" / f"{host}-{n}-x" for n in (2**22 + 1, os.getpid()))
    for path in (dead, alive):
        path.write_bytes(b"half")
    CachedTTS(FakeTTS(), tmp_path).synthesize("b", language="en", voice="x")
    assert alive.exists()
    assert not dead.exists()


def test_a_full_disk_stops_the_build(tmp_path, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(EnvironmentProblem, match=r"FB858 .*No space left"):
        CachedTTS(FakeTTS(), tmp_path).synthesize("a", language="en", voice="x")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
