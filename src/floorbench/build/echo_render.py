"""Speak one ECHO sample: assistant track and user track on one clock, with event times.

Every utterance is synthesised by itself. The insertion starts where the assistant has said the
words before it, by the voice model's own durations. Nothing on either track depends on the role:
the assistant's planned utterance goes on to its end, and the insertion has one level in all roles.
What a listener hears of an interruption (a stressed onset, an assistant who falls silent) is
added by :mod:`floorbench.datasets.echo_audio` when it is asked for.

Source
------
ECHO, data construction: independent synthesis, level normalisation, bounded speaking rate,
overlap placed by word times.

Deviations
----------
Kokoro speaks instead of IndexTTS2; word times are the model's durations instead of a forced
alignment; the history is text only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from floorbench.build import kokoro, mixing
from floorbench.build.echo_texts import Scene
from floorbench.build.g2p_process import PhonemeClient
from floorbench.build.kokoro_lines import SpokenLines
from floorbench.build.kokoro_voices import voice_language
from floorbench.build.speech.providers import Word
from floorbench.build.speech.words import join_words, words_of
from floorbench.core.time import to_samples
from floorbench.errors import DataError, Place

RATE = 16_000
LEVEL_DB = -26.0
LEAD_S = 0.3
TAIL_S = 0.3
REST_S = 0.5  # the planned utterance outlasts the insertion by at least this
FADE_S = 0.005
SPEEDS = (0.94, 0.97, 1.0, 1.03, 1.06)
ASSISTANT = {"en": "af_heart", "zh": "zf_xiaoxiao"}
USERS = {
    "en": ("am_michael", "bf_emma", "am_fenrir", "af_bella", "am_puck", "af_kore", "bm_george"),
    "zh": ("zm_yunjian", "zf_xiaoyi", "zm_yunyang", "zf_xiaobei", "zm_yunxi", "zf_xiaoni"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What happens when on the two tracks, in seconds, and who speaks the insertion."""

    onset: float
    end: float
    system_start: float
    system_end: float
    words: tuple[Word, ...]
    voice: str
    speed: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered(Placed):
    """Two tracks of equal length at 16 kHz and what happens when."""

    user: NDArray[np.float64]
    system: NDArray[np.float64]


class Said(NamedTuple):
    """An utterance at 16 kHz, its phonemes with their frames, and when its beginning is over.

    ``cut`` is in seconds, ``None`` where no beginning was asked for.
    """

    audio: mixing.Audio
    symbols: str
    frames: NDArray[np.int64]
    cut: float | None


class Speaker:
    """The build voice with its phoneme process and a cache of spoken lines."""

    def __init__(self, *, assets: Path, cache: Path, client: PhonemeClient) -> None:
        self._lines = SpokenLines(assets=assets, folder=cache / "lines")
        self._client = client

    def say(self, *, text: str, voice: str, speed: float, prefix: str | None = None) -> Said:
        """Say a text; with a prefix, also when that has been said."""
        import soxr

        phonemes, groups = self.phonemes(text, voice, prefix)
        line = self._lines.say(phonemes=phonemes, voice=voice, speed=speed)
        audio = soxr.resample(line.samples.astype(np.float64), kokoro.RATE, RATE)
        cut = None
        if groups is not None:
            cut = kokoro.cut_time(phonemes=line.phonemes, frames=line.frames, groups=groups)
        return Said(audio, line.phonemes, line.frames, cut)

    def phonemes(self, text: str, voice: str, prefix: str | None) -> tuple[str, int | None]:
        """Return the phonemes of a text and the number of groups that its prefix fills."""
        return self._client.ask(lang=voice_language(voice), text=text, prefix=prefix)

    def cuts(self, pieces: tuple[str, ...], voice: str) -> list[int | None]:
        """Return, per piece but the last, the groups said at its end; ``None`` if it is unsure."""
        text = "".join(pieces)
        whole, _ = self.phonemes(text, voice, None)
        out: list[int | None] = []
        for i in range(1, len(pieces)):
            spoken, groups = self.phonemes(text, voice, "".join(pieces[:i]).rstrip())
            out.append(groups if spoken == whole else None)
        return out


def render(scene: Scene, speaker: Speaker, *, seed: int) -> Rendered:
    """Speak a scene.

    Raises
    ------
    DataError
        ``FB904`` when the insertion does not end well before the planned utterance does.
    """
    draw = np.random.default_rng([seed, *hashlib.sha256(scene.id.encode()).digest()[:8]])
    of_group = np.random.default_rng([seed, *hashlib.sha256(scene.group.encode()).digest()[:8]])
    users = USERS[scene.language]
    voice = users[int(of_group.integers(len(users)))]
    speed = SPEEDS[int(draw.integers(len(SPEEDS)))]
    planned = speaker.say(
        text=scene.planned, voice=ASSISTANT[scene.language], speed=1.0, prefix=scene.before
    )
    if planned.cut is None:
        raise DataError("FB904", "no place for the insertion", where=Place(item=scene.id))
    assistant, skipped = _trimmed(planned.audio)
    onset = round(LEAD_S + planned.cut - skipped, 3)
    system_end = round(LEAD_S + len(assistant) / RATE, 4)
    inserted = speaker.say(text=scene.insertion, voice=voice, speed=speed)
    pieces = words_of(scene.insertion, scene.language)
    groups = speaker.cuts(pieces, voice)
    insertion, skipped = _trimmed(inserted.audio)
    end = round(onset + len(insertion) / RATE, 4)
    if end + REST_S > system_end:
        raise DataError(
            "FB904",
            f"the insertion ends at {end} s, the planned utterance at {system_end} s",
            where=Place(item=scene.id),
        )
    begins = onset - skipped
    times = [None if count is None else begins + _said_at(inserted, count) for count in groups]
    length = to_samples(round(system_end + TAIL_S, 4), RATE)
    return Rendered(
        user=placed(insertion, onset, length),
        system=placed(assistant, LEAD_S, length),
        onset=onset,
        end=end,
        system_start=LEAD_S,
        system_end=system_end,
        words=join_words(pieces, times, onset=onset, end=end),
        voice=voice,
        speed=speed,
    )


def _said_at(said: Said, groups: int) -> float:
    """Return the second at which so many groups of phonemes have been said."""
    return kokoro.cut_time(phonemes=said.symbols, frames=said.frames, groups=groups)


class _Trimmed(NamedTuple):
    """Levelled audio between its first and last active window; seconds cut off before it."""

    audio: mixing.Audio
    skipped: float


def _trimmed(audio: mixing.Audio) -> _Trimmed:
    size = round(RATE * mixing.WINDOW_S)
    first = int(np.flatnonzero(mixing.active_windows(audio, RATE))[0]) * size
    kept = mixing.trim(audio, RATE)
    level = mixing.to_level(kept, RATE, LEVEL_DB)
    level, _ = mixing.guard(level)
    faded = mixing.fade(level, RATE, start_s=FADE_S, end_s=FADE_S)
    return _Trimmed(faded, first / RATE)


def placed(audio: mixing.Audio, at: float, length: int) -> mixing.Audio:
    """Return a silent track of so many samples with the audio in it from ``at`` seconds on."""
    track = np.zeros(length)
    start = to_samples(at, RATE)
    track[start : start + len(audio)] = audio[: length - start]
    return track
