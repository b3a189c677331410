"""Render one clip of the starter set to a 16 kHz master, through caches keyed by content."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from floorbench.build import kokoro, mixing
from floorbench.build.g2p_process import PhonemeClient
from floorbench.build.kokoro_lines import SpokenLines, digest_of
from floorbench.build.kokoro_voices import BABBLE, VOICES, voice_language
from floorbench.build.speech_assets import MODEL_SHA256, sha256_file
from floorbench.build.starter_plan import (
    LEAD_S,
    NOISE_FADE_S,
    NOISE_MAX_S,
    RATE,
    TAIL_S,
    Clip,
)
from floorbench.errors import DataError, Place

RECIPE = 1
EDGE_FADE_S = 0.005


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """Something to say: phonemes, voice, speed and how many words to keep."""

    phonemes: str
    voice: str
    speed: float
    keep_words: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A clip with its phonemes and the babble's; all that a worker needs."""

    clip: Clip
    line: Line | None
    babble: tuple[Line, ...] = ()

    @property
    def key(self) -> str:
        """Content key of the master."""
        value = {"recipe": RECIPE, "model": MODEL_SHA256, "lead": LEAD_S, "tail": TAIL_S}
        return digest_of(value | asdict(self))


def prepare(clips: list[Clip]) -> list[Task]:
    """Turn every text into phonemes, in the separate phoneme process."""
    tasks = []
    with PhonemeClient() as client:
        babble = {
            language: tuple(
                Line(phonemes=client.ask(lang=voice_language(v), text=t)[0], voice=v, speed=1.0)
                for v, t in zip(VOICES[language]["babble"], BABBLE[language], strict=True)
            )
            for language in {clip.language for clip in clips}
        }
        for clip in clips:
            line = None
            if clip.voice is not None and clip.source is not None:
                phonemes, keep = client.ask(
                    lang=voice_language(clip.voice), text=clip.source, prefix=clip.cut_after
                )
                line = Line(phonemes=phonemes, voice=clip.voice, speed=clip.speed, keep_words=keep)
            parts = babble[clip.language] if clip.babble_db is not None else ()
            tasks.append(Task(clip=clip, line=line, babble=parts))
    return tasks


class Renderer:
    """Make masters; loads the voice on first need."""

    def __init__(self, *, assets: Path, cache: Path) -> None:
        self._assets = assets
        self._lines = SpokenLines(assets=assets, folder=cache / "lines")
        self._masters = cache / "masters"
        self._masters.mkdir(parents=True, exist_ok=True)

    def render(self, task: Task) -> dict[str, Any]:
        """Return the record of a clip; its master is ``masters/KEY.flac`` in the cache.

        A finished master is used again. Files are written under another name and then renamed,
        so a killed run leaves no half clip.
        """
        audio_path = self._masters / f"{task.key}.flac"
        record_path = self._masters / f"{task.key}.json"
        if record_path.exists() and audio_path.exists():
            record: dict[str, Any] = json.loads(record_path.read_text("utf-8"))
            return record
        try:
            audio, record = self._compose(task)
        except DataError as error:
            raise DataError(error.code, error.what, where=Place(None, None, task.clip.id)) from None
        _write_flac(audio_path, audio)
        record |= {
            "master": task.key,
            "master_sha256": sha256_file(audio_path),
            "duration_s": len(audio) / RATE,
        }
        _replace(record_path, json.dumps(record, sort_keys=True).encode())
        return record

    def _compose(self, task: Task) -> tuple[NDArray[np.int16], dict[str, Any]]:
        clip = task.clip
        record: dict[str, Any] = {}
        if clip.noise is not None:
            audio = self._noise(clip.noise)
        elif task.line is not None:
            audio, record = self._spoken(task.line)
        else:
            raise DataError("FB903", "a clip with neither speech nor noise")
        audio = mixing.fade(audio, RATE, start_s=EDGE_FADE_S, end_s=EDGE_FADE_S)
        audio = mixing.pad(audio, RATE, before_s=LEAD_S, after_s=TAIL_S)
        if clip.room is not None:
            audio = mixing.in_room(audio, mixing.impulse_response(clip.room, RATE))
        audio = mixing.to_level(audio, RATE, clip.level_db)
        if clip.babble_db is not None:
            mix = mixing.add_noise(audio, self._babble(task), RATE, snr_db=clip.babble_db)
            audio = mix.audio
            record["snr_requested_db"] = mix.requested_db
            record["snr_achieved_db"] = round(mix.achieved_db, 3)
        audio, gain = mixing.guard(audio)
        record["guard_gain_db"] = round(gain, 3)
        record["level_achieved_db"] = round(mixing.active_level_db(audio, RATE), 3)
        return np.round(audio * 32767).astype(np.int16), record

    def _spoken(self, line: Line) -> tuple[mixing.Audio, dict[str, Any]]:
        audio, said = self._line(line)
        if line.keep_words is None:
            return mixing.trim(audio, RATE), {}
        at = kokoro.cut_time(phonemes=said.phonemes, frames=said.frames, groups=line.keep_words)
        kept = mixing.cut(audio, RATE, at_s=at)
        return mixing.trim(kept, RATE, end=False), {"cut_s": at, "cut_group": line.keep_words}

    def _line(self, line: Line) -> tuple[mixing.Audio, kokoro.Speech]:
        import soxr

        said = self._lines.say(phonemes=line.phonemes, voice=line.voice, speed=line.speed)
        return soxr.resample(said.samples.astype(np.float64), kokoro.RATE, RATE), said

    def _babble(self, task: Task) -> mixing.Audio:
        lines = [
            mixing.to_level(mixing.trim(self._line(b)[0], RATE), RATE, -26.0) for b in task.babble
        ]
        length = max(len(x) for x in lines)
        total = np.sum([np.resize(x, length) for x in lines], axis=0)
        if task.clip.room is not None:
            total = mixing.in_room(total, mixing.impulse_response(task.clip.room, RATE))
        rolled: mixing.Audio = np.roll(total, -round(task.clip.babble_offset_s * RATE))
        return rolled

    def _noise(self, name: str) -> mixing.Audio:
        import soundfile
        import soxr

        path = self._assets / "noise" / f"{name}.flac"
        if not path.exists():
            raise DataError("FB904", f"there is no CC0 recording {name!r}")
        samples, rate = soundfile.read(path, dtype="float64", always_2d=True)
        audio = mixing.trim(soxr.resample(np.mean(samples, axis=1), rate, RATE), RATE)
        if len(audio) > NOISE_MAX_S * RATE:
            audio = mixing.fade(audio[: round(NOISE_MAX_S * RATE)], RATE, end_s=NOISE_FADE_S)
        return audio


def _write_flac(path: Path, audio: NDArray[np.int16]) -> None:
    import soundfile

    temporary = path.with_name(f".{path.stem}.{os.getpid()}.flac")
    soundfile.write(temporary, audio, RATE, subtype="PCM_16")
    temporary.replace(path)


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
