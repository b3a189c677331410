import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
import soundfile

from floorbench.build.speech.local_models import MOODS, IndexTTS2, Qwen3Aligner, Qwen3ASR, Qwen3TTS
from floorbench.build.speech.providers import Reference
from floorbench.errors import DataError, EnvironmentProblem
from support.speech import RATE, TEXT, check_aligner, check_asr, check_tts, stamps, tone, wav


def module(monkeypatch, name, **members):
    made = ModuleType(name)
    vars(made).update(members)
    monkeypatch.setitem(sys.modules, name, made)


@pytest.fixture
def reference(tmp_path):
    path = tmp_path / "r.wav"
    path.write_bytes(wav(tone()))
    return Reference(path=path, text="hello")


class FakeQwenTTS:
    calls: list[dict]

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
        made = cls()
        made.calls = [{"model": pretrained_model_name_or_path, **kwargs}]
        cls.last = made
        return made

    def generate_custom_voice(self, text, speaker, language=None, instruct=None):
        return self._made(text=text, speaker=speaker, language=language, instruct=instruct)

    def generate_voice_clone(
        self, text, language=None, ref_audio=None, ref_text=None, x_vector_only_mode=False
    ):
        return self._made(language=language, ref_audio=ref_audio, x=x_vector_only_mode)

    def generate_voice_design(self, text, instruct, language=None):
        return self._made(text=text, instruct=instruct, language=language)

    def _made(self, **call):
        self.calls.append(call)
        return [tone().astype(np.float64)], RATE


@pytest.fixture
def qwen(monkeypatch):
    module(monkeypatch, "qwen_tts", Qwen3TTSModel=FakeQwenTTS)


@pytest.mark.parametrize("kind", ["custom", "clone", "design"])
def test_qwen3_tts_conforms(qwen, reference, kind):
    voice = reference if kind == "clone" else "Vivian"
    check_tts(Qwen3TTS("model", kind=kind, settings={"device_map": "cpu"}), voice=voice)
    calls = FakeQwenTTS.last.calls
    assert calls[0] == {"model": "model", "device_map": "cpu"}
    assert all(c["language"] == "English" for c in calls[1:])


def test_a_reference_without_text_is_cloned_from_its_timbre(qwen, reference):
    tts = Qwen3TTS("m", kind="clone")
    tts.synthesize("hi", language="en", voice=Reference(path=reference.path))
    assert FakeQwenTTS.last.calls[-1]["x"] is True


def test_kinds_do_not_take_each_others_voices(qwen, reference):
    with pytest.raises(DataError, match="FB871"):
        Qwen3TTS("m").synthesize("hi", language="en", voice=reference)
    with pytest.raises(DataError, match="FB871"):
        Qwen3TTS("m", kind="clone").synthesize("hi", language="en", voice="Vivian")
    with pytest.raises(DataError, match="FB871"):
        Qwen3TTS("m", kind="other")


class FakeIndex:
    def __init__(self, cfg_path, model_dir, use_fp16=False):
        self.calls = []
        FakeIndex.last = self

    def infer(
        self,
        spk_audio_prompt,
        text,
        output_path,
        emo_audio_prompt=None,
        emo_alpha=1.0,
        emo_vector=None,
        use_random=True,
        verbose=True,
    ):
        self.calls.append((emo_vector, emo_audio_prompt, use_random))
        soundfile.write(output_path, tone(), RATE)


def test_indextts2_conforms_and_keeps_its_emotion_fixed(monkeypatch, tmp_path, reference):
    module(monkeypatch, "indextts")
    module(monkeypatch, "indextts.infer_v2", IndexTTS2=FakeIndex)
    tts = IndexTTS2(tmp_path)
    check_tts(tts, voice=reference)
    vectors = [v for v, _, _ in FakeIndex.last.calls]
    assert [0.6 if m == "happy" else 0.0 for m in MOODS] in vectors
    assert not any(random for _, _, random in FakeIndex.last.calls)
    tts.synthesize("hi", language="en", voice=reference, emotion="sigh.wav")
    assert FakeIndex.last.calls[-1][1] == "sigh.wav"
    with pytest.raises(DataError, match="FB871"):
        tts.synthesize("hi", language="en", voice="name")


class FakeQwenASR:
    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, forced_aligner=None, **kwargs):
        made = cls()
        made.aligner = forced_aligner
        return made

    def transcribe(self, audio, context="", language=None, return_time_stamps=False):
        samples, _ = audio
        assert samples.dtype == np.float32
        assert language == "English"
        assert not return_time_stamps or self.aligner
        found = stamps(TEXT["en"]) if return_time_stamps else None
        return [SimpleNamespace(language=language, text=TEXT["en"], time_stamps=found)]


class FakeQwenAligner:
    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path, **kwargs):
        return cls()

    def align(self, audio, text, language):
        if text == "fail":
            raise ValueError("out of words")
        return [stamps(text)]


def test_qwen3_asr_and_its_aligner_conform(monkeypatch):
    module(monkeypatch, "qwen_asr", Qwen3ASRModel=FakeQwenASR, Qwen3ForcedAligner=FakeQwenAligner)
    check_asr(Qwen3ASR("m"))
    check_asr(Qwen3ASR("m", aligner="a"))
    aligner = Qwen3Aligner("a")
    check_aligner(aligner)
    with pytest.raises(DataError, match=r"FB872.*out of words"):
        aligner.align(tone(), RATE, text="fail", language="en")
    with pytest.raises(DataError, match="FB874"):
        aligner.align(tone(), RATE, text="", language="en")


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "qwen_tts", None)
    with pytest.raises(EnvironmentProblem, match=r"FB401.*qwen_tts"):
        Qwen3TTS("m").synthesize("hi", language="en", voice="Vivian")
