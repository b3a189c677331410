"""Say and hear everything once: results kept in a folder under a key of all that went in.

Siblings of a dialogue family share their history this way, also with voices that would say it
differently the next time. Files appear under their names only when they are whole; one that cannot
be read is made again.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from floorbench.build.pipeline.store import Folder
from floorbench.build.speech.providers import (
    ASR,
    TTS,
    Audio,
    Can,
    Heard,
    Reference,
    Spoken,
    Word,
    sounds,
)
from floorbench.core.sample import JsonValue

LAYOUT = 1


def digest(audio: Audio, rate: int) -> str:
    """Return the SHA-256 of a rate and its samples."""
    samples = np.ascontiguousarray(audio, dtype="<f4")
    return hashlib.sha256(f"{rate} ".encode() + samples.tobytes()).hexdigest()


def _key(**parts: object) -> str:
    text = json.dumps({"layout": LAYOUT, **parts}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class _Kept(Folder):
    """The files of one cache; the first that is written clears what killed processes left."""

    _swept = False

    def put(self, path: Path, content: bytes) -> None:
        if not self._swept:
            self.sweep()
            self._swept = True
        self.write(path, content)


def _words(rows: list[dict[str, object]] | None) -> tuple[Word, ...] | None:
    return None if rows is None else tuple(Word(**row) for row in rows)  # type: ignore[arg-type]


class CachedTTS:
    """A voice that says equal things once."""

    def __init__(self, tts: TTS, folder: Path) -> None:
        self._tts = tts
        self._folder = folder
        self._kept = _Kept(folder)
        self.can: Can = tts.can

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The identity of the voice itself."""
        return self._tts.identity

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
        """Return what was said before, or say it (see :class:`TTS`)."""
        who = voice
        if isinstance(voice, Reference):
            found = hashlib.sha256(voice.path.read_bytes()).hexdigest()
            who = f"reference {found} {voice.text}"
        key = _key(
            provider=self.identity,
            said=[text, language, who, speed, emotion, prefix],
            seed=None if self.can.deterministic else seed,
        )
        path = self._folder / key[:2] / f"{key}.npz"
        known = _spoken(path)
        if known is not None:
            return known
        said = self._tts.synthesize(
            text,
            language=language,
            voice=voice,
            speed=speed,
            emotion=emotion,
            seed=seed,
            prefix=prefix,
        )
        if not sounds(said.audio):  # the next build asks again
            return said
        facts = asdict(said)
        del facts["audio"]
        room = io.BytesIO()
        np.savez(
            room,
            audio=said.audio.astype(np.float32),
            facts=np.array(json.dumps(facts, ensure_ascii=False)),
        )
        self._kept.put(path, room.getvalue())
        return said


def _spoken(path: Path) -> Spoken | None:
    """Read what was said before; ``None`` when it is not there or cannot be read."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            facts = json.loads(str(stored["facts"]))
            return Spoken(
                audio=stored["audio"],
                rate=facts["rate"],
                words=_words(facts["words"]),
                phonemes=facts["phonemes"],
                provenance=facts["provenance"],
            )
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None


class CachedASR:
    """A recogniser that hears equal samples once."""

    def __init__(self, asr: ASR, folder: Path) -> None:
        self._asr = asr
        self._folder = folder
        self._kept = _Kept(folder)
        self.can: Can = asr.can

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The identity of the recogniser itself."""
        return self._asr.identity

    def transcribe(self, audio: Audio, rate: int, *, language: str, careful: bool = False) -> Heard:
        """Return what was heard before, or listen (see :class:`ASR`)."""
        key = _key(provider=self.identity, heard=[digest(audio, rate), language], careful=careful)
        path = self._folder / key[:2] / f"{key}.json"
        known = _heard(path)
        if known is not None:
            return known
        heard = self._asr.transcribe(audio, rate, language=language, careful=careful)
        self._kept.put(path, json.dumps(asdict(heard), ensure_ascii=False).encode())
        return heard


def _heard(path: Path) -> Heard | None:
    """Read what was heard before; ``None`` when it is not there or cannot be read."""
    try:
        row = json.loads(path.read_text("utf-8"))
        return Heard(text=row["text"], words=_words(row["words"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
