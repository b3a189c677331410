"""Qwen3-TTS, IndexTTS2, Qwen3-ASR and its aligner in this process, through their own packages.

The packages pin versions of one library that exclude each other: give each its own environment,
or run it as a server and use :mod:`floorbench.build.speech.remote`.
"""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from floorbench.build.speech.providers import Audio, Can, Heard, Reference, Spoken, Word
from floorbench.build.speech.remote import LANGUAGES
from floorbench.core.sample import JsonValue
from floorbench.errors import DataError, EnvironmentProblem

MOODS = ("happy", "angry", "sad", "afraid", "disgusted", "melancholic", "surprised", "calm")
"""The eight emotions of IndexTTS2, in the order of its vector."""


def _take(module: str, name: str, way_out: str) -> Any:
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError:
        raise EnvironmentProblem(
            "FB401", f"the package {module.partition('.')[0]} is not installed", hint=way_out
        ) from None


def _failed(name: str, error: Exception) -> DataError:
    return DataError("FB872", f"{name}: {type(error).__name__}: {error}")


def _seeded(seed: int) -> None:
    """Seed torch where it is there: these models sample from its global generator."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return
    torch.manual_seed(seed)


class Qwen3TTS:
    """Qwen3-TTS through ``qwen-tts``.

    Parameters
    ----------
    model : str
        Hub name or folder. A ``CustomVoice`` model has named speakers, a ``Base`` model clones, a
        ``VoiceDesign`` model takes a description as the voice.
    kind : str
        ``custom``, ``clone`` or ``design``.
    settings : mapping
        For ``from_pretrained``: device, dtype, attention.
    """

    def __init__(
        self, model: str, *, kind: str = "custom", settings: Mapping[str, Any] | None = None
    ) -> None:
        if kind not in ("custom", "clone", "design"):
            raise DataError("FB871", f"kind {kind!r} is not custom, clone or design")
        self._model = model
        self._kind = kind
        self._settings = dict(settings or {})
        self._loaded: Any = None
        self.can = Can(clones=kind == "clone", emotion=kind == "custom")

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Model and kind."""
        return {"name": "qwen3-tts", "model": self._model, "kind": self._kind}

    def synthesize(
        self,
        text: str,
        *,
        language: str,
        voice: str | Reference,
        speed: float = 1.0,
        emotion: str | None = None,
        seed: int = 0,
        prefix: str | None = None,
    ) -> Spoken:
        """Speak a text (see :class:`floorbench.build.speech.providers.TTS`).

        The model has no speed: a rate is reached by stretching afterwards.
        """
        if isinstance(voice, Reference) != self.can.clones:
            raise DataError("FB871", f"a {self._kind} model cannot speak with {voice!r}")
        if emotion is not None and not self.can.emotion:
            raise DataError("FB871", f"a {self._kind} model takes no emotion")
        if speed != 1.0:
            raise DataError("FB871", "Qwen3-TTS has no speed of its own")
        model = self._load()
        spoken = LANGUAGES.get(language, language)
        _seeded(seed)
        try:
            if isinstance(voice, Reference):
                audios, rate = model.generate_voice_clone(
                    text=text,
                    language=spoken,
                    ref_audio=str(voice.path),
                    ref_text=voice.text,
                    x_vector_only_mode=voice.text is None,
                )
            elif self._kind == "custom":
                audios, rate = model.generate_custom_voice(
                    text=text, speaker=voice, language=spoken, instruct=emotion
                )
            else:
                audios, rate = model.generate_voice_design(
                    text=text, instruct=voice, language=spoken
                )
        except (RuntimeError, ValueError) as error:
            raise _failed("qwen3-tts", error) from None
        return Spoken(
            audio=np.asarray(audios[0], dtype=np.float32).reshape(-1),
            rate=int(rate),
            provenance={**self.identity, "voice": _named(voice), "emotion": emotion, "seed": seed},
        )

    def _load(self) -> Any:
        if self._loaded is None:
            cls = _take("qwen_tts", "Qwen3TTSModel", "pip install qwen-tts (own environment)")
            self._loaded = cls.from_pretrained(self._model, **self._settings)
        return self._loaded


