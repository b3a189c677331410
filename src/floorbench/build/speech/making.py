"""Providers from plain settings, as recipes and command lines give them.

A setting is a mapping with the key ``provider`` and the arguments of that provider's class. No
model is loaded and no server asked before the first line. Keys of services are never arguments:
``key_env`` names the environment variable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from floorbench.build.speech import assets
from floorbench.build.speech.aligning import PocketsphinxAligner
from floorbench.build.speech.caching import CachedASR, CachedTTS
from floorbench.build.speech.embedded import KokoroTTS
from floorbench.build.speech.local_models import IndexTTS2, Qwen3Aligner, Qwen3ASR, Qwen3TTS
from floorbench.build.speech.providers import ASR, TTS, Aligner
from floorbench.build.speech.recognisers import Whisper
from floorbench.build.speech.remote import SpeechServer, TranscriptionServer
from floorbench.core.sample import JsonValue
from floorbench.errors import UsageError, did_you_mean
from floorbench.systems.llm.retrying import Policy

T = TypeVar("T")


def _kokoro() -> TTS:
    return KokoroTTS(assets.voice_folder())


def _indextts2(*, folder: str, **more: Any) -> TTS:
    return IndexTTS2(Path(folder), **more)


def _whisper(*, model: str | None = None, **more: Any) -> ASR:
    if model is None:
        pinned = assets.WHISPER_FILES["model.bin"]
        return Whisper(assets.whisper_folder(), sha256=pinned, **more)
    return Whisper(Path(model) if Path(model).is_dir() else model, **more)


def _patience(*, timeout: float = 60.0, attempts: int = 5, **more: Any) -> dict[str, Any]:
    """Return a server's arguments with its policy spelled out."""
    return {**more, "policy": Policy(timeout=timeout, attempts=attempts)}


def _speech_server(**given: Any) -> TTS:
    return SpeechServer(**_patience(**given))


def _transcription_server(**given: Any) -> ASR:
    return TranscriptionServer(**_patience(**given))


VOICES: Mapping[str, Callable[..., TTS]] = {
    "kokoro": _kokoro,
    "server": _speech_server,
    "qwen3-tts": Qwen3TTS,
    "indextts2": _indextts2,
}
RECOGNISERS: Mapping[str, Callable[..., ASR]] = {
    "whisper": _whisper,
    "server": _transcription_server,
    "qwen3-asr": Qwen3ASR,
}
ALIGNERS: Mapping[str, Callable[..., Aligner]] = {
    "qwen3": Qwen3Aligner,
    "pocketsphinx": PocketsphinxAligner,
}


def _made(kind: str, table: Mapping[str, Callable[..., T]], spec: Mapping[str, JsonValue]) -> T:
    name = str(spec.get("provider"))
    if name not in table:
        near = did_you_mean(name, table)
        raise UsageError(
            "FB875",
            f"there is no {kind} {name!r}",
            hint=f"did you mean {near!r}?" if near else f"known: {', '.join(table)}",
        )
    arguments = {key: value for key, value in spec.items() if key != "provider"}
    try:
        return table[name](**arguments)
    except TypeError as error:
        raise UsageError("FB875", f"{kind} {name!r}: {error}") from None


def make_tts(spec: Mapping[str, JsonValue], *, cache: Path | None = None) -> TTS:
    """Return a voice that says equal lines once.

    Parameters
    ----------
    spec : mapping
        ``{"provider": "kokoro"}``, or ``server``, ``qwen3-tts``, ``indextts2`` with arguments. A
        server also takes ``timeout``, the seconds of one call, and ``attempts``.
    cache : Path or None
        Build cache; floorbench's own by default.

    Raises
    ------
    UsageError
        ``FB875`` for an unknown provider or argument.
    """
    return CachedTTS(_made("voice", VOICES, spec), (cache or assets.folder()) / "said")


def make_asr(spec: Mapping[str, JsonValue], *, cache: Path | None = None) -> ASR:
    """Return a recogniser that hears equal samples once (see :func:`make_tts`).

    ``{"provider": "whisper"}`` is the packaged base model; ``model`` names a size or a folder.
    """
    return CachedASR(_made("recogniser", RECOGNISERS, spec), (cache or assets.folder()) / "heard")


def make_aligners(specs: Sequence[Mapping[str, JsonValue]]) -> tuple[Aligner, ...]:
    """Return aligners in the order in which they are asked; pocketsphinx is always the last."""
    made = [_made("aligner", ALIGNERS, spec) for spec in specs]
    return (*(a for a in made if not isinstance(a, PocketsphinxAligner)), PocketsphinxAligner())
