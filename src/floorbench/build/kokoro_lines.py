"""The build voice with what it has said before: equal lines are spoken once."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np

from floorbench.build import kokoro
from floorbench.build.speech_assets import MODEL_SHA256


class SpokenLines:
    """Lines of the build voice in a folder; the model is loaded for the first new one.

    Parameters
    ----------
    assets : Path
        Folder of model and voices.
    folder : Path
        Where lines are kept; several processes may share it.
    """

    def __init__(self, *, assets: Path, folder: Path) -> None:
        self._assets = assets
        self._folder = folder
        self._folder.mkdir(parents=True, exist_ok=True)
        self._voice: kokoro.Kokoro | None = None

    def say(self, *, phonemes: str, voice: str, speed: float) -> kokoro.Speech:
        """Return a line as :meth:`floorbench.build.kokoro.Kokoro.say` does."""
        path = self._folder / f"{digest_of([MODEL_SHA256, phonemes, voice, speed])}.npz"
        if not path.exists():
            if self._voice is None:
                self._voice = kokoro.Kokoro(self._assets)
            said = self._voice.say(phonemes=phonemes, voice=voice, speed=speed)
            temporary = path.with_name(f".{path.stem}.{os.getpid()}.npz")
            np.savez(
                temporary,
                samples=said.samples,
                frames=said.frames,
                phonemes=np.array(said.phonemes),
            )
            temporary.replace(path)
        with np.load(path, allow_pickle=False) as stored:
            return kokoro.Speech(
                samples=stored["samples"],
                phonemes=str(stored["phonemes"]),
                frames=stored["frames"],
            )


def digest_of(value: object) -> str:
    """Return the SHA-256 of a value as JSON: what finished parts are filed under."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
