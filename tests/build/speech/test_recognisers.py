import sys
from types import ModuleType, SimpleNamespace

import pytest

from floorbench.build.speech.recognisers import Whisper
from floorbench.errors import EnvironmentProblem
from support.speech import RATE, TEXT, check_asr, tone


class FakeModel:
    def __init__(self, model, **settings):
        self.settings = settings
        self.calls = []
        FakeModel.last = self

    def transcribe(self, samples, **options):
        assert len(samples) == 16_000
        self.calls.append(options)
        words = None
        if options["word_timestamps"]:
            words = [
                SimpleNamespace(word=f" {w}", start=i * 0.2, end=i * 0.2 + 0.2, probability=0.9)
                for i, w in enumerate(TEXT["en"].split())
            ]
        yield_of = SimpleNamespace(text=f" {TEXT['en']}", words=words)
        return iter([yield_of]), SimpleNamespace(language="en")


@pytest.fixture
def whisper(monkeypatch):
    made = ModuleType("faster_whisper")
    made.WhisperModel = FakeModel
    monkeypatch.setitem(sys.modules, "faster_whisper", made)


@pytest.mark.parametrize("words", [False, True])
def test_whisper_conforms(whisper, words):
    check_asr(Whisper("base", words=words))


def test_one_beam_first_then_five_and_never_a_prompt(whisper):
    asr = Whisper("base")
    for careful in (False, True):
        asr.transcribe(tone(), RATE, language="en", careful=careful)
    calls = FakeModel.last.calls
    assert [c["beam_size"] for c in calls] == [1, 5]
    assert not any("initial_prompt" in c for c in calls)
    assert FakeModel.last.settings["cpu_threads"] == 1


def test_a_folder_without_a_model_names_the_way_out(whisper, tmp_path):
    with pytest.raises(EnvironmentProblem, match="assets get speech"):
        Whisper(tmp_path).transcribe(tone(), RATE, language="en")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(EnvironmentProblem, match="FB401"):
        Whisper("base").transcribe(tone(), RATE, language="en")