class IndexTTS2:
    """IndexTTS2 through its ``indextts`` package; it only clones.

    Parameters
    ----------
    folder : Path
        Folder of checkpoints with ``config.yaml``.
    emotion_weight : float
        How strongly an emotion colours the voice, 0 to 1.
    """

    can = Can(clones=True, emotion=True)

    def __init__(self, folder: Path, *, emotion_weight: float = 0.6, fp16: bool = False) -> None:
        self._folder = folder
        self._weight = emotion_weight
        self._fp16 = fp16
        self._loaded: Any = None

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Checkpoint folder's name and settings."""
        return {"name": "indextts2", "model": self._folder.name, "emotion_weight": self._weight}

    def synthesize(
        self,
        text: str,
        *,
        language: str,
        voice: str | Reference,
        speed: float = 1.0,
        emotion: str | None = None,
        seed: int = 0,
        prefix: str | None = None,
    ) -> Spoken:
        """Speak a text (see :class:`floorbench.build.speech.providers.TTS`).

        The emotion is one of :data:`MOODS`, or the path of a recording to take it from. The
        model's own random choice of an emotion stays off, so that equal emotions sound alike.
        """
        if not isinstance(voice, Reference):
            raise DataError("FB871", "IndexTTS2 has no named voices: give a reference recording")
        if speed != 1.0:
            raise DataError("FB871", "IndexTTS2 has no speed of its own")
        import soundfile

        mood: dict[str, Any] = {}
        if emotion in MOODS:
            vector = [self._weight if m == emotion else 0.0 for m in MOODS]
            mood = {"emo_vector": vector, "emo_alpha": 1.0}
        elif emotion is not None:
            mood = {"emo_audio_prompt": emotion, "emo_alpha": self._weight}
        model = self._load()
        _seeded(seed)
        with tempfile.TemporaryDirectory() as room:
            path = Path(room) / "said.wav"
            try:
                model.infer(
                    spk_audio_prompt=str(voice.path),
                    text=text,
                    output_path=str(path),
                    use_random=False,
                    verbose=False,
                    **mood,
                )
                samples, rate = soundfile.read(path, dtype="float32", always_2d=True)
            except (RuntimeError, ValueError, OSError) as error:
                raise _failed("indextts2", error) from None
        return Spoken(
            audio=np.mean(samples, axis=1, dtype=np.float32),
            rate=int(rate),
            provenance={**self.identity, "voice": _named(voice), "emotion": emotion, "seed": seed},
        )

    def _load(self) -> Any:
        if self._loaded is None:
            cls = _take(
                "indextts.infer_v2", "IndexTTS2", "install IndexTTS2 as its authors describe"
            )
            self._loaded = cls(
                cfg_path=str(self._folder / "config.yaml"),
                model_dir=str(self._folder),
                use_fp16=self._fp16,
            )
        return self._loaded


class Qwen3ASR:
    """Qwen3-ASR through ``qwen-asr``; with an aligner it gives word times too."""

    def __init__(
        self,
        model: str,
        *,
        aligner: str | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self._model = model
        self._aligner = aligner
        self._settings = dict(settings or {})
        self._loaded: Any = None
        self.can = Can(returns_words=aligner is not None, deterministic=True)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Models."""
        return {"name": "qwen3-asr", "model": self._model, "aligner": self._aligner}

    def transcribe(self, audio: Audio, rate: int, *, language: str, careful: bool = False) -> Heard:
        """Write down what is said (see :class:`floorbench.build.speech.providers.ASR`)."""
        if self._loaded is None:
            cls = _take("qwen_asr", "Qwen3ASRModel", "pip install qwen-asr (own environment)")
            more = {"forced_aligner": self._aligner} if self._aligner else {}
            self._loaded = cls.from_pretrained(self._model, **more, **self._settings)
        try:
            found = self._loaded.transcribe(
                audio=(audio, rate),
                language=LANGUAGES.get(language, language),
                return_time_stamps=self.can.returns_words,
            )[0]
        except (RuntimeError, ValueError) as error:
            raise _failed("qwen3-asr", error) from None
        words = _stamped(found.time_stamps) if self.can.returns_words else None
        return Heard(text=str(found.text).strip(), words=words)


class Qwen3Aligner:
    """Qwen3-ForcedAligner through ``qwen-asr``."""

    can = Can(returns_words=True, deterministic=True)
    languages = frozenset(LANGUAGES)

    def __init__(self, model: str, *, settings: Mapping[str, Any] | None = None) -> None:
        self._model = model
        self._settings = dict(settings or {})
        self._loaded: Any = None

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Model."""
        return {"name": "qwen3-forced-aligner", "model": self._model}

    def align(self, audio: Audio, rate: int, *, text: str, language: str) -> tuple[Word, ...]:
        """Return the words of a text (see :class:`Aligner`)."""
        if self._loaded is None:
            cls = _take("qwen_asr", "Qwen3ForcedAligner", "pip install qwen-asr (own environment)")
            self._loaded = cls.from_pretrained(self._model, **self._settings)
        try:
            found = self._loaded.align(
                audio=(audio, rate), text=text, language=LANGUAGES.get(language, language)
            )[0]
        except (RuntimeError, ValueError) as error:
            raise _failed("qwen3-forced-aligner", error) from None
        words = _stamped(found)
        if not words:
            raise DataError("FB874", f"no word of {text!r} was found")
        return words


def _stamped(items: Sequence[Any]) -> tuple[Word, ...]:
    return tuple(
        Word(text=i.text, start=round(float(i.start_time), 4), end=round(float(i.end_time), 4))
        for i in items
    )


def _named(voice: str | Reference) -> str:
    return voice.path.name if isinstance(voice, Reference) else voice
